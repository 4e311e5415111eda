"""Details of a compared task, line by line, from scores in place."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.analysis.comparison.compared_task import (
    CausesRecord,
    ComparedTask,
    InstructionTable,
    JudgeFigures,
    JudgePair,
    TransitionRecord,
    compared_task,
)
from genbench.analysis.results.judge_figures import (
    AccuracyRecord,
    CascadeAccuracy,
    LengthControlledRate,
    MeanChars,
    PairwiseRecord,
    PositionBias,
)
from genbench.analysis.sides.side import SideTask
from genbench.reports.terminal.compare import details
from genbench.stats.comparison.causes import CauseRecord
from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import paired
from genbench.stats.noise import NoiseBand
from genbench.stats.strata import StratumDifference

MIXED = [[float(i % 2), float(i % 3 == 0)] for i in range(40)]


def task(base: list[list[float]] = MIXED, tuned: list[list[float]] = MIXED, **more: Any) -> ComparedTask:
    """A compared task with these scores, and further fields as given."""
    left, right = (
        SideTask("t", tuple(map(str, range(len(scores)))), tuple(map(tuple, scores)))
        for scores in (base, tuned)
    )
    found = paired(left.scores, right.scores, metric="avg@k")
    decision = gate({"t": found}).tasks["t"]
    made = compared_task(left, right, found, decision, shared_seeds=False, mode="strict", noise=None)
    return made.model_copy(update=more)


def line(item: ComparedTask, part: str) -> str:
    return next(found for found in details(item) if part in found)


def row(name: str, q_value: float, **more: Any) -> StratumDifference:
    fields = task().to_json()
    kept = {key: fields[key] for key in StratumDifference.model_fields if key in fields}
    return StratumDifference.model_validate(kept | {"name": name, "q_value": q_value} | more)


def test_an_inconclusive_task_says_what_it_cannot_exclude_and_what_would() -> None:
    found = line(task(MIXED, [[1.0 - a, b] for a, b in MIXED]), "inconclusive")
    assert "a 3.0-point drop is not excluded; smallest detectable drop" in found
    assert "problems like these would find 3.0" in found


def test_too_few_problems_cannot_vouch_for_a_margin() -> None:
    item = task(lower=-0.01, margin=0.03)
    assert "too few problems (40) to vouch for a margin of 3.0 points" in line(item, "inconclusive")


def test_a_decided_task_is_not_said_to_be_inconclusive() -> None:
    decided = task([[1.0, 1.0]] * 60, [[0.0, 0.0]] * 60)
    assert not any("inconclusive" in found for found in details(decided))


@pytest.mark.parametrize(("shared", "words"), [(True, "shared seeds"), (False, "independent seeds")])
def test_the_interval_of_a_rerun_says_how_the_seeds_were(shared: bool, words: str) -> None:
    assert line(task(shared_seeds=shared), "a re-run of both").endswith(words)


@pytest.mark.parametrize(("band", "words"), [(0.05, "within"), (0.01, "outside")])
def test_the_difference_is_within_or_outside_the_measured_noise(band: float, words: str) -> None:
    noise = NoiseBand(band=band, same_seed=False, model_identity=None, runs=("a", "b"))
    found = line(task(noise=noise, difference=0.02), "measured noise")
    assert found.endswith(f"(two seeds): ±{100 * band:.1f}; this is {words} it")


def test_mcnemars_table_is_one_line() -> None:
    found = line(task([[1.0], [1.0], [0.0]], [[1.0], [0.0], [0.0]]), "McNemar")
    assert found.startswith("  right in both 1, in base only 1, in tuned only 0, in none 1")


def test_causes_are_listed_with_both_shares() -> None:
    part = CauseRecord(status="format_error", part=0.17, ci=(0.1, 0.24), base_share=0.2, tuned_share=0.03)
    none = CauseRecord(status="wrong", part=0.0, ci=(0.0, 0.0), base_share=0.1, tuned_share=0.1)
    item = task(causes=CausesRecord(leading="format_error", parts=(part, none)))
    found = line(item, "format error")
    assert found == "     +17.0 [10.0, 24.0] fewer format errors (20.0% -> 3.0% of the samples)"
    assert not any("wrong answers" in other for other in details(item))


def test_transitions_are_a_table_of_base_by_tuned() -> None:
    cells = (
        TransitionRecord(base="correct", tuned="correct", count=5),
        TransitionRecord(base="wrong", tuned="correct", count=3),
        TransitionRecord(base="wrong", tuned="truncated", count=2),
    )
    rows = line(task(transitions=cells), "base \\ tuned").splitlines()
    assert rows[0].split() == ["base", "\\", "tuned", "correct", "truncated"]
    assert [found.split() for found in rows[2:]] == [["correct", "5", "0"], ["wrong", "3", "2"]]


def test_a_long_table_shows_the_rows_with_the_smallest_q() -> None:
    rows = tuple(row(f"s{number:02}", 1 - number / 100) for number in range(30))
    item = task(strata={"subject": rows})
    assert "10 more in --json" in line(item, "by subject")
    names = [found.split()[0] for found in line(item, "s29").splitlines()[2:]]
    assert names == [f"s{number}" for number in range(29, 9, -1)]


def test_rows_without_a_difference_are_left_out() -> None:
    item = task(strata={"level": (row("easy", 0.5, difference=None), row("hard", 0.5))})
    text = "\n".join(details(item))
    assert "hard" in text and "easy" not in text


@pytest.mark.parametrize("mode", ["strict", "loose"])
def test_the_table_of_instructions_names_its_form(mode: Any) -> None:
    table = InstructionTable(mode=mode, kinds=(row("punctuation:no_comma", 0.5),))
    assert f"followed in {mode} form" in line(task(instructions=table), "by kind of instruction")


def figures(rule: float, rate: float | None, compared: int = 10) -> JudgeFigures:
    """One run's figures: a cascade, and pairs of which `compared` were judged."""
    accuracy = CascadeAccuracy(
        rule=AccuracyRecord(value=rule, ci=(0.0, 1.0), ci_method=""),
        cascade=AccuracyRecord(value=rule + 0.1, ci=(0.0, 1.0), ci_method=""),
    )
    pairs = PairwiseRecord(
        win_rate=0.5,
        ci=None,
        n=10,
        wins=5,
        ties=0,
        losses=5,
        unanswered=10 - compared,
        compared=compared,
        flipped=1,
        flip_rate=0.1,
        position_bias=PositionBias(first=0.1, second=0.0),
        mean_chars=MeanChars(answer=1234.4, baseline=900.0),
        length_controlled=LengthControlledRate(value=rate, ci=None, slope=None, missing=None),
    )
    return JudgeFigures(unscored=0, accuracy=accuracy, pairwise=pairs, attempts=None)


def test_judges_figures_are_shown_base_to_tuned() -> None:
    item = task(judge=JudgePair(base=figures(0.5, 0.4), tuned=figures(0.6, None)))
    assert line(item, "only the rule") == "  only the rule: 50.0 -> 60.0; rule and judge: 60.0 -> 70.0"
    assert line(item, "win rate") == (
        "  win rate at equal lengths: 40.0 -> missing; mean characters: 1,234 -> 1,234; "
        "flipped by order: 10.0% -> 10.0%"
    )


def test_figures_of_one_run_are_not_shown() -> None:
    nothing = JudgeFigures(unscored=None, accuracy=None, pairwise=None, attempts=None)
    for pair in (
        JudgePair(base=nothing, tuned=figures(0.6, 0.5)),
        JudgePair(base=figures(0.6, 0.5, compared=0), tuned=nothing),
    ):
        assert not any("win rate" in found or "rule" in found for found in details(task(judge=pair)))
