"""The search for changes along a track of a real ledger, and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.ledger.changes import close_change
from genbench.ledger.database import Ledger
from genbench.ledger.history import track_history
from genbench.ledger.ingest import add, rebuild
from genbench.ledger.notes import Change
from genbench.stats.tracks.changepoints import alarm_threshold
from genbench.trend.compose import trend
from genbench.trend.detect import aligned_series, detect_changes, first_unsearched
from genbench.trend.rules import alarm_tasks, watched_series
from tests.trend.tracks import FIRST, filled, night, opened

NIGHTS = 18
DROP = 12
LOSSES = np.where(np.arange(NIGHTS) >= DROP, 0.5, 0.0)


@pytest.fixture(scope="module")
def dropped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ledger, Path]]:
    folder = tmp_path_factory.mktemp("dropped")
    with filled(folder, LOSSES) as ledger:
        yield ledger, folder


def by_task(changes: tuple[Change, ...]) -> dict[str | None, Change]:
    return {change.task: change for change in changes}


@pytest.mark.slow
def test_a_planted_drop_is_found_on_its_night_in_each_series(dropped: tuple[Ledger, Path]) -> None:
    found = by_task(detect_changes(dropped[0], "nightly").changes)
    assert set(found) == {None, "gpqa", "aime"}
    for change in found.values():
        assert (change.direction, change.state) == ("drop", "open")
        assert change.first_uid == first_uid(dropped[0], DROP)
        assert DROP <= change.found_position - FIRST <= DROP + 1
        assert change.threshold == alarm_threshold(3)
        assert change.size < -0.1


def first_uid(ledger: Ledger, number: int) -> str:
    points = detect_changes(ledger, "nightly").points
    return next(point.uid for point in points if point.position == FIRST + number)


def test_looking_again_changes_nothing(dropped: tuple[Ledger, Path]) -> None:
    once = detect_changes(dropped[0], "nightly")
    again = detect_changes(dropped[0], "nightly")
    assert again.changes == once.changes
    assert first_unsearched(dropped[0], once) == len(once.points)


def test_a_rebuilt_ledger_has_the_same_changes(dropped: tuple[Ledger, Path]) -> None:
    ledger = dropped[0]
    before = detect_changes(ledger, "nightly").changes
    rebuild(ledger)
    assert detect_changes(ledger, "nightly").changes == before


def test_the_record_names_the_drop_first(dropped: tuple[Ledger, Path]) -> None:
    record = trend(dropped[0], "nightly")
    assert {change.state for change in record.changes} == {"open"}
    assert "fell" in record.sentence
    assert "not recovered" in record.sentence
    assert record.base is not None
    assert record.base.model == "base"


def test_an_unknown_track_is_refused_with_the_nearest_name(dropped: tuple[Ledger, Path]) -> None:
    with pytest.raises(InputError, match=r"no track 'nightli'.*nightly"):
        detect_changes(dropped[0], "nightli")


def test_every_gating_task_and_their_pool_are_searched(tmp_path: Path) -> None:
    with filled(tmp_path, LOSSES[:8]) as ledger:
        history = track_history(ledger, "nightly")
    series = aligned_series(history, watched_series(alarm_tasks(history), gating=True), gating=True)
    assert [item.task for item in series] == [None, "aime", "gpqa"]
    assert [len(item.parts) for item in series] == [2, 1, 1]


def test_changes_older_than_the_points_shown_stay_in_the_record(dropped: tuple[Ledger, Path]) -> None:
    record = trend(dropped[0], "nightly", points=2)
    assert {change.first.position - FIRST for change in record.changes} == {DROP}
    assert record.runs == NIGHTS
    assert len(record.tasks[0].points.value) == 2


@pytest.mark.slow
def test_night_by_night_finds_what_all_at_once_finds(tmp_path: Path, dropped: tuple[Ledger, Path]) -> None:
    at_once = by_task(detect_changes(dropped[0], "nightly").changes)
    with opened(tmp_path) as ledger:
        for folder in sorted(dropped[1].glob("*/manifest.json")):
            add(ledger, [folder.parent])
            if folder.parent.name != "base":
                detect_changes(ledger, "nightly")
        found = by_task(detect_changes(ledger, "nightly").changes)
    assert found.keys() == at_once.keys()
    for task, change in found.items():
        assert (change.id, change.first_uid, change.z) == pytest.approx(
            (at_once[task].id, at_once[task].first_uid, at_once[task].z)
        )


def test_a_mended_drop_is_recovered(tmp_path: Path) -> None:
    losses = np.where((np.arange(22) >= 12) & (np.arange(22) < 16), 0.6, 0.0)
    with filled(tmp_path, losses) as ledger:
        found = detect_changes(ledger, "nightly")
    assert {change.direction for change in found.changes} == {"drop"}
    states = {change.task: change.state for change in found.changes}
    assert states == {None: "recovered", "gpqa": "recovered", "aime": "recovered"}
    closed = {point.uid: point.position - FIRST for point in found.points}
    assert all(16 <= closed[change.closed_uid or ""] <= 18 for change in found.changes)


def test_an_unchanged_line_has_no_change(tmp_path: Path) -> None:
    with filled(tmp_path, np.zeros(16)) as ledger:
        assert detect_changes(ledger, "nightly").changes == ()


def test_a_late_night_is_looked_at_in_its_place(tmp_path: Path) -> None:
    losses = LOSSES[:16]
    with filled(tmp_path, losses[:9]) as ledger:
        detect_changes(ledger, "nightly")
        for number in (10, 11, 9, 12, 13):
            add(ledger, [night(tmp_path, number, losses)])
            found = detect_changes(ledger, "nightly")
    assert [point.position - FIRST for point in found.points] == list(range(14))
    assert all(change.first_uid == found.points[DROP].uid for change in found.changes)
    assert len(found.changes) == 3


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Ledger, Path]]:
    with filled(tmp_path, LOSSES[:14]) as ledger:
        detect_changes(ledger, "nightly")
        yield ledger, tmp_path


def test_an_explained_drop_is_the_new_level(own: tuple[Ledger, Path]) -> None:
    ledger, folder = own
    for change in detect_changes(ledger, "nightly").changes:
        close_change(ledger, "nightly", change.id, "explained", by="ada", note="shorter answers are wanted")
    for number in range(14, 18):
        add(ledger, [night(folder, number, LOSSES)])
    found = detect_changes(ledger, "nightly").changes
    assert {change.state for change in found} == {"explained"}
    assert {(change.by, change.note) for change in found} == {("ada", "shorter answers are wanted")}


@pytest.mark.slow
def test_a_dismissed_drop_does_not_open_again(own: tuple[Ledger, Path]) -> None:
    ledger, folder = own
    for change in detect_changes(ledger, "nightly").changes:
        close_change(ledger, "nightly", change.id, "dismissed", by="ada", note="the disk was full")
    add(ledger, [night(folder, 14, np.zeros(15))])
    assert {change.state for change in detect_changes(ledger, "nightly").changes} == {"dismissed"}


def test_an_unknown_change_is_refused(own: tuple[Ledger, Path]) -> None:
    with pytest.raises(InputError, match="track nightly: no change 'c-0'"):
        close_change(own[0], "nightly", "c-0", "explained", by="ada", note="why")


def test_a_closed_change_is_not_closed_twice(own: tuple[Ledger, Path]) -> None:
    name = detect_changes(own[0], "nightly").changes[0].id
    close_change(own[0], "nightly", name, "dismissed", by="ada", note="why")
    with pytest.raises(InputError, match="is dismissed already"):
        close_change(own[0], "nightly", name, "explained", by="ada", note="why")
