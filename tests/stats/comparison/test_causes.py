"""Differences split by status: the parts add up, and intervals are those of each part."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from genbench.errors import InputError, NotComparableError
from genbench.stats.comparison.causes import split_by_cause, transitions
from genbench.types import Status

BASE: list[list[Status]] = [["correct", "format_error"], ["format_error", "wrong"], ["truncated", "wrong"]]
TUNED: list[list[Status]] = [["correct", "correct"], ["correct", "wrong"], ["wrong", "wrong"]]


def scores_of(statuses: list[list[Status]]) -> list[list[float | None]]:
    value: dict[Status, float | None] = {"correct": 1.0, "verifier_error": None, "partial": 0.5}
    return [[value.get(status, 0.0) for status in row] for row in statuses]


def test_transitions_are_counted_sample_against_sample() -> None:
    assert transitions(BASE, TUNED) == {
        ("correct", "correct"): 1,
        ("format_error", "correct"): 2,
        ("wrong", "wrong"): 2,
        ("truncated", "wrong"): 1,
    }
    assert transitions([["wrong", "wrong"]], [["correct"]]) == {("wrong", "correct"): 1}


def test_parts_are_what_a_status_gained_and_add_up() -> None:
    found = split_by_cause(scores_of(BASE), BASE, scores_of(TUNED), TUNED)
    parts = {cause.status: cause.part for cause in found.causes}
    assert parts == pytest.approx({"format_error": 2 / 6, "truncated": 0, "wrong": 0})
    assert math.fsum(parts.values()) == pytest.approx(found.difference) == pytest.approx(2 / 6)
    assert found.leading is not None
    assert found.leading.status == "format_error"
    assert (found.leading.base_share, found.leading.tuned_share) == pytest.approx((2 / 6, 0))


def test_bad_answers_that_are_cut_off_now_are_no_cause() -> None:
    """The model solves nothing of what it got wrong. It only no longer ends its replies."""
    base: list[list[Status]] = [["wrong", "wrong"], ["correct", "correct"], ["wrong", "wrong"]]
    tuned: list[list[Status]] = [["truncated"] * 2, ["correct", "correct"], ["correct", "wrong"]]
    found = split_by_cause(scores_of(base), base, scores_of(tuned), tuned)
    assert {cause.status: cause.part for cause in found.causes} == pytest.approx(
        {"wrong": 1 / 6, "truncated": 0}
    )


def test_each_part_has_the_paired_t_interval_of_its_share() -> None:
    rng = np.random.default_rng(0)
    kinds: list[Status] = ["correct", "wrong"]
    base, tuned = ([[kinds[i] for i in row] for row in rng.integers(0, 2, (40, 4))] for _ in range(2))
    (cause,) = split_by_cause(scores_of(base), base, scores_of(tuned), tuned).causes
    d = [(b.count("wrong") - t.count("wrong")) / 4 for b, t in zip(base, tuned, strict=True)]
    ci = scipy.stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert cause.part == pytest.approx(np.mean(d))
    assert cause.ci == pytest.approx((ci.low, ci.high))


def test_what_fractional_scores_leave_over_is_the_part_of_partial() -> None:
    base: list[list[Status]] = [["partial"], ["wrong"], ["correct"]]
    tuned: list[list[Status]] = [["partial"], ["partial"], ["correct"]]
    found = split_by_cause([[0.25], [0.0], [1.0]], base, [[0.75], [0.5], [1.0]], tuned)
    parts = {cause.status: cause.part for cause in found.causes}
    assert parts == pytest.approx({"wrong": 1 / 3, "partial": (0.5 - 0.5) / 3})
    assert math.fsum(parts.values()) == pytest.approx(found.difference) == pytest.approx(1 / 3)


def test_excluded_samples_are_in_no_share() -> None:
    base: list[list[Status]] = [["correct", "verifier_error"], ["wrong", "wrong"]]
    tuned: list[list[Status]] = [["wrong", "wrong"], ["wrong", "wrong"]]
    found = split_by_cause(scores_of(base), base, scores_of(tuned), tuned)
    assert [(cause.status, cause.part) for cause in found.causes] == [("wrong", -0.5)]
    assert found.difference == -0.5


def test_no_change_has_no_leading_cause() -> None:
    found = split_by_cause(scores_of(BASE), BASE, scores_of(BASE), BASE)
    assert found.difference == 0
    assert found.leading is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(NotComparableError, match="base has 1 problems, tuned 2"):
        transitions([["wrong"]], [["wrong"], ["wrong"]])
    with pytest.raises(InputError, match="tuned: statuses and scores differ in shape"):
        split_by_cause([[1.0]], [["correct"]], [[1.0, 1.0]], [["correct"]])
    with pytest.raises(InputError, match="'unscored' and has a score"):
        split_by_cause([[1.0]], [["correct"]], [[1.0]], [["unscored"]])
    with pytest.raises(InputError, match="base: problem at position 0 has no scored sample"):
        split_by_cause([[None]], [["unscored"]], [[1.0]], [["correct"]])


samples = st.lists(
    st.lists(
        st.sampled_from(["correct", "partial", "wrong", "timeout", "verifier_error"]), min_size=3, max_size=3
    ),
    min_size=5,
    max_size=5,
).filter(lambda rows: all(set(row) != {"verifier_error"} for row in rows))


@given(samples, samples)
def test_parts_always_add_up(base: list[list[Status]], tuned: list[list[Status]]) -> None:
    found = split_by_cause(scores_of(base), base, scores_of(tuned), tuned)
    assert math.fsum(cause.part for cause in found.causes) == pytest.approx(found.difference, abs=1e-12)
