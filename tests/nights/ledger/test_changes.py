"""Changes, annotations, bases and settings: each is a note first, and survives a rebuild."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import (
    annotate,
    annotation_kind,
    change_id,
    open_change,
    pin_base,
    position_of,
    set_track,
    settle_change,
    settled_state,
    withdraw_change,
)
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.note_application import apply_new_notes
from genbench.nights.ledger.notes import Change
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run


@pytest.fixture
def filled(ledger: Ledger, tmp_path: Path) -> Ledger:
    for night in range(3):
        scores = {"math": flat(20, 2, 0.5, night)}
        make_run(tmp_path / "runs" / f"n{night}", scores, position=20_000 + night)
    add(ledger, [tmp_path / "runs"])
    return ledger


def found(ledger: Ledger, **changes: Any) -> Change:
    points = track_history(ledger, "nightly").points
    change = Change(
        id=change_id("nightly", "math", "drop", points[2].uid),
        track="nightly",
        task="math",
        direction="drop",
        gating=True,
        first_uid=points[1].uid,
        last_before_uid=points[0].uid,
        found_uid=points[2].uid,
        found_position=points[2].position,
        z=4.1,
        threshold=3.7,
        size=-0.02,
        ci=(-0.03, -0.01),
        suspects=(points[1].uid,),
        state="open",
        by="genbench",
        note="",
        at="2026-01-01T00:00:00+0000",
    )
    return change.model_copy(update=changes)


def test_a_change_is_recorded_once(filled: Ledger) -> None:
    change = found(filled)
    assert open_change(filled, change) and not open_change(filled, change)
    assert track_history(filled, "nightly").changes == (change,)


@pytest.mark.slow
def test_a_second_open_change_of_one_task_and_direction_takes_the_place_of_the_first(filled: Ledger) -> None:
    open_change(filled, found(filled))
    for change in (
        found(filled, id="c-other"),
        found(filled, id="c-rise", direction="rise"),
        found(filled, id="c-pooled", task=None),
    ):
        assert open_change(filled, change)
    names = {change.id for change in track_history(filled, "nightly").changes}
    assert names == {"c-other", "c-rise", "c-pooled"}
    rebuild(filled)
    assert {change.id for change in track_history(filled, "nightly").changes} == names


def test_what_a_person_settled_is_not_withdrawn(filled: Ledger) -> None:
    change = found(filled)
    open_change(filled, change)
    settle_change(filled, change.id, "explained", by="ada", note="new template")
    withdraw_change(filled, change.id)
    assert [item.id for item in track_history(filled, "nightly").changes] == [change.id]
    withdraw_change(filled, "c-unknown")


def test_a_change_is_opened_open_and_settled_with_a_reason(filled: Ledger) -> None:
    change = found(filled)
    with pytest.raises(InputError, match="wanted open"):
        open_change(filled, change.model_copy(update={"state": "explained"}))
    open_change(filled, change)
    with pytest.raises(InputError, match="say why with --note"):
        settle_change(filled, change.id, "dismissed", by="ada", note=" ")
    with pytest.raises(InputError, match="wanted explained"):
        settle_change(filled, change.id, "open", by="ada", note="again")
    settled = settle_change(filled, change.id, "explained", by="ada", note="new template")
    assert (settled.state, settled.by, settled.note) == ("explained", "ada", "new template")


def test_an_unknown_change_names_the_nearest_open_one(filled: Ledger) -> None:
    open_change(filled, found(filled, id="c-12345678"))
    with pytest.raises(InputError, match="did you mean 'c-12345678'"):
        settle_change(filled, "c-12345679", "dismissed", by="ada", note="x")


def test_all_that_was_said_survives_a_rebuild(filled: Ledger) -> None:
    change = found(filled)
    open_change(filled, change)
    settle_change(filled, change.id, "recovered", by="genbench", note="back", closed_uid=change.found_uid)
    annotate(filled, "nightly", 20_001, "engine", "new driver", by="ada")
    set_track(filled, "nightly", alarms_per_year=2, nights_per_year=250)
    pin_base(filled, "nightly", change.found_uid[:8], "newer", by="ada")
    wanted = all_rows(filled)
    rebuild(filled)
    assert all_rows(filled) == wanted
    history = track_history(filled, "nightly")
    assert (history.track.alarms_per_year, history.track.nights_per_year) == (2, 250)
    assert history.changes[0].state == "recovered"


def test_the_same_remark_is_kept_once(filled: Ledger) -> None:
    first = annotate(filled, "nightly", 20_001, "note", "hello", by="ada")
    assert annotate(filled, "nightly", 20_001, "note", "hello", by="bob") == first
    assert len(track_history(filled, "nightly").annotations) == 1


def test_a_base_needs_a_reason_and_a_finished_run(filled: Ledger, tmp_path: Path) -> None:
    uid = track_history(filled, "nightly").points[0].uid
    with pytest.raises(InputError, match="--reason TEXT is needed"):
        pin_base(filled, "nightly", uid, "", by="ada")
    with pytest.raises(InputError, match="no run with a uid"):
        pin_base(filled, "nightly", "zzz", "why", by="ada")
    with pytest.raises(InputError, match="a uid that begins with"):
        pin_base(filled, "nightly", "", "why", by="ada")
    failed = make_run(tmp_path / "f", {"math": flat()}, failed=("math: broken",), uid="f" * 8 + uid[8:])
    add(filled, [failed])
    with pytest.raises(InputError, match="is failed"):
        pin_base(filled, "nightly", "ffffffff", "why", by="ada")


@pytest.mark.parametrize("value", [0, -1, 1e9])
def test_a_budget_out_of_range_is_refused(filled: Ledger, value: float) -> None:
    with pytest.raises(InputError, match="--alarms"):
        set_track(filled, "nightly", alarms_per_year=value)


def test_unknown_tracks_are_refused_and_write_no_note(filled: Ledger) -> None:
    size = filled.notes.size()
    with pytest.raises(InputError, match="no track 'other'"):
        annotate(filled, "other", 1, "note", "x", by="ada")
    with pytest.raises(InputError, match="needs a text"):
        annotate(filled, "nightly", 1, "note", " ", by="ada")
    assert filled.notes.size() == size


def test_notes_of_another_process_are_applied_at_the_next_writing(filled: Ledger) -> None:
    line = filled.notes.path.read_bytes().splitlines(keepends=True)[0]
    with filled.notes.path.open("ab") as file:
        file.write(line)
    with filled.write() as connection:
        assert apply_new_notes(filled, connection) == 1
        assert apply_new_notes(filled, connection) == 0


def test_notes_that_were_cut_are_noticed(filled: Ledger) -> None:
    filled.notes.path.write_bytes(b"")
    with pytest.raises(InputError, match="restore the file"):
        set_track(filled, "nightly", alarms_per_year=2)


@pytest.mark.parametrize(
    ("text", "position"), [("1970-01-02", 1), ("2026-11-22", 20_779), ("500", 500), ("step-7", 7)]
)
def test_positions_as_people_write_them(text: str, position: int) -> None:
    assert position_of(text) == position


def test_wrong_words_are_refused() -> None:
    for call, text in ((position_of, "yesterday"), (annotation_kind, "gossip"), (settled_state, "recovered")):
        with pytest.raises(InputError):
            call(text)
    assert annotation_kind("engine") == "engine"
    assert settled_state("explained") == "explained" and settled_state("dismissed") == "dismissed"
