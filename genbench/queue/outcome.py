"""What becomes of a job when one of its commands has ended."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from genbench.store.lock import writer_of

WAITS_S = (60.0, 300.0, 1500.0)
"""Seconds before the second, third and later attempts."""
MOST_ATTEMPTS = 3
"""Attempts in a row that add no sample, after which a job has failed."""
STOPPED = 130
BAD_INPUT = 2
_NOT_COMPARABLE = 3
_LEAST_FREE = 0.05
"""The share of a disk below which nothing starts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens next. `again` is queued once more, after `wait_s` seconds."""

    what: Literal["done", "again", "failed"]
    attempts: int = 0
    wait_s: float = 0.0
    note: str = ""


def outcome_of(
    code: int | None,
    *,
    grew: bool,
    asked_to_stop: bool,
    attempts: int,
    marked: bool,
    waits_s: Sequence[float] = WAITS_S,
) -> Outcome:
    """Return what becomes of a job whose command has ended.

    Args:
        code: the exit code, negative for a signal. None if an earlier worker started the process.
        grew: whether samples were added since the command was started.
        asked_to_stop: whether this worker stopped it.
        attempts: earlier attempts in a row that added no sample.
        marked: whether the run has ended and is marked as failed (too many excluded samples, a gate).
    """
    if code == 0 or (code == 1 and marked):
        return Outcome("done")
    if code in (BAD_INPUT, _NOT_COMPARABLE):
        return Outcome("failed", attempts, note=f"exit code {code}")
    if asked_to_stop or (code == STOPPED and grew):
        return Outcome("again", attempts)
    if code is None:
        # Nothing is known of it, so its command is asked again. A finished run draws nothing.
        return Outcome("again", 0 if grew else attempts)
    return _retry(code, 0 if grew else attempts + 1, waits_s)


def _retry(code: int, fruitless: int, waits_s: Sequence[float]) -> Outcome:
    """Return whether a command that died is tried again, after how many fruitless attempts."""
    if fruitless >= MOST_ATTEMPTS:
        return Outcome("failed", fruitless, note=f"{fruitless} attempts in a row added no sample")
    wait = waits_s[min(max(0, fruitless - 1), len(waits_s) - 1)]
    return Outcome("again", fruitless, wait, _named(code))


def _named(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def stored_bytes(run_dir: Path) -> int:
    """Return the bytes of all completions below a folder. They only ever grow."""
    return sum(path.stat().st_size for path in _files(run_dir, "*/*/completions.jsonl"))


def is_marked_failed(run_dir: Path) -> bool:
    """Return whether a run below a folder has results that must not be used."""
    return any(_failed(path) for path in _files(run_dir, "*/results.json"))


def _failed(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_bytes()).get("failed"))
    except (OSError, ValueError, AttributeError):
        return False


def other_writer(run_dir: Path) -> str | None:
    """Return who writes a run below a folder now, if anybody does: a process of another host, or by hand."""
    for owner in _files(run_dir, "*/owner.json"):
        writer = writer_of(owner.parent)
        if writer is not None and writer.alive is not False:
            return str(writer)
    return None


def _files(run_dir: Path, pattern: str) -> Iterator[Path]:
    if run_dir.is_dir():
        yield from sorted(run_dir.glob(pattern))


def disk_is_full(folder: Path) -> bool:
    """Return whether less than a twentieth of the disk is free."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free < _LEAST_FREE * usage.total
