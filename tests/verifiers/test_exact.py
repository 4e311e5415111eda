"""Plain equality of texts and what may be left out of it."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.exact import ExactVerifier


def verify(text: str, reference: Any, **options: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return ExactVerifier(**options).verify(case)


def test_equal_texts_are_correct_and_others_wrong() -> None:
    assert verify("red fox", "red fox").score == 1
    finding = verify("red box", "red fox")
    assert (finding.score, finding.reason, finding.extracted) == (0, "wrong", "red box")


def test_ends_are_trimmed_and_runs_of_blanks_count_as_one() -> None:
    assert verify("  red\n  fox ", "red fox").score == 1
    assert verify("red  fox", "red fox", ignore_whitespace=False).score == 0
    assert verify(" red fox\n", "red fox", ignore_whitespace=False).score == 1


def test_case_counts_unless_it_is_ignored() -> None:
    assert verify("Red Fox", "red fox").score == 0
    assert verify("Red STRASSE", "red straße", ignore_case=True).score == 1


def test_punctuation_and_articles_count_unless_they_are_ignored() -> None:
    assert verify("The fox.", "fox").score == 0
    assert verify("The fox.", "fox", ignore_punctuation=True, ignore_articles=True).score == 1
    assert verify("theatre", "atre", ignore_articles=True).score == 0


def test_composed_and_decomposed_letters_are_equal() -> None:
    assert verify("cafe\u0301", "café").score == 1


@pytest.mark.parametrize("text", ["1000", "1,000", "1000.0", "1 000", "01000", "$1,000"])
def test_numbers_are_compared_by_value_on_request(text: str) -> None:
    assert verify(text, "1000", numbers=True).score == 1
    assert verify(text, 1000, numbers=True).score == 1
    assert verify(text, "1001", numbers=True).score == 0


def test_number_normalisation_leaves_words_alone() -> None:
    assert verify("one thousand", "one thousand", numbers=True).score == 1
    assert verify("one thousand", "1000", numbers=True).score == 0


def test_any_of_several_references_will_do() -> None:
    assert verify("fox", ["wolf", "fox"]).score == 1
    assert verify("dog", ["wolf", "fox"]).score == 0


def test_the_last_line_or_the_final_answer_can_be_compared() -> None:
    assert verify("Let me see.\nfox\n\n", "fox", extract="last_line").score == 1
    assert verify("I think \\boxed{fox} it is.", "fox", extract="final").score == 1
    assert verify("Some words. The answer is fox.", "fox", extract="final").score == 1
    assert verify("fox", "fox", extract="final").score == 1


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_no_answer(text: str) -> None:
    for extract in ("whole", "last_line", "final"):
        assert verify(text, "fox", extract=extract).reason == "no_answer"


def test_an_unknown_extract_is_refused() -> None:
    with pytest.raises(ConfigError, match="last_line"):
        ExactVerifier(extract="lastline")  # type: ignore[arg-type]


@pytest.mark.parametrize("reference", [None, True, {}, []])
def test_a_reference_of_the_wrong_kind_is_an_error(reference: Any) -> None:
    with pytest.raises(DataError, match="exact reference"):
        verify("fox", reference)
