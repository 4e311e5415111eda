"""`genbench mirror` as a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .conftest import Outcome

Cli = Callable[..., Outcome]


def test_what_cannot_be_fetched_exits_with_1_and_says_why(genbench: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = genbench("mirror", "aime25", "--to", str(tmp_path / "m"), "--data-dir", str(tmp_path / "empty"))
    assert outcome.code == 1 and "FAILED: dataset aime25" in outcome.out
    assert "fetching dataset of aime25" in outcome.err


def test_json_has_the_same_parts(genbench: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    place = str(tmp_path / "empty")
    record = json.loads(genbench("mirror", "aime25", "--to", place, "--data-dir", place, "--json").out)
    assert [part["state"] for part in record["parts"]] == ["failed"] and record["use"] == []


def test_an_unknown_task_is_bad_input(genbench: Cli, tmp_path: Path) -> None:
    outcome = genbench("mirror", "math50", "--to", str(tmp_path / "m"))
    assert outcome.code == 2 and "did you mean 'math500'" in outcome.err
