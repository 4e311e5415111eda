"""Pairing of two sides: the shared tasks with their problems in one order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.analysis.comparison.pairing import pair_sides
from genbench.errors import InputError, NotComparableError
from tests.analysis.score_sides import score_side, side_task


def test_problems_are_paired_by_name_and_not_by_place() -> None:
    base = score_side(t=side_task([[1.0], [0.0], [1.0]]))
    turned = replace(side_task([[0.0], [1.0], [1.0]]), problem_ids=("p2", "p1", "p0"))
    pairing = pair_sides(base, score_side("tuned", t=turned), (), False)
    left, right = pairing.tasks["t"]
    assert left.problem_ids == right.problem_ids == ("p0", "p1", "p2")
    assert pairing.differences()["t"].difference == 0.0


def test_what_is_let_through_is_kept_for_the_record() -> None:
    base, tuned = score_side(t=side_task([[1.0]] * 3)), score_side("tuned", t=side_task([[1.0]] * 2))
    with pytest.raises(NotComparableError, match="only in base"):
        pair_sides(base, tuned, (), False)
    pairing = pair_sides(base, tuned, ["problems"], False)
    assert [item.name for item in pairing.allowed] == ["problems.t"]


def test_an_unknown_name_is_refused_before_anything_is_compared() -> None:
    side = score_side(t=side_task([[1.0]]))
    with pytest.raises(InputError, match="--allow problem"):
        pair_sides(side, side, ["problem"], False)


def test_a_side_without_verdicts_is_not_compared() -> None:
    side = score_side(t=side_task([[None]], lacking=1))
    with pytest.raises(InputError, match="1 of 1 samples have no verdict"):
        pair_sides(side, side, (), False)


def test_score_files_share_no_seeds() -> None:
    side = score_side(t=side_task([[1.0]]))
    assert pair_sides(side, side, (), False).shares_seeds == {"t": False}
