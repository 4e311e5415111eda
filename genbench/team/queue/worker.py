"""A worker: it leases jobs, runs each as a child process, and writes down what became of it.

Besides, every worker does the maintenance of the queue: schedules, messages about changes, and sending of
messages.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from genbench.errors import DatabaseGoneError, GenbenchError
from genbench.nights.ledger.database import open_ledger
from genbench.store.continuation import now
from genbench.team.queue.database import Queue
from genbench.team.queue.delivery import Channel, deliver
from genbench.team.queue.job_process import (
    BAD_INPUT,
    WAITS_S,
    JobResult,
    RunningJob,
    disk_is_full,
    is_marked_failed,
    job_environment,
    job_result,
    other_writer,
    stage_command,
)
from genbench.team.queue.jobs import count_jobs, log_lines
from genbench.team.queue.leases import (
    Busy,
    LeaseWatch,
    WorkerIdentity,
    cancelled,
    claim,
    enter_worker,
    leave_worker,
    renew,
    write_held,
)
from genbench.team.queue.messages import put_message
from genbench.team.queue.notifications import KIND, notify_changes, notify_commit_status
from genbench.team.queue.records import Job
from genbench.team.queue.schedules import run_schedules


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker works. All times are seconds by a monotonic clock."""

    slots: tuple[str, ...] = ("0",)
    """Names of its devices. On machines without GPUs they only limit how many jobs run at the same time."""
    gpus: bool = False
    """Whether the names are GPUs, which CUDA_VISIBLE_DEVICES gives to each job."""
    ledger: str | None = None
    until_empty: bool = False
    """End when no job waits or runs."""
    pass_variables: tuple[str, ...] = ()
    lease_s: float = 60.0
    renew_s: float = 15.0
    tick_s: float = 0.5
    stop_s: float = 120.0
    """Seconds that a job has for a clean stop."""
    waits_s: Sequence[float] = WAITS_S
    program: tuple[str, ...] = (sys.executable, "-m", "genbench")
    clock: Callable[[], float] = time.time
    """The time of day. Leases do not depend on it."""


