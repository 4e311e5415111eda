"""Jobs, workers and schedules in the terminal."""

from __future__ import annotations

from pathlib import Path

from genbench.reports.schemas import RECORDS
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import cancel_job, job_events, list_jobs, submit
from genbench.team.queue.records import JobDetail, JobList, Worker
from genbench.team.text import queue_text
from tests.team.queue.killing import placed


def test_lists_and_details_say_what_to_know(tmp_path: Path) -> None:
    with open_queue(tmp_path / "ledger.sqlite3") as queue:
        assert "make one with: genbench queue submit" in queue_text(
            JobList(format=1, queue="q", jobs=(), workers=(), schedules=())
        )
        job, _ = submit(queue, placed(1), tmp_path, by="ada")
        submit(queue, placed(2), tmp_path, by="bob")
        cancelled = cancel_job(queue, job.id, by="eve")
        worker = Worker(
            id="h:1:a", host="h", pid=1, slots=2, devices="0,1", state="working", beat=1, started="", seen_s=3
        )
        listed = queue_text(
            JobList(format=1, queue="q", jobs=tuple(list_jobs(queue)), workers=(worker,), schedules=())
        )
        events = tuple(job_events(queue, job.id))
    assert (RECORDS["jobs"], RECORDS["job"]) == (JobList, JobDetail)
    assert "waits for 1 free device" in listed and "h:1:a   working      2  0,1      3 s ago" in listed
    text = queue_text(JobDetail(format=1, job=cancelled, created=False, events=events, log=("line",)))
    assert text.startswith("job 1: cancelled, t1 n1\n") and "cancelled (eve)" in text and "    line" in text


def test_a_long_reason_is_cut_in_a_row_and_whole_in_the_details(tmp_path: Path) -> None:
    with open_queue(tmp_path / "ledger.sqlite3") as queue:
        job, _ = submit(queue, placed(1), tmp_path, by="ada")
        (found,) = list_jobs(queue)
    why = "the engine ended: " + "out of memory " * 20
    failed = found.model_copy(update={"state": "failed", "wait": "", "error": f"{why}\nmore"})
    row = queue_text(JobList(format=1, queue="q", jobs=(failed,), workers=(), schedules=())).splitlines()[2]
    assert row.endswith(f"… (queue list {job.id})") and len(row) < 160
    assert why.strip() in queue_text(JobDetail(format=1, job=failed, created=False, events=(), log=()))
