"""The search for changes along a track of a real ledger, and its memory."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from genbench.errors import InputError
from genbench.nights.ledger.changes import close_change, pin_base, set_track
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.notes import Change
from genbench.nights.pages.text import trend_text
from genbench.nights.trend.compose import trend
from genbench.nights.trend.detect import aligned_series, detect_changes, first_unsearched
from genbench.nights.trend.rules import alarm_tasks, watched_series
from genbench.stats.tracks.changepoints import alarm_threshold
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from tests.nights.ledger.postgres import postgres_server
from tests.nights.trend.tracks import FIRST, filled, night, opened
from tests.table import each_row

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


@pytest.mark.slow
def test_the_noise_of_the_nights_is_kept_for_the_record_of_each_task(tmp_path: Path) -> None:
    losses = np.random.default_rng(2).normal(0.3, 0.1, size=30).clip(0, 1)
    with filled(tmp_path, losses) as ledger:
        assert track_history(ledger, "nightly", tasks=()).night_noise == {}
        record = trend(ledger, "nightly")
        kept = track_history(ledger, "nightly", tasks=()).night_noise
    assert set(kept) == {"", "gpqa", "aime"}
    for task in record.tasks:
        assert task.night_noise == pytest.approx(kept[task.task] ** 0.5)
        assert kept[task.task] ** 0.5 > 0.01


def test_looking_again_changes_nothing(dropped: tuple[Ledger, Path]) -> None:
    once = detect_changes(dropped[0], "nightly")
    again = detect_changes(dropped[0], "nightly")
    assert again.changes == once.changes
    assert first_unsearched(dropped[0], once) == len(once.points)


@pytest.mark.slow
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


def test_an_open_change_says_why_with_both_values(dropped: tuple[Ledger, Path]) -> None:
    record = trend(dropped[0], "nightly")
    for change in record.changes:
        cause = change.cause
        assert cause is not None and cause.status == "wrong"
        assert cause.tasks == (("aime", "gpqa") if change.task is None else (change.task,))
        assert (cause.runs_before, cause.runs_after) == (5, 5)
        # Every loss of these runs is a wrong answer.
        assert cause.after - cause.before == pytest.approx(cause.part)
        assert cause.share_after - cause.share_before == pytest.approx(-cause.part)
        words = cause.words
        assert words in trend_text(record)
        assert re.match(
            rf"{100 * cause.before:.1f} -> {100 * cause.after:.1f} \(5 runs before, 5 after\); "
            rf"\d+\.\d points of it from more wrong answers \(\d+\.\d -> \d+\.\d % of the samples\)",
            words,
        )


def test_an_unknown_track_is_refused_with_the_nearest_name(dropped: tuple[Ledger, Path]) -> None:
    with pytest.raises(InputError, match=r"no track 'nightli'.*nightly"):
        detect_changes(dropped[0], "nightli")


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_mended_drop_is_recovered(tmp_path: Path) -> None:
    losses = np.where((np.arange(22) >= 12) & (np.arange(22) < 16), 0.6, 0.0)
    with filled(tmp_path, losses) as ledger:
        found = detect_changes(ledger, "nightly")
    assert {change.direction for change in found.changes} == {"drop"}
    states = {change.task: change.state for change in found.changes}
    assert states == {None: "recovered", "gpqa": "recovered", "aime": "recovered"}
    closed = {point.uid: point.position - FIRST for point in found.points}
    assert all(16 <= closed[change.closed_uid or ""] <= 18 for change in found.changes)


@pytest.mark.slow
def test_an_unchanged_line_has_no_change(tmp_path: Path) -> None:
    with filled(tmp_path, np.zeros(16)) as ledger:
        assert detect_changes(ledger, "nightly").changes == ()


@pytest.mark.slow
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


@pytest.mark.slow
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


def shown(ledger: Ledger) -> Any:
    """The record of the track without the times at which it was made."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key not in ("at", "ledger")}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return plain(trend(ledger, "nightly").to_json())


