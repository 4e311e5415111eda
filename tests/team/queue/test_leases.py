"""Leases: one owner at a time, and a worker that is gone or asleep loses its job without any clock."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import get_job, submit
from genbench.team.queue.leases import (
    LeaseWatch,
    WorkerIdentity,
    cancelled,
    claim,
    enter_worker,
    leave_worker,
    renew,
    start_ticks,
    write_held,
)
from genbench.team.queue.records import Job
from tests.team.queue.killing import placed


def entered(queue: Queue, name: str, **changed: object) -> WorkerIdentity:
    worker = replace(WorkerIdentity.of_this_process(), id=name, **changed)  # type: ignore[arg-type]
    enter_worker(queue, worker, 1, ("0",), time.time())
    return worker


def taken(queue: Queue, worker: WorkerIdentity) -> Job | None:
    return claim(queue, worker, free=1, total=1, busy=[], clock=time.time)


@pytest.fixture
def leased(queue: Queue, tmp_path: Path) -> tuple[WorkerIdentity, Job]:
    submit(queue, placed(1), tmp_path, by="ada")
    worker = entered(queue, "first")
    job = taken(queue, worker)
    assert job is not None
    return worker, job


def test_a_job_has_one_owner(queue: Queue, leased: tuple[WorkerIdentity, Job]) -> None:
    assert leased[1].state == "running" and leased[1].fence == 1
    assert taken(queue, entered(queue, "second")) is None
    assert renew(queue, leased[0], [(leased[1].id, 1)], time.time()) == {leased[1].id}


def test_a_sleeping_worker_loses_its_job_and_can_write_nothing(
    queue: Queue, leased: tuple[WorkerIdentity, Job]
) -> None:
    first, job = leased
    second, watch = entered(queue, "second", host="elsewhere"), LeaseWatch(60)
    assert watch.requeue_lost(queue, second, 1000.0) == []
    renew(queue, first, [(job.id, job.fence)], time.time())
    assert watch.requeue_lost(queue, second, 1059.0) == []
    assert watch.requeue_lost(queue, second, 1118.0) == []
    assert watch.requeue_lost(queue, second, 1120.0) == [job.id]
    again = taken(queue, second)
    assert again is not None and again.fence == 2
    assert renew(queue, first, [(job.id, job.fence)], time.time()) == set()
    assert not write_held(queue, first, job, {"state": "finished"}, what="finished")
    assert get_job(queue, job.id).state == "running"


def test_a_dead_worker_of_this_host_loses_its_job_at_once(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path, by="ada")
    gone = entered(queue, "gone", start_ticks=1)
    job = taken(queue, gone)
    assert job is not None
    assert LeaseWatch(60).requeue_lost(queue, entered(queue, "here"), 0.0) == [job.id]


def test_a_wish_to_stop_is_seen_by_the_owner(queue: Queue, leased: tuple[WorkerIdentity, Job]) -> None:
    from genbench.team.queue.jobs import cancel_job

    assert cancelled(queue, [leased[1].id]) == set()
    cancel_job(queue, leased[1].id, by="ada")
    assert cancelled(queue, [leased[1].id]) == {leased[1].id}
    leave_worker(queue, leased[0], "stopped")


def test_a_process_that_is_not_there_has_no_start() -> None:
    assert start_ticks(2**22 + 1) is None
