"""Rows that want an option, a word, a list of words or brackets."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.text.short_answer import ShortAnswerVerifier
from tests.table import each_row

OPTION = {"letter": "B", "options": ["12/11/1937", "12/25/1937", "01/04/1938"]}
BRACKETS = {"brackets": ") ] }"}
WORDS = {"words": "o'connell phony poole"}


def verify(text: str, reference: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return ShortAnswerVerifier().verify(case)


@each_row(
    "text, reference",
    [
        ("So the answer is (B).", OPTION),
        ("The answer is 12/25/1937.", OPTION),
        ("The answer is ) ] }.", BRACKETS),
        ("Answer: `)]}`", BRACKETS),
        ("Answer: ), ], }", BRACKETS),
        ("The answer is o'connell phony poole.", WORDS),
        ("Answer: O'Connell, phony, poole", WORDS),
        ("Answer: 1. o'connell 2. phony 3. poole", WORDS),
        ("The answer is True.", ["True"]),
        ("The answer is: **valid**", ["valid"]),
        ("The answer is -35.", ["-35"]),
        ("Answer: three", ["3"]),
        ("Answer: NO", ["no"]),
        ("1,200 people", ["1200"]),
        ("**Yes.** The reason is that both are.", ["Yes"]),
        ("**Yes**. Both are.\n\nThey were born in 1950.", ["Yes"]),
        ("The answer is Paris, not Lyon.", ["Paris"]),
        ("The answer is To be, not to seem.", ["To be, not to seem"]),
    ],
)
def test_every_form_of_answer_is_accepted(text: str, reference: Any) -> None:
    assert verify(text, reference).score == 1.0


@each_row(
    "text, reference",
    [
        ("So the answer is (A).", OPTION),
        ("The answer is ) ] >.", BRACKETS),
        ("The answer is [ ( ) ] }.", BRACKETS),
        ("Answer: ) ] } done", BRACKETS),
        ("The answer is phony o'connell poole.", WORDS),
        ("The answer is o'connell phony.", WORDS),
        ("The answer is invalid.", ["valid"]),
        ("The answer is 35.", ["-35"]),
        ("The answer is not valid.", ["valid"]),
        ("The answer is Yes and No.", ["Yes"]),
        ("The answer is 1,200 people.", ["200"]),
        ("The answer is Paris, not Lyon.", ["Lyon"]),
        ("**Yes.** No, they are not of one kind.", ["Yes"]),
        ("**Yes.** Both are.\n\nThe answer is No.", ["Yes"]),
        ("**Yes.** Both are.\n\nNo", ["Yes"]),
    ],
)
def test_other_answers_are_not(text: str, reference: Any) -> None:
    assert verify(text, reference).score == 0.0


@pytest.mark.parametrize("reference", [OPTION, BRACKETS, WORDS, ["True"]])
def test_an_empty_answer_and_one_taken_back_are_none(reference: Any) -> None:
    assert verify("", reference).reason == "no_answer"
    if reference is not OPTION:
        assert verify("The answer is ) ]\nThat is wrong.", reference).reason == "no_answer"


def test_votes_do_not_depend_on_separators() -> None:
    assert verify("Answer: a, b", WORDS).extracted == verify("Answer: A B", WORDS).extracted == "a b"


@pytest.mark.parametrize("reference", [None, {}, {"letter": "A"}, {"brackets": "x"}, []])
def test_a_reference_of_no_form_is_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="reference"):
        ShortAnswerVerifier().check(reference)
