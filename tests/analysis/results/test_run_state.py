"""Tasks that were edited after their results were written, and what scoring does with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.analysis.results.run_state import state_of
from genbench.pipeline import score
from tests.ready_runs import RIGHT, WRONG, MakeRun


@pytest.fixture
def folder(make_run: MakeRun) -> Path:
    return make_run("b", lambda i: [RIGHT, WRONG] * 2)


def edited(folder: Path) -> frozenset[str]:
    return state_of(folder).edited_tasks


def cheat(folder: Path) -> None:
    """Turn all wrong verdicts into right ones."""
    path = folder / "sums" / "verdicts.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    right = {"status": "correct", "score": 1.0}
    path.write_text("".join(json.dumps({**line, **right}) + "\n" for line in lines))


def test_untouched_lines_are_not_edited(folder: Path) -> None:
    assert edited(folder) == frozenset()


def test_edited_verdicts_are_found(folder: Path) -> None:
    cheat(folder)
    assert edited(folder) == {"sums"}


def test_a_run_that_has_more_lines_than_its_results_was_continued(folder: Path) -> None:
    path = folder / "sums" / "verdicts.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert edited(folder) == frozenset()


def test_without_results_nothing_can_be_said(folder: Path) -> None:
    cheat(folder)
    (folder / "results.json").unlink()
    assert edited(folder) == frozenset()


def test_scoring_makes_edited_verdicts_again(folder: Path) -> None:
    before = json.loads((folder / "results.json").read_text())["tasks"]["sums"]["value"]
    cheat(folder)
    score(folder, quiet=True)
    after = json.loads((folder / "results.json").read_text())["tasks"]["sums"]["value"]
    assert (before, after) == (0.5, 0.5)
