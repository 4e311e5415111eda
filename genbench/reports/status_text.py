"""What a run is doing, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.reports.table import aligned


def status_text(record: Mapping[str, Any]) -> str:
    """One block a run: who writes it, how far it is, each task's samples and statuses."""
    return "\n\n".join(_run_text(run) for run in record["runs"])


def _run_text(run: Mapping[str, Any]) -> str:
    return "\n".join([_head(run), _rates(run), *_tasks(run)])


def _head(run: Mapping[str, Any]) -> str:
    shard = f", shard {run['shard']}" if run["shard"] else ""
    why = f" by {run['stopped_by']}" if run["state"] == "stopped" else ""
    state = f"{run['state']}{why}, attempt {run['attempt']}{_writer(run)}"
    return f"{run['path']} ({run['model']}{shard}): {state}"


def _writer(run: Mapping[str, Any]) -> str:
    writer = run["writer"]
    if writer is None:
        return ""
    words = {True: "alive", False: "dead", None: "cannot be seen from here"}
    return f", pid {writer['pid']} on {writer['host']} since {writer['started']} ({words[writer['alive']]})"


def _rates(run: Mapping[str, Any]) -> str:
    parts = [f"{run['done']:,} of {run['total']:,} samples drawn, {run['verified']:,} verified"]
    if run["tokens_per_s"]:
        parts.append(f"{run['tokens_per_s']:,.0f} tokens/s")
    if run["left_s"] is not None:
        parts.append(f"{_hours(run['left_s'])} left")
    if run["updated"]:
        parts.append(f"as of {run['updated']}")
    return ", ".join(parts)


def _hours(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02} h" if minutes >= 60 else f"{round(seconds)} s"


def _tasks(run: Mapping[str, Any]) -> list[str]:
    rows = [
        (name, f"{task['done']}/{task['total']}", _counts(task["status_counts"]))
        for name, task in run["tasks"].items()
    ]
    return [aligned(("task", "drawn", "statuses so far"), rows, {"drawn"}, indent="  ")]


def _counts(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{status} {count}" for status, count in statuses.items())
