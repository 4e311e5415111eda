"""Shares of wanted texts, sets of items, and recited texts."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.text.contains import ContainsVerifier
from genbench.verifiers.text.continuation_overlap import RecitedVerifier
from genbench.verifiers.text.set_match import SetVerifier
from tests.table import each_row


def verified(verifier: Any, text: str, reference: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    found: Finding = verifier.verify(case)
    return found


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("12, 34 and 56", ["12", "34", "56", "78"], 0.75),
        ("ABC", ["abc"], 1),
        ("start", ["art"], 0),
        ("the art.", ["art"], 1),
        ("nothing", ["x", "y"], 0),
        ("It costs $10.99, or 3.10.", ["10"], 0),
        ("It costs 10,500 or 1,010.", ["10"], 0),
        ("I see 10,20 and 1234567,7654321. No. 30.", ["10", "20", "30", "1234567", "7654321"], 1),
        ("It costs 10,500.50 or 10.5.", ["10,500.50", "10.5"], 1),
        ("Mx 1", {"texts": ["person 1", "Mx 1"], "need": "any"}, 1),
        ("Mx 12", {"texts": ["person 1", "Mx 1"], "need": "any"}, 0),
    ],
)
def test_the_score_is_the_share_of_wanted_texts(answer: str, reference: Any, score: float) -> None:
    assert verified(ContainsVerifier(), answer, reference).score == score


def test_substring_counts_as_the_authors_of_ruler_do() -> None:
    assert verified(ContainsVerifier("substring"), "start", ["art"]).score == 1
    assert verified(ContainsVerifier("substring", need="any"), "start", ["x", "art"]).score == 1


def test_an_answer_that_lists_more_than_is_wanted_is_marked() -> None:
    assert verified(ContainsVerifier(), "1. a 2. b", ["a", "b"]).parts == {"exact": 1, "more": 0}
    assert verified(ContainsVerifier(), "a, b, c, d", ["a", "b"]).parts == {"exact": 1, "more": 1}
    empty = verified(ContainsVerifier(), " \x01 ", ["a"])
    assert (empty.score, empty.reason) == (0, "no_answer")


def test_contains_refuses_references_that_every_answer_has() -> None:
    for reference in ("", [" "], [], {"texts": ["a"], "need": "some"}, {"need": "all"}):
        with pytest.raises(DataError):
            ContainsVerifier().check(reference)
    with pytest.raises(ConfigError, match="match is 'word'"):
        ContainsVerifier("word")  # type: ignore[arg-type]


@each_row(
    "answer, reference, score",
    [
        ("so\nFinal Answer: [a, b]", ["b", "a"], 1),
        ("so\nFinal Answer: ['a', \"b\"]", ["b", "a"], 1),
        ("**Final Answer:** [a]", ["a"], 1),
        ("Final Answer: [a, c]", ["a", "b"], 0.5),
        ("Final Answer: []", [], 1),
        ("Final Answer: [a]", [], 0),
        ("Final Answer: []", ["a"], 0),
        ("Final Answer: [a]\nI hope this helps.", ["a"], 0),
        ("a, b", ["a", "b"], 0),
        ("Final Answer: [7]", [7], 1),
    ],
)
def test_sets_are_compared_without_order(answer: str, reference: Any, score: float) -> None:
    assert verified(SetVerifier(), answer, reference).score == score


def test_the_last_marker_may_be_anywhere_if_that_is_asked_for() -> None:
    assert verified(SetVerifier(find="last"), "Final Answer: [a]\nBye", ["a"]).score == 1
    assert verified(SetVerifier(ignore_case=True), "Final Answer: [A]", ["a"]).score == 1
    assert verified(SetVerifier(), "none", ["a"]).reason == "no_answer"
    for wrong in ({"a"}, "a", [1.5], None):
        with pytest.raises(DataError):
            SetVerifier().check(wrong)
    for options in ({"find": "first"}, {"marker": " "}):
        with pytest.raises(ConfigError):
            SetVerifier(**options)  # type: ignore[arg-type]


def test_a_recited_text_must_begin_as_asked() -> None:
    reference = {"begins": "aB3", "text": "the whole text of the reply"}
    assert verified(RecitedVerifier(), "aB3the whole text of the reply", reference).score == 1
    near = verified(RecitedVerifier(), "aB3the whole text of a reply", reference)
    assert 0.9 < near.score < 1
    late = verified(RecitedVerifier(), "\n\naB3the whole text of the reply", reference)
    assert (late.score, late.reason, late.parts) == (0, "format_error", {"stripped": 1})
    other = verified(RecitedVerifier(), "the whole text of the reply", reference)
    assert (other.score, other.reason, other.parts) == (0, "format_error", {"stripped": 0})
    assert verified(RecitedVerifier(), " ", reference).reason == "no_answer"
    for wrong in ("text", {"begins": "a"}, {"begins": "", "text": "b"}):
        with pytest.raises(DataError):
            RecitedVerifier().check(wrong)


def test_hostile_answers_take_no_time() -> None:
    long = "a, " * 200_000 + "Final Answer: [" * 20_000
    for verifier, reference in ((ContainsVerifier(), ["zz"]), (SetVerifier(), ["zz"])):
        assert verified(verifier, long, reference).score == 0
    assert (
        verified(RecitedVerifier(), "aB3" + "x" * 100_000, {"begins": "aB3", "text": "x" * 4_000}).score == 0
    )
