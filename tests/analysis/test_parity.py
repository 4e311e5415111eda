"""Agreement of a measured score with a published one."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.analysis.parity import agreement
from genbench.analysis.results_record import TaskResults
from genbench.store.manifest_record import PublishedRecord


def task(**changes: Any) -> TaskResults:
    """Return results of 100 problems by 4 samples at 0.5, with a re-run interval of 0.04 to each side."""
    known: dict[str, Any] = {
        **{"metric": "avg@4", "value": 0.5, "n": 100, "k": 4, "se": 0.05, "ci": (0.4, 0.6), "ci_method": "t"},
        **{"rerun_ci": (0.46, 0.54), "rerun_ci_method": "t", "excluded": 0, "bounds": None, "missing": None},
    }
    return TaskResults.model_construct(**(known | changes))


def published(value: float, n: int | None = 100, k: int | None = 4) -> PublishedRecord:
    return PublishedRecord(model="M", value=value, source="s", decoding="d", n=n, k=k, of="this model")


def test_the_interval_has_the_draws_of_both_sides() -> None:
    found = agreement("m", "t", "genbench", task(), published(0.45))
    assert found.difference == pytest.approx(0.05)
    assert found.ci is not None
    half = (found.ci[1] - found.ci[0]) / 2
    assert half == pytest.approx(0.04 * 2**0.5)
    assert found.state == "agrees"


def test_a_score_outside_the_interval_differs() -> None:
    assert agreement("m", "t", "genbench", task(), published(0.43)).state == "differs"
    assert agreement("m", "t", "genbench", task(), published(0.57)).state == "differs"


def test_a_source_that_drew_more_leaves_less_room() -> None:
    half = [
        (found.ci[1] - found.ci[0]) / 2
        for k in (1, 4, 64)
        if (found := agreement("m", "t", "genbench", task(), published(0.5, k=k))).ci
    ]
    assert half[0] == pytest.approx(0.04 * 5**0.5) and half[1] > half[2] > 0.04


def test_a_source_that_says_nothing_is_taken_to_have_drawn_once() -> None:
    silent = agreement("m", "t", "genbench", task(), published(0.5, n=None, k=None))
    assert silent.ci == agreement("m", "t", "genbench", task(), published(0.5, k=1)).ci


def test_other_problems_add_the_spread_between_problems() -> None:
    same, other = (agreement("m", "t", "genbench", task(), published(0.5, n=n)).ci for n in (100, 50))
    assert same is not None and other is not None
    assert other[1] > same[1] + 0.1


def test_one_sample_of_each_problem_has_the_largest_variance() -> None:
    found = agreement("m", "t", "genbench", task(rerun_ci=None, k=1), published(0.5, k=1))
    assert found.ci is not None
    assert found.ci[1] == pytest.approx(1.96 * (2 * 0.25 / 100) ** 0.5, rel=1e-3)


def test_a_missing_score_was_not_run() -> None:
    found = agreement("m", "t", "genbench", task(value=None), published(0.5))
    assert (found.state, found.measured, found.ci) == ("not yet run", None, None)
