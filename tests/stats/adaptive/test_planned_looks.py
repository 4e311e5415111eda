"""Planned looks: quarters of the samples or of the problems, and fewer samples for sure problems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.stats.adaptive.group_sequential import plan_looks, sure_problems
from tests.table import each_row


@each_row(
    "n, k, steps, by_problems",
    [
        (198, 16, (4, 8, 12, 16), False),
        (30, 64, (16, 32, 48, 64), False),
        (500, 4, (1, 2, 3, 4), False),
        (500, 6, (2, 3, 5, 6), False),
        (541, 1, (136, 271, 406, 541), True),
        (100, 3, (25, 50, 75, 100), True),
        (3, 1, (1, 2, 3), True),
        (1, 1, (1,), True),
    ],
)
def test_looks_are_at_quarters(n: int, k: int, steps: tuple[int, ...], by_problems: bool) -> None:
    found = plan_looks(n, k)
    assert (found.steps, found.by_problems, found.count) == (steps, by_problems, len(steps))
    assert found.fractions[-1] == 1.0


def test_sure_problems_have_a_quarter_of_the_samples_until_the_last_look() -> None:
    looks = plan_looks(3, 16)
    assert looks.samples(1, [False, True, False]).tolist() == [4, 1, 4]
    assert looks.samples(3, [False, True, False]).tolist() == [12, 3, 12]
    assert looks.samples(4, [False, True, False]).tolist() == [16, 16, 16]
    assert plan_looks(2, 4).samples(2, [True, False]).tolist() == [1, 2]


def test_looks_by_problems_leave_the_later_ones_without_samples() -> None:
    looks = plan_looks(8, 2)
    sure = [False, True, False, False, False, False, False, True]
    assert looks.samples(1, sure).tolist() == [2, 1, 0, 0, 0, 0, 0, 0]
    assert looks.samples(4, sure).tolist() == [2, 1, 2, 2, 2, 2, 2, 1]


def test_no_problem_loses_samples_from_look_to_look() -> None:
    for k in (1, 3, 4, 7, 64):
        looks = plan_looks(10, k)
        drawn = [looks.samples(look, [True, False] * 5) for look in range(1, looks.count + 1)]
        assert all((after >= before).all() for before, after in pairwise(drawn))


def test_a_problem_is_sure_with_at_most_one_exception_in_64_samples() -> None:
    counts = np.array([0, 1, 2, 32, 62, 63, 64])
    scores = (np.arange(64) < counts[:, None]).astype(np.float64)
    assert sure_problems(scores).tolist() == [True, True, False, False, False, True, True]
    assert not sure_problems(scores[:, :63]).any()


def test_a_problem_with_fractional_or_too_few_scores_is_not_sure() -> None:
    scores = np.ones((3, 64))
    scores[0, 0] = 0.5
    scores[1, 0] = np.nan
    assert sure_problems(scores).tolist() == [False, False, True]


def test_a_task_without_problems_cannot_be_planned() -> None:
    with pytest.raises(InputError, match="0 problems by 4 samples"):
        plan_looks(0, 4)
