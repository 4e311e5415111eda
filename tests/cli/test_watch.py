"""The commands that watch a training run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from genbench.cli.app import app
from genbench.team.commands import watch
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import list_jobs
from tests.team.watch.conftest import rules, write_checkpoint

__all__ = ["rules"]


def ran(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_two_looks_from_cron_make_a_job_and_the_list_shows_it(
    rules: Callable[..., object], tmp_path: Path
) -> None:
    assert callable(rules) and callable(watch.watch)
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    ledger = f"--ledger={tmp_path / 'l.sqlite3'}"
    look = [
        "watch",
        "start",
        str(tmp_path / "out"),
        f"--suite={tmp_path / 'suite.yaml'}",
        "--track=sft",
        "--settle=0",
    ]
    for _ in range(2):
        ran(*look, "--once", f"--runs={tmp_path / 'runs'}", ledger)
    with open_queue(tmp_path / "l.sqlite3") as queue:
        assert [job.label for job in list_jobs(queue)] == ["step-100"]
    record = json.loads(ran("watch", "list", "--json", ledger))
    assert record["watches"][0]["counts"] == {"queued": 1}
    assert "1 queued" in ran("watch", "list", "sft", ledger)
    assert ran("watch", "remove", "sft", ledger) == "sft: removed\n"
    assert not (tmp_path / "out/.genbench/sft/checkpoint-100").exists()
