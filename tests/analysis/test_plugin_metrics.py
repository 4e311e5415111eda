"""Estimates of plug-in metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.plugin_metrics import plug_in_estimate
from genbench.protocols import ProblemScores

SOURCE = """\
def first(problem):
    return problem.scores[0]


def halves(problem):
    return 0.5 if problem.problem_id == "p0" else 0.25


def divides(problem):
    return 1 / 0


def big(problem):
    return 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "metrics_of_a_test.py").write_text(SOURCE)
    return str(tmp_path)


def problems(*firsts: float | None, group: str | None = None) -> list[ProblemScores]:
    return [
        ProblemScores(f"p{i}", (first, 0.0), ("a", "b"), {}, group and f"{group}{i // 2}")
        for i, first in enumerate(firsts)
    ]


def test_the_value_is_the_mean_over_problems_with_an_interval(folder: str) -> None:
    found = plug_in_estimate(
        "metrics_of_a_test:first", problems(*[1.0, 0.0] * 20), k=2, seed=1, folder=folder
    )
    assert (found.value, found.n, found.k, found.missing) == (0.5, 40, 2, None)
    assert found.ci is not None and found.ci[0] < 0.5 < found.ci[1]


def test_values_between_0_and_1_are_resampled(folder: str) -> None:
    found = plug_in_estimate("metrics_of_a_test:halves", problems(*[1.0] * 30), k=2, seed=1, folder=folder)
    assert found.value == pytest.approx((0.5 + 29 * 0.25) / 30)
    again = plug_in_estimate("metrics_of_a_test:halves", problems(*[1.0] * 30), k=2, seed=1, folder=folder)
    assert found == again


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("metrics_of_a_test:divides", "problem 'p0': ZeroDivisionError: division by zero"),
        ("metrics_of_a_test:big", "problem 'p0': returned 7, wanted a number from 0 to 1 or None"),
        ("metrics_of_a_test:none", "has no 'none'"),
        ("no_such_metric", "unknown metric 'no_such_metric'"),
        ("not_installed_here:first", "there is no module 'not_installed_here'"),
    ],
)
def test_a_metric_that_fails_is_missing_with_the_reason(folder: str, name: str, why: str) -> None:
    found = plug_in_estimate(name, problems(1.0, 0.0), k=2, seed=1, folder=folder)
    assert found.value is None and found.missing is not None
    assert why in found.missing


def test_a_problem_without_a_value_makes_the_metric_missing(folder: str) -> None:
    found = plug_in_estimate("metrics_of_a_test:first", problems(1.0, None), k=2, seed=1, folder=folder)
    assert found.missing == "1 of 2 problems have no value (the first is 'p1')"
    assert found.excluded == 1
