"""Mistakes after which nothing is on the disk: a wrong run, ledger, queue, suite or output file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome, ready_suite

Cli = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GENBENCH_LEDGER", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gate", "nothing"), "nothing: not a run folder (no manifest.json); there is no such folder"),
        (("trend", "nightly"), "runs/ledger.sqlite3: no ledger; make one with: genbench ledger add DIR"),
        (
            ("queue", "list", "1"),
            "runs/ledger.queue.sqlite3: no queue yet; `genbench queue submit` makes one",
        ),
        (("queue", "cancel", "1"), "no queue yet"),
        (
            (
                "watch",
                "list",
            ),
            "no queue yet",
        ),
        (("serve", "token", "list"), "no queue yet"),
        (("serve", "token", "add", "ada", "--scope", "write"), "--scope write: unknown scope"),
        (
            ("watch", "start", "out", "--suite", "quickstart", "--track", "t"),
            "out: no such folder; give the one that",
        ),
        (("init", "none/suite.yaml"), "none: no such folder"),
        (("show", "nothing"), "there is no such folder"),
    ],
)
def test_a_mistake_makes_no_file(genbench: Cli, place: Path, arguments: tuple[str, ...], said: str) -> None:
    done = genbench(*arguments)
    assert done.code == 2 and said in done.err
    assert list(place.iterdir()) == []


def test_a_file_in_place_of_a_run_folder_is_named_as_one(genbench: Cli, place: Path) -> None:
    (place / "scores.jsonl").write_text("{}\n")
    done = genbench("show", "scores.jsonl")
    assert done.code == 2 and "it is a file; wanted the folder RUN_DIR/<model>" in done.err


def test_a_misspelt_suite_file_is_told_with_the_nearest_one(genbench: Cli, place: Path) -> None:
    ready_suite(place, "exact", 1, lambda problem, sample: str(problem))
    done = genbench("run", "suit.yaml")
    assert done.code == 2 and "suite 'suit.yaml': no such file; did you mean 'suite.yaml'?" in done.err


def test_a_missing_column_says_where_columns_are_named(genbench: Cli, place: Path) -> None:
    ready_suite(place, "exact", 1, lambda problem, sample: str(problem))
    suite = place / "suite.yaml"
    suite.write_text(suite.read_text().replace("reference: answer", "reference: anser"))
    done = genbench("run", "suite.yaml", "--responses", "r.jsonl")
    assert done.code == 2
    assert "rows.jsonl:1: no column 'anser'; did you mean 'answer'?; data.fields says" in done.err


@pytest.mark.slow
def test_a_report_replaces_no_file_of_another_kind(genbench: Cli, place: Path) -> None:
    ready_suite(place, "exact", 1, lambda problem, sample: str(problem))
    assert genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out").code == 0
    before = (place / "rows.jsonl").read_bytes()
    done = genbench("report", "out/m", "--output", "rows.jsonl")
    assert done.code == 2 and "rows.jsonl: is there, and no report of genbench" in done.err
    assert (place / "rows.jsonl").read_bytes() == before
