"""A worker and its jobs: stages, failures, stops, and a process that an earlier worker left."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import DatabaseGoneError
from genbench.team.queue.database import Queue, open_queue
from genbench.team.queue.job_process import STAGES, RunningJob, stage_command
from genbench.team.queue.jobs import cancel_job, get_job, job_events, job_folder, submit
from genbench.team.queue.leases import write_held
from genbench.team.queue.messages import list_messages
from genbench.team.queue.worker import Worker, WorkerOptions
from tests.nights.ledger.postgres import gone, postgres_server
from tests.team.queue.killing import placed

PROGRAM = """
import os, signal, sys, time
print(" ".join(sys.argv[1:]), os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
CODE
"""


def worked(queue: Queue, tmp_path: Path, code: str, **options: object) -> Worker:
    """A worker whose jobs run `code` in place of genbench."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("CODE", code))
    known: dict[str, object] = {
        "program": (sys.executable, "-S", str(program)),
        "until_empty": True,
        "tick_s": 0.02,
        "renew_s": 0.05,
        "waits_s": (0.01,),
        "stop_s": 5.0,
    }
    return Worker(queue, WorkerOptions(**{**known, **options}), say=lambda line: None)  # type: ignore[arg-type]


def events(queue: Queue, number: int = 1) -> list[str]:
    return [event.what for event in job_events(queue, number)]


def in_background(worker: Worker) -> threading.Thread:
    thread = threading.Thread(target=worker.run)
    thread.start()
    return thread


def wait_until_started(queue: Queue, number: int = 1) -> None:
    log = job_folder(get_job(queue, number)) / "log"
    while not log.exists() or "run" not in log.read_text():
        time.sleep(0.01)


def test_a_job_goes_through_its_stages_on_its_devices(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path / "runs", by="ada")
    worked(queue, tmp_path, "", slots=("3",), gpus=True, ledger="l.sqlite3").run()
    assert get_job(queue, job.id).state == "finished" and get_job(queue, job.id).starts == 1
    lines = (job_folder(job) / "log").read_text().splitlines()
    assert [line.split()[0] for line in lines] == list(STAGES)
    assert all(line.endswith(" 3") for line in lines)
    assert events(queue) == ["submitted", "leased", "started", "finished"]
    assert stage_command(job, 2, ["g"], None) == ["g", "trend", "--", "t1"]
    assert stage_command(job, 3, ["g"], None) is None


def test_bad_input_fails_at_once_with_the_log_and_a_message(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    worked(queue, tmp_path, "print('no task nope'); sys.exit(2)").run()
    job = get_job(queue, 1)
    assert (job.state, job.exit_code, job.starts) == ("failed", 2, 1)
    assert job.error.startswith("exit code 2: no task nope\n") and job.error.endswith("no task nope")
    assert [message.kind for message in list_messages(queue)] == ["failed"]


def test_three_attempts_that_add_nothing_end_a_job(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    worked(queue, tmp_path, "os.kill(os.getpid(), 9)").run()
    job = get_job(queue, 1)
    assert (job.state, job.starts, job.exit_code) == ("failed", 3, -9)
    assert "3 attempts in a row added no sample" in job.error


def test_a_drained_worker_stops_its_jobs_and_gives_them_back(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    worker = worked(
        queue, tmp_path, "signal.signal(15, lambda *_: sys.exit(130)); time.sleep(60)", until_empty=False
    )
    thread = in_background(worker)
    wait_until_started(queue)
    worker.stop()
    thread.join(60)
    job = get_job(queue, 1)
    assert (job.state, job.attempts) == ("queued", 0)
    assert events(queue)[-1] == "returned"


def test_a_cancelled_job_is_stopped_and_stays_so(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    thread = in_background(worked(queue, tmp_path, "time.sleep(60)", lease_s=0.2))
    wait_until_started(queue)
    cancel_job(queue, 1, by="bob")
    thread.join(60)
    assert get_job(queue, 1).state == "cancelled"


def test_a_process_that_an_earlier_worker_left_is_waited_for(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path / "runs", by="ada")
    left = RunningJob(job, ("0",), 0.0)
    waits = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'seen')!r}): time.sleep(0.01)"
    assert left.process.start([sys.executable, "-S", "-c", waits], {})
    thread = in_background(worked(queue, tmp_path, ""))
    while "adopted" not in events(queue):
        time.sleep(0.01)
    (tmp_path / "seen").touch()
    thread.join(60)
    assert get_job(queue, 1).state == "finished" and not left.process.is_alive()
    assert events(queue) == ["submitted", "leased", "adopted", "returned", "leased", "started", "finished"]


def test_a_job_whose_folder_cannot_be_written_fails_with_the_reason(queue: Queue, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    worked(queue, tmp_path, "").run()
    assert get_job(queue, 1).state == "failed" and "cannot be written" in get_job(queue, 1).error


def test_a_running_job_knows_when_it_ends_at_the_latest(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path / "runs", by="ada")
    assert RunningJob(job, (), 10.0).left_s(20.0) is None
    limited = job.model_copy(update={"max_hours": 1.0})
    assert RunningJob(limited, (), 10.0).left_s(20.0) == pytest.approx(3590)


def test_a_start_that_could_not_be_written_is_written_later(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def loses_the_first_start(*arguments: Any, **named: Any) -> bool:
        if named["what"] == "started" and not lost:
            lost.append("started")
            raise DatabaseGoneError("the queue cannot be reached")
        return write_held(*arguments, **named)

    # The next test takes a real database away, and at which line that is cannot be chosen.
    monkeypatch.setattr("genbench.team.queue.worker.write_held", loses_the_first_start)
    submit(queue, placed(1), tmp_path / "runs", by="ada")
    worked(queue, tmp_path, "").run()
    job = get_job(queue, 1)
    assert (job.state, job.starts, lost) == ("finished", 1, ["started"])
    assert events(queue) == ["submitted", "leased", "started", "finished"]


@pytest.mark.slow
def test_a_worker_waits_for_a_database_that_is_gone_and_its_job_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    with postgres_server() as url, open_queue(url) as queue:
        submit(queue, placed(1), tmp_path / "runs", by="ada")
        worker = worked(queue, tmp_path, f"time.sleep(2); open({str(tmp_path / 'ran')!r}, 'a').write('x')")
        worker._say = said.append
        thread = in_background(worker)
        wait_until_started(queue)
        with gone(url):
            # The job ends while nobody can be told.
            end = time.monotonic() + 60
            while not (tmp_path / "ran").exists() and time.monotonic() < end:
                time.sleep(0.05)
            assert thread.is_alive()
        thread.join(60)
        job = get_job(queue, 1)
        assert (job.state, job.starts, job.error) == ("finished", 1, "")
        assert events(queue) == ["submitted", "leased", "started", "finished"]
    text = "\n".join(said)
    assert "cannot be reached" in text and "the queue can be reached again" in text
