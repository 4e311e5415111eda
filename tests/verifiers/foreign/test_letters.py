"""The letters that published extractions read, and what they do with hostile texts."""

from __future__ import annotations

import time

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.foreign.published_extraction import (
    RULES,
    LetterVerifier,
    lm_eval,
    mmlu_pro,
    simple_evals,
)
from tests.table import each_row

REFERENCE = {"letter": "B", "options": ["one", "two", "three"]}


def verified(rule: str, text: str, reference: object = REFERENCE) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return LetterVerifier(rule).verify(case)


@each_row(
    "text, found",
    [
        ("The answer is (B). The answer is (C).", ("B", "announcement")),
        ("so the answer is J", ("J", "announcement")),
        ("The Answer is B", ("B", "guess")),
        ("Answer: A\nanswer: C", ("A", "label")),
        ("Answer: A, answer: C\nAnswer: D", ("C", "label")),
        ("Answer: Answer: B", ("B", "label")),
        ("Answer:\n\n  G", ("G", "label")),
        ("Answer: k\nI take A.", ("A", "guess")),
        ("I think A or B, and K", ("B", "guess")),
        ("IBM and JK", None),
        ("no letter at all", None),
        ("", None),
    ],
)
def test_mmlu_pro_reads_in_three_steps(text: str, found: tuple[str, str] | None) -> None:
    assert mmlu_pro(text) == found


def test_lm_eval_stops_after_the_first_step() -> None:
    assert lm_eval("The answer is (B)") == ("B", "announcement")
    assert lm_eval("Answer: B") is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [("Answer: B", "B"), ("answer:$c$", "C"), ("ANSWER : a\nAnswer: B", "A"), ("Answer: E", None)],
)
def test_simple_evals_reads_the_first_answer_line(text: str, letter: str | None) -> None:
    found = simple_evals(text)
    assert (found and found[0]) == letter


def test_an_answer_without_a_letter_is_wrong_and_never_drawn_at_random() -> None:
    for _ in range(5):
        found = verified("mmlu-pro", "none of them")
        assert (found.score, found.reason) == (0.0, "no_answer")
        assert found.parts == {"with_guess": pytest.approx(1 / 3)}


def test_the_finding_names_the_letter_and_how_it_was_read() -> None:
    found = verified("mmlu-pro", "The answer is (B)")
    assert (found.score, found.extracted) == (1.0, "two")
    assert found.detail == {"read_by": "announcement", "letter": "B"}
    assert found.parts == {"with_guess": 1.0}


def test_a_letter_beyond_the_options_is_wrong() -> None:
    found = verified("mmlu-pro", "The answer is (J)")
    assert (found.score, found.extracted) == (0.0, "J")


def test_further_right_options_and_options_of_the_same_text_are_right() -> None:
    twice = {"letter": "B", "options": ["one", "two", "two"]}
    assert verified("mmlu-pro", "The answer is (C)", twice).score == 1.0
    assert verified("mmlu-pro", "The answer is (A)", REFERENCE | {"also": "A"}).score == 1.0
    with pytest.raises(DataError, match="also 'Z'"):
        verified("mmlu-pro", "The answer is (A)", REFERENCE | {"also": "Z"})


def test_a_malformed_reference_is_refused_before_a_run() -> None:
    LetterVerifier("mmlu-pro").check(REFERENCE)
    with pytest.raises(DataError, match="choice reference"):
        LetterVerifier("mmlu-pro").check({"letter": "B"})


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown rule 'mmlupro'; did you mean 'mmlu-pro'"):
        LetterVerifier("mmlupro")


def test_the_version_names_the_rule() -> None:
    versions = {LetterVerifier(rule).version for rule in RULES}
    assert len(versions) == len(RULES) and "letters 1 (mmlu-pro)" in versions


HOSTILE = [
    "answer: " * 30_000,
    "Answer:" + " " * 250_000,
    "x" * 250_000,
    "A " * 120_000,
    "answer is (" * 25_000,
]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_hostile_texts_take_linear_time(rule: str) -> None:
    # The source's own second pattern needs 2.9 s for 16,000 characters of one line.
    began = time.process_time()
    for text in HOSTILE:
        verified(rule, text)
    assert time.process_time() - began < 2
