"""F1 of words as DROP's evaluator computes it. The values were worked out by hand from its rules."""

from __future__ import annotations

import pytest

from genbench.verifiers.text.exact import normalised, overlap
from tests.table import each_row


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Big-Red Fox!", "big red fox"),
        ("1,000 men", "1000.0 men"),
        ("4", "4.0"),
        ("4.50", "4.5"),
        ("a", ""),
        ("U.S.", "us"),
        ("an  apple", "apple"),
    ],
)
def test_words_are_normalised_one_by_one(text: str, wanted: str) -> None:
    assert normalised(text) == wanted


@each_row(
    "answer, reference, f1, exact",
    [
        (["Paris"], ["Paris"], 1.0, 1.0),
        (["the Paris"], ["Paris"], 1.0, 1.0),
        (["big Paris"], ["Paris"], 0.67, 0.0),
        (["red fox"], ["fox red"], 1.0, 0.0),
        (["4 yards"], ["4"], 0.67, 0.0),
        (["5 yards"], ["4 yards"], 0.0, 0.0),
        (["yards"], ["4 yards"], 0.0, 0.0),
        (["4"], ["4.0"], 1.0, 1.0),
        (["London"], ["Paris"], 0.0, 0.0),
        (["B", "A"], ["A", "B"], 1.0, 1.0),
        (["A"], ["A", "B"], 0.5, 0.0),
        (["A", "B", "C"], ["A", "B"], 0.67, 0.0),
        (["A B"], ["A", "B"], 0.33, 0.0),
        (["red fox", "hen"], ["hen", "fox"], 0.83, 0.0),
        ([""], ["Paris"], 0.0, 0.0),
    ],
)
def test_parts_are_assigned_one_to_one_and_numbers_must_agree(
    answer: list[str], reference: list[str], f1: float, exact: float
) -> None:
    # "A" alone is an article, so letters are given with a second one.
    spelt = [part.replace("A", "ax").replace("B", "bx").replace("C", "cx") for part in answer]
    wanted = [part.replace("A", "ax").replace("B", "bx").replace("C", "cx") for part in reference]
    assert overlap(spelt, [wanted]) == pytest.approx((f1, exact))


def test_the_best_reference_counts_for_each_measure() -> None:
    assert overlap(["red fox"], [["fox"], ["red fox"], ["hen"]]) == (1.0, 1.0)
