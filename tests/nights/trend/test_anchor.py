"""The anchor: whether machine and engine moved, and when to draw the base's model again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from genbench.nights.ledger.history import TrackHistory
from genbench.nights.trend.compose import anchor_draws, anchor_due, anchor_state, compose, house_moved_with
from genbench.stats.scores import Floats
from tests.nights.trend.histories import K, base_of, change, drawn, epoch, history, losses, night, series

NIGHTS = 30
SUMS = drawn(losses(NIGHTS))
BASE = base_of(SUMS)


def anchored(anchor: Floats, at: int = 24, **fields: object) -> TrackHistory:
    """Return a track whose base's model was drawn again with these sums on night `at`."""
    drawn_again = night(at, uid="anchor", model="base", role="anchor")
    points = [night(number) for number in range(NIGHTS)]
    own = epoch(
        "gpqa",
        SUMS,
        points,
        BASE,
        anchor_uids=("anchor",),
        anchor_positions=np.array([drawn_again.position]),
        anchor_sums=anchor[None, :],
        anchor_counts=np.full((1, SUMS.shape[1]), K),
    )
    plain = history({"gpqa": SUMS})
    return replace(plain, series={"gpqa": series("gpqa", [own])}, anchors=(drawn_again,), **fields)  # type: ignore[arg-type]


WORSE = np.maximum(0, BASE - (np.arange(len(BASE)) % 3 > 0))


def test_equal_texts_show_that_the_house_held() -> None:
    draws = anchor_draws(anchored(BASE))
    assert (draws[0].difference, draws[0].z) == (0, 0)
    assert anchor_state(draws, 3.6) == "held"


def test_a_worse_anchor_shows_that_the_house_moved() -> None:
    draws = anchor_draws(anchored(WORSE))
    assert draws[0].difference == pytest.approx((WORSE - BASE).mean() / K)
    assert draws[0].z < -3.6
    assert anchor_state(draws, 3.6) == "moved"


def test_without_an_anchor_the_house_was_not_drawn() -> None:
    assert anchor_draws(history({"gpqa": SUMS})) == []
    assert anchor_state([], 3.6) == "not drawn"


def test_tasks_that_do_not_gate_do_not_measure_the_house() -> None:
    plain = anchored(WORSE)
    own = {"gpqa": replace(plain.series["gpqa"], gating=False)}
    assert anchor_draws(replace(plain, series=own)) == []


def test_an_anchor_under_other_terms_than_the_base_is_passed_over() -> None:
    plain = anchored(WORSE)
    own = replace(plain.series["gpqa"].epochs[0], base_sums=None, base_counts=None)
    assert anchor_draws(replace(plain, series={"gpqa": replace(plain.series["gpqa"], epochs=(own,))})) == []


def test_a_drop_that_the_anchor_shares_is_laid_to_the_house() -> None:
    draws = anchor_draws(anchored(WORSE))
    first, found = night(22).position, night(26).position
    assert house_moved_with(draws, 3.6, -0.02, first, found)
    assert not house_moved_with(draws, 3.6, 0.02, first, found)


def test_an_anchor_from_before_the_change_lays_nothing_to_the_house() -> None:
    draws = anchor_draws(anchored(WORSE))
    assert not house_moved_with(draws, 3.6, -0.02, night(25).position, night(26).position)


def test_an_anchor_that_held_leaves_the_blame() -> None:
    draws = anchor_draws(anchored(BASE))
    assert not house_moved_with(draws, 3.6, -0.02, night(22).position, night(26).position)


def test_the_sentence_holds_back_the_blame_if_the_house_moved() -> None:
    record = compose(anchored(WORSE, changes=(change(22, 26),)))
    assert record.changes[0].house
    assert "so did the base's model: the house moved" in record.sentence
    assert "not recovered" not in record.sentence


def test_the_sentence_says_that_the_house_held() -> None:
    assert compose(anchored(BASE)).sentence.endswith("the house did not move.")


def test_new_packages_make_the_anchor_due() -> None:
    plain = anchored(BASE)
    newest = replace(plain.points[-1], packages={"vllm": "0.33.0"})
    found = replace(plain, points=(*plain.points[:-1], newest))
    due = anchor_due(found, anchor_draws(found))
    assert due == f"vllm 0.32.0 to 0.33.0 changed since {night(24).label}"


def test_other_circumstances_make_the_anchor_due() -> None:
    plain = anchored(BASE)
    newest = replace(plain.points[-1], circumstances_digest="elsewhere")
    found = replace(plain, points=(*plain.points[:-1], newest))
    assert anchor_due(found, anchor_draws(found)) == f"the circumstances changed since {night(24).label}"


def test_an_anchor_of_last_week_is_due() -> None:
    assert anchor_due(anchored(BASE, at=25), anchor_draws(anchored(BASE, at=25))) is None
    late = anchored(BASE, at=20)
    assert anchor_due(late, anchor_draws(late)) == f"it was last drawn on {night(20).label}"


def test_an_anchor_that_was_never_drawn_is_due_only_for_a_reason() -> None:
    assert anchor_due(history({"gpqa": SUMS}), []) is None


def test_a_track_without_a_base_has_no_anchor_to_draw() -> None:
    assert anchor_due(history({"gpqa": SUMS}, bases=False), []) is None


def test_checkpoints_need_no_anchor() -> None:
    assert anchor_due(history({"gpqa": SUMS}, kind="step"), []) is None
