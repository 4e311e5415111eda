"""References of GSM-Plus and MGSM."""

from __future__ import annotations

import pytest

from genbench.errors import DataError
from genbench.tasks.rows import ANSWER_PREFIXES, gsm_plus_answer, mgsm_answer


@pytest.mark.parametrize(
    ("answer", "kept"), [("4.33", "4.33"), ("1,000", "1000"), ("1/2", "1/2"), (" -3 ", "-3")]
)
def test_answers_of_gsm_plus_are_numbers(answer: str, kept: str) -> None:
    row = gsm_plus_answer({"answer": answer, "perturbation_type": "digit expansion"}, 0)
    assert isinstance(row, dict) and row["answer"] == kept


def test_a_row_without_a_gold_answer_cannot_be_asked_and_says_why() -> None:
    with pytest.raises(DataError, match=r"gold answer is None \(critical thinking"):
        gsm_plus_answer({"answer": "None", "perturbation_type": "critical thinking"}, 0)
    with pytest.raises(DataError, match="wanted a number"):
        gsm_plus_answer({"answer": "ten", "perturbation_type": "x"}, 0)


def test_a_row_of_mgsm_knows_the_word_before_its_answer() -> None:
    row = mgsm_answer({"answer_number": 1800.0, "language": "de"}, 0)
    assert isinstance(row, dict) and (row["answer"], row["prefix"]) == ("1800", "Antwort")
    assert len(ANSWER_PREFIXES) == 11


def test_an_unknown_language_or_answer_is_refused() -> None:
    with pytest.raises(DataError, match="the language is 'it'"):
        mgsm_answer({"answer_number": 5, "language": "it"}, 0)
    with pytest.raises(DataError, match="wanted a whole number"):
        mgsm_answer({"answer_number": None, "language": "de"}, 0)
