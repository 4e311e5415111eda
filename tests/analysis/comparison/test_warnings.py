"""Warnings and notes of a comparison."""

from __future__ import annotations

from genbench.analysis.comparison.pairing import pair_sides
from genbench.analysis.comparison.warnings import comparison_notes, comparison_warnings
from tests.analysis.score_sides import Scores, score_side, side_task


def warnings(base: Scores, tuned: Scores) -> list[str]:
    pairing = pair_sides(score_side(t=side_task(base)), score_side("tuned", t=side_task(tuned)), ["k"], False)
    return list(comparison_warnings(pairing, pairing.differences()))


def test_many_problems_with_equal_samples_need_no_warning() -> None:
    assert warnings([[1.0]] * 60, [[0.0]] * 60) == []


def test_few_problems_are_warned_of_and_few_samples_only_then() -> None:
    assert len(warnings([[1.0] * 16] * 30, [[1.0] * 4] * 30)) == 2
    assert warnings([[1.0] * 16] * 60, [[1.0] * 4] * 60) == []
    assert len(warnings([[1.0] * 64] * 30, [[1.0] * 8] * 30)) == 1


def test_ragged_and_excluded_samples_are_warned_of_by_side() -> None:
    found = warnings([[1.0, None]] * 60, [[1.0, 1.0]] * 59 + [[1.0]])
    assert found[0] == "t: 60 of 120 samples of base are excluded"
    assert found[1].startswith("t: tuned is ragged, 1 to 2 samples a problem")


def test_score_files_say_what_was_not_checked() -> None:
    side, other = score_side("b.jsonl", t=side_task([[1.0]])), score_side("t.jsonl", t=side_task([[1.0]]))
    notes = comparison_notes(pair_sides(side, other, (), False))
    assert [note.split(":")[0] for note in notes] == ["b.jsonl", "t.jsonl"]
    assert len(comparison_notes(pair_sides(side, side, (), False))) == 1
