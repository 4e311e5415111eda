"""Stored suites of shapes that genbench never writes: every command that reads a run has one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.store.json_files import replace_json
from tests.cli.test_fuzz import outcome
from tests.ready_runs import RIGHT, WRONG, MakeRun

NO_SUITE = "manifest.json: the stored suite cannot be read"
SHAPES: dict[str, Any] = {
    "tasks by name": {"tasks": {"sums": {"name": "sums"}}},
    "tasks are null": {"tasks": [None]},
    "tasks in lists": {"tasks": [[{"name": "sums"}]]},
    "name is a number": {"tasks": [{"name": 7, "verifier": {}}]},
    "verifier is text": {"tasks": [{"name": "sums", "verifier": "loose"}]},
}


def stored(run: Path, shape: dict[str, Any]) -> Path:
    """Return the run with other keys in its stored suite."""
    record = json.loads((run / "manifest.json").read_text())
    record["suite"]["config"] |= shape
    replace_json(run / "manifest.json", record)
    return run


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_suite_of_another_shape_is_one_message(
    make_run: MakeRun, tmp_path: Path, shape: dict[str, Any]
) -> None:
    whole = make_run("whole", lambda i: [RIGHT, WRONG, RIGHT, RIGHT], n=6)
    run = stored(make_run("copy", lambda i: [RIGHT, WRONG, RIGHT, RIGHT], n=6), shape)
    ledger = ("--ledger", tmp_path / "ledger.sqlite3")
    for command in (
        ("show", run),
        ("metrics", run),
        ("compare", whole, run),
        ("compare", run, whole, "--gate"),
        ("report", run, "--output", tmp_path / "page.html"),
        ("export", run, "--to", "lm-eval", "--output", tmp_path / "logs"),
        ("gate", run, "--track", "nightly", *ledger),
        ("contamination", "runs", whole, run),
        ("score", run),
        ("score", run, "--again", "--trust-run", "files"),
        ("score", run, "--suite", tmp_path / "copy" / "suite.yaml", "--into", tmp_path / "again"),
        ("merge", run.parent),
    ):
        assert NO_SUITE in outcome(*command), command


@pytest.mark.parametrize("key", ["tasks", "models", "decoding"])
def test_a_suite_that_is_not_whole_is_a_message_of_the_commands_that_follow_it(
    make_run: MakeRun, tmp_path: Path, key: str
) -> None:
    run = stored(make_run("run", lambda i: [RIGHT] * 4, n=3), {key: [] if key == "tasks" else {"m": None}})
    for command in (
        ("score", run, "--again"),
        ("score", run, "--suite", tmp_path / "run" / "suite.yaml", "--into", tmp_path / "again"),
    ):
        assert NO_SUITE in outcome(*command), command