def assert_equal(one: Any, other: Any) -> None:
    """Compare two records. Floats may differ by rounding, because PostgreSQL sums in another order."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_equal(left, right)
    else:
        assert one == (pytest.approx(other, abs=1e-6) if isinstance(one, float) else other)


FALLS = np.zeros(60)
FALLS[17:24], FALLS[40:] = 0.6, 0.45


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Any]:
    """Sixty nights with a drop that is mended and one that lasts, and their trend in the right order."""
    folder = tmp_path_factory.mktemp("sixty")
    nights = [night(folder, number, FALLS) for number in range(len(FALLS))]
    with opened(folder) as ledger:
        for path in nights:
            add(ledger, [path])
            detect_changes(ledger, "nightly")
        wanted = shown(ledger)
    states = {(change["task"], change["state"]) for change in wanted["changes"]}
    assert states == {(task, state) for task in (None, "gpqa", "aime") for state in ("open", "recovered")}
    return nights, wanted


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres_server() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_sixty_nights_in_any_order_give_the_trend_of_the_right_order(
    tmp_path: Path, sixty: tuple[list[Path], Any], database: str, request: pytest.FixtureRequest
) -> None:
    nights, wanted = sixty
    place = request.getfixturevalue("url") if database == "postgresql" else tmp_path / "l.sqlite3"
    rng = random.Random(database)
    order = rng.sample(nights, len(nights))
    with open_ledger(place, tmp_path / "notes.jsonl") as ledger, open_queue(tmp_path / "q.sqlite3") as queue:
        service = Service(ledger=ledger, queue=queue, runs=tmp_path, suites={}, roots=())
        with TestClient(make_app(service), base_url="http://127.0.0.1:8321") as client:
            for number, path in enumerate(order):
                assert [item.outcome for item in add(ledger, [path])] == ["added"]
                if rng.random() < 0.15:
                    trend(ledger, "nightly")
                if number % 15 == 14:
                    for page in ("/", "/tracks/nightly", "/tracks/nightly/series/aime"):
                        assert client.get(page).status_code == 200
            assert_equal(shown(ledger), wanted)
            for change in wanted["changes"]:
                assert client.get(f"/tracks/nightly/changes/{change['id']}").status_code == 200
        rebuild(ledger)
        assert_equal(shown(ledger), wanted)


@pytest.mark.slow
def test_a_night_that_is_filled_in_while_a_change_is_open_moves_the_change(tmp_path: Path) -> None:
    missing = DROP
    with opened(tmp_path) as ledger:
        nights = [night(tmp_path, number, LOSSES) for number in range(NIGHTS)]
        add(ledger, [path for number, path in enumerate(nights) if number != missing])
        before = by_task(detect_changes(ledger, "nightly").changes)
        add(ledger, [nights[missing]])
        found = by_task(detect_changes(ledger, "nightly").changes)
        assert {change.state for change in found.values()} == {"open"} and found.keys() == before.keys()
        assert all(found[task].found_position < before[task].found_position for task in found)
        rebuild(ledger)
        assert by_task(detect_changes(ledger, "nightly").changes) == found


@pytest.mark.slow
def test_a_night_that_is_drawn_again_while_its_change_is_open_stops_nothing(
    own: tuple[Ledger, Path],
) -> None:
    ledger, folder = own
    (change, *_) = detect_changes(ledger, "nightly").changes
    found_at = change.found_position - FIRST
    for copy, number in enumerate((found_at, found_at, found_at - 1)):
        (folder / f"again-{copy}").mkdir()
        add(ledger, [night(folder / f"again-{copy}", number, LOSSES, created="2026-01-01T12:00:00+0000")])
        states = {found.state for found in detect_changes(ledger, "nightly").changes}
        assert states == {"open"}
    assert trend(ledger, "nightly").runs == 14 + 3


@pytest.mark.slow
def test_another_budget_and_a_rebuild_search_the_track_by_the_new_budget(own: tuple[Ledger, Path]) -> None:
    ledger, _ = own
    for alarms in (50.0, 0.001, 1.0):
        set_track(ledger, "nightly", alarms_per_year=alarms)
        rebuild(ledger)
        changes = detect_changes(ledger, "nightly").changes
        assert {change.threshold for change in changes} == {alarm_threshold(3, alarms)}


@pytest.mark.slow
@each_row("state", ["explained", "dismissed"])
def test_what_a_person_said_about_a_change_outlives_a_night_that_is_filled_in(
    tmp_path_factory: pytest.TempPathFactory, state: Any
) -> None:
    folder, missing = tmp_path_factory.mktemp("said"), DROP
    with opened(folder) as ledger:
        nights = [night(folder, number, LOSSES) for number in range(NIGHTS)]
        add(ledger, [path for number, path in enumerate(nights) if number != missing])
        for change in detect_changes(ledger, "nightly").changes:
            close_change(ledger, "nightly", change.id, state, by="ada", note="intended")
        before = detect_changes(ledger, "nightly").changes
        add(ledger, [nights[missing]])
        assert detect_changes(ledger, "nightly").changes == before
        rebuild(ledger)
        assert detect_changes(ledger, "nightly").changes == before


@pytest.mark.slow
def test_an_earlier_night_becomes_the_base_unless_a_person_chose_one(tmp_path: Path) -> None:
    nights = [night(tmp_path, number, np.zeros(4)) for number in range(4)]
    with opened(tmp_path) as ledger:
        for path in reversed(nights[1:]):
            add(ledger, [path])
        base = track_history(ledger, "nightly").base
        assert base is not None and base.position == FIRST + 1
        pin_base(ledger, "nightly", track_history(ledger, "nightly").points[-1].uid, "steady", by="ada")
        add(ledger, [nights[0]])
        base = track_history(ledger, "nightly").base
        assert base is not None and base.position == FIRST + 3
