"""Figures of a judge's verdicts beyond their mean."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.analysis.results.build import drift_words, too_many_unscored
from genbench.analysis.results.judge_figures import judged_record
from genbench.analysis.results.table import VerdictTable
from genbench.stats.estimates import EstimateRecord
from genbench.store.manifest import CanaryRecord, JudgeRecord
from genbench.types import Problem, SampleId, Status, Verdict
from tests.known import known
from tests.reports.made import task
from tests.reports.test_judged_lines import judge as results_of_judge

JUDGE = JudgeRecord(
    name="j",
    digest="d",
    form="label",
    prompt_digest="p",
    unpinned=False,
    cascade=("judge",),
    statuses={"A": "correct", "B": "wrong"},
    baseline=None,
    engine={},
    canary=None,
)
LEAD = EstimateRecord.without_value("avg@1", 5, 1, "").model_copy(update={"value": 0.6, "ci": (0.2, 0.9)})


def verdict(problem: int, score: float | None, status: Status = "wrong", **more: Any) -> Verdict:
    known: dict[str, Any] = {"detail": {}, "parts": {}} | more
    name = SampleId("t", f"p{problem}", 0)
    return Verdict(name, score, status, None, known["detail"], known["parts"], "v", "absent", False)


def table(verdicts: list[Verdict]) -> VerdictTable:
    found = VerdictTable([Problem("t", f"p{row}", {}) for row in range(len(verdicts))], 1)
    for item in verdicts:
        found.add(item)
    return found


def test_samples_that_the_judge_left_without_a_verdict_are_a_share() -> None:
    verdicts = [verdict(0, 1.0, "correct"), verdict(1, 0.0), verdict(2, None, "unscored"), verdict(3, 1.0)]
    record = judged_record(JUDGE, LEAD, table(verdicts), verdicts, seed=1, model="m")
    assert (record.unscored, record.unscored_share) == (1, 0.25)
    assert record.pairwise is None and record.accuracy is None and record.attempts is None


def test_a_cascade_has_the_accuracy_of_its_rule_too() -> None:
    rows = [(1.0, 1.0, "rule"), (0.0, 1.0, "judge"), (0.0, 0.0, "judge"), (1.0, 1.0, "rule")]
    verdicts = [
        verdict(row, both, detail={"decided_by": who}, parts={"rule": rule, "cascade": both})
        for row, (rule, both, who) in enumerate(rows)
    ]
    record = judged_record(JUDGE, LEAD, table(verdicts), verdicts, seed=1, model="m")
    assert known(record.accuracy).rule.value == 0.5 and known(record.accuracy).cascade.value == 0.75
    assert record.decided_by == {"rule": 2, "judge": 2}


def test_attempts_follow_simpleqas_definition() -> None:
    judge = JUDGE.model_copy(update={"statuses": {"A": "correct", "B": "wrong", "C": "no_answer"}})
    verdicts = [verdict(0, 1.0, "correct"), verdict(1, 1.0, "correct"), verdict(2, 0.0)]
    verdicts += [verdict(3, 0.0, "no_answer"), verdict(4, 0.0, "no_answer")]
    found = known(judged_record(judge, LEAD, table(verdicts), verdicts, seed=1, model="m").attempts)
    assert (found.correct, found.not_attempted) == (0.4, 0.4)
    assert found.incorrect == pytest.approx(0.2)
    assert found.correct_given_attempted == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(2 * 0.4 * (2 / 3) / (0.4 + 2 / 3))


def pair(problem: int, score: float, chars: tuple[int, int], place: str | None = None) -> Verdict:
    detail = {"flipped": score == 0.5, "place_favoured": place, "chars": list(chars)}
    return verdict(problem, score, detail=detail)


def test_pairs_have_wins_order_and_lengths_of_what_was_compared() -> None:
    judge = JUDGE.model_copy(update={"in_pairs": True})
    verdicts = [
        pair(0, 1.0, (100, 50)),
        pair(1, 0.5, (80, 80), "first"),
        pair(2, 0.0, (40, 90)),
        pair(3, 1.0, (60, 60)),
        verdict(4, 0.0),
    ]
    found = known(judged_record(judge, LEAD, table(verdicts), verdicts, seed=1, model="m").pairwise)
    assert (found.wins, found.ties, found.losses, found.unanswered, found.compared) == (2, 1, 2, 1, 4)
    assert (found.win_rate, found.ci, found.flipped, found.flip_rate) == (0.6, (0.2, 0.9), 1, 0.25)
    assert known(found.position_bias).first == 0.25 and known(found.position_bias).second == 0
    assert (known(found.mean_chars).answer, known(found.mean_chars).baseline) == (70, 70)


def test_too_many_unscored_samples_fail_a_task() -> None:
    found = {"t": task(status_counts={"correct": 19, "unscored": 1})}
    assert too_many_unscored(found, 0.05) == []
    (line,) = too_many_unscored(found, 0.02)
    assert line.startswith("t: 1 of 20 samples are unscored (no verdict), more than the 2.0%")


def test_a_canary_that_moved_is_a_warning() -> None:
    moved = CanaryRecord(labels={"one": "A", "two": "B"}, drifted=("two",))
    judged = results_of_judge(canary=moved)
    (line,) = drift_words({"t": task(judge=judged), "u": task()})
    assert line.startswith("t: the judge drifted: 1 canary cases") and "(two)" in line
