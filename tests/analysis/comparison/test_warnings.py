"""Warnings and notes of a comparison."""

from __future__ import annotations

from genbench.analysis.comparison.pairing import pair_sides
from genbench.analysis.comparison.warnings import comparison_notes, comparison_warnings, turned_words
from genbench.analysis.likelihood import turned_share
from tests.analysis.score_sides import Scores, score_side, side_task
from tests.table import each_row


def warnings(base: Scores, tuned: Scores) -> list[str]:
    pairing = pair_sides(score_side(t=side_task(base)), score_side("tuned", t=side_task(tuned)), ["k"], False)
    return list(comparison_warnings(pairing, pairing.differences()))


def test_many_problems_with_equal_samples_need_no_warning() -> None:
    assert warnings([[1.0]] * 60, [[0.0]] * 60) == []


def test_few_expected_right_answers_are_warned_of() -> None:
    assert warnings([[1.0] * 16] * 30, [[1.0] * 4] * 30) == []
    assert len(warnings([[0.0] * 15 + [1.0]] * 19, [[0.0] * 4] * 19)) == 1
    assert warnings([[0.0] * 15 + [1.0]] * 20, [[0.0] * 4] * 20) == []


def test_ragged_and_excluded_samples_are_warned_of_by_side() -> None:
    found = warnings([[1.0, None]] * 60, [[1.0, 1.0]] * 59 + [[1.0]])
    assert found[0] == "t: 60 of 120 samples of base are excluded"
    assert found[1].startswith("t: tuned is ragged, 1 to 2 samples a problem")


def test_score_files_say_what_was_not_checked() -> None:
    side, other = score_side("b.jsonl", t=side_task([[1.0]])), score_side("t.jsonl", t=side_task([[1.0]]))
    notes = comparison_notes(pair_sides(side, other, (), False))
    assert [note.split(":")[0] for note in notes] == ["b.jsonl", "t.jsonl"]
    assert len(comparison_notes(pair_sides(side, side, (), False))) == 1


@each_row(
    "turned, dtypes, words",
    [
        (5, ("bfloat16", None), ", as the arithmetic"),  # two builds and a model of 135M parameters
        (5, ("float32", None), ", as the arithmetic"),  # the other side does not say its number format
        (5, ("float32", "float32"), ", not as the arithmetic"),
        (15, ("bfloat16", "bfloat16"), ", not as the arithmetic"),
    ],
)
def test_picks_of_one_model_turn_as_often_as_its_number_format_explains(
    turned: int, dtypes: tuple[str | None, str | None], words: str
) -> None:
    (said,) = turned_words("piqa", turned, 150, turned_share(*dtypes))
    assert said.startswith(f"piqa: {turned} of 150 picks turned between right and wrong (") and words in said
    assert list(turned_words("piqa", 0, 150, turned_share(*dtypes))) == []
