"""Simulation of what the intervals and the gate promise; benchmarks/coverage.py has the long tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr

from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import paired
from genbench.stats.estimates import estimate
from genbench.stats.intervals import problem_interval, rerun_interval, t_quantile
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats, as_scores
from tests.table import each_row

ICC = 0.48
REPS = 1_000
NIGHTS = 400
SUITE = ((30, 64, 16), (198, 64, 8), (268, 64, 8), (541, 8, 1), (500, 16, 4))
"""Problems, k of the stored base, k of tuned."""


def difficulties(mean: float, normal: Floats) -> Floats:
    """True means of problems: a beta law with the given mean and between-problem share of variance."""
    total = 1 / ICC - 1
    return np.asarray(betaincinv(mean * total, (1 - mean) * total, ndtr(normal)), dtype=np.float64)


def sampled(p: Floats, k: int, rng: np.random.Generator) -> Floats:
    return (rng.random((len(p), k)) < p[:, None]).astype(np.float64)


@pytest.mark.slow
def test_few_groups_of_many_problems_have_about_the_interval_of_t() -> None:
    """13 groups of 50 problems with an ICC of .05. Bounds are three errors of 400 repetitions wide."""
    codes = np.repeat(np.arange(13), 50)
    groups = [str(code) for code in codes]
    covered, ours, theirs = 0, 0.0, 0.0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        rates = rng.beta(0.6 * 19, 0.4 * 19, size=13)
        values = rng.binomial(1, rates[codes]).astype(np.float64)
        found = problem_interval(values, seed=seed, groups=groups, resamples=1000)
        covered += found.low <= 0.6 <= found.high
        ours += found.high - found.low
        theirs += 2 * t_quantile(0.95, 13) * (cluster(values, groups).se or 0.0)
    assert 0.925 - 0.033 <= covered / 400 <= 0.99
    assert 0.9 < ours / theirs < 1.3


@pytest.mark.slow
def test_few_groups_near_an_edge_are_covered_where_t_is_not() -> None:
    """8 groups of 30 problems, mean .9, ICC .4. The spread of so few groups is often far too small."""
    codes = np.repeat(np.arange(8), 30)
    groups = [str(code) for code in codes]
    covered = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        rates = rng.beta(0.9 * 1.5, 0.1 * 1.5, size=8)
        values = rng.binomial(1, rates[codes]).astype(np.float64)
        found = problem_interval(values, seed=seed, groups=groups, resamples=500)
        covered += found.low <= 0.9 <= found.high
    assert covered / 400 >= 0.925 - 0.033


@pytest.mark.slow
@each_row(
    "n, k, mean",
    [
        (30, 1, 0.5),
        (30, 8, 0.9),
        (30, 64, 0.5),
        (30, 64, 0.9),
        (30, 64, 0.98),
        (198, 8, 0.5),
        (198, 8, 0.98),
        (198, 8, 0.998),
        (541, 1, 0.998),
    ],
)
def test_question_population_intervals_hold_the_truth_in_93_of_100_runs(n: int, k: int, mean: float) -> None:
    rng = np.random.default_rng([n, k, int(mean * 1000)])
    hits = 0
    for rep in range(REPS):
        scores = sampled(difficulties(mean, rng.standard_normal(n)), k, rng)
        ci = estimate("avg@k", scores, seed=rep, resamples=500).ci
        assert ci is not None
        hits += ci[0] <= mean <= ci[1]
    assert hits / REPS >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "mean"), [(30, 8, 0.5), (30, 64, 0.5), (198, 8, 0.9), (268, 16, 0.98)])
def test_rerun_intervals_hold_the_truth_of_these_very_problems(n: int, k: int, mean: float) -> None:
    rng = np.random.default_rng([n, k])
    hits = 0
    for _ in range(REPS):
        p = difficulties(mean, rng.standard_normal(n))
        interval = rerun_interval(as_scores(sampled(p, k, rng)))
        assert interval is not None
        hits += interval.low <= p.mean() <= interval.high
    assert hits / REPS >= 0.93


@pytest.mark.slow
def test_the_gate_raises_a_false_alarm_in_at_most_five_of_a_hundred_nights() -> None:
    rng = np.random.default_rng(20)
    alarms = improvements = 0
    for _ in range(NIGHTS):
        tasks = {}
        for n, k_base, k_tuned in SUITE:
            first = rng.standard_normal(n)
            second = 0.98 * first + np.sqrt(1 - 0.98**2) * rng.standard_normal(n)
            base = sampled(difficulties(0.5, first), k_base, rng)
            tuned = sampled(difficulties(0.5, second), k_tuned, rng)
            tasks[f"{n}x{k_tuned}"] = paired(base, tuned)
        verdict = gate(tasks).verdict
        alarms += verdict == "REGRESSED"
        improvements += verdict == "IMPROVED"
    assert alarms / NIGHTS <= 0.05
    assert improvements / NIGHTS <= 0.05
    assert alarms + improvements > 0  # a gate that never speaks would pass too
