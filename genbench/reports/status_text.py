"""The status of runs for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.reports.table import aligned
from genbench.runs.status_record import RunProgress, RunsStatus


def status_text(status: RunsStatus) -> str:
    """Return one block per run.

    It shows the process that writes it, its progress, and each task's samples and statuses.
    """
    return "\n\n".join(_run_text(run) for run in status.runs)


def _run_text(run: RunProgress) -> str:
    """Return the lines of one run."""
    return "\n".join([_head(run), _rates(run), *_tasks(run)])


def _head(run: RunProgress) -> str:
    """Return the run's folder, model, state and writer."""
    shard = f", shard {run.shard}" if run.shard else ""
    why = f" by {run.stopped_by}" if run.state == "stopped" else ""
    state = f"{run.state}{why}, attempt {run.attempt}{_writer(run)}"
    return f"{run.path} ({run.model}{shard}): {state}"


def _writer(run: RunProgress) -> str:
    """Return the process that writes the run, and whether it is alive."""
    writer = run.writer
    if writer is None:
        return ""
    words = {True: "alive", False: "dead", None: "cannot be seen from here"}
    return f", pid {writer.pid} on {writer.host} since {writer.started} ({words[writer.alive]})"


def _rates(run: RunProgress) -> str:
    """Return how many samples are done, how fast, and how long the rest takes."""
    parts = [f"{run.done:,} of {run.total:,} samples drawn, {run.verified:,} verified"]
    if run.tokens_per_s:
        parts.append(f"{run.tokens_per_s:,.0f} tokens/s")
    if run.left_s is not None:
        parts.append(f"{_hours(run.left_s)} left")
    if run.updated:
        parts.append(f"as of {run.updated}")
    return ", ".join(parts)


def _hours(seconds: float) -> str:
    """Return a time as `H:MM h`, or as seconds if it is under an hour."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02} h" if minutes >= 60 else f"{round(seconds)} s"


def _tasks(run: RunProgress) -> list[str]:
    """Return the table of the run's tasks."""
    rows = [
        (name, f"{task.done}/{task.total}", _counts(task.status_counts)) for name, task in run.tasks.items()
    ]
    return [aligned(("task", "drawn", "statuses so far"), rows, {"drawn"}, indent="  ")]


def _counts(statuses: Mapping[str, int]) -> str:
    """Return counts by status."""
    return ", ".join(f"{status} {count}" for status, count in statuses.items())
