"""The record of one compared task, made from scores in place."""

from __future__ import annotations

import pytest

from genbench.analysis.comparison.compared_task import ComparedTask, compared_task, metric_label
from genbench.analysis.sides.side import SideTask
from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import paired
from genbench.stats.noise import NoiseBand
from genbench.stats.strata import compare_strata
from genbench.types import Status
from tests.analysis.score_sides import side_task
from tests.known import known

RIGHT: Status = "correct"
WRONG: Status = "wrong"
CUT: Status = "truncated"


def compared(base: SideTask, tuned: SideTask, noise: NoiseBand | None = None) -> ComparedTask:
    found = paired(
        base.scores,
        tuned.scores,
        metric=tuned.metric,
        base_answers=base.answers,
        tuned_answers=tuned.answers,
    )
    decision = gate({"t": found}).tasks["t"]
    return compared_task(base, tuned, found, decision, shared_seeds=False, mode="strict", noise=noise)


@pytest.mark.parametrize(
    ("base", "tuned", "label"),
    [
        ([[1.0, 0.0]], [[1.0, 1.0]], "avg@2"),
        ([[1.0, 0.0]], [[1.0]], "avg@k"),
        ([[1.0, 0.0], [1.0]], [[1.0, 0.0], [1.0]], "avg@k"),
    ],
)
def test_the_metric_is_named_with_its_k_if_both_sides_have_one(
    base: list[list[float]], tuned: list[list[float]], label: str
) -> None:
    assert metric_label(side_task(base), side_task(tuned)) == label


def test_a_metric_of_draws_keeps_its_sign() -> None:
    task = side_task([[1.0, 0.0]], metric="pass^k")
    assert metric_label(task, task) == "pass^2"


def test_statuses_split_the_difference_and_count_transitions() -> None:
    base = side_task([[1.0, 0.0], [0.0, 0.0]], statuses=((RIGHT, CUT), (CUT, WRONG)))
    tuned = side_task([[1.0, 1.0], [1.0, 0.0]], statuses=((RIGHT, RIGHT), (RIGHT, WRONG)))
    task = compared(base, tuned)
    causes = known(task.causes)
    assert causes.leading == "truncated"
    assert {part.status: part.part for part in causes.parts} == {"truncated": 0.5, "wrong": 0.0}
    cells = {(cell.base, cell.tuned): cell.count for cell in known(task.transitions)}
    assert cells == {(RIGHT, RIGHT): 1, (WRONG, WRONG): 1, (CUT, RIGHT): 2}


def test_without_statuses_there_are_no_causes() -> None:
    task = compared(side_task([[1.0], [0.0]]), side_task([[1.0], [1.0]]))
    assert task.causes is None
    assert task.transitions is None


def test_a_metric_of_draws_is_not_split_by_cause() -> None:
    statuses = ((RIGHT, WRONG),)
    side = side_task([[1.0, 0.0]], metric="pass@k", statuses=statuses)
    task = compared(side, side)
    assert task.causes is None
    assert known(task.transitions)[0].count == 1


def test_a_task_without_a_difference_says_why() -> None:
    task = compared(side_task([[None], [None]]), side_task([[1.0], [1.0]]))
    assert task.difference is None
    assert "no scored sample" in known(task.missing)
    assert (task.excluded_base, task.excluded_tuned) == (2, 0)


def test_causes_are_those_of_the_problems_that_both_scored() -> None:
    base = side_task([[1.0], [1.0]], statuses=(("correct",), ("correct",)))
    tuned = side_task([[None], [0.0]], statuses=(("engine_error",), ("wrong",)))
    task = compared(base, tuned)
    assert (task.difference, task.left_out) == (-1.0, 1)
    assert [part.status for part in known(task.causes).parts] == ["wrong"]


def test_one_sample_per_problem_has_mcnemars_table() -> None:
    task = compared(side_task([[1.0], [1.0], [0.0]]), side_task([[1.0], [0.0], [0.0]]))
    table = known(task.mcnemar)
    assert (table.both_right, table.base_only, table.tuned_only, table.both_wrong) == (1, 1, 0, 1)
    assert compared(side_task([[1.0, 0.0]]), side_task([[1.0, 1.0]])).mcnemar is None


def test_columns_with_one_stratum_have_no_table() -> None:
    strata = {"level": ("easy", "hard", "hard"), "language": ("en", "en", None)}
    base = side_task([[0.0], [0.0], [1.0]], strata=strata)
    tuned = side_task([[1.0], [0.0], [1.0]], strata=strata)
    task = compared(base, tuned)
    assert list(task.strata) == ["level"]
    assert [(row.name, row.n, row.difference) for row in task.strata["level"]] == [
        ("easy", 1, 1.0),
        ("hard", 2, 0.0),
    ]


def test_rows_of_a_table_are_those_of_the_statistics() -> None:
    labels = ("a", "b") * 10
    base = side_task([[float(i % 3 == 0)] for i in range(20)], strata={"level": labels})
    tuned = side_task([[float(i % 2 == 0)] for i in range(20)], strata={"level": labels})
    rows = compared(base, tuned).strata["level"]
    expected = compare_strata(base.scores, tuned.scores, labels, metric="avg@k")
    for row, other in zip(rows, expected, strict=True):
        assert (row.name, row.difference, row.q_value) == (other.name, other.difference, other.q_value)


def test_the_decision_of_the_gate_is_copied() -> None:
    task = compared(side_task([[1.0]] * 60), side_task([[0.0]] * 60))
    assert (task.verdict, task.gating, task.margin) == ("REGRESSED", True, 0.03)
    assert task.p_regression_adjusted == task.p_regression


def test_a_stored_noise_band_is_shown_as_given() -> None:
    band = NoiseBand(band=0.02, same_seed=False, model_identity="sha256:1", runs=("a", "b"))
    side = side_task([[1.0], [0.0]])
    assert compared(side, side, band).noise == band


def test_sides_without_a_judge_show_no_figures() -> None:
    assert compared(side_task([[1.0]]), side_task([[1.0]])).judge is None
