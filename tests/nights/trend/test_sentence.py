"""The sentence of a track: what it names, counts and leaves out."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from genbench.nights.pages.text import trend_text
from genbench.nights.trend.compose import compose
from genbench.nights.trend.sentence import night_words, since_position, state_words
from tests.nights.trend.histories import (
    FIRST,
    K,
    base_of,
    change,
    drawn,
    epoch,
    history,
    losses,
    night,
    series,
)

NIGHTS = 40


def position(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        ("2026-11-23", "2026-11-20"),  # Monday: since Friday
        ("2026-11-21", "2026-11-20"),
        ("2026-11-20", "2026-11-13"),  # Friday: the week since the last one
        ("2026-11-26", "2026-11-20"),
    ],
)
def test_nights_are_told_since_the_friday_before_the_newest(newest: str, expected: str) -> None:
    assert since_position("night", position(newest), None, None) == position(expected)


def test_checkpoints_are_told_since_the_one_before() -> None:
    assert since_position("step", 800, None, 700) == 700
    assert since_position("step", 800, None, None) == 800


def test_an_asked_beginning_is_taken() -> None:
    assert since_position("night", position("2026-11-23"), position("2026-11-01"), None) == position(
        "2026-11-01"
    )


def test_a_night_is_named_with_its_date_since_the_newest_run_may_be_old() -> None:
    assert night_words(position("2026-11-20")) == "Friday 2026-11-20"


def calm(**fields: object) -> str:
    tasks = {"gpqa": drawn(losses(NIGHTS)), "aime": drawn(losses(NIGHTS), seed=2)}
    return compose(history(tasks, **fields)).sentence  # type: ignore[arg-type]


def test_a_quiet_track_is_one_short_sentence() -> None:
    newest = FIRST + NIGHTS - 1
    words = night_words(since_position("night", newest, None, None))
    count = newest - since_position("night", newest, None, None) + 1
    text = calm()
    mean = r"not told from the base on average: [-+]\d\.\d points \[-\d\.\d, \d\.\d\]"
    assert re.fullmatch(rf"{count} nights since {words}: {mean}; both tasks held\.", text)


def test_an_open_drop_is_named_with_size_interval_model_and_night() -> None:
    text = calm(changes=[change(35, 37)])
    assert f"gpqa fell 2.1 points [1.2, 3.0] with tuned ({night(35).label}), not recovered" in text
    assert "1 of 2 tasks held" in text


def test_a_change_of_all_tasks_together_is_said_so() -> None:
    assert "all gating tasks together fell 2.1 points" in calm(changes=[change(35, 37, task=None)])


def test_a_rise_rose() -> None:
    text = calm(changes=[change(35, 37, direction="rise", size=0.021, ci=(0.012, 0.03))])
    assert "rose 2.1 points [1.2, 3.0]" in text


def test_a_change_mended_since_is_told_and_one_mended_before_is_not() -> None:
    since = change(20, 22, state="recovered", closed_uid=night(NIGHTS - 1).uid)
    before = change(20, 22, state="recovered", closed_uid=night(24).uid)
    assert f"mended on {night(NIGHTS - 1).label}" in calm(changes=[since])
    assert "gpqa" not in calm(changes=[before])


def test_a_rise_that_ends_is_no_recovery() -> None:
    rise = change(
        20,
        22,
        direction="rise",
        state="recovered",
        closed_uid=night(NIGHTS - 1).uid,
        size=0.021,
        ci=(0.012, 0.03),
    )
    drop = change(20, 22, state="recovered", closed_uid=night(NIGHTS - 1).uid)
    record = compose(history({"gpqa": drawn(losses(NIGHTS))}, changes=[rise]))
    assert f"lost again on {night(NIGHTS - 1).label}" in record.sentence
    assert [state_words(found) for found in record.changes] == ["ended"]
    for text in (record.sentence, trend_text(record)):
        assert "recovered" not in text
    mended = compose(history({"gpqa": drawn(losses(NIGHTS))}, changes=[drop]))
    assert [state_words(found) for found in mended.changes] == ["recovered"]


def test_a_track_without_a_gating_task_says_that_nothing_can_alarm() -> None:
    track = history({"gpqa": drawn(losses(NIGHTS))})
    assert "can raise an alarm" not in compose(track).sentence
    watched = {"gpqa": replace(track.series["gpqa"], gating=False)}
    text = compose(replace(track, series=watched)).sentence
    assert text.endswith("1 task held; no gating task has 20 problems, so nothing can raise an alarm.")


@pytest.mark.parametrize("fell", [0.3, -0.3])
def test_a_task_off_its_base_did_not_hold_although_its_track_did_not_move(fell: float) -> None:
    own = drawn(losses(NIGHTS))
    track = history({"gpqa": own, "aime": drawn(losses(NIGHTS), seed=2)})
    base = epoch("gpqa", own, track.points, np.clip(base_of(own) + fell * K, 0, K))
    text = compose(replace(track, series={**track.series, "gpqa": series("gpqa", [base])})).sentence
    word, place = ("worse", "below") if fell > 0 else ("better", "above")
    assert f"{word} than the base on average: " in text
    assert re.search(rf"gpqa is \d+\.\d points {place} the base \[", text)
    assert "1 of 2 tasks held" in text


@pytest.mark.parametrize(("nights", "held"), [(7, False), (8, True)])
def test_what_could_not_be_found_did_not_hold(nights: int, held: bool) -> None:
    text = compose(history({"gpqa": drawn(losses(nights)), "aime": drawn(losses(nights), seed=2)})).sentence
    assert ("both tasks held" in text) == held
    assert ("changes are looked for from the eighth run on" in text) != held


def test_a_newest_checkpoint_below_the_best_is_told_next_to_what_rose() -> None:
    falls = losses(12)
    falls[:3], falls[9:] = 0.4, 0.15
    track = history({"gpqa": drawn(falls)}, kind="step")
    rise = change(3, 5, direction="rise", size=0.091, ci=(0.07, 0.12), first_uid=track.points[3].uid)
    text = compose(replace(track, changes=(rise,))).sentence
    assert "rose 9.1 points" in text
    assert re.search(r"the newest is \d+\.\d points below step-\d+ on gpqa \[\d+\.\d, \d+\.\d\]", text)
    best = compose(track).best[0]
    assert best.difference_to_best is not None
    assert f"the newest is {-100 * best.difference_to_best:.1f} points below {best.best.label}" in text
    level = history({"gpqa": drawn(losses(12))}, kind="step")
    assert "the newest is" not in compose(level).sentence


def test_more_than_two_changes_are_counted() -> None:
    changes = [
        change(35, 37),
        change(35, 37, id="c-2", task="aime"),
        change(35, 37, id="c-3", task=None),
        change(35, 37, id="c-4", task="aime", direction="rise"),
    ]
    assert "2 more changes" in calm(changes=changes)


def test_drops_are_named_before_rises() -> None:
    rise = change(30, 38, id="c-2", task="aime", direction="rise", size=0.02, ci=(0.01, 0.03))
    text = calm(changes=[rise, change(35, 37)])
    assert text.index("fell") < text.index("rose")


def test_watched_tasks_are_listed_apart() -> None:
    assert "on the watch list: gpqa" in calm(changes=[change(35, 37, gating=False)])


def test_missing_nights_are_counted() -> None:
    assert "1 night is missing" in calm(skipped=[NIGHTS - 1])


def test_an_empty_track_says_so() -> None:
    empty = history({"gpqa": drawn(losses(NIGHTS))}, points=(), series={})
    assert compose(empty).sentence == "The track has no finished run yet."


def test_a_track_of_the_bases_model_alone_says_what_is_lacking() -> None:
    drawn_again = (night(0, uid="again", model="base", role="anchor"),)
    found = compose(history({"gpqa": drawn(losses(NIGHTS))}, points=(), series={}, anchors=drawn_again))
    assert found.sentence.startswith("The track has runs of its base's model only")
