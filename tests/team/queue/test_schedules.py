"""Schedules: time zones, summer time, missed nights and a clock that goes back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import list_jobs
from genbench.team.queue.messages import due_messages, list_messages, note_failure, note_sent
from genbench.team.queue.schedules import (
    add_schedule,
    firings,
    list_schedules,
    remove_schedule,
    run_schedules,
)
from genbench.team.queue.spec import JobSpec
from genbench.team.queue.worker import Maintenance
from tests.team.queue.test_spec import SUITE

START = datetime(2026, 3, 27, 12, tzinfo=UTC)


@pytest.fixture
def spec(tmp_path: Path) -> JobSpec:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    return JobSpec(suite=str(tmp_path / "suite.yaml"))


def nightly(queue: Queue, spec: JobSpec, tmp_path: Path) -> None:
    add_schedule(
        queue, "n", "0 22 * * *", "Europe/Berlin", spec, runs=tmp_path / "runs", by="ada", clock=START
    )


def labels(queue: Queue) -> list[str]:
    return [job.label for job in reversed(list_jobs(queue))]


def test_firings_follow_the_time_zone_through_summer_time() -> None:
    found = firings("0 22 * * *", "Europe/Berlin", datetime(2026, 3, 28, 0, tzinfo=UTC))
    hours = [next(found).astimezone(UTC).hour for _ in range(3)]
    assert hours == [21, 20, 20]


def test_each_night_is_submitted_once_also_when_the_clock_goes_back(
    queue: Queue, spec: JobSpec, tmp_path: Path
) -> None:
    nightly(queue, spec, tmp_path)
    assert run_schedules(queue, START + timedelta(hours=8)) == []
    assert run_schedules(queue, START + timedelta(hours=10)) == ["schedule n: job 1 for 2026-03-27"]
    assert run_schedules(queue, START + timedelta(hours=9, minutes=1)) == []
    assert run_schedules(queue, START + timedelta(hours=10, minutes=1)) == []
    assert labels(queue) == ["2026-03-27"] and list_jobs(queue)[0].requested_by == "schedule n"


def test_after_a_weekend_without_workers_the_newest_night_is_caught_up(
    queue: Queue, spec: JobSpec, tmp_path: Path
) -> None:
    nightly(queue, spec, tmp_path)
    lines = run_schedules(queue, START + timedelta(days=3))
    assert labels(queue) == ["2026-03-29"]
    missing = [message.text for message in list_messages(queue)]
    assert missing == [
        "n: the night 2026-03-28 is missing: no worker ran when it was due",
        "n: the night 2026-03-27 is missing: no worker ran when it was due",
    ]
    assert set(missing) < set(lines)


def test_a_night_that_is_not_finished_by_its_deadline_is_told_once(
    queue: Queue, spec: JobSpec, tmp_path: Path
) -> None:
    nightly(queue, spec, tmp_path)
    run_schedules(queue, START + timedelta(hours=10))
    assert list_messages(queue) == []
    late = START + timedelta(hours=33, minutes=30)
    told = "n: the night 2026-03-27 is missing: job 1 is queued 24 hours after it was due"
    assert told in run_schedules(queue, late)
    assert told not in run_schedules(queue, late)


def test_messages_wait_longer_after_each_failure(queue: Queue, spec: JobSpec, tmp_path: Path) -> None:
    nightly(queue, spec, tmp_path)
    run_schedules(queue, START + timedelta(days=3))
    first, second = due_messages(queue, 1000.0)
    note_sent(queue, second.id)
    note_failure(queue, first.id, "refused", 1000.0)
    assert [due_messages(queue, clock) != [] for clock in (1059.0, 1060.0, 900.0)] == [False, True, True]
    note_failure(queue, first.id, "refused", 1060.0)
    assert due_messages(queue, 1060.0 + 119) == []
    for _ in range(18):
        note_failure(queue, first.id, "refused", 1060.0)
    assert {message.state for message in list_messages(queue)} == {"sent", "failed"}


@pytest.mark.parametrize(
    ("name", "cron", "zone", "told"),
    [
        ("a b", "0 22 * * *", "UTC", "use letters"),
        ("n", "0 25 * * *", "UTC", "wanted minute, hour, day"),
        ("n", "0 22 * * *", "Europe/Berlni", "did you mean 'Europe/Berlin'"),
        ("n", "0 22 * * *", "../etc/passwd", "is not known"),
    ],
)
def test_a_wrong_schedule_is_refused(
    queue: Queue, spec: JobSpec, *, tmp_path: Path, name: str, cron: str, zone: str, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        add_schedule(queue, name, cron, zone, spec, runs=tmp_path, by="ada")
    with pytest.raises(InputError, match="wanted more than 0"):
        add_schedule(queue, "n", "0 22 * * *", "UTC", spec, runs=tmp_path, by="ada", deadline_hours=0)


def test_a_schedule_is_replaced_and_removed_by_name(queue: Queue, spec: JobSpec, tmp_path: Path) -> None:
    nightly(queue, spec, tmp_path)
    nightly(queue, spec, tmp_path)
    assert [item.name for item in list_schedules(queue)] == ["n"]
    assert list_schedules(queue)[0].slots == 6
    remove_schedule(queue, "n")
    with pytest.raises(InputError, match="there is no schedule 'n'"):
        remove_schedule(queue, "n")


@pytest.mark.slow
def test_chores_say_what_they_did_and_wait_between_rounds(
    queue: Queue, spec: JobSpec, tmp_path: Path
) -> None:
    said: list[str] = []
    chores = Maintenance(queue, say=said.append)
    nightly(queue, spec, tmp_path)
    chores.run()
    assert said and "schedule n: job 1" in said[-1]
    told = len(said)
    chores.run()
    assert len(said) == told
