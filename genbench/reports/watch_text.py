"""The watched training runs for the terminal."""

from __future__ import annotations

from genbench.reports.table import aligned
from genbench.watch.records import Watch, WatchList

_SHOWN = 50


def watch_text(record: WatchList) -> str:
    """Return watches as text."""
    if not record.watches:
        return "no training run is watched; begin with: genbench watch DIR --suite SUITE --track NAME"
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
