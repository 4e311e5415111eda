"""Answers that are doubted, taken back, corrected or confirmed again, for every verifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.protocols import Verifier
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.structured.arc_grid import GridVerifier
from genbench.verifiers.structured.json_table import TableVerifier
from genbench.verifiers.text.exact import ExactVerifier
from genbench.verifiers.text.short_answer import ShortAnswerVerifier
from tests.table import each_row

FOLDER = Path(__file__).with_name("changes_of_mind")
OPTIONS = ["the red shift", "the blue shift", "no shift at all", "a shift of both"]
CHOICE, MATH = ChoiceVerifier(), MathVerifier()
BEFORE = ("", "The source does not move at all.\n\n")

GRID = "[[1, 2], [3, 4]]"
TABLE = '{"solution": {"House 1": {"Name": "Eric"}}}'
GIVEN: dict[str, tuple[Verifier, Any, tuple[str, ...]]] = {
    "grid": (GridVerifier(), [[1, 2], [3, 4]], (GRID, "1 2\n3 4", f"```\n{GRID}\n```")),
    "table": (TableVerifier(), {"House 1": {"Name": "Eric"}}, (TABLE,)),
    "equal": (
        ExactVerifier("stated", ignore_case=True, ignore_punctuation=True),
        "Paris",
        ("Answer: Paris", "The answer is **Paris**.", "\\boxed{Paris}"),
    ),
    "contains": (
        ExactVerifier("stated", match="contains", ignore_case=True, ignore_punctuation=True),
        "Paris",
        ("Answer: Paris", "The answer is **Paris**.", "\\boxed{Paris}"),
    ),
    "words": (ShortAnswerVerifier(), {"words": "paris"}, ("Answer: Paris", "\\boxed{Paris}")),
}
TAKEN_BACK = [
    *("Sorry, that is wrong.", "No, wait.", "Wait, no.", "Just kidding.", "Scratch that.", "Never mind."),
    *("This is not correct.", "My answer is wrong.", "I made a mistake.", "Sorry, I cannot solve it."),
    *("I give up.", "Ignore that.", "Disregard the above.", "I take that back.", "I was wrong."),
    *("Nein, das ist falsch.", "C'est faux.", "Eso es incorrecto.", "不对。", "That can't be right."),
    *("I withdraw my answer.", "I've changed my mind.", "Is that right? No.", "Hmm, no, that is not right."),
]
LEFT_STANDING = [
    *("", "This is correct.", "Wait, let me check the rule. Row 1 fits. Yes, that is right."),
    *(
        "No other one fits.",
        "I hope this is correct.",
        "Note that it is not 0.",
        "Is another one possible? No.",
    ),
    *("The other rule would be wrong.", "If this is wrong, tell me.", "Sorry for the length."),
    *(
        "My answer is right.",
        "Some say London, but that is wrong.",
        "Never mind the border.",
        "Options:\n- Yes\n- No",
    ),
]


def lines_of(name: str) -> list[tuple[str, str]]:
    """Return (what is wanted, text) of each line. Line breaks are written as \\n, backslashes are doubled."""
    rows = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    pairs = [row.split("\t", 1) for row in rows]
    return [
        (wanted, "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\")))
        for wanted, text in pairs
    ]


def case(text: str, reference: Any) -> Case:
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)


def letters(text: str) -> str:
    found: str = CHOICE.verify(case(text, {"letter": "A", "options": OPTIONS})).detail.get("letter", "")
    return found


def test_the_lists_have_texts_of_both_kinds() -> None:
    options, values = lines_of("choice"), lines_of("mathematics")
    assert (
        min(sum(wanted in "-*" for wanted, _ in options), sum(wanted in "ABCD" for wanted, _ in options))
        >= 150
    )
    assert min(sum(wanted == "0" for wanted, _ in values), sum(wanted == "1" for wanted, _ in values)) >= 70


@pytest.mark.slow
@pytest.mark.parametrize("before", BEFORE, ids=["alone", "after a sentence"])
def test_the_option_is_the_one_that_is_left_in_the_end(before: str) -> None:
    wrong: dict[str, str] = {}
    for wanted, text in lines_of("choice"):
        found = letters(before + text)
        right = {"-": found == "", "*": len(found) != 1}.get(wanted, found == wanted)
        if not right:
            wrong[text] = found
    assert not wrong


def test_the_value_is_the_one_that_is_left_in_the_end() -> None:
    wrong = {
        text: found.detail
        for wanted, text in lines_of("mathematics")
        if (found := MATH.verify(case(text, "7/3"))).score != float(wanted)
    }
    assert not wrong


@pytest.mark.parametrize("name", GIVEN)
def test_other_answers_that_are_taken_back_are_none(name: str) -> None:
    verifier, reference, answers = GIVEN[name]
    for answer in answers:
        for after in TAKEN_BACK:
            found = verifier.verify(case(f"{answer}\n{after}", reference))
            assert (found.score, found.reason) == (0.0, "no_answer"), (answer, after)


@pytest.mark.parametrize("name", GIVEN)
def test_other_answers_stay_right_if_what_follows_is_about_something_else(name: str) -> None:
    verifier, reference, answers = GIVEN[name]
    for answer in answers:
        for after in LEFT_STANDING:
            assert verifier.verify(case(f"{answer}\n{after}", reference)).score == 1.0, (answer, after)


@each_row("name", ["equal", "contains", "words"])
@each_row(
    "text, score",
    [
        ("I doubt that the answer is Paris.", 0.0),
        ("My friend says the answer is Paris.", 0.0),
        ("Suppose the answer is Paris.", 0.0),
        ("Answer: ~~Paris~~", 0.0),
        ("~~Answer: Paris~~", 0.0),
        ("I doubt that the answer is \\boxed{Paris}.", 0.0),
        ("The answer is Paris. I doubt that the answer is Paris.", 0.0),
        ("Ich glaube nicht, dass die Antwort Paris ist.", 0.0),
        ("No creo que la respuesta sea Paris.", 0.0),
        ("The answer is Paris. I doubt that the answer is London.", 1.0),
        ("Answer: ~~London~~ Paris", 1.0),
        ("I have no doubt that the answer is Paris.", 1.0),
        ("It is not hard to see that the answer is Paris.", 1.0),
    ],
)
def test_doubted_texts_are_no_answers(name: str, text: str, score: float) -> None:
    verifier, reference, _ = GIVEN[name]
    assert verifier.verify(case(text, reference)).score == score


@pytest.mark.parametrize("text", [f"~~{GRID}~~", f"<del>{GRID}</del>", f"I doubt that the output is {GRID}"])
def test_grids_that_are_crossed_out_or_doubted_are_not_given(text: str) -> None:
    assert GIVEN["grid"][0].verify(case(text, [[1, 2], [3, 4]])).score == 0.0


@pytest.mark.parametrize("text", ["Answer: Paris. Just kidding.", "Answer: Dr. No"])
def test_the_line_of_an_answer_is_read_as_the_answer(text: str) -> None:
    assert GIVEN["equal"][0].verify(case(text, text.removeprefix("Answer: "))).score == 1.0
