"""How answers were read on both sides, and the tasks in which one side has more guesses beyond noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from genbench.analysis.comparison.read_pairs import LEAST_CHANGE, ReadPair, read_pairs, reading_warnings
from genbench.analysis.reading import Reading, read_counts, reading_of
from genbench.analysis.sides.side import SideTask
from tests.analysis.score_sides import side_task


def read(shares: Any, k: int = 4, seed: int = 0, **more: Any) -> SideTask:
    """A task whose answers to problem i are guessed with probability `shares[i]`, and boxed otherwise."""
    draws = np.random.default_rng(seed).random((len(shares), k)) < np.asarray(shares)[:, None]
    rows: tuple[tuple[Reading, ...], ...] = tuple(
        tuple("guess" if guess else "box" for guess in row) for row in draws.tolist()
    )
    return side_task([[1.0] * k] * len(shares), readings=rows, **more)


def pair_of(
    base: SideTask, tuned: SideTask, others: Mapping[str, tuple[SideTask, SideTask]] | None = None
) -> ReadPair:
    return read_pairs({"t": (base, tuned), **(others or {})})["t"]


def test_a_task_with_far_more_guesses_on_one_side_is_named_with_both_shares() -> None:
    pair = pair_of(read([0.05] * 100), read([0.4] * 100, seed=1))
    assert pair.differs and pair.difference is not None and pair.difference > 0.3
    assert pair.base == read_counts(row for rows in (read([0.05] * 100).readings or ()) for row in rows)
    (line,) = reading_warnings({"t": pair})
    assert line.startswith("t: ") and "guessed or not found" in line and "guess: off" in line


def test_nothing_read_counts_like_a_guess_and_other_forms_do_not() -> None:
    def all_of(way: Reading) -> SideTask:
        return side_task([[1.0]] * 60, readings=((way,),) * 60)

    assert pair_of(all_of("box"), all_of("nothing")).differs
    assert pair_of(all_of("guess"), all_of("nothing")).difference == 0
    assert pair_of(all_of("box"), all_of("judge")).difference == 0


def test_a_change_that_cannot_move_the_score_much_is_not_tested() -> None:
    n = 4000
    pair = pair_of(read([0.0] * n), read([1.0] * 70 + [0.0] * (n - 70)))
    assert pair.difference is not None and 0 < pair.difference < LEAST_CHANGE
    assert pair.p_two_sided is None and pair.p_adjusted is None and not pair.differs


def test_samples_of_one_problem_and_problems_of_one_cluster_are_no_independent_evidence() -> None:
    shares = [1.0] * 6 + [0.0] * 60
    base = read([0.0] * 66)
    alone = pair_of(base, read(shares, k=40))
    grouped = ("a",) * 6 + tuple(map(str, range(60)))
    together = pair_of(read([0.0] * 66, groups=grouped), read(shares, groups=grouped))
    assert alone.differs and not together.differs


def test_the_level_holds_for_all_tasks_of_a_comparison_together() -> None:
    shares = [1.0] * 6 + [0.0] * 60
    one = (read([0.0] * 66), read(shares))
    alike = {f"t{number}": (read([0.0] * 66), read([0.0] * 66)) for number in range(40)}
    assert pair_of(*one).differs and not pair_of(*one, alike).differs


def test_unchanged_models_are_rarely_named() -> None:
    """Guessing differs by problem, as it does in fact. Two draws of one model are compared 200 times."""
    shares = np.random.default_rng(7).beta(0.4, 1.6, 60)
    named = sum(
        pair_of(read(shares, seed=2 * draw), read(shares, seed=2 * draw + 1)).differs for draw in range(200)
    )
    assert named <= 18  # 5 % of 200, and 2.6 standard errors


@pytest.mark.parametrize("lacks", ["base", "tuned"])
def test_verdicts_that_do_not_say_it_are_compared_with_nothing(lacks: str) -> None:
    old = side_task([[1.0]] * 60, readings=(("not recorded",),) * 60)
    new = read([0.5] * 60, k=1)
    pair = pair_of(*((old, new) if lacks == "base" else (new, old)))
    assert getattr(pair, lacks) is None and pair.difference is None and not pair.differs


def test_tasks_without_any_word_of_it_have_no_record() -> None:
    assert read_pairs({"t": (side_task([[1.0]]), side_task([[1.0]]))}) == {}


@pytest.mark.parametrize(
    ("status", "detail", "found"),
    [
        ("correct", {"read_by": "box"}, "box"),
        ("wrong", {"found": "boxed"}, "not recorded"),
        ("wrong", {"read_by": ["box"]}, "not recorded"),
        ("wrong", {"read_by": "magic"}, "not recorded"),
        ("verifier_error", {"read_by": "box"}, None),
    ],
)
def test_a_verdict_says_how_it_was_read_or_that_it_is_not_recorded(
    status: Any, detail: dict[str, Any], found: Reading | None
) -> None:
    assert reading_of(status, detail) == found
