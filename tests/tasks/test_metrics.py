"""Metrics are checked before anything is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.protocols import ProblemScores
from genbench.tasks.metrics import check_metric, is_built_in, load_metric
from tests.table import each_row


@each_row("metric", ["acc", "avg@k", "avg@4", "pass@k", "pass@1", "pass@4", "pass^2", "maj@3"])
def test_metrics_that_k_samples_give_are_taken(metric: str) -> None:
    assert is_built_in(metric)
    check_metric(metric, 4, None)


@pytest.mark.parametrize(
    ("metric", "k", "message"),
    [
        ("accuracy", 4, r"unknown metric 'accuracy'.*acc.*avg@k.*pass@k"),
        ("pass@16", 2, r"'pass@16' needs 16 samples of every problem, but k is 2; set k: 16"),
        ("maj@3", 2, "needs 3 samples"),
        ("avg@4", 8, r"'avg@4' is the mean over 4 samples, but k is 8; write avg@k or avg@8"),
        ("pass@0", 2, "unknown metric 'pass@0'"),
        ("pas@k", 2, r"did you mean 'pass@k'\?"),
    ],
)
def test_metrics_that_cannot_be_given_are_refused(metric: str, k: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_metric(metric, k, None)


def write(folder: Path, name: str, source: str) -> str:
    (folder / f"{name}.py").write_text(source)
    return str(folder)


def test_a_function_next_to_the_suite_is_a_metric(tmp_path: Path) -> None:
    folder = write(tmp_path, "own_metric_a", "def first(problem):\n    return problem.scores[0]\n")
    value = load_metric("own_metric_a:first", folder)
    assert value(ProblemScores("p", (1.0, 0.0), ("a", "b"))) == 1.0


def test_a_class_is_made_without_arguments(tmp_path: Path) -> None:
    source = "class First:\n    def __call__(self, problem):\n        return problem.scores[0]\n"
    value = load_metric("own_metric_b:First", write(tmp_path, "own_metric_b", source))
    assert value(ProblemScores("p", (0.5,), (None,))) == 0.5


def test_a_function_of_other_arguments_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = write(tmp_path, "own_metric_c", "\ndef both(scores, answers):\n    return 1.0\n")
    with pytest.raises(ConfigError, match=r"cannot be called with 1 argument.*own_metric_c\.py:2"):
        load_metric("own_metric_c:both", folder)
