"""Nights: their date, their folders, and what an unchanged model draws again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, RunFolderError
from genbench.pipeline import RunOptions, run
from genbench.runs.execution.job_preparation import folder_of_command, placed
from genbench.runs.track_position import planned_night, tonight, track_position
from genbench.store.folder import RunFolder
from genbench.store.sums import read_sums
from genbench.suite.suitefile import Suite, read_suite
from tests.ready_runs import RIGHT, SUITE, rows, write_lines

TWO = "models: {base: {path: ./b}, tuned: {path: ./t}}\ntasks: [gsm8k]\n"


@pytest.mark.parametrize(
    ("now", "night"),
    [
        ("2026-11-22T23:30", "2026-11-22"),
        ("2026-11-23T01:00", "2026-11-22"),
        ("2026-11-23T11:59", "2026-11-22"),
        ("2026-11-23T12:00", "2026-11-23"),
    ],
)
def test_a_night_lasts_from_noon_to_noon(now: str, night: str) -> None:
    assert tonight(datetime.fromisoformat(now)) == date.fromisoformat(night)


def suite(tmp_path: Path, more: str = "") -> Suite:
    (tmp_path / "two.yaml").write_text(TWO + more)
    return read_suite(tmp_path / "two.yaml")


def test_without_night_and_track_a_run_belongs_to_none(tmp_path: Path) -> None:
    assert track_position(suite(tmp_path), RunOptions(), "tuned") is None
    assert planned_night(suite(tmp_path), RunOptions()) is None


def test_the_track_is_named_by_option_then_suite_then_file(tmp_path: Path) -> None:
    named = suite(tmp_path, "track: mine\n")
    for options, config, name in (
        (RunOptions(night=True), suite(tmp_path), "two"),
        (RunOptions(), named, "mine"),
        (RunOptions(track="other"), named, "other"),
    ):
        place = track_position(config, options, "tuned")
        assert place is not None and place.name == name


def test_base_next_to_other_models_is_the_anchor(tmp_path: Path) -> None:
    options = RunOptions(night_of="2026-11-22")
    roles = {
        name: place.role
        for name in ("base", "tuned")
        if (place := track_position(suite(tmp_path), options, name)) is not None
    }
    assert roles == {"base": "anchor", "tuned": "point"}


def test_folders_are_named_by_night_and_stored_runs_keep_their_place(tmp_path: Path) -> None:
    config = suite(tmp_path)
    night = folder_of_command(config, [], RunOptions(night_of="2026-11-22"))
    assert night.parent == Path("runs/two") and night.name.startswith("2026-11-22-")
    assert folder_of_command(config, [], RunOptions()).parent == Path("runs")
    assert folder_of_command(config, [], RunOptions(run_dir="here", night=True)) == Path("here")
    assert placed([], config, RunOptions(night=True, run_dir="here")) == []


def test_steps_make_a_track_of_steps(tmp_path: Path) -> None:
    place = track_position(suite(tmp_path), RunOptions(steps={"tuned": 500}), "tuned")
    assert place is not None and place.label == "step-500"
    assert planned_night(suite(tmp_path), RunOptions(steps={"tuned": 500, "base": 1})) is None


@pytest.mark.parametrize(
    ("options", "more", "message"),
    [
        (RunOptions(night_of="tomorrow"), "", "--night-of tomorrow: wanted a date"),
        (RunOptions(track="../up"), "", "--track"),
        (RunOptions(night=True, steps={"tuned": 1}), "", "give one of them"),
        (RunOptions(), "track: {name: s, kind: step}\n", "--models-from"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, options: RunOptions, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        track_position(suite(tmp_path, more), options, "tuned")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(3))
    lines = [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": RIGHT}
        for i in range(3)
        for j in range(4)
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def drawn(**options: Any) -> Path:
    given = RunOptions(suite="suite.yaml", responses="responses.jsonl", quiet=True, **options)
    return run(given).folders["m"]


@pytest.mark.slow
def test_every_night_has_a_folder_and_the_same_command_continues_it(place: Path) -> None:
    first = drawn(night_of="2026-11-21")
    assert first.parts[:2] == ("runs", "suite") and first.parts[2].startswith("2026-11-21-")
    uid = RunFolder(first).require_manifest().uid
    assert uid is not None and drawn(night_of="2026-11-21") == first
    manifest = RunFolder(first).require_manifest()
    assert manifest.uid == uid and len(manifest.attempts) == 2
    assert manifest.track is not None and manifest.track.label == "2026-11-21"
    other = drawn(night_of="2026-11-22")
    assert other != first
    again = RunFolder(other).require_manifest()
    assert again.uid != uid and again.run_id == manifest.run_id and again.taken_over == ()
    record = RunFolder(first).results()
    assert record is not None
    assert read_sums(first, record["sums"]).tasks["sums"].sums == (4.0, 4.0, 4.0)
    with pytest.raises(RunFolderError, match="is 2026-11-21 of track suite"):
        drawn(run_dir=first.parent, night_of="2026-11-22")
