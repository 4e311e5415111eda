"""`genbench ledger`: every verb as a user types it, its exit codes and its JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench import nights
from genbench.cli import output
from genbench.nights.ledger.changes import change_id, open_change
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.notes import Change
from tests.nights.ledger.synthetic import flat, make_run

from .conftest import Outcome

Cli = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.delenv("GENBENCH_LEDGER_NOTES", raising=False)
    for night in range(2):
        scores = {"math": flat(20, 2, 0.5, night)}
        make_run(tmp_path / "runs" / f"n{night}", scores, position=20_000 + night, verdicts=True)
    return tmp_path


def read(outcome: Outcome) -> Any:
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_add_and_list_show_what_is_there(genbench: Cli, place: Path) -> None:
    added = genbench("ledger", "add", place / "runs")
    assert added.code == 0 and "2 added" in added.out and "nightly 2024-10-04" in added.out
    assert "nightly" in genbench("ledger", "list").out
    listed = read(genbench("ledger", "list", "nightly", "--runs", "--json"))
    assert [item["label"] for item in listed["runs"]] == ["2024-10-05", "2024-10-04"]
    assert read(genbench("ledger", "add", place / "runs", "--json"))["folders"][0]["outcome"] == "unchanged"


def test_a_refused_folder_makes_exit_code_1_and_is_named(genbench: Cli, place: Path) -> None:
    (place / "runs" / "n1" / "results.json").write_text("{")
    done = genbench("ledger", "add", place / "runs")
    assert done.code == 1 and "1 refused" in done.out and "results.json: cannot be read" in done.out


def test_a_placed_run_needs_track_and_one_position(genbench: Cli, place: Path) -> None:
    old = make_run(place / "old", {"math": flat()}, track=None)
    assert genbench("ledger", "add", old, "--night", "2026-01-01").code == 2
    assert genbench("ledger", "add", old, "--track", "t").code == 2
    assert genbench("ledger", "add", old, "--track", "t", "--night", "soon").code == 2
    assert genbench("ledger", "add", old, "--track", "../t", "--step", 5).code == 2
    assert "t step-5" in genbench("ledger", "add", old, "--track", "t", "--step", 5).out


@pytest.mark.slow
def test_check_finds_an_edit_with_exit_code_1(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    assert genbench("ledger", "check", "--quick").code == 0
    (place / "runs" / "n1" / "results.json").write_text("{}")
    found = genbench("ledger", "check", "nightly")
    assert found.code == 1 and "1 edited, 1 ok" in found.out


def test_rebuild_makes_the_ledger_again(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    (place / "ledger.sqlite3").unlink()
    assert "2 added" in genbench("ledger", "rebuild").out
    assert genbench("ledger", "list", "nightly").code == 0


@pytest.mark.slow
def test_rebuild_replaces_a_damaged_file_and_keeps_it(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    path = place / "ledger.sqlite3"
    whole = path.read_bytes()
    for damaged in (whole[:4096] + b"x" * (len(whole) - 4096), whole[: len(whole) // 2], whole[:100]):
        path.write_bytes(damaged)
        assert "ledger rebuild" in genbench("ledger", "list").err
        done = genbench("ledger", "rebuild")
        assert done.code == 0 and "2 added" in done.out, done.err
        assert (place / "ledger.sqlite3.damaged").read_bytes()[:100] == damaged[:100]
        assert genbench("ledger", "list", "nightly").code == 0


def test_rebuild_of_a_file_that_is_no_database_does_not_advise_itself(genbench: Cli, place: Path) -> None:
    path = place / "ledger.sqlite3"
    path.write_text("a text of somebody else")
    done = genbench("ledger", "rebuild", place / "runs")
    assert done.code == 2 and "is not a SQLite file" in done.err and "ledger rebuild" not in done.err
    assert path.read_text() == "a text of somebody else"


@pytest.mark.slow
def test_base_note_and_track_are_kept(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    with open_ledger() as opened:
        uid = track_history(opened, "nightly").points[1].uid
    refused = genbench("ledger", "base", "nightly", uid[:8])
    assert refused.code == 2 and "--reason TEXT is needed" in refused.err
    assert genbench("ledger", "base", "nightly", uid[:8], "--reason", "newer").code == 0
    assert genbench("ledger", "note", "nightly", "2024-10-05", "new driver", "--kind", "engine").code == 0
    assert genbench("ledger", "note", "nightly", "soon", "x").code == 2
    budget = genbench("ledger", "track", "nightly", "--alarms", "2", "--nights", "250")
    assert (budget.code, budget.out) == (0, "nightly: 2 alarms and 250 runs a year\n")
    with open_ledger() as opened:
        history = track_history(opened, "nightly")
    assert history.track.alarms_per_year == 2 and history.track.base_uid == uid
    assert [item.kind for item in history.annotations] == ["base", "engine"]


def test_settle_closes_a_change(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    with open_ledger() as opened:
        uid = track_history(opened, "nightly").points[1].uid
        name = change_id("nightly", "math", "drop", uid)
        limits: dict[str, Any] = {"z": 4.0, "threshold": 3.7, "size": -0.1, "ci": (-0.2, 0.0), "suspects": ()}
        runs = {"first_uid": uid, "last_before_uid": uid, "found_uid": uid, "found_position": 1}
        words = {"state": "open", "by": "genbench", "note": "", "at": "now"}
        values: dict[str, Any] = limits | runs | words
        change = Change(id=name, track="nightly", task="math", direction="drop", gating=True, **values)
        open_change(opened, change)
    assert genbench("ledger", "settle", name, "recovered", "--note", "x").code == 2
    assert genbench("ledger", "settle", name, "explained").code == 2
    assert genbench("ledger", "settle", name, "explained", "--note", "intended").out == f"{name}: explained\n"


def test_prune_says_what_it_would_delete(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    found = genbench("prune", "nightly", "--keep-completions", "30d", "--dry-run")
    assert found.code == 0 and "would delete 0.0 MB of 0 runs" in found.out
    assert genbench("prune", "nightly", "--keep-completions", "ever").code == 2


def test_rescore_without_completions_says_so_with_exit_code_1(genbench: Cli, place: Path) -> None:
    genbench("ledger", "add", place / "runs")
    found = genbench("ledger", "rescore", "nightly")
    assert found.code == 1 and "skipped, completions of math were deleted" in found.out


def test_without_a_ledger_reading_says_how_to_make_one(genbench: Cli, place: Path) -> None:
    found = genbench("ledger", "list")
    assert found.code == 2 and "genbench ledger add DIR" in found.err


def test_without_sqlalchemy_the_pip_line_is_told(
    genbench: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The import within this test puts another module into the package. The attribute is set back as well.
    monkeypatch.setattr(nights, "ledger", sys.modules["genbench.nights.ledger"])
    for name in [name for name in sys.modules if name.startswith(("genbench.nights.ledger", "sqlalchemy"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    found = genbench("ledger", "add", place / "runs")
    assert found.code == 2 and re.search(r'pip install (-e )?".*\[ledger\]', found.err)


def test_the_counter_is_silent_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.CountLine("folders") as count:
        assert count is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with output.CountLine("folders") as count:
        assert count is not None
        count(2, 2)
    assert capsys.readouterr().err == "\r2 of 2 folders\n"
