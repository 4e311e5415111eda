"""Estimates of unfinished tasks: when they are printed, and what they warn of."""

from __future__ import annotations

import pytest

from genbench.runs.execution.interim import CAUTION, SHARES, InterimEstimates
from genbench.types import SampleId, Verdict


def verdict(problem: int, index: int, score: float | None = 1.0) -> Verdict:
    status = "engine_error" if score is None else "correct" if score else "wrong"
    sample = SampleId("t", f"p{problem:02}", index)
    return Verdict(sample, score, status, None, {}, {}, "v", "absent", False)  # type: ignore[arg-type]


def lines(scores: list[float | None], k: int = 2) -> list[str]:
    estimates = InterimEstimates("m", {"t": (len(scores), len(scores) // k)})
    return [
        line for at, score in enumerate(scores) for line in estimates.add(verdict(at // k, at % k, score))
    ]


def test_estimates_come_at_a_few_shares_and_none_at_the_end() -> None:
    found = lines([1.0, 0.0] * 50)
    assert found[0] == f"m: {CAUTION}" and len(found) == 1 + len(SHARES)
    assert [line.partition(" after ")[2] for line in found[1:]] == [
        f"{n} of 100 samples, {n // 2 + n % 2} of 50 problems" for n in (10, 25, 50, 75)
    ]


def test_an_estimate_is_the_mean_of_the_means_with_its_interval() -> None:
    found = lines([1.0, 1.0, 0.0, 0.0] * 10)[1]
    assert found.startswith("interim: m/t 50.0 [")
    low, high = (float(text) for text in found.partition("[")[2].partition("]")[0].split(", "))
    assert 0 <= low < 50 < high <= 100


def test_the_caution_says_that_looking_often_is_no_decision() -> None:
    assert "not results" in CAUTION and "looks often" in CAUTION and "finished run only" in CAUTION


def test_excluded_samples_have_no_part_in_it() -> None:
    found = lines([None, 1.0] * 20)
    assert all("interim: m/t 100.0 [" in line for line in found[1:])


@pytest.mark.parametrize("scores", [[1.0, 0.0], [None] * 40])
def test_too_little_is_no_estimate(scores: list[float | None]) -> None:
    assert lines(scores) == []
