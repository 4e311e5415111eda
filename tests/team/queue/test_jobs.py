"""Submitting, cancelling and retrying of jobs, and the records of their rows."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from genbench.errors import InputError
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import (
    QueueFullError,
    cancel_job,
    get_job,
    is_due,
    job_events,
    job_folder,
    job_states,
    list_jobs,
    list_workers,
    log_lines,
    retry_job,
    set_priority,
    submit,
)
from genbench.team.queue.records import LIVE
from tests.team.queue.killing import placed


def test_the_same_work_is_kept_once(queue: Queue, tmp_path: Path) -> None:
    first, is_new = submit(queue, placed(1), tmp_path, by="ada")
    again, is_newer = submit(queue, placed(1), tmp_path, by="bob")
    assert (is_new, is_newer) == (True, False) and again.id == first.id and again.requested_by == "ada"
    assert first.state in LIVE and first.run_dir.startswith(str(tmp_path / "t1"))


def test_a_full_queue_takes_no_job(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path, by="ada", most=1)
    with pytest.raises(QueueFullError, match="1 jobs wait, and 1 may"):
        submit(queue, placed(2), tmp_path, by="ada", most=1)


def test_a_priority_out_of_range_is_refused(queue: Queue, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wanted 0 to 9"):
        submit(queue, placed(1), tmp_path, by="ada", priority=10)
    job, _ = submit(queue, placed(1), tmp_path, by="ada")
    assert set_priority(queue, job.id, 9, by="bob").priority == 9


def test_a_cancelled_job_can_be_queued_again_and_who_did_it_is_known(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path, by="ada")
    assert cancel_job(queue, job.id, by="bob").state == "cancelled"
    with pytest.raises(InputError, match="is cancelled; only a job that waits or runs"):
        cancel_job(queue, job.id, by="bob")
    assert retry_job(queue, job.id, by="eve").state == "queued"
    with pytest.raises(InputError, match="only one that failed or was cancelled"):
        retry_job(queue, job.id, by="eve")
    assert [(event.who, event.what) for event in job_events(queue, job.id)] == [
        ("ada", "submitted"),
        ("bob", "cancelled"),
        ("eve", "queued again"),
    ]


def test_jobs_are_listed_newest_first_by_state_and_track(queue: Queue, tmp_path: Path) -> None:
    for number in range(4):
        submit(queue, placed(number), tmp_path, by="ada")
    cancel_job(queue, 2, by="ada")
    assert [job.id for job in list_jobs(queue)] == [4, 3, 2, 1]
    assert [job.id for job in list_jobs(queue, states=job_states(["cancelled"]))] == [2]
    assert [job.id for job in list_jobs(queue, track="t3")] == [4]
    assert [job.id for job in list_jobs(queue, before=3, limit=1)] == [2]
    assert list_workers(queue) == []
    with pytest.raises(InputError, match="did you mean 'failed'"):
        job_states(["faild"])


def test_a_job_that_is_not_there_is_an_error(queue: Queue) -> None:
    with pytest.raises(InputError, match="no job 7; see: genbench queue list"):
        get_job(queue, 7)


def test_a_job_waits_for_its_time_also_if_the_clock_goes_back(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path, by="ada", not_before=time.time() + 900)
    assert job.wait.startswith("not before ")
    row = SimpleNamespace(not_before=None, retry_at=1000.0, wait_s=60.0)
    assert [is_due(row, clock) for clock in (939.0, 940.0, 999.0, 1000.0)] == [True, False, False, True]


def test_the_end_of_a_log_is_read(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path, by="ada")
    assert log_lines(job) == ()
    job_folder(job).mkdir(parents=True)
    (job_folder(job) / "log").write_text("\n".join(map(str, range(100_000))))
    assert log_lines(job, 2) == ("99998", "99999")
