"""Differences to the base from sums and counts agree with those from all samples."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.nights.ledger.differences import base_difference
from genbench.nights.ledger.vectors import Vector
from genbench.stats.comparison.paired import paired


def vector(scores: np.ndarray) -> Vector:
    counts = (~np.isnan(scores)).sum(axis=1)
    squares = None if np.isin(scores[~np.isnan(scores)], (0, 1)).all() else np.nansum(scores**2, axis=1)
    return Vector(np.nansum(scores, axis=1), counts.astype(np.int64), squares)


def draws(seed: int, n: int = 60, k: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) < np.random.default_rng(1).beta(1, 1, n)[:, None]).astype(np.float64)


@pytest.mark.parametrize("fractions", [False, True])
def test_difference_and_intervals_are_those_of_compare(fractions: bool) -> None:
    base, tuned = draws(2), draws(3)
    if fractions:
        base, tuned = base * 0.3, tuned * 0.7
    groups = [f"g{row // 2}" for row in range(60)]
    found = base_difference(vector(base), vector(tuned), groups)
    wanted = paired(base, tuned, groups=groups)
    assert found is not None and found.rerun_ci is not None and wanted.rerun_ci is not None
    assert found.difference == pytest.approx(wanted.difference)
    assert found.ci == pytest.approx(wanted.ci)
    assert found.rerun_ci == pytest.approx(wanted.rerun_ci, abs=1e-9)


def test_one_sample_of_each_problem_tells_nothing_about_a_rerun() -> None:
    found = base_difference(vector(draws(2, k=1)), vector(draws(3, k=1)))
    assert found is not None and found.rerun_ci is None


def test_problems_without_a_scored_sample_are_left_out() -> None:
    base, tuned = draws(2), draws(3)
    base[0] = np.nan
    found = base_difference(vector(base), vector(tuned))
    assert found is not None
    assert found.difference == pytest.approx((tuned[1:] - base[1:]).mean())


def test_runs_that_share_no_scored_problem_have_no_difference() -> None:
    empty = np.full((3, 2), np.nan)
    assert base_difference(vector(empty), vector(np.ones((3, 2)))) is None
