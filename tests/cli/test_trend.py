"""genbench trend as a command: text, JSON, page, and the closing of changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from genbench.nights.trend.record import Trend
from tests.nights.trend.tracks import filled

from .conftest import Outcome

Cli = Callable[..., Outcome]
NIGHTS = 14
LOSSES = np.where(np.arange(NIGHTS) >= 11, 0.5, 0.0)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a ledger with a track that dropped on its twelfth night."""
    folder = tmp_path_factory.mktemp("kept")
    filled(folder, LOSSES).close()
    return folder


@pytest.fixture
def ledger(kept: Path, tmp_path: Path) -> str:
    """Return a copy of the ledger that a test may change."""
    shutil.copytree(kept, tmp_path / "kept")
    return str(tmp_path / "kept" / "ledger.sqlite3")


def record(genbench: Cli, ledger: str) -> Trend:
    done = genbench("trend", "nightly", "--ledger", ledger, "--json")
    assert done.code == 0
    return Trend.from_json(json.loads(done.out), "stdout")


def test_the_text_begins_with_the_sentence(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == record(genbench, ledger).sentence
    assert "not recovered" in done.out


def test_the_page_is_written_where_it_was_asked_for(genbench: Cli, ledger: str, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "trend.html"
    done = genbench("trend", "nightly", "--ledger", ledger, "--html", page)
    assert done.out.splitlines()[-1] == f"page: {page}"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_keeps_stdout_to_itself(genbench: Cli, ledger: str, tmp_path: Path) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--json", "--html", tmp_path / "trend.html")
    assert json.loads(done.out)["track"] == "nightly"
    assert done.err.startswith("page: ")


def test_points_and_since_are_options(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--json", "--points", 5, "--since", "2024-10-10")
    found = json.loads(done.out)
    assert found["since"] == "2024-10-10"
    assert len(found["tasks"][0]["points"]["value"]) == 5


@pytest.mark.slow
@pytest.mark.parametrize(("option", "state"), [("--explain", "explained"), ("--dismiss", "dismissed")])
def test_a_change_is_closed_with_a_note(genbench: Cli, ledger: str, option: str, state: str) -> None:
    name = record(genbench, ledger).changes[0].id
    done = genbench("trend", "nightly", "--ledger", ledger, option, name, "--note", "shorter answers")
    assert done.code == 0
    closed = next(change for change in record(genbench, ledger).changes if change.id == name)
    assert (closed.state, closed.note) == (state, "shorter answers")


@pytest.mark.slow
def test_closing_needs_a_note(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--explain", "c-1")
    assert done.code == 2
    assert "say why the change is closed, with --note WHY" in done.err


def test_a_note_needs_a_change(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--note", "why")
    assert done.code == 2
    assert "goes with --explain or --dismiss" in done.err


def test_a_change_is_closed_in_one_way(genbench: Cli, ledger: str) -> None:
    done = genbench(
        "trend", "nightly", "--ledger", ledger, "--explain", "c-1", "--dismiss", "c-1", "--note", "why"
    )
    assert done.code == 2
    assert "goes without --explain" in done.err


def test_an_unknown_change_is_refused(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--dismiss", "c-0", "--note", "why")
    assert (done.code, done.out) == (2, "")
    assert "no change 'c-0'" in done.err


def test_an_unknown_track_is_refused(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightli", "--ledger", ledger)
    assert (done.code, done.out) == (2, "")
    assert "no track 'nightli'" in done.err


def test_a_night_that_is_none_is_refused(genbench: Cli, ledger: str) -> None:
    done = genbench("trend", "nightly", "--ledger", ledger, "--since", "friday")
    assert done.code == 2
    assert "--since friday: wanted a night as YYYY-MM-DD" in done.err
