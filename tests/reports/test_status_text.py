"""The text of runs' status."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.reports.terminal.show import status_text
from genbench.runs.stored.status import RunProgress, RunsStatus, TaskProgress
from genbench.store.lock import WriterRecord


def run(**more: Any) -> RunProgress:
    fields: dict[str, Any] = {
        "path": "runs/n/base",
        "model": "base",
        "suite": "nightly",
        "shard": None,
        "state": "finished",
        "writer": None,
        "attempt": 2,
        "stopped_by": None,
        "done": 1200,
        "total": 4800,
        "verified": 1100,
        "tasks": {
            "aime": TaskProgress(
                done=1200, total=4800, verified=1100, status_counts={"correct": 1000, "wrong": 100}
            )
        },
        "drawn_now": None,
        "completion_tokens": None,
        "tokens_per_s": None,
        "left_s": None,
        "elapsed_s": None,
        "updated": None,
    }
    return RunProgress(**(fields | more))


def lines(*runs: RunProgress) -> list[str]:
    return status_text(RunsStatus(format=1, runs=runs)).splitlines()


def test_a_finished_run_shows_its_counts_and_statuses() -> None:
    head, rates, _, _, row = lines(run())
    assert head == "runs/n/base (base): finished, attempt 2"
    assert rates == "1,200 of 4,800 samples drawn, 1,100 verified"
    assert row.split() == ["aime", "1200/4800", "correct", "1000,", "wrong", "100"]


@pytest.mark.parametrize(
    ("alive", "words"), [(True, "alive"), (False, "dead"), (None, "cannot be seen from here")]
)
def test_the_writer_is_named_with_what_is_known_of_it(alive: bool | None, words: str) -> None:
    writer = WriterRecord(host="node7", pid=41, started="2026-01-01T00:00:00", alive=alive)
    head = lines(run(state="drawing", writer=writer))[0]
    assert head.endswith(f"drawing, attempt 2, pid 41 on node7 since 2026-01-01T00:00:00 ({words})")


def test_a_stopped_run_says_by_what() -> None:
    assert "stopped by SIGTERM" in lines(run(state="stopped", stopped_by="SIGTERM"))[0]


def test_a_shard_is_named() -> None:
    assert lines(run(shard="1/4"))[0].startswith("runs/n/base (base, shard 1/4): ")


@pytest.mark.parametrize(
    ("left", "text"), [(12.4, "12 s left"), (3599.0, "1:00 h left"), (9000.0, "2:30 h left")]
)
def test_the_time_left_is_in_hours_or_seconds(left: float, text: str) -> None:
    assert text in lines(run(left_s=left))[1]


def test_the_rate_and_the_time_of_the_report_are_shown() -> None:
    rates = lines(run(tokens_per_s=12345.6, updated="12:00"))[1]
    assert rates.endswith("12,346 tokens/s, as of 12:00")


def test_runs_are_separated_by_a_blank_line() -> None:
    assert lines(run(), run()).count("") == 1
