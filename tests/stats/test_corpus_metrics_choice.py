"""Counts of single choices, from which f1 and mcc of a corpus are made."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.stats.corpus_metrics import METRICS, counts_of_choice


def whole(metric: str, pairs: list[tuple[int, int | None]], classes: int) -> float:
    rows = [counts_of_choice((metric,), gold, picked, classes)[metric] for gold, picked in pairs]
    return float(METRICS[metric](np.sum(rows, axis=0, keepdims=True))[0])


def test_f1_and_mcc_are_those_of_sklearn() -> None:
    # sklearn's f1_score and matthews_corrcoef give these for ([0, 1, 1, 0, 1], [0, 1, 0, 1, 1])
    pairs: list[tuple[int, int | None]] = [(0, 0), (1, 1), (1, 0), (0, 1), (1, 1)]
    assert whole("f1", pairs, 2) == pytest.approx(2 / 3)
    assert whole("mcc", pairs, 2) == pytest.approx(1 / 6)


def test_no_choice_is_a_wrong_one() -> None:
    pairs: list[tuple[int, int | None]] = [(0, 0), (1, 1), (1, None), (0, None)]
    assert whole("f1", pairs, 2) == pytest.approx(2 / 3)
    assert whole("mcc", pairs, 2) < 1
