"""Notices next to the score of an LLM judge."""

from __future__ import annotations

from typing import Any

from genbench.analysis.results.judge_figures import (
    AccuracyRecord,
    AttemptsRecord,
    CascadeAccuracy,
    JudgedRecord,
    LengthControlledRate,
    MeanChars,
    PairwiseRecord,
    PositionBias,
)
from genbench.reports.figures import judged_lines
from genbench.store.manifest import CanaryRecord, OpponentRecord

LOCAL = {"proven": True, "identity": "abc", "engine": "vllm"}
SERVED = {
    "proven": False,
    "model": "grader",
    "base_url": "http://h/v1",
    "revision_declared": "r1",
    "version": "9",
}


def judge(**changes: Any) -> JudgedRecord:
    record = JudgedRecord(
        name="correctness",
        digest="d1",
        form="label",
        prompt_digest="p",
        unpinned=False,
        cascade=("judge",),
        statuses={"A": "correct", "B": "wrong"},
        baseline=None,
        engine=LOCAL,
        canary=None,
        unscored=0,
        unscored_share=0.0,
    )
    return record.model_copy(update=changes)


def test_a_judge_of_this_machine_is_named_by_its_identity() -> None:
    assert judged_lines(judge()) == ["judge correctness d1: model abc, vllm"]


def test_what_a_server_declares_is_said_to_be_unproven() -> None:
    (line,) = judged_lines(judge(engine=SERVED, unpinned=True))
    assert "model grader at http://h/v1 (version 9), declared revision r1, which nothing proves" in line
    assert line.endswith("; UNPINNED")


def test_a_canary_tells_its_labels_and_what_moved() -> None:
    canary = CanaryRecord(labels={"one": "A", "two": None}, drifted=("one",))
    assert (
        judged_lines(judge(canary=canary))[1] == "canary: 1 of 2 moved since the pin; one A, two no verdict"
    )
    fresh = canary.model_copy(update={"drifted": None})
    assert "not pinned (genbench judge check --pin)" in judged_lines(judge(canary=fresh))[1]


PAIRS = PairwiseRecord(win_rate=0.6, ci=(0.5, 0.7), n=10, wins=5, ties=2, losses=3, unanswered=1, compared=9)


def test_pairs_tell_wins_ties_and_losses_against_their_opponent() -> None:
    opponent = OpponentRecord(name="base", identity="i", digest="d")
    line = judged_lines(judge(pairwise=PAIRS, baseline=opponent))[1]
    assert line == (
        "win rate 60.0 [50.0, 70.0] against run base: 5 wins, 2 ties, 3 losses, "
        "1 of them because one side never answered"
    )
    assert "against the reference column" in judged_lines(judge(pairwise=PAIRS))[1]


def test_pairs_that_were_compared_tell_lengths_and_order() -> None:
    fair = LengthControlledRate(value=None, ci=None, slope=None, missing="all lengths are equal")
    more = {
        "flipped": 2,
        "flip_rate": 0.2,
        "position_bias": PositionBias(first=0.1, second=0.0),
        "mean_chars": MeanChars(answer=1200.0, baseline=800.0),
        "length_controlled": fair,
    }
    lines = judged_lines(judge(pairwise=PAIRS.model_copy(update=more)))
    assert any("1,200 characters against 800" in line and "all lengths are equal" in line for line in lines)
    assert any(line.startswith("order: 2 of 9 verdicts flipped") and "10.0%" in line for line in lines)


def test_pairs_without_a_win_rate_have_no_line() -> None:
    assert len(judged_lines(judge(pairwise=PAIRS.model_copy(update={"win_rate": None})))) == 1


def test_a_cascade_tells_the_rule_and_who_decided() -> None:
    rule = AccuracyRecord(value=0.5, ci=(0.4, 0.6), ci_method="m")
    both = AccuracyRecord(value=0.7, ci=(0.6, 0.8), ci_method="m")
    record = judge(accuracy=CascadeAccuracy(rule=rule, cascade=both), decided_by={"rule": 6, "judge": 4})
    line = judged_lines(record)[1]
    assert "50.0 [40.0, 60.0]" in line and "70.0 [60.0, 80.0]" in line
    assert line.endswith("(decided by: judge 4, rule 6)")


def test_attempted_answers_have_their_own_accuracy() -> None:
    found = AttemptsRecord(
        correct=0.4, not_attempted=0.2, incorrect=0.4, correct_given_attempted=0.5, f1=None
    )
    line = judged_lines(judge(attempts=found))[1]
    assert line == "not attempted 20.0%, incorrect 40.0%, correct given attempted 50.0, F1 -"


def test_an_index_of_facts_tells_its_hallucinations_with_their_interval() -> None:
    found = AttemptsRecord(
        correct=0.35, not_attempted=0.2, incorrect=0.4, correct_given_attempted=0.4375, f1=0.3889
    ).model_copy(update={"partial": 0.05, "hallucination": 0.6154, "hallucination_ci": (0.567, 0.664)})
    assert judged_lines(judge(attempts=found))[2] == (
        "right in part 5.0%, hallucinations 61.5% of what is not right [56.7, 66.4]"
    )