class Worker:
    """A worker of a queue.

    Args:
        say: called with a line for the operator's log.
        chores: called between steps, about every second, such as schedules and messages.
        finished: called with each job that finished.
    """

    def __init__(
        self,
        queue: Queue,
        options: WorkerOptions,
        *,
        say: Callable[[str], None] = print,
        chores: Callable[[], None] | None = None,
        finished: Callable[[Job], None] | None = None,
    ) -> None:
        self._queue, self._options, self._say, self._chores = queue, options, say, chores
        self._finished = finished
        self.identity = WorkerIdentity.of_this_process()
        self._watch = LeaseWatch(options.lease_s)
        self._jobs: dict[int, RunningJob] = {}
        self._stop = threading.Event()
        self._renewed = self._looked = 0.0
        self._is_gone = False

    def stop(self) -> None:
        """Drain: stop all jobs cleanly, give them back, and end. May be called from a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Work until `stop` is called, or until the queue is empty if that was asked for.

        Raises:
            InputError: the queue cannot be read or written.
        """
        options = self._options
        enter_worker(self._queue, self.identity, len(options.slots), options.slots, options.clock())
        self._renewed = time.monotonic()
        try:
            while not self._stop.is_set() and not self._is_over():
                self._stop.wait(max(options.tick_s, _GONE_S) if self._is_gone else options.tick_s)
            self._drain()
        finally:
            with suppress(DatabaseGoneError):
                leave_worker(self._queue, self.identity, "stopped")

    def _is_over(self) -> bool:
        """Do one step. Return whether all is done, if that was asked for.

        While the server of the queue cannot be reached, jobs go on and nothing is decided about them. Every
        lease that was seen before then counts as new, because nobody could renew it.
        """
        try:
            if self._options.until_empty and self._is_empty():
                return True
            self._step()
        except DatabaseGoneError as error:
            self._note_gone(error)
        else:
            if self._is_gone:
                self._is_gone = False
                self._say("the queue can be reached again")
        return False

    def _note_gone(self, error: DatabaseGoneError) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._say(f"{error}; jobs go on, and the worker waits until it is back")
        self._watch, self._renewed = LeaseWatch(self._options.lease_s), 0.0

    def _is_empty(self) -> bool:
        counts = count_jobs(self._queue)
        return not self._jobs and not counts.get("queued") and not counts.get("running")

    def _step(self) -> None:
        now = time.monotonic()
        self._renew(now)
        for item in list(self._jobs.values()):
            self._attend(item, now)
        if now - self._looked >= min(1.0, self._options.lease_s / 4):
            self._looked = now
            for number in self._watch.requeue_lost(self._queue, self.identity, now):
                self._say(f"job {number}: its worker is gone, so it is queued again")
            for number in cancelled(self._queue, self._jobs):
                self._jobs[number].cancelled = True
            if self._chores is not None:
                self._chores()
        self._claim(now)

    def _renew(self, now: float) -> None:
        if now - self._renewed < self._options.renew_s:
            return
        self._renewed = now
        leases = [(item.job.id, item.job.fence) for item in self._jobs.values() if not item.is_lost]
        kept = renew(self._queue, self.identity, leases, self._options.clock())
        for number, _ in leases:
            if number not in kept:
                self._jobs[number].is_lost = True
                self._say(f"job {number}: another worker has it now; its process is stopped here")

    def _claim(self, now: float) -> None:
        free = self._free()
        while free and not self._stop.is_set():
            busy = [Busy(len(item.devices), item.left_s(now)) for item in self._jobs.values()]
            job = claim(
                self._queue,
                self.identity,
                free=len(free),
                total=len(self._options.slots),
                busy=busy,
                clock=self._options.clock,
            )
            if job is None:
                return
            item = RunningJob(job, tuple(free[: job.slots]), now)
            self._jobs[job.id] = item
            self._attend(item, now)
            free = self._free()

    def _free(self) -> list[str]:
        taken = {device for item in self._jobs.values() for device in item.devices}
        return [device for device in self._options.slots if device not in taken]

    def _attend(self, item: RunningJob, now: float) -> None:
        """Start, watch, stop or close one job."""
        try:
            if item.unwritten:
                self._write_start(item)
            if item.is_lost and not item.process.is_ours:
                del self._jobs[item.job.id]
            elif item.process.is_alive():
                self._attend_living(item, now)
            elif item.is_lost:
                del self._jobs[item.job.id]
            elif item.is_started or item.cancelled or self._stop.is_set():
                self._close(item)
            else:
                self._start(item)
        except DatabaseGoneError:
            raise  # It says nothing about the job.
        except GenbenchError as error:
            self._say(f"job {item.job.id}: {error}")
            values = {"state": "failed", "error": str(error), "exit_code": None}
            write_held(self._queue, self.identity, item.job, values, what="failed", detail=str(error))
            self._jobs.pop(item.job.id, None)

    def _attend_living(self, item: RunningJob, now: float) -> None:
        """Stop a living process if it must end. Say that the process of an earlier worker is waited for.

        Children that outlive their command, such as an engine, have as long as a clean stop to end.
        """
        if not item.process.is_ours and not item.is_waiting_for:
            item.note_start()
            item.is_waiting_for = "the process that an earlier worker started"
            self._note(item.job, "adopted", f"waits for {item.is_waiting_for}")
        has_leftovers = item.process.exit_code is not None
        if not (item.is_lost or item.cancelled or self._stop.is_set() or has_leftovers):
            return
        if item.asked_at is None:
            item.asked_at = now
            if not has_leftovers:
                item.process.stop(signal.SIGTERM)
        elif now - item.asked_at > self._options.stop_s:
            item.process.stop(signal.SIGKILL)

    def _start(self, item: RunningJob) -> None:
        job, options = item.job, self._options
        command = stage_command(job, item.stage, options.program, options.ledger)
        if command is None:
            self._close(item)
            return
        blocked = self._blocked(item)
        if blocked:
            if blocked != item.is_waiting_for:
                self._note(job, "waits", blocked)
            item.is_waiting_for = blocked
            return
        item.note_start()
        environment = job_environment(
            os.environ, more=options.pass_variables, devices=item.devices if options.gpus else None
        )
        if item.process.start(command, environment) and item.stage == 0:
            item.unwritten = " ".join(command)
            self._write_start(item)

    def _write_start(self, item: RunningJob) -> None:
        """Write that a job was started, in a later step if the queue cannot be reached now."""
        job, starts = item.job, {"starts": item.job.starts + 1}
        write_held(self._queue, self.identity, job, starts, what="started", detail=item.unwritten)
        item.unwritten = ""
        self._say(f"job {job.id}: {job.track or job.label} {job.label} on {','.join(item.devices)}")

    def _blocked(self, item: RunningJob) -> str:
        """Return why the run cannot start now, or an empty text."""
        run_dir = Path(item.job.run_dir)
        if item.stage == 0 and disk_is_full(run_dir):
            return f"less than 5 % of the disk of {run_dir} is free"
        writer = other_writer(run_dir)
        return f"{writer} writes its run folder" if writer else ""

    def _note(self, job: Job, what: str, detail: str) -> None:
        write_held(self._queue, self.identity, job, {"cancel": job.cancel}, what=what, detail=detail)

    def _close(self, item: RunningJob) -> None:
        """Go on to the next stage of a job, or let go of it."""
        over = self._close_stage(item)
        if over is not None:
            self._say(f"job {item.job.id}: {over}")
            if over == "finished" and self._finished is not None:
                self._finished(item.job)
            del self._jobs[item.job.id]
        else:
            item.next_stage()
            self._start(item)

    def _close_stage(self, item: RunningJob) -> str | None:
        """Write what became of a job whose process has ended.

        Return that in a word, or None if the job continues with its next stage.
        """
        result = self._result(item)
        if item.cancelled and result.what != "done":
            return self._end(item, "cancelled")
        if result.what == "again":
            return self._give_back(item, result)
        if result.what == "failed":
            log = log_lines(item.job)
            last = f": {log[-1]}" if log else ""
            return self._end(item, "failed", "\n".join([result.note + last, *log]))
        if stage_command(item.job, item.stage + 1, self._options.program, None) is not None:
            return None
        failed = is_marked_failed(Path(item.job.run_dir))
        return self._end(item, "finished", "the run is marked as failed, see genbench show" if failed else "")

    def _result(self, item: RunningJob) -> JobResult:
        waits_s = self._options.waits_s
        if not item.is_started:
            return JobResult("again", item.job.attempts)
        code = item.process.exit_code
        if code == BAD_INPUT and other_writer(Path(item.job.run_dir)) is not None:
            return JobResult("again", item.job.attempts, waits_s[0], "another process writes the run folder")
        return job_result(
            code,
            grew=item.grew,
            asked_to_stop=self._stop.is_set() or item.asked_at is not None,
            attempts=item.job.attempts,
            marked=item.stage == 0 and is_marked_failed(Path(item.job.run_dir)),
            waits_s=waits_s,
        )

    def _end(self, item: RunningJob, state: str, error: str = "") -> str:
        values: dict[str, Any] = {
            "state": state,
            "exit_code": item.process.exit_code,
            "error": error,
            "ended": now(),
            "attempts": item.job.attempts,
        }
        message = partial(_tell_failure, job=item.job, error=error) if state == "failed" else None
        write_held(self._queue, self.identity, item.job, values, what=state, detail=error, also=message)
        return state

    def _give_back(self, item: RunningJob, result: JobResult) -> str:
        values: dict[str, Any] = {
            "state": "queued",
            "attempts": result.attempts,
            "exit_code": item.process.exit_code,
            "wait_s": result.wait_s,
            "retry_at": self._options.clock() + result.wait_s if result.wait_s else None,
        }
        what = "tries again" if result.note else "returned"
        write_held(self._queue, self.identity, item.job, values, what=what, detail=result.note)
        return f"{what} in {result.wait_s:g} s ({result.note})" if result.note else what

    def _drain(self) -> None:
        """Stop all jobs and give them back."""
        if not self._stop.is_set():
            return
        with suppress(DatabaseGoneError):
            leave_worker(self._queue, self.identity, "draining")
        while self._jobs:
            now = time.monotonic()
            for item in list(self._jobs.values()):
                try:
                    self._attend(item, now)
                    self._renew(now)
                except DatabaseGoneError as error:
                    self._note_gone(error)
                    if not any(other.process.is_alive() for other in self._jobs.values()):
                        raise
            time.sleep(min(0.2, self._options.tick_s))


