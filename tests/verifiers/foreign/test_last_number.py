"""The last number after a prefix, as simple-evals reads it."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.foreign.published_extraction import LastNumberVerifier


def verify(text: str, number: str = "18", prefix: str = "Answer") -> Finding:
    reference = {"number": number, "prefix": prefix}
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return LastNumberVerifier().verify(case)


@pytest.mark.parametrize(
    "text",
    [
        "Answer: 18",
        "7\nAnswer: 18.",
        "Answer: 18.00",
        "Answer: $18",
        "Answer 3 Answer: 18",
        "Answer: 9 + 9 = 18",
    ],
)
def test_the_last_number_after_the_last_prefix_counts(text: str) -> None:
    assert verify(text).score == 1.0


def test_commas_are_dropped_and_a_sign_is_not_read() -> None:
    assert verify("Answer: 1,800", "1800").score == 1.0
    assert verify("Answer: -18").score == 1.0


def test_another_number_is_wrong_and_none_is_no_answer() -> None:
    assert (verify("Answer: 18 of 20").score, verify("Answer: 18 of 20").extracted) == (0.0, "20")
    assert verify("It is 18").reason == "no_answer"
    assert verify("Answer: eighteen").reason == "no_answer"


def test_the_prefix_is_that_of_the_language_and_may_be_empty() -> None:
    assert verify("答え: 18", prefix="答え").score == 1.0
    assert verify("It is 18", prefix="").score == 1.0


@pytest.mark.parametrize(
    "reference",
    [None, "18", {"number": "18"}, {"number": "-18", "prefix": ""}, {"number": "x", "prefix": ""}],
)
def test_a_reference_without_a_number_and_a_prefix_is_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="last_number reference"):
        LastNumberVerifier().check(reference)
