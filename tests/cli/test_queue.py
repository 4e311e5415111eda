"""The commands of the queue: what they print, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from genbench.team.commands import queue
from tests.project.test_json_schema import problems_of
from tests.team.queue.test_spec import SUITE

from .conftest import Outcome

Cli = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    return tmp_path


def test_a_job_is_submitted_listed_cancelled_and_queued_again(genbench: Cli, place: Path) -> None:
    made = genbench(
        "queue", "submit", "suite.yaml", "--night-of", "2026-11-20", "--model", "tuned=./ckpt", "--json"
    )
    record = json.loads(made.out)
    assert made.code == 0 and record["created"] and problems_of(record, "job") == []
    assert record["job"]["spec"]["suite"] == str(place / "suite.yaml") and record["job"]["slots"] == 6
    listed = genbench("queue", "list")
    assert (
        "nightly  2026-11-20" in listed.out and "no worker; start one with: genbench queue work" in listed.out
    )
    assert "cancelled (" in genbench("queue", "cancel", "1").out
    refused = genbench("queue", "cancel", "1")
    assert refused.code == 2 and "job 1 is cancelled" in refused.err
    assert "queued again" in genbench("queue", "retry", "1").out
    everything = json.loads(genbench("queue", "list", "--json").out)
    assert problems_of(everything, "jobs") == []
    assert (len(everything["jobs"]), everything["workers"]) == (1, [])


def test_a_wrong_suite_is_refused_when_it_is_submitted(genbench: Cli, place: Path) -> None:
    done = genbench("queue", "submit", "suite.yaml", "--task", "summs")
    assert done.code == 2 and "no task 'summs'; did you mean 'sums'" in done.err
    assert "no jobs" in genbench("queue", "list").out


def test_a_job_can_wait_for_tonight_and_for_its_time(genbench: Cli, place: Path) -> None:
    made = json.loads(
        genbench("queue", "submit", "suite.yaml", "--night", "--not-before", "2999-01-01", "--json").out
    )
    assert made["job"]["wait"].startswith("not before 2999-01-01")
    again = genbench("queue", "submit", "suite.yaml", "--night")
    assert "submitted" in again.out
    assert "job 1: queued" in genbench("queue", "list", "1").out


def test_an_empty_queue_ends_a_worker_that_waits_for_that(genbench: Cli, place: Path) -> None:
    done = genbench("queue", "work", "--slots", "2", "--until-empty")
    assert done.code == 0 and "2 slots" in done.err


def test_devices_are_numbers_and_ranges() -> None:
    assert queue.device_names("0-2,6") == ("0", "1", "2", "6")
    for wrong in ("", "a", "1-", "1,1", "-1"):
        with pytest.raises(typer.BadParameter):
            queue.device_names(wrong)


def test_a_schedule_is_added_and_removed(genbench: Cli, place: Path) -> None:
    added = genbench("schedule", "add", "n", "0 22 * * *", "suite.yaml", "--zone", "Europe/Berlin")
    assert added.code == 0 and added.out.startswith("n: first on ")
    assert "Europe/Berlin" in genbench("queue", "list").out
    assert genbench("schedule", "remove", "n").out == "n: removed\n"
    wrong = genbench("schedule", "add", "n", "0 99 * * *", "suite.yaml")
    assert wrong.code == 2 and "wanted minute, hour, day, month, weekday" in wrong.err
    assert callable(queue.schedule_add)
