"""The queue and the watched training runs, for the terminal."""

from __future__ import annotations

from genbench.queue.records import Job, JobDetail, JobList, Schedule, Worker
from genbench.reports.table import aligned
from genbench.watch.best import BestAgain
from genbench.watch.watches import Watch, WatchList


def queue_text(record: JobList | JobDetail) -> str:
    """Return a record of the queue as text."""
    return _list(record) if isinstance(record, JobList) else _detail(record)


def _list(record: JobList) -> str:
    parts = [
        _jobs(record.jobs)
        if record.jobs
        else f"{record.queue}: no jobs; make one with: genbench queue submit"
    ]
    parts += (
        [_workers(record.workers)] if record.workers else ["no worker; start one with: genbench queue work"]
    )
    if record.schedules:
        parts.append(_schedules(record.schedules))
    return "\n\n".join(parts)


def _jobs(jobs: tuple[Job, ...]) -> str:
    rows = [
        (
            str(job.id),
            job.state if not job.cancel or job.state == "cancelled" else f"{job.state}, stopping",
            job.track or "-",
            job.label,
            str(job.priority),
            job.requested_by,
            job.wait or job.error.partition("\n")[0] or job.ended or job.started or "",
        )
        for job in jobs
    ]
    return aligned(
        ("job", "state", "track", "night or step", "priority", "by", ""), rows, {"job", "priority"}
    )


def _workers(workers: tuple[Worker, ...]) -> str:
    rows = [
        (item.id, item.state, str(item.slots), item.devices, f"{item.seen_s:.0f} s ago") for item in workers
    ]
    return aligned(("worker", "state", "slots", "devices", "seen"), rows, {"slots"})


def _schedules(schedules: tuple[Schedule, ...]) -> str:
    rows = [(item.name, item.cron, item.zone, item.spec.suite, item.created_by) for item in schedules]
    return aligned(("schedule", "cron", "zone", "suite", "by"), rows, ())


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


def watch_text(record: WatchList) -> str:
    """Return watches as text."""
    if not record.watches:
        return "no training run is watched; begin with: genbench watch start DIR --suite SUITE --track NAME"
    return "\n\n".join(_one(item) for item in record.watches)


def _one(watch: Watch) -> str:
    looked = "never looked at" if watch.polled_s is None else f"looked at {watch.polled_s:.0f} s ago"
    counts = ", ".join(f"{count} {state}" for state, count in watch.counts.items()) or "no checkpoint yet"
    head = f"{watch.name}: {watch.rules.folder}, {looked}; {counts}"
    rows = [
        (
            item.path,
            "-" if item.step is None else str(item.step),
            item.state,
            str(item.job or "-"),
            item.reason,
        )
        for item in watch.checkpoints[:_SHOWN]
    ]
    table = aligned(("checkpoint", "step", "state", "job", ""), rows, {"step", "job"}) if rows else ""
    return "\n".join([head, *([table] if table else [])])


def best_text(record: BestAgain) -> str:
    """Return the checkpoints as text. Scores are points of 100."""
    head = (
        f"{record.track}: mean of {', '.join(record.tasks)}. The first score chose the checkpoint, so it is "
        f"too high on average. The second is right on average (track {record.again}, seed {record.seed})."
    )
    rows = [
        (
            str(item.step),
            f"{100 * item.first:.1f}",
            "-" if item.again is None else f"{100 * item.again:.1f}",
            "-" if item.job is None else str(item.job),
            item.state,
        )
        for item in record.checkpoints
    ]
    return (
        f"{head}\n{aligned(('step', 'first', 'again', 'job', ''), rows, {'step', 'first', 'again', 'job'})}"
    )
