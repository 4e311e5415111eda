"""More endings than those of the first list, about four other sets of options, in ten languages.

They were written before they were tried, so that the list of words is tested with what people write.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from tests.table import each_row

VERIFIER = ChoiceVerifier()
LEAST_READ = 0.97
OPTIONS = {
    "A": ("momentum is conserved", "an inelastic collision", "12 N", "7 m/s", "none of these"),
    "B": ("Paris", "Lyon", "Nice", "Lille"),
    "C": ("12 N", "an inelastic collision", "momentum is conserved", "7 m/s", "none of these"),
    "D": ("mitosis", "osmosis", "diffusion", "photosynthesis"),
}

FOLDER = Path(__file__).with_name("neighbours")
CHOSEN = {letter: (FOLDER / f"{letter}.txt").read_text(encoding="utf-8") for letter in OPTIONS}
"""Endings by the letter that each settles on. Each line is one ending, with line breaks written as \\n."""


def read(text: str, letter: str) -> str | None:
    """Return the letters that the verifier reads from a text."""
    reference = {"letter": letter, "options": OPTIONS[letter]}
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    found: str | None = VERIFIER.verify(case).detail.get("letter")
    return found


def endings(block: str) -> list[str]:
    return [
        line if "\\boxed" in line or "\\math" in line else line.replace("\\n", "\n")
        for line in block.split("\n")
        if line
    ]


@pytest.mark.slow
@each_row("letter", CHOSEN)
@each_row("before", ["", "Think of what each would mean.\n\n"])
def test_endings_are_read_as_they_are_meant(letter: str, before: str) -> None:
    lines = endings(CHOSEN[letter])
    wrong = {line: found for line in lines if (found := read(before + line, letter)) != letter}
    assert len(wrong) <= (1 - LEAST_READ) * len(lines), wrong


def test_the_sets_are_large() -> None:
    assert sum(len(endings(block)) for block in CHOSEN.values()) >= 450
