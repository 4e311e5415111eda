"""Endings as people and models write them, in ten languages: the letter that each settles on."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from tests.table import each_row

VERIFIER = ChoiceVerifier()
OPTIONS = ["the red shift", "the blue shift", "no shift at all", "a shift of both"]
LEAST_READ = 0.97

FOLDER = Path(__file__).with_name("endings")
LANGUAGES = {
    path.stem: path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for path in sorted(FOLDER.glob("*.txt"))
}
"""Endings by language. Each line of a file is one ending, with line breaks written as \\n."""
BEFORE = (
    "",
    "The source moves towards us, so waves are pushed together.\n\n",
    "A) the red shift would need a source that recedes.\nB) fits.\nC) would need rest.\n\nDone.\n\n",
)


def read(text: str) -> str | None:
    """Return the letters that the verifier reads from a text."""
    case = Case(
        SampleId("t", "p", 0), (Answer(text, "absent", "", False),), {"letter": "B", "options": OPTIONS}
    )
    found: str | None = VERIFIER.verify(case).detail.get("letter")
    return found


def unescaped(line: str) -> str:
    return line.replace("\\n", "\n")


def test_the_list_has_three_hundred_endings_in_ten_languages() -> None:
    assert len(LANGUAGES) == 10
    assert sum(len(set(endings)) for endings in LANGUAGES.values()) >= 300


@pytest.mark.slow
@each_row("language", LANGUAGES)
@each_row("before", BEFORE)
def test_endings_are_read_as_people_mean_them(language: str, before: str) -> None:
    endings = LANGUAGES[language]
    wrong = {ending: found for ending in endings if (found := read(before + unescaped(ending))) != "B"}
    assert len(wrong) <= (1 - LEAST_READ) * len(endings), wrong


@each_row("language", LANGUAGES)
def test_another_letter_is_read_in_the_same_places(language: str) -> None:
    swap = str.maketrans("AB", "DA")
    plain = [ending for ending in LANGUAGES[language] if "blue" not in ending and "ANSWER" not in ending]
    shown = [unescaped(ending) for ending in plain if ending.translate(swap).count("D") <= 1]
    swapped = {ending: ending.replace("B", "D") for ending in shown if "A" not in ending}
    wrong = {ending: found for ending in swapped.values() if (found := read(ending)) != "D"}
    assert len(wrong) <= (1 - LEAST_READ) * len(swapped), wrong
