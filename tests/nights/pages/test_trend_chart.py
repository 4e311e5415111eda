"""The chart of one task of a track."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

from genbench.nights.pages.page import HEIGHT, WIDTH, trend_chart
from genbench.nights.trend.compose import compose
from genbench.nights.trend.record import TrendColumns
from tests.nights.trend.histories import base_of, change, drawn, epoch, history, losses, night, series

NIGHTS = 20
SUMS = drawn(losses(NIGHTS))


def columns(**fields: object) -> TrendColumns:
    return compose(history({"gpqa": SUMS}, **fields)).tasks[0].points  # type: ignore[arg-type]


def elements(text: str, kind: str) -> list[ElementTree.Element]:
    return [item for item in ElementTree.fromstring(text).iter() if kind in item.get("class", "").split()]


def test_the_chart_is_well_formed_and_named_for_readers_who_cannot_see_it() -> None:
    root = ElementTree.fromstring(trend_chart("gpqa", columns(), []))
    label = root.get("aria-label", "")
    assert label.startswith("gpqa: difference to the base in points of 100")
    assert root.get("role") == "img"


def test_every_point_is_drawn_inside_the_frame_with_its_night() -> None:
    points = elements(trend_chart("gpqa", columns(), []), "point")
    assert len(points) == NIGHTS
    for point in points:
        assert 0 < float(point.get("cx", "-1")) < WIDTH
        assert 0 < float(point.get("cy", "-1")) < HEIGHT
    assert (points[-1][0].text or "").startswith(night(NIGHTS - 1).label)


def test_without_a_base_the_score_is_drawn() -> None:
    text = trend_chart("gpqa", columns(bases=False), [])
    assert 'aria-label="gpqa: score' in text
    assert not elements(text, "zero")


def test_both_bands_are_drawn() -> None:
    text = trend_chart("gpqa", columns(), [])
    assert len(elements(text, "inner")) == len(elements(text, "outer")) == 1


def test_a_night_without_a_score_breaks_the_line() -> None:
    shown = columns()
    gap = shown.model_copy(
        update={
            name: tuple(None if at == 9 else value for at, value in enumerate(getattr(shown, name)))
            for name in ("difference", "difference_rerun_low", "difference_low")
        }
    )
    text = trend_chart("gpqa", gap, [])
    assert len(elements(text, "line")) == 2
    assert len(elements(text, "point")) == NIGHTS - 1


def test_an_epoch_breaks_the_line_and_has_a_mark() -> None:
    points = [night(number) for number in range(NIGHTS)]
    parts = [
        epoch("gpqa", SUMS[:8], points[:8], base_of(SUMS), key="old"),
        epoch("gpqa", SUMS[8:], points[8:], base_of(SUMS), key="new"),
    ]
    found = replace(history({"gpqa": SUMS}), series={"gpqa": series("gpqa", parts)})
    text = trend_chart("gpqa", compose(found).tasks[0].points, [])
    assert len(elements(text, "epoch")) == 1
    assert len(elements(text, "line")) == 2


def test_a_change_has_a_mark_at_its_first_night_with_its_size() -> None:
    record = compose(history({"gpqa": SUMS}, changes=[change(12, 14)]))
    text = trend_chart("gpqa", record.tasks[0].points, record.changes)
    line, label = elements(text, "mark")
    assert label.text == "-2.1"
    point = elements(text, "point")[12]
    assert f"M{point.get('cx')} " in line.get("d", "")


def test_a_closed_change_is_drawn_as_over() -> None:
    closed = change(12, 14, state="recovered", closed_uid=night(16).uid)
    record = compose(history({"gpqa": SUMS}, changes=[closed]))
    assert elements(trend_chart("gpqa", record.tasks[0].points, record.changes), "over")


def test_a_change_before_the_shown_points_has_no_mark() -> None:
    record = compose(history({"gpqa": SUMS}, changes=[change(2, 4)]), points=10)
    assert not elements(trend_chart("gpqa", record.tasks[0].points, record.changes), "mark")


def test_a_hostile_name_stays_text() -> None:
    text = trend_chart('"><script>', columns(), [])
    assert "<script" not in text
    ElementTree.fromstring(text)


def test_a_task_without_scores_has_no_chart() -> None:
    shown = columns()
    nothing = (None,) * NIGHTS
    assert trend_chart("gpqa", shown.model_copy(update={"difference": nothing, "value": nothing}), []) == ""


def test_one_point_is_enough() -> None:
    shown = compose(history({"gpqa": SUMS[:1]})).tasks[0].points
    assert re.search(r'class="point"', trend_chart("gpqa", shown, []))
