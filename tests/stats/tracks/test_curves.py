"""Figures that tell whether a measure separates checkpoints, against scipy and worked examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from genbench.stats.tracks.curves import monotonicity, order_agreement, signal_to_noise


def test_monotonicity_is_spearmans_correlation() -> None:
    values = [0.1, 0.3, 0.2, 0.5, 0.5, 0.4]
    steps = [1, 2, 4, 8, 16, 32]
    assert monotonicity(steps, values) == pytest.approx(stats.spearmanr(steps, values).statistic)
    assert monotonicity([1, 2, 3], [1.0, 1.0, 1.0]) == 0.0
    assert monotonicity([1, 2], [0.0, 1.0]) is None


def test_the_noise_of_second_differences_is_that_of_one_step() -> None:
    rng = np.random.default_rng(0)
    values = np.linspace(0, 10, 4000) + rng.normal(0, 0.25, 4000)
    found = signal_to_noise(list(values))
    assert found == pytest.approx(10 / 0.25, rel=0.1)
    assert signal_to_noise([0.0, 1.0, 2.0]) is None
    assert signal_to_noise([0.0, 1.0, 2.0, 3.0]) == math.inf
    assert signal_to_noise([1.0] * 5) is None


def test_the_order_of_runs_agrees_with_that_of_the_last_step() -> None:
    values = {"a": [1.0, 3.0, 3.0], "b": [2.0, 2.0, 2.0], "c": [1.0, 1.0, 1.0]}
    assert order_agreement(values) == pytest.approx([0.5, 1.0, 1.0])
