"""The table of one task's verdicts: what counts, what is missing, and the metrics made from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.analysis.results.build import tokens_record
from genbench.analysis.results.table import VerdictTable, estimate_seed, estimates, strata_records
from genbench.store.stored_run import TokenCount
from genbench.types import Problem, SampleId, Status, Verdict
from tests.known import known


def verdict(problem: int, sample: int, score: float | None, status: Status = "correct") -> Verdict:
    name = SampleId("t", f"p{problem}", sample)
    return Verdict(name, score, status, str(score), {}, {}, "v", "closed", False)


def table(scores: list[list[float | None]], groups: bool = False) -> VerdictTable:
    problems = [
        Problem("t", f"p{row}", {}, {"level": "easy" if row % 2 else "hard"}, "g" if groups else None)
        for row in range(len(scores))
    ]
    found = VerdictTable(problems, len(scores[0]))
    for row, samples in enumerate(scores):
        for column, score in enumerate(samples):
            assert found.add(verdict(row, column, score, "wrong" if score == 0 else "correct"))
    return found


def test_scores_are_rows_of_problems_by_samples() -> None:
    found = table([[1.0, 0.0], [0.5, 1.0]])
    assert found.scores == [[1.0, 0.0], [0.5, 1.0]]
    assert (found.lacking, found.excluded, found.correct) == (0, 0, 2.5)
    assert dict(found.statuses) == {"correct": 3, "wrong": 1} and found.traces["closed"] == 4


def test_a_verdict_outside_the_table_or_a_second_one_is_left_out() -> None:
    found = table([[1.0, 0.0]])
    assert not found.add(verdict(0, 0, 0.0))
    assert not found.add(verdict(0, 2, 1.0))
    assert not found.add(verdict(7, 0, 1.0))
    assert found.scores == [[1.0, 0.0]]


def test_a_defect_of_ours_is_excluded_and_not_lacking() -> None:
    found = table([[1.0, 1.0], [1.0, 1.0]])
    more = VerdictTable(found.problems, 3)
    more.add(verdict(0, 0, None, "verifier_error"))
    assert (more.excluded, more.lacking) == (1, 5)


def test_a_metric_is_missing_while_samples_lack_a_verdict() -> None:
    found = VerdictTable([Problem("t", "p0", {})], 2)
    found.add(verdict(0, 0, 1.0))
    lead = estimates(found, ["avg@k"], seed=1)["avg@2"]
    assert lead.value is None and lead.missing == "1 of 2 samples have no verdict"
    assert strata_records(found, "avg@k", 1) == {}


def test_metrics_are_named_with_k_and_agree_with_the_arithmetic() -> None:
    found = estimates(table([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), ["avg@k", "pass@k", "pass^k"], seed=1)
    assert {name: item.value for name, item in found.items()} == pytest.approx(
        {"avg@2": 0.5, "pass@2": 2 / 3, "pass^2": 1 / 3}
    )


def test_the_same_run_and_task_give_the_same_seed_and_bounds() -> None:
    scores: list[list[float | None]] = [[float(i % 3 == 0)] for i in range(20)]
    bounds = [estimates(table(scores), ["avg@k"], estimate_seed("r", "t"))["avg@1"].ci for _ in range(2)]
    assert bounds[0] == bounds[1] is not None
    assert estimate_seed("r", "t") != estimate_seed("r", "u") != estimate_seed("rt", "")


def test_strata_have_the_metric_of_their_problems() -> None:
    found = strata_records(table([[1.0], [0.0], [1.0], [1.0]]), "avg@k", 1)
    assert {name: (row.value, row.n) for name, row in found["level"].items()} == {
        "hard": (1.0, 2),
        "easy": (0.5, 2),
    }


def test_groups_are_none_unless_a_problem_has_one() -> None:
    assert table([[1.0]]).groups is None
    assert table([[1.0]], groups=True).groups == ["g"]


def test_rows_for_plug_in_metrics_have_scores_answers_and_strata() -> None:
    (row,) = table([[1.0, 0.0]]).rows
    assert (row.problem_id, row.scores, row.answers) == ("p0", (1.0, 0.0), ("1.0", "0.0"))
    assert row.strata == {"level": "hard"}


def test_parts_of_excluded_samples_are_left_out() -> None:
    found = VerdictTable([Problem("t", "p0", {})], 2)
    found.add(replace(verdict(0, 0, 1.0), parts={"a": 1.0}))
    found.add(replace(verdict(0, 1, None, "unscored"), parts={"a": 0.0}))
    assert found.parts == [[{"a": 1.0}]]


def test_tokens_per_correct_answer_need_counts_and_a_correct_answer() -> None:
    counted = TokenCount(items=2, counted=2, traced=2, prompt=8, completion=20, trace=12)
    record = tokens_record(counted, 2.0)
    assert (record.answer, record.per_correct) == (8, 10.0)
    assert tokens_record(counted, 0.0).per_correct is None
    assert tokens_record(TokenCount(items=2), 1.0).completion is None
    untraced = tokens_record(TokenCount(items=2, counted=2, traced=1, completion=20, trace=3), 1.0)
    assert untraced.trace is None and known(untraced.completion) == 20