def _tell_failure(connection: Connection, *, job: Job, error: str) -> None:
    """Put a message about a failed job into the outbox."""
    first = error.partition("\n")[0]
    text = f"{job.track or job.label}: job {job.id} of {job.label} failed: {first}"
    put_message(connection, f"failed:{job.id}:{job.fence}", "failed", job.track, text, detail={"job": job.id})


_GONE_S = 0.5
"""Seconds between two tries to reach a queue that is gone."""
_MAINTENANCE_S = 20.0


class Maintenance:
    """The regular work of a queue. Every worker does it, and the database sees to it that it is done once.

    Args:
        ledger: the ledger of the queue, as in `open_ledger`.
        channels: how messages are sent. Without any they are only shown.
        say: called with a line for the operator's log.
        every_s: seconds between two rounds.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        say: Callable[[str], None],
        ledger: str | None = None,
        channels: Sequence[Channel] = (),
        every_s: float = _MAINTENANCE_S,
    ) -> None:
        self._queue, self._say, self._every_s = queue, say, every_s
        self._ledger, self._channels = ledger, tuple(channels)
        self._last: float | None = None

    def run(self) -> None:
        """Do what is due. Called often, it does nothing in between."""
        now = time.monotonic()
        if self._last is not None and now - self._last < self._every_s:
            return
        self._last = now
        self._told(lambda: run_schedules(self._queue))
        if self._channels:
            self._told(lambda: deliver(self._queue, self._channels))

    def finished(self, job: Job) -> None:
        """Write messages about a finished job: changes of its track, and its commit's status."""
        if job.track:
            self._told(lambda: self._notify_changes(job.track))
        if job.track and any(KIND in channel.kinds for channel in self._channels):
            self._told(lambda: self._notify_commit(job))

    def _notify_changes(self, track: str) -> list[str]:
        with open_ledger(self._ledger, create=False) as ledger:
            is_new = notify_changes(ledger, self._queue, track)
        return [f"{track}: a message about changes"] if is_new else []

    def _notify_commit(self, job: Job) -> list[str]:
        with open_ledger(self._ledger, create=False) as ledger:
            is_new = notify_commit_status(ledger, self._queue, job)
        return [f"{job.track}: a commit's status"] if is_new else []

    def _told(self, work: Callable[[], list[str]]) -> None:
        try:
            for line in work():
                self._say(line)
        except GenbenchError as error:
            self._say(f"worker: {error}")
