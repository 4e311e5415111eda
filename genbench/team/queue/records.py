"""The records of the queue: jobs, their events, workers and schedules."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.team.queue.spec import JobSpec

JobState = Literal["queued", "running", "finished", "failed", "cancelled"]
LIVE: tuple[JobState, ...] = ("queued", "running")
"""The states of jobs that are not over."""


class Job(JsonRecord):
    """One run that is to be drawn, is being drawn, or was."""

    id: int = Field(description="number of the job")
    state: JobState = Field(
        description="queued: waits for devices or for its time; running: a worker has it; finished: its run "
        "is in the ledger; failed: see `error`; cancelled: somebody stopped it"
    )
    track: str = Field(description="its track; empty if it belongs to none")
    label: str = Field(description="its night or step; else the name of the suite")
    spec: JobSpec = Field(description="what it does")
    run_dir: str = Field(description="folder of its run folders")
    priority: int = Field(description="0 to 9; higher ones start first")
    slots: int = Field(description="devices that it needs at the same time")
    max_hours: float | None = Field(description="hours after which it stops cleanly and goes on later")
    owner: str = Field(description="the worker that has it, or had it last")
    fence: int = Field(description="how many workers had it")
    starts: int = Field(description="how many times its command was started")
    attempts: int = Field(description="attempts in a row that added no sample")
    wait: str = Field(description="why it has not started; empty if it runs or is over")
    cancel: bool = Field(description="whether somebody asked to stop it")
    exit_code: int | None = Field(description="exit code of its last command; null if it is not known")
    error: str = Field(description="why it failed, or that the run is marked as failed; empty otherwise")
    requested_by: str = Field(description="who submitted it")
    created: str = Field(description="local time with offset")
    started: str | None = Field(description="when it was last started")
    ended: str | None = Field(description="when it ended")


class JobEvent(JsonRecord):
    """Something that happened to a job."""

    id: int = Field(description="number of the event; later events have larger numbers")
    at: str = Field(description="local time with offset")
    who: str = Field(description="a person or a worker")
    what: str = Field(description="submitted, started, lost, returned, finished, failed, cancelled …")
    detail: str = Field(description="more about it")


class Worker(JsonRecord):
    """A process that runs jobs."""

    id: str = Field(description="its name: host, process and a random part")
    host: str = Field(description="its host")
    pid: int = Field(description="its process")
    slots: int = Field(description="devices that it has")
    devices: str = Field(description="their numbers, separated by commas; empty on machines without GPUs")
    state: str = Field(description="working, draining or stopped")
    beat: int = Field(description="rises while it lives")
    started: str = Field(description="local time with offset")
    seen_s: float = Field(description="seconds since it last renewed its entry, by the clock of this host")


class Schedule(JsonRecord):
    """A job that is submitted by the clock."""

    name: str = Field(description="its name")
    cron: str = Field(description="minute, hour, day, month, weekday")
    zone: str = Field(description="time zone, such as Europe/Berlin")
    spec: JobSpec = Field(description="what is submitted; its night is that of the firing")
    runs: str = Field(description="folder below which run folders are made")
    priority: int = Field(description="priority of its jobs")
    slots: int = Field(description="devices of its jobs")
    deadline_hours: float = Field(description="hours after which a night without a finished run is missing")
    last: str = Field(description="the newest firing that was dealt with, in UTC")
    created_by: str = Field(description="who made it")
    created: str = Field(description="local time with offset")


class JobList(JsonRecord):
    """What `genbench queue list` prints."""

    format: Literal[1] = Field(description="version of this record")
    queue: str = Field(description="path or URL of the queue")
    jobs: tuple[Job, ...] = Field(description="jobs, newest first")
    workers: tuple[Worker, ...] = Field(description="workers that have not stopped")
    schedules: tuple[Schedule, ...] = Field(description="schedules")


class JobDetail(JsonRecord):
    """What `genbench queue list ID` prints, and `genbench queue submit`."""

    format: Literal[1] = Field(description="version of this record")
    job: Job = Field(description="the job")
    created: bool = Field(description="whether this command made it; false if the same work was there")
    events: tuple[JobEvent, ...] = Field(description="what happened to it, old to new")
    log: tuple[str, ...] = Field(description="the last lines of its log")
