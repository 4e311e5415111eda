"""Scores at fewer tokens than a run had."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.stats.budgets import Replies, budget_curve, budget_difference, budgets_up_to, problem_means
from genbench.stats.estimates import estimate
from tests.table import each_row

TOKENS = [700, 1200, 900, 5000, 2500, 3900, 8000, 2100, 12000, 16000, 9000, 16000]
TRACES = [600, 1100, 850, 4600, 2300, 3800, 7700, 1900, 11500, 16000, 8800, 16000]
SCORES = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0]


def replies(scores: list[int] | None = None, tokens: list[int] | None = None) -> Replies:
    """Three problems with four samples."""
    return Replies(
        np.repeat([0, 1, 2], 4),
        np.array(tokens or TOKENS),
        np.array(TRACES),
        np.array(scores or SCORES, dtype=float),
    )


# Worked by hand: budget, least and largest score, mean tokens, right answers for a thousand tokens.
ROWS = [
    (1000, 0.0833, 0.0833, 966.7, 0.0862),
    (2000, 0.1667, 0.2500, 1733.3, 0.0962),
    (2200, 0.2500, 0.2500, 1875.0, 0.1333),
    (7800, 0.4167, 0.5000, 4608.3, 0.0904),
    (8000, 0.5000, 0.5000, 4691.7, 0.1066),
    (16000, 0.6667, 0.6667, 6441.7, 0.1035),
]


def test_the_curve_is_that_of_the_worked_figures() -> None:
    curve = budget_curve(replies(), [row[0] for row in ROWS], 3, seed=0)
    found = zip(curve.budgets, curve.low, curve.high, curve.tokens, curve.per_thousand, strict=True)
    for row, (budget, low, high, tokens, per_thousand) in zip(ROWS, found, strict=True):
        assert budget == row[0]
        assert (round(low, 4), round(high, 4)) == row[1:3]
        assert (round(tokens, 1), round(per_thousand, 4)) == row[3:]
    assert (curve.ci_low <= curve.low).all() and (curve.high <= curve.ci_high).all()
    assert (np.diff(curve.low) >= 0).all() and (np.diff(curve.high) >= 0).all()


def test_an_answer_without_a_trace_that_was_not_finished_is_unknown() -> None:
    plain = Replies(np.array([0]), np.array([100]), np.array([0]), np.array([1.0]))
    assert [pair.tolist() for pair in plain.at(50)] == [[0.0], [1.0]]
    assert [pair.tolist() for pair in plain.at(100)] == [[1.0], [1.0]]


def test_budgets_are_halved_from_the_limit() -> None:
    assert budgets_up_to(32768) == (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
    assert budgets_up_to(100) == (50, 100) and budgets_up_to(40) == (40,)


@pytest.mark.slow
def test_the_interval_covers_the_score_at_each_budget() -> None:
    rng, budgets, problems, hits = np.random.default_rng(4), (500, 1000, 2000), 60, np.zeros(3)
    truth = np.array(
        [0.25, 0.5, 0.5]
    )  # half of the replies end by 1000, a quarter by 500, each right half the time
    for seed in range(200):
        tokens = rng.choice([400, 900, 1500, 1900], size=4 * problems)
        score = np.where(tokens <= 900, 1.0, 0.0)
        whole = Replies(np.repeat(np.arange(problems), 4), tokens, tokens, score)
        curve = budget_curve(whole, budgets, problems, seed=seed)
        hits += (curve.ci_low <= truth) & (truth <= curve.ci_high)
    assert (hits / 200 > 0.90).all()


def test_two_runs_are_compared_at_each_budget() -> None:
    budgets = [2000, 16000]
    rng = np.random.default_rng(0)
    problem = np.repeat(np.arange(80), 4)
    ability = np.repeat(rng.random(80), 4)
    long, short = rng.integers(2500, 9000, 320), rng.integers(300, 1900, 320)
    base = Replies(problem, short, short - 50, (rng.random(320) < ability).astype(float))
    tuned = Replies(problem, long, long - 50, (rng.random(320) < np.minimum(1, ability + 0.2)).astype(float))
    found = budget_difference(problem_means(base, budgets, 80), problem_means(tuned, budgets, 80))
    assert found.middle[0] < -0.3 and found.ci[0][1] < 0 and found.p[0] < 1e-6  # tuned has said nothing yet
    assert found.middle[1] > 0.05 and found.ci[1][0] > 0 and found.p[1] < 0.05
    alone = [
        budget_difference(problem_means(base, [budget], 80), problem_means(tuned, [budget], 80)).p[0]
        for budget in budgets
    ]
    assert found.p == pytest.approx(
        [2 * alone[0], alone[1]], rel=1e-9, abs=0
    )  # Holm: the smaller one of two is doubled
    assert (found.low <= found.middle).all() and (found.middle <= found.high).all()
    same = budget_difference(problem_means(base, budgets, 80), problem_means(base, budgets, 80))
    assert same.middle.tolist() == [0.0, 0.0] and same.p.tolist() == [1.0, 1.0]


@each_row("right", [0.0, 1.0])
def test_a_budget_at_which_nothing_or_all_was_right_has_the_interval_of_a_table(right: float) -> None:
    whole = Replies(np.repeat(np.arange(60), 4), np.full(240, 10), np.full(240, 9), np.full(240, right))
    curve = budget_curve(whole, [10], 60, seed=3)
    table = estimate("avg@4", np.full((60, 4), right), seed=3)
    assert (curve.ci_low[0], curve.ci_high[0]) == table.ci
    assert 0.02 < curve.ci_high[0] - curve.ci_low[0] < 0.15


def test_problems_of_one_group_are_resampled_together() -> None:
    right = np.repeat([1.0, 0.0], 20)
    whole = Replies(np.arange(40), np.full(40, 10), np.full(40, 10), right)
    alone = budget_curve(whole, [10], 40, seed=1)
    groups = [f"g{number // 10}" for number in range(40)]
    together = budget_curve(whole, [10], 40, groups=groups, seed=1)
    assert together.low == alone.low == [0.5]
    assert together.ci_high - together.ci_low > 2 * (alone.ci_high - alone.ci_low)
