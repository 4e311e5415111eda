"""Adding of run folders: what happens to new, copied, moved, edited, damaged and foreign ones."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import track_history, track_names
from genbench.nights.ledger.ingest import GENBENCH, AddedRun, add, added_record, rebuild
from genbench.store.manifest import TrackRecord
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run, rewrite

A = {"math": flat(20, 2, 0.5, 1)}


def only(outcomes: list[AddedRun]) -> AddedRun:
    assert len(outcomes) == 1
    return outcomes[0]


def test_a_new_run_is_added_to_the_track_of_its_manifest(ledger: Ledger, tmp_path: Path) -> None:
    done = only(add(ledger, [make_run(tmp_path / "runs" / "n0", A)]))
    assert (done.outcome, done.state, done.track, done.label) == (
        "added",
        "finished",
        "nightly",
        "2024-10-04",
    )
    assert track_names(ledger) == ["nightly"]


def test_adding_again_changes_no_row_and_no_note(ledger: Ledger, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "n0", A)
    add(ledger, [tmp_path / "runs"])
    before, notes = all_rows(ledger), ledger.notes.path.read_bytes()
    assert only(add(ledger, [tmp_path / "runs"])).outcome == "unchanged"
    assert (all_rows(ledger), ledger.notes.path.read_bytes()) == (before, notes)


def test_a_copy_is_a_second_place_of_the_same_run(ledger: Ledger, tmp_path: Path) -> None:
    first = make_run(tmp_path / "runs" / "n0", A)
    shutil.copytree(first, tmp_path / "copy")
    add(ledger, [first])
    assert only(add(ledger, [tmp_path / "copy"])).outcome == "second copy"
    assert len(track_history(ledger, "nightly").points) == 1


def test_a_moved_folder_is_found_at_its_new_place(ledger: Ledger, tmp_path: Path) -> None:
    first = make_run(tmp_path / "runs" / "n0", A)
    add(ledger, [first])
    first.rename(tmp_path / "runs" / "elsewhere")
    assert only(add(ledger, [tmp_path / "runs"])).outcome == "moved"
    assert track_history(ledger, "nightly").points[0].path == str(tmp_path / "runs" / "elsewhere")


def test_two_contents_of_one_uid_are_refused_with_both_folders(ledger: Ledger, tmp_path: Path) -> None:
    uid = "11111111-2222-3333-4444-555555555555"
    first = make_run(tmp_path / "a", A, uid=uid)
    other = make_run(tmp_path / "b", {"math": flat(20, 2, 0.5, 9)}, uid=uid)
    add(ledger, [first])
    done = only(add(ledger, [other]))
    assert done.outcome == "refused"
    assert str(first) in done.detail and str(other) in done.detail


def test_a_run_that_was_scored_again_replaces_its_rows(ledger: Ledger, tmp_path: Path) -> None:
    uid = "11111111-2222-3333-4444-555555555555"
    folder = make_run(tmp_path / "a", {"math": [[1.0, 1.0]] * 4}, uid=uid)
    add(ledger, [folder])
    shutil.rmtree(folder)
    make_run(folder, {"math": [[0.0, 1.0]] * 4}, uid=uid)
    assert only(add(ledger, [folder])).outcome == "renewed"
    assert track_history(ledger, "nightly").series["math"].value.tolist() == [0.5]


def test_a_failed_run_is_listed_and_in_no_series(ledger: Ledger, tmp_path: Path) -> None:
    add(ledger, [make_run(tmp_path / "a", A, failed=("math: 9 of 40 samples are excluded",))])
    history = track_history(ledger, "nightly")
    assert history.points == () and history.series == {}
    assert history.others[0].failed == ("math: 9 of 40 samples are excluded",)


def test_an_unfinished_run_is_listed_with_its_state(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", A)
    (folder / "results.json").unlink()
    assert only(add(ledger, [folder])).state == "unfinished"


def test_a_run_that_a_process_writes_is_left_alone(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", A)
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    owner = {"host": os.uname().nodename, "pid": os.getpid(), "start_ticks": int(ticks), "started": "now"}
    (folder / "owner.json").write_text(json.dumps(owner))
    assert only(add(ledger, [folder])).state == "being written"


def test_damaged_files_are_refused_with_file_and_reason_while_others_go_on(
    ledger: Ledger, tmp_path: Path
) -> None:
    good = make_run(tmp_path / "runs" / "good", A)
    for name, file, text in (
        ("torn", "results.json", '{"format": 1, "run'),
        ("other", "manifest.json", '{"name": "a web page"}'),
        ("list", "manifest.json", "[1, 2]"),
        ("sums", "sums.json", '{"format": 1, "tasks": {}}'),
    ):
        (make_run(tmp_path / "runs" / name, A) / file).write_text(text)
    done = {Path(item.path).name: item for item in add(ledger, [tmp_path / "runs"])}
    assert done["good"].outcome == "added" and good.exists()
    assert {name for name, item in done.items() if item.outcome == "refused"} == {
        "torn",
        "other",
        "list",
        "sums",
    }
    assert "results.json" in done["torn"].detail and "manifest.json" in done["other"].detail
    assert "genbench score" in done["sums"].detail


def test_links_out_of_the_root_are_not_followed(ledger: Ledger, tmp_path: Path) -> None:
    outside = make_run(tmp_path / "outside" / "n0", A)
    inside = make_run(tmp_path / "runs" / "n1", A)
    (tmp_path / "runs" / "link").symlink_to(outside.parent)
    assert only(add(ledger, [tmp_path / "runs"])).path == str(inside)


def test_a_manifest_that_is_a_link_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "n0", A)
    (folder / "manifest.json").rename(tmp_path / "elsewhere.json")
    (folder / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    assert only(add(ledger, [folder])).outcome == "refused"


def test_a_task_name_that_leads_out_of_the_folder_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "n0", A)
    record = json.loads((folder / "manifest.json").read_text())
    record["tasks"]["../../etc"] = record["tasks"]["math"]
    (folder / "manifest.json").write_text(json.dumps(record))
    assert only(add(ledger, [folder])).outcome == "refused"


def test_a_folder_without_runs_is_an_error(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="contains no run folder"):
        add(ledger, [tmp_path / "empty"])


def test_a_person_can_place_a_run_whose_manifest_names_no_track(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "old", A, track=None)
    place = TrackRecord(name="sft", kind="step", position=500, role="point")
    add(ledger, [folder], place=place, by="ada")
    assert [night.label for night in track_history(ledger, "sft").points] == ["step-500"]


def test_a_place_that_contradicts_the_manifest_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", A)
    done = only(add(ledger, [folder], place=TrackRecord(name="sft", kind="step", position=5)))
    assert done.outcome == "refused" and "its manifest says 2024-10-04 of track nightly" in done.detail


def test_a_run_of_another_kind_does_not_join_a_track(ledger: Ledger, tmp_path: Path) -> None:
    add(ledger, [make_run(tmp_path / "a", A)])
    done = only(add(ledger, [make_run(tmp_path / "b", A, kind="step", position=7)]))
    assert done.outcome == "refused" and "has kind night" in done.detail


def test_the_first_anchor_of_a_track_is_its_base(ledger: Ledger, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "tuned", A, position=20_000)
    make_run(tmp_path / "runs" / "base", A, position=20_000, role="anchor", model="base")
    add(ledger, [tmp_path / "runs"])
    base = track_history(ledger, "nightly").base
    assert base is not None and base.model == "base"


def test_the_budget_of_the_suite_becomes_that_of_the_track(ledger: Ledger, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", A)
    budget = {"name": "nightly", "alarms_per_year": 3}
    rewrite(folder, manifest=lambda record: record["suite"]["config"].update(track=budget))
    add(ledger, [folder])
    assert track_history(ledger, "nightly").track.alarms_per_year == 3


@pytest.mark.slow
def test_a_ledger_made_again_has_equal_rows(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "base", A, role="anchor", model="base")
    for night in range(6):
        make_run(runs / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_001 + night)
    make_run(runs / "loose", A, track=None)
    place = TrackRecord(name="sft", kind="step", position=500)
    with open_ledger(tmp_path / "ledger.sqlite3") as first:
        add(first, [runs / "n3", runs / "loose"], by=GENBENCH)
        add(first, [runs])
        add(first, [make_run(tmp_path / "old", A, track=None)], place=place)
        wanted = all_rows(first)
    (tmp_path / "ledger.sqlite3").unlink()
    with open_ledger(tmp_path / "ledger.sqlite3") as again:
        rebuild(again)
        assert all_rows(again) == wanted
        rebuild(again)
        assert all_rows(again) == wanted


def test_a_rebuild_names_folders_that_are_gone(ledger: Ledger, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "n0", A)
    add(ledger, [tmp_path / "runs"])
    shutil.rmtree(tmp_path / "runs")
    done = only(rebuild(ledger))
    assert (done.state, done.path) == ("missing", str(tmp_path / "runs"))
    assert added_record(ledger, [done]).refused
