"""Tasks whose numbers must not be used: recounted from their verdicts, with or without results.json."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.analysis.comparison.comparability import excluded_differences
from genbench.analysis.sides.side import Side
from genbench.types import Status
from tests.analysis.score_sides import score_side, side_task


def side(faults: int, status: Status = "engine_error", share: float | None = None, n: int = 200) -> Side:
    """A run of n problems by one sample, `faults` of them with this status."""
    scores = [[None if i < faults else 1.0] for i in range(n)]
    statuses = tuple((status if i < faults else "correct",) for i in range(n))
    return replace(score_side(t=side_task(scores, statuses=statuses)), max_excluded_share=share)


@pytest.mark.parametrize(("faults", "found"), [(2, 0), (3, 1), (100, 1)])
def test_without_results_the_verdicts_are_counted(faults: int, found: int) -> None:
    assert len(list(excluded_differences(side(0), side(faults)))) == found


def test_the_share_is_the_suites_if_results_are_there() -> None:
    assert list(excluded_differences(side(0, share=0.1), side(15, share=0.1))) == []
    (found,) = excluded_differences(side(25, share=0.1), side(0, share=0.1))
    assert str(found) == (
        "excluded.t: base: 25 of 200 samples are excluded by their verdicts, more than the 10.0% that are "
        "allowed"
    )


def test_samples_without_a_verdict_of_the_judge_have_a_share_of_their_own() -> None:
    assert list(excluded_differences(side(0), side(4, "unscored"))) == []
    (found,) = excluded_differences(side(0), side(5, "unscored"))
    assert "5 of 200 samples are unscored" in found.detail
    assert list(excluded_differences(side(0), side(5, "unscored", share=0.01))) == []


def test_a_task_that_results_call_failed_is_named_once() -> None:
    failed = replace(side(100), failed=("t: 100 of 200 samples are excluded", "u: another task"))
    assert [str(item) for item in excluded_differences(side(0), failed)] == [
        "excluded.t: tuned: 100 of 200 samples are excluded"
    ]


def test_score_files_have_no_statuses_to_count() -> None:
    task = side_task([[None]] * 9 + [[1.0]])
    assert list(excluded_differences(score_side(t=task), score_side("tuned", t=task))) == []
