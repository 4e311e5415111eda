"""The gating tasks together: the bound of their mean, what it is worth, and its error in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from genbench.stats.comparison.differences import lower_bound
from genbench.stats.comparison.gate import together
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats

MARGIN = 0.03


def pair(differences: Floats) -> Paired:
    """Problems whose scores differ by these values, at k = 1."""
    return paired(np.maximum(-differences, 0)[:, None], np.maximum(differences, 0)[:, None])


def flat(n: int, seed: int, by: float = 0.0) -> Paired:
    rng = np.random.default_rng(seed)
    return pair(np.clip(rng.normal(by, 0.1, n), -1, 1))


def margins(tasks: dict[str, Paired], value: float = MARGIN) -> dict[str, float]:
    return dict.fromkeys(tasks, value)


def test_the_bound_of_one_task_is_its_own() -> None:
    task = flat(200, 1)
    found = together({"a": task}, {"a": MARGIN}, MARGIN)
    assert task.clusters is not None
    assert found.difference == pytest.approx(task.difference)
    assert found.lower == pytest.approx(lower_bound(task.clusters))
    assert found.problems == 200


def test_bounds_of_tasks_are_joined_in_squares_with_equal_weights() -> None:
    tasks = {"a": flat(200, 1), "b": flat(150, 2, -0.01)}
    found = together(tasks, margins(tasks), MARGIN)
    assert found.difference is not None
    assert found.lower is not None
    a, b = (task.difference or 0.0 for task in tasks.values())
    below = [(task.difference or 0.0) - (task.lower or 0.0) for task in tasks.values()]
    assert found.difference == pytest.approx((a + b) / 2)
    assert found.lower == pytest.approx((a + b) / 2 - math.hypot(*below) / 2)


def test_a_mean_is_worth_the_problems_of_its_small_tasks() -> None:
    tasks = {"a": flat(30, 1), "b": flat(300, 2)}
    found = together(tasks, margins(tasks), MARGIN)
    assert found.problems == pytest.approx(4 / (1 / 30 + 1 / 300))
    alone = together({"a": flat(30, 1)}, {"a": MARGIN}, 0.9)
    assert alone.lower is not None
    assert alone.lower > -0.9
    assert not alone.is_non_inferior  # thirty problems alone never show it


def test_a_task_that_may_have_lost_twice_its_margin_is_doubtful() -> None:
    tasks = {"a": flat(300, 1, -0.06), **{str(i): flat(300, i + 2, 0.02) for i in range(4)}}
    found = together(tasks, margins(tasks), MARGIN)
    assert found.lower is not None
    assert found.lower > -MARGIN
    assert (found.doubtful, found.is_non_inferior) == (("a",), False)
    assert together(tasks, {**margins(tasks), "a": 0.06}, MARGIN).is_non_inferior


def test_a_small_task_need_not_exclude_what_its_problems_cannot() -> None:
    still = {"small": pair(np.zeros(30)), "large": flat(400, 1)}
    assert together(still, margins(still), MARGIN).doubtful == ()  # 30 of 30 kept exclude 9.5 points


def test_without_a_difference_of_every_task_nothing_is_known() -> None:
    gone = paired([[None]], [[1.0]])
    found = together({"a": flat(200, 1), "b": gone}, {"a": MARGIN, "b": MARGIN}, MARGIN)
    assert (found.difference, found.lower, found.is_non_inferior) == (None, None, False)
    assert not together({}, {}, MARGIN).is_non_inferior


def passed(losses: tuple[float, ...], collapse: bool, nights: int = 600) -> float:
    """Share of nights on which a loss is excluded. Tasks of 120 problems by 64/8 samples."""
    rng = np.random.default_rng(11)
    granted = 0
    for _ in range(nights):
        tasks = {}
        for at, loss in enumerate(losses):
            p = rng.beta(2, 1, size=120)
            share = loss / (2 / 3)
            q = np.where(rng.random(120) < share, 0.0, p) if collapse else p * (1 - share)
            differences = cluster(rng.binomial(8, q) / 8 - rng.binomial(64, p) / 64)
            tasks[str(at)] = Paired.of(120, 64, 8, clusters=differences, worst=differences)
        granted += together(tasks, margins(tasks), MARGIN).is_non_inferior
    return granted / nights


@pytest.mark.slow
@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("losses", [(0.03, 0.03, 0.03), (0.09, 0.0, 0.0), (0.0, 0.06, 0.0)])
def test_a_loss_of_the_margin_is_rarely_passed(losses: tuple[float, ...], collapse: bool) -> None:
    assert passed(losses, collapse) <= 0.06  # 5 % and a standard error


@pytest.mark.slow
def test_an_unchanged_suite_is_passed_on_most_nights() -> None:
    assert passed((0.0, 0.0, 0.0), collapse=False, nights=200) >= 0.8
