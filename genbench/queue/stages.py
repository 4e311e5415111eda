"""The commands of a job, one after the other: the run, the ledger, the search for changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from genbench.queue.child import JobProcess
from genbench.queue.jobs import job_folder
from genbench.queue.outcome import stored_bytes
from genbench.queue.records import Job

STAGES = ("run", "ledger", "trend")


def stage_command(job: Job, stage: int, program: Sequence[str], ledger: str | None) -> list[str] | None:
    """Return the command of a stage, or None if the job has no such stage.

    Args:
        program: the words of the `genbench` command itself.
        ledger: the ledger that the run is added to. None means the default.
    """
    where = [] if ledger is None else [f"--ledger={ledger}"]
    match STAGES[stage] if stage < len(STAGES) else None:
        case "run":
            return [*program, *job.spec.arguments(job.run_dir)]
        case "ledger":
            return [*program, "ledger", "add", *where, "--", job.run_dir]
        case "trend" if job.track:
            return [*program, "trend", *where, "--", job.track]
        case _:
            return None


class RunningJob:
    """A job that this worker has, with its devices and the process of its present stage.

    Args:
        devices: the devices that it occupies.
        clock: seconds by a monotonic clock when it was leased.
    """

    def __init__(self, job: Job, devices: tuple[str, ...], clock: float) -> None:
        self.job, self.devices, self.leased_at = job, devices, clock
        self.stage = 0
        self.process = JobProcess(job_folder(job))
        self.is_started = False
        self.is_waiting_for = ""
        self.asked_at: float | None = None
        self.cancelled = False
        self.is_lost = False
        self._stored = 0

    def left_s(self, clock: float) -> float | None:
        """Return the seconds after which it ends at the latest, or None if it has no limit."""
        hours = self.job.max_hours
        return None if hours is None else max(0.0, hours * 3600 - (clock - self.leased_at))

    def note_start(self) -> None:
        """Remember how many samples there are as a stage starts."""
        self.is_started, self.is_waiting_for = True, ""
        self._stored = stored_bytes(Path(self.job.run_dir))

    @property
    def grew(self) -> bool:
        """Whether samples were added since the stage started."""
        return stored_bytes(Path(self.job.run_dir)) > self._stored

    def next_stage(self) -> None:
        """Go on to the next command, in a new process."""
        self.stage += 1
        self.process = JobProcess(job_folder(self.job))
        self.is_started = False
