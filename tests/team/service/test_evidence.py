"""Which problems a change is shown by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genbench.nights.trend.compose import compose
from genbench.stats.scores import Floats
from genbench.team.service.pages.evidence import moved_problems
from tests.nights.trend.histories import K, change, drawn, history, losses

NIGHTS, FIRST = 28, 14


def planted(seed: int, problems: int = 400, fallen: int = 10) -> tuple[Floats, set[str]]:
    """Return the correct answers of nights, and the problems whose rate fell by 0.5 at night FIRST."""
    rng = np.random.default_rng(seed)
    rates = np.tile(rng.beta(0.8, 0.8, size=problems), (NIGHTS, 1))
    chosen = rng.choice(np.flatnonzero(rates[0] >= 0.6), fallen, replace=False)
    rates[FIRST:, chosen] -= 0.5
    return rng.binomial(K, rates).astype(np.float64), {str(name) for name in chosen}


def test_a_fall_in_ten_problems_is_shown_by_at_least_eight_of_the_first_twelve() -> None:
    found = []
    for seed in range(40):
        sums, fallen = planted(seed)
        track = history(
            {"gpqa": sums, "aime": drawn(losses(NIGHTS), seed=seed)}, changes=[change(FIRST, FIRST + 2)]
        )
        shown = moved_problems(track, compose(track).changes[0])
        assert {item.task for item in shown} == {"gpqa"}
        found.append(sum(item.problem_id in fallen for item in shown))
    assert min(found) >= 8


def test_a_noisy_problem_does_not_come_before_a_clear_one() -> None:
    # Problem 0 fell from 8 of 8 to 3 of 8 in its only two nights, problem 1 from 100 % to 60 % in all nights.
    sums = np.full((NIGHTS, 200), float(K))
    sums[:, 0], sums[FIRST - 1, 0], sums[FIRST, 0] = 0, K, 3
    sums[FIRST:, 1] = 0.6 * K
    counts = np.full(sums.shape, K)
    counts[:, 0] = 0
    counts[[FIRST - 1, FIRST], 0] = K
    track = history({"gpqa": sums}, changes=[change(FIRST, FIRST + 2)])
    (epoch,) = track.series["gpqa"].epochs
    epoch.counts[:] = counts
    shown = moved_problems(track, compose(track).changes[0])
    assert [item.problem_id for item in shown[:2]] == ["1", "0"]
    assert shown[0].before - shown[0].after < shown[1].before - shown[1].after


def test_a_change_of_all_gating_tasks_together_shows_problems_of_those_only() -> None:
    sums, _ = planted(1)
    track = history({"gpqa": sums, "other": sums}, changes=[change(FIRST, FIRST + 2, task=None)])
    own = {"gpqa": replace(track.series["gpqa"], gating=False), "other": track.series["other"]}
    track = replace(track, series=own)
    assert {item.task for item in moved_problems(track, compose(track).changes[0])} == {"other"}
