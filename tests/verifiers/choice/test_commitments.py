"""A thousand endings in ten classes and five languages: half settle on an option, half commit to none.

They were written before the reader was changed, so that reading more does not become crediting more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier

VERIFIER = ChoiceVerifier()
OPTIONS = ("Mercury", "Venus", "Mars", "Jupiter", "Saturn")
FOLDER = Path(__file__).with_name("commitments")
READ = {"not_questions": 0.984, "announced": 0.97, "preferred": 0.96, "verdicts": 0.97, "corrected": 0.97}
"""Classes whose lines begin with the letter that they settle on, and the least share that must be read."""
UNCOMMITTED = ("hedged", "denied", "withdrawn", "supposed", "mentioned")
"""Classes whose lines commit to no single option."""


def lines_of(name: str) -> list[str]:
    """Return the lines of a class. Those with "#" name the language of what follows."""
    rows = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [row for row in rows if not row.startswith("# ")]


def read(line: str, options: Sequence[str] = OPTIONS) -> str:
    """Return the letters read from a line, in which \\n is a line break and \\\\ a backslash."""
    text = "\\".join(part.replace("\\n", "\n") for part in line.split("\\\\"))
    reference = {"letter": "A", "options": options}
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return str(VERIFIER.verify(case).detail.get("letter", ""))


@pytest.mark.parametrize("name", READ)
def test_no_ending_that_commits_is_read_as_another_option(name: str) -> None:
    lines = lines_of(name)
    found = {line: read(line[2:]) for line in lines}
    wrong = {line: letter for line, letter in found.items() if letter not in ("", line[0])}
    unread = [line for line, letter in found.items() if not letter]
    assert not wrong
    assert len(unread) <= (1 - READ[name]) * len(lines), unread


@pytest.mark.parametrize("name", UNCOMMITTED)
def test_no_ending_without_a_commitment_settles_on_an_option(name: str) -> None:
    found = {line: letter for line in lines_of(name) if len(letter := read(line)) == 1}
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["second_pass", "third_pass", "fourth_pass"])
def test_endings_of_later_passes_are_read_likewise(name: str) -> None:
    """Lines that were written after the rules, to see what these miss. "-" marks those without commitment.

    Of the four sets of the second pass, the shares of the clear ones that were read rightly at first were 86,
    86, 82 and 100 in 100, and those of the others that were credited 11, 16, 40 and 4. The third of them was
    written to be hard.

    The sets of the third pass have every kind of ending, two thirds of them in English. Before the rules for
    the first were written, 89 of 100 clear ones were read, and 18 of 100 others credited. With these rules it
    was 83 and 18 of the second, with those for the second 89 and 12 of the third, then 80 and 15 of the
    fourth, 75 and 12 of the fifth, 85 and 11 of the sixth. Three clear endings in all were read as
    another option.

    Of the five sets of the fourth pass, each written after the rules for those before it, 92, 93, 93, 98
    (German, French, Spanish, Chinese) and 95 (whole answers) of 100 clear ones were read at first, and 8, 11,
    11, 0 and 20 of 100 others credited.
    """
    found = {line: read(line[2:]) for line in lines_of(name)}
    clear = {line: letter for line, letter in found.items() if line[0] != "-"}
    credited = [line for line, letter in found.items() if line[0] == "-" and len(letter) == 1]
    assert not {line: letter for line, letter in clear.items() if letter not in ("", line[0])}
    unread = [line for line, letter in clear.items() if not letter]
    assert len(unread) <= (0.02 if name == "fourth_pass" else 0.03) * len(clear), unread
    assert len(credited) <= (4 if name == "second_pass" else 2), credited


def test_endings_about_other_questions_are_read_likewise() -> None:
    """Lines about laws, calculations, cells and claims. Those with "@" have the options of what follows."""
    options: Sequence[str] = ()
    unread: list[str] = []
    wrong: list[str] = []
    clear = 0
    for line in lines_of("other_questions"):
        if line.startswith("@ "):
            options = line[2:].split("|")
            continue
        letter = read(line[2:], options)
        clear += line[0] != "-"
        if line[0] == "-":
            wrong += [line] if len(letter) == 1 else []
        elif letter != line[0]:
            (wrong if letter else unread).append(line)
    assert not wrong
    assert clear > 50 and len(unread) <= 3, unread


def test_half_of_the_endings_commit_to_nothing() -> None:
    settled, open_ones = (sum(len(lines_of(name)) for name in names) for names in (READ, UNCOMMITTED))
    assert len(lines_of("not_questions")) == 300 and len(lines_of("hedged")) >= 200
    assert settled >= 500 and open_ones >= 500
