"""What a comparison says of answers that were verified again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.comparison.spot_check import RecheckedTask, recheck_notes, settle_recheck
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side
from genbench.errors import NotComparableError
from tests.ready_runs import RIGHT, WRONG, MakeRun


def found(**changes: Any) -> RecheckedTask:
    facts = {
        "side": "tuned",
        "task": "sums",
        "verified": 50,
        "chosen": 50,
        "differing": 0,
        "examples": (),
        "unsettled": 0,
        "skipped": None,
    }
    return RecheckedTask.model_validate(facts | changes)


@dataclass
class Fixed:
    """A recheck that finds the same in every pair of sides."""

    answer: RecheckedTask
    samples: int = 5

    def __call__(self, base: Side, tuned: Side) -> Sequence[RecheckedTask]:
        return [self.answer]


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("b", lambda i: [RIGHT, WRONG] * 2), make_run("t", lambda i: [RIGHT, WRONG] * 2)


def test_differing_verdicts_are_refused_by_name() -> None:
    bad = found(differing=2, examples=("problem p1, sample 0: correct (1) -> wrong (0)",))
    with pytest.raises(NotComparableError) as caught:
        settle_recheck([found(side="base"), bad], (), "not comparable (a -> b)")
    said = str(caught.value)
    assert "verdicts.sums: tuned: 2 of 50 stored verdicts are not those" in said
    assert "problem p1, sample 0: correct (1) -> wrong (0)" in said
    assert "--allow verdicts" in said


@pytest.mark.parametrize("allow", ["verdicts", "verdicts.sums"])
def test_differing_verdicts_can_be_let_through(allow: str) -> None:
    (item,) = settle_recheck([found(differing=1, examples=("x",))], [allow], "")
    assert item.name == "verdicts.sums"


def test_equal_verdicts_are_no_difference() -> None:
    assert settle_recheck([found()], (), "") == []


def test_notes_count_the_answers_of_each_side() -> None:
    lines = list(recheck_notes([found(side="base"), found(), found(task="code", verified=7)]))
    assert lines == [
        "stored answers verified again, base: sums 50",
        "stored answers verified again, tuned: sums 50, code 7 of 50 (time ran out)",
    ]


def test_notes_say_which_answers_were_not_compared() -> None:
    (line,) = recheck_notes([found(unsettled=3)])
    assert line.endswith("sums 50, 3 not compared (timeout or defect)")


def test_notes_join_tasks_that_were_left_out_for_one_reason() -> None:
    left_out = [found(task=name, skipped="a judge graded it") for name in ("arena", "qa")]
    assert list(recheck_notes(left_out)) == ["not verified again, tuned: arena, qa: a judge graded it"]


def test_comparison_keeps_the_record_and_the_note(pair: tuple[Path, Path]) -> None:
    record = compare(*pair, recheck=Fixed(found()))
    assert record.rechecked == (found(),)
    assert "stored answers verified again, tuned: sums 50" in record.notes


def test_comparison_is_refused_for_differing_verdicts(pair: tuple[Path, Path]) -> None:
    recheck = Fixed(found(differing=1, examples=("problem p1, sample 0: a -> b",)))
    with pytest.raises(NotComparableError, match=r"verdicts\.sums"):
        compare(*pair, recheck=recheck)
    assert any(
        "verdicts.sums" in line for line in compare(*pair, recheck=recheck, allow=["verdicts"]).allowed
    )


def test_comparison_without_a_recheck_says_nothing_of_it(pair: tuple[Path, Path]) -> None:
    record = compare(*pair)
    assert record.rechecked == ()
    assert not any("verified again" in line for line in record.notes)


def test_opened_side_keeps_the_completions_of_as_many_samples_as_wanted(pair: tuple[Path, Path]) -> None:
    left, right = (open_side(path, keep=7).tasks["sums"].kept for path in pair)
    assert len(left) == len(right) == 7
    assert {item.sample for item in left} == {item.sample for item in right}


def test_opened_side_keeps_no_completion_by_default(pair: tuple[Path, Path]) -> None:
    assert open_side(pair[0]).tasks["sums"].kept == ()
