"""Figures of a judge's verdicts beyond their mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from genbench import registry
from genbench.analysis.results.build import drift_words, too_many_unscored
from genbench.analysis.results.judge_figures import (
    attempt_differences,
    attempt_of,
    attempt_sums,
    attempts_record,
    judged_record,
)
from genbench.analysis.results.table import VerdictTable
from genbench.stats.estimates import EstimateRecord
from genbench.stats.ratios import mean_bounds
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


Group = tuple[int, float, Status]
SIMPLEQA: list[Group] = [(500, 1.0, "correct"), (300, 0.0, "wrong"), (200, 0.0, "no_answer")]
OMNISCIENCE: list[Group] = [
    (210, 1.0, "correct"),
    (30, 0.5, "wrong"),
    (240, 0.0, "wrong"),
    (120, 0.5, "no_answer"),
]


def attempts(groups: list[Group]) -> Any:
    said = [(score, status) for count, score, status in groups for _ in range(count)]
    found = [verdict(place, score, status) for place, (score, status) in enumerate(said)]
    return attempts_record(found, table(found))


def test_f1_is_over_right_and_attempted_answers_with_its_interval() -> None:
    found = attempts(SIMPLEQA)
    assert (found.correct_given_attempted, found.correct) == (0.625, 0.5)
    assert found.f1 == pytest.approx(0.5556, abs=5e-5)
    assert (found.f1_ci[1] - found.f1_ci[0]) / 2 / 1.962 == pytest.approx(0.0160, abs=5e-5)


def test_hallucinations_are_the_wrong_among_those_that_are_not_right() -> None:
    found = attempts(OMNISCIENCE)
    assert (found.correct, found.partial, found.incorrect, found.not_attempted) == (0.35, 0.05, 0.4, 0.2)
    assert found.hallucination == pytest.approx(0.6154, abs=5e-5)
    half = (found.hallucination_ci[1] - found.hallucination_ci[0]) / 2
    assert half / 1.964 == pytest.approx(0.0246, abs=1e-4)
    scale = registry.load("task", "aa_omniscience")().info.reported
    assert scale.of(sum(count * score for count, score, _ in OMNISCIENCE) / 600) == pytest.approx(-5.0)
    scores = np.array([score for count, score, _ in OMNISCIENCE for _ in range(count)])
    se = mean_bounds(scores, None).se
    assert se is not None and (scale.best - scale.worst) * se == pytest.approx(3.53, abs=5e-3)


def test_the_difference_of_f1_is_paired_and_its_interval_that_of_a_jackknife() -> None:
    kinds = [attempt_of(status, score) for count, score, status in SIMPLEQA for _ in range(count)]
    base, tuned = [[kind] for kind in kinds], [[kind] for kind in kinds]
    tuned[500:560] = [["correct"]] * 60  # of the wrong ones
    tuned[0:10] = [["not_attempted"]] * 10
    found = attempt_differences(base, tuned, None)["f1"]
    assert found.base == pytest.approx(0.5556, abs=5e-5)
    assert found.tuned == pytest.approx(1100 / (1000 + 790))
    ratios = [attempt_sums(side)["f1"] for side in (base, tuned)]
    left = [(up.sum() - up) / (down.sum() - down) for up, down in ratios]
    changes = left[1] - left[0]
    se = (999 / 1000 * ((changes - changes.mean()) ** 2).sum()) ** 0.5
    assert found.ci is not None and (found.ci[1] - found.ci[0]) / 2 / 1.9623 == pytest.approx(se, rel=0.01)
    assert attempt_differences(base, base, None)["hallucination"].difference == 0
    assert "hallucination" not in attempt_differences([["correct"]] * 3, [["correct"]] * 3, None)


@pytest.mark.parametrize(
    ("groups", "f1", "hallucination"),
    [
        ([(3, 0.0, "wrong")], 0.0, 1.0),
        ([(3, 0.0, "no_answer")], 0.0, 0.0),
        ([(3, 1.0, "correct")], 1.0, None),
    ],
)
def test_ratios_without_right_or_without_other_answers(
    groups: list[Group], f1: float, hallucination: float | None
) -> None:
    found = attempts(groups)
    assert (found.f1, found.hallucination) == (f1, hallucination)
