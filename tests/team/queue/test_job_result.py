"""What becomes of a job when its command has ended."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from genbench.team.queue.job_process import (
    JobResult,
    disk_is_full,
    is_marked_failed,
    job_result,
    other_writer,
    stored_bytes,
)


def after(code: int | None, **given: object) -> JobResult:
    known: dict[str, object] = {"grew": False, "asked_to_stop": False, "attempts": 0, "marked": False}
    return job_result(code, **{**known, **given})  # type: ignore[arg-type]


def test_a_finished_run_is_done_also_when_it_is_marked_as_failed() -> None:
    assert after(0).what == "done"
    assert after(1, marked=True).what == "done"


@pytest.mark.parametrize("code", [2, 3])
def test_bad_input_is_not_tried_again(code: int) -> None:
    assert after(code).what == "failed"


def test_our_own_stop_counts_no_attempt() -> None:
    assert after(130, asked_to_stop=True, attempts=2) == JobResult("again", 2)


def test_a_run_that_reached_its_limit_of_hours_goes_on_at_once() -> None:
    assert after(130, grew=True) == JobResult("again", 0)


def test_only_attempts_that_add_nothing_count() -> None:
    assert after(-9, grew=True, attempts=2) == JobResult("again", 0, 60.0, "signal 9")
    assert after(-9, attempts=1) == JobResult("again", 2, 300.0, "signal 9")
    assert after(-9, attempts=2).what == "failed"


def test_an_unknown_end_is_asked_again() -> None:
    assert after(None, attempts=1) == JobResult("again", 1)


def test_samples_are_counted_by_the_bytes_of_completions(tmp_path: Path) -> None:
    assert stored_bytes(tmp_path / "none") == 0
    (tmp_path / "m" / "sums").mkdir(parents=True)
    (tmp_path / "m" / "sums" / "completions.jsonl").write_text("12345")
    assert stored_bytes(tmp_path) == 5


def test_a_run_is_marked_as_failed_by_its_results(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    results = tmp_path / "m" / "results.json"
    results.write_text("[")
    assert not is_marked_failed(tmp_path)
    results.write_text(json.dumps({"failed": ["3 % excluded"]}))
    assert is_marked_failed(tmp_path)


def test_a_writer_of_another_host_is_named(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    owner = {"host": "elsewhere", "pid": 7, "start_ticks": 1, "started": "noon"}
    (tmp_path / "m" / "owner.json").write_text(json.dumps(owner))
    assert other_writer(tmp_path) == "pid 7 on elsewhere, since noon"
    gone = owner | {"host": socket.gethostname(), "pid": 2**22 + os.getpid()}
    (tmp_path / "m" / "owner.json").write_text(json.dumps(gone))
    assert other_writer(tmp_path) is None


def test_the_disk_of_a_folder_that_is_not_there_yet_is_looked_at(tmp_path: Path) -> None:
    assert disk_is_full(tmp_path / "a" / "b") == disk_is_full(tmp_path)
