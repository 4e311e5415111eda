"""The progress line on stderr: samples, tokens a second, time left, statuses so far."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from typing import TextIO

from genbench.types import Completion, Verdict

_TTY_EVERY_S = 0.25
_LOG_EVERY_S = 15.0


class ProgressLine:
    """Counts completions and verdicts. Redraws a line on a terminal, and logs lines now and then elsewhere.

    Args:
        label: the model's name.
        total: samples of the run.
        done: samples that were on disk at the start.
        quiet: count, and write nothing.
    """

    def __init__(
        self, label: str, total: int, done: int, quiet: bool = False, stream: TextIO | None = None
    ) -> None:
        self.label, self.total, self.done = label, total, done
        self.drawn = 0
        self.tokens = 0
        self.statuses: Counter[str] = Counter()
        self.state = "starting"
        self.drawn_of: Counter[str] = Counter()
        self._quiet = quiet
        self._stream = stream or sys.stderr
        self._tty = self._stream.isatty()
        self._started = self._shown = time.monotonic()

    def begin(self) -> None:
        """Record that the engine is up. Rates are counted from now on."""
        self._started = time.monotonic()
        self.state = "drawing"

    def completion(self, item: Completion) -> None:
        """Count the tokens of a completion."""
        self.tokens += item.completion_tokens or 0

    def sample(self, task: str) -> None:
        """Count a sample whose conversation is complete."""
        self.drawn += 1
        self.drawn_of[task] += 1
        self._show()

    def verdict(self, item: Verdict) -> None:
        """Count a verdict by its status."""
        self.statuses[item.status] += 1
        self._show()

    @property
    def seconds(self) -> float:
        """Return the seconds since drawing began."""
        return max(time.monotonic() - self._started, 1e-9)

    @property
    def left_s(self) -> float | None:
        """Return the seconds until all is drawn at the rate so far, or None before the first sample."""
        rate = self.drawn / self.seconds
        return (self.total - self.done - self.drawn) / rate if rate else None

    def line(self) -> str:
        """Return the line: `base 120/480 samples  1,234 tok/s  0:42 left  correct 80, wrong 31`."""
        at = self.done + self.drawn
        left = self.left_s
        parts = [f"{self.label} {at}/{self.total} samples"]
        if self.tokens:
            parts.append(f"{self.tokens / self.seconds:,.0f} tok/s")
        if at < self.total:
            parts.append(f"{clock(left)} left" if left is not None else "starting")
        if self.statuses:
            parts.append(", ".join(f"{status} {count}" for status, count in self.statuses.most_common()))
        return "  ".join(parts)

    def _show(self) -> None:
        now = time.monotonic()
        if self._quiet or now - self._shown < (_TTY_EVERY_S if self._tty else _LOG_EVERY_S):
            return
        self._shown = now
        self._write(self._fitting(), end="" if self._tty else "\n")

    def say(self, text: str) -> None:
        """Write a line of its own, above the progress line."""
        if not self._quiet:
            self._write(text, end="\n")

    def close(self) -> None:
        """Write the last state of the line."""
        if not self._quiet:
            self._write(self._fitting(), end="\n")

    def _fitting(self) -> str:
        return fitted(self.line(), shutil.get_terminal_size().columns) if self._tty else self.line()

    def _write(self, text: str, end: str) -> None:
        lead = "\r\x1b[K" if self._tty else ""
        self._stream.write(f"{lead}{text}{end}")
        self._stream.flush()


def fitted(text: str, columns: int) -> str:
    """Return a line that a terminal does not wrap. A wrapped line cannot be redrawn, and stays behind."""
    return text if len(text) < columns else text[: max(columns - 2, 0)] + "…"


def clock(seconds: float) -> str:
    """Return a duration as text: `0:42`, `1:05:09`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
