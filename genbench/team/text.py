"""The queue and the watched training runs, for the terminal."""

from __future__ import annotations

from genbench.reports.numbers import points
from genbench.reports.table import TERMINAL, Column, Table
from genbench.team.queue.records import Job, JobDetail, JobList, Schedule, Worker
from genbench.team.watch.best import BestAgain, DrawnAgain
from genbench.team.watch.watches import Watch, WatchedCheckpoint, WatchList


def queue_text(record: JobList | JobDetail) -> str:
    """Return a record of the queue as text."""
    return _list(record) if isinstance(record, JobList) else _detail(record)


def _list(record: JobList) -> str:
    none = f"{record.queue}: no jobs; make one with: genbench queue submit"
    nobody = "no worker; start one with: genbench queue work"
    parts = [JOBS.text(record.jobs) if record.jobs else none]
    parts.append(_WORKERS.text(record.workers) if record.workers else nobody)
    if record.schedules:
        parts.append(_SCHEDULES.text(record.schedules))
    return "\n\n".join(parts)


def _state(job: Job) -> str:
    return job.state if not job.cancel or job.state == "cancelled" else f"{job.state}, stopping"


_WHY = 72
"""Characters of a reason in a row. `genbench queue list N` has all of it."""


def _why(job: Job) -> str:
    """Return why a job waits or failed, short enough for a row."""
    text = job.wait or job.error.partition("\n")[0]
    return text if len(text) <= _WHY else f"{text[: _WHY - 1].rstrip()}… (queue list {job.id})"


JOBS = Table[Job](
    Column("job", lambda job: job.id, right=TERMINAL),
    Column("state", _state),
    Column("track", lambda job: job.track or "-"),
    Column("night or step", lambda job: job.label),
    Column("priority", lambda job: job.priority, right=TERMINAL),
    Column("by", lambda job: job.requested_by),
    Column("", lambda job: _why(job) or job.ended or job.started or ""),
)
_WORKERS = Table[Worker](
    Column("worker", lambda item: item.id),
    Column("state", lambda item: item.state),
    Column("slots", lambda item: item.slots, right=TERMINAL),
    Column("devices", lambda item: item.devices),
    Column("seen", lambda item: f"{item.seen_s:.0f} s ago"),
)
_SCHEDULES = Table[Schedule](
    Column("schedule", lambda item: item.name),
    Column("cron", lambda item: item.cron),
    Column("zone", lambda item: item.zone),
    Column("suite", lambda item: item.spec.suite),
    Column("by", lambda item: item.created_by),
)


def _detail(record: JobDetail) -> str:
    job = record.job
    place = f"{job.track} {job.label}" if job.track else f"suite {job.label}, no track"
    head = f"job {job.id}: {job.state}, {place}"
    lines = [head if record.created or record.events else f"{head} (the same work was there already)"]
    lines += [f"  suite    {job.spec.suite}", f"  folder   {job.run_dir}"]
    lines += [f"  waits    {job.wait}"] if job.wait else []
    lines += [f"  error    {line}" for line in job.error.splitlines()[:1]]
    lines += [f"  {item.at}  {item.what} ({item.who}) {item.detail}".rstrip() for item in record.events]
    if record.log:
        lines += ["  log:", *(f"    {line}" for line in record.log)]
    return "\n".join(lines)


_SHOWN = 50
CHECKPOINTS = Table[WatchedCheckpoint](
    Column("checkpoint", lambda item: item.path),
    Column("step", lambda item: item.step, right=TERMINAL),
    Column("state", lambda item: item.state),
    Column("job", lambda item: item.job or "-", right=TERMINAL),
    Column("", lambda item: item.reason),
)


def watch_text(record: WatchList) -> str:
    """Return watches as text."""
    if not record.watches:
        return "no training run is watched; begin with: genbench watch start DIR --suite SUITE --track NAME"
    return "\n\n".join(_one(item) for item in record.watches)


def _one(watch: Watch) -> str:
    looked = "never looked at" if watch.polled_s is None else f"looked at {watch.polled_s:.0f} s ago"
    counts = ", ".join(f"{count} {state}" for state, count in watch.counts.items()) or "no checkpoint yet"
    head = f"{watch.name}: {watch.rules.folder}, {looked}; {counts}"
    table = [CHECKPOINTS.text(watch.checkpoints[:_SHOWN])] if watch.checkpoints else []
    return "\n".join([head, *table])


_BEST = Table[DrawnAgain](
    Column("step", lambda item: item.step, right=TERMINAL),
    Column("first", lambda item: points(item.first), right=TERMINAL),
    Column("again", lambda item: points(item.again), right=TERMINAL),
    Column("job", lambda item: item.job, right=TERMINAL),
    Column("", lambda item: item.state),
)


def best_text(record: BestAgain) -> str:
    """Return the checkpoints as text. Scores are points of 100."""
    head = (
        f"{record.track}: mean of {', '.join(record.tasks)}. The first score chose the checkpoint, so it is "
        f"too high on average. The second is right on average (track {record.again}, seed {record.seed})."
    )
    return f"{head}\n{_BEST.text(record.checkpoints)}"
