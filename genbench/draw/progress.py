"""The progress line on stderr: samples, tokens a second, time left, statuses so far.

The time left is estimated from finished samples and from those that are still running.
"""

from __future__ import annotations

import bisect
import math
import os
import shutil
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from genbench.protocols import Engine
from genbench.safetext.printable import printable
from genbench.types import Completion, SampleId, Verdict

_FIRST_SHARE = 0.25
"""An estimate is given after this share of all samples, or after as many as are drawn at one time if these
are fewer. The first ones to finish are short, and with fewer of them it may be wrong by more than a factor of
two (simulated)."""
_FIRST = 3
_ENDLESS = 0.1
"""Share of the samples that run to their limit, before any of them is seen. A model of 135M parameters on
GSM8K and base models do so in a tenth to a half, others in a hundredth."""
_MOST_KEPT = 2048
"""Durations that are kept. A look at them takes 2 ms, during which the engines get no request."""


class TimeLeft:
    """Durations of the samples of a run. A sample that still runs counts as lasting at least its age.

    A mean over finished samples alone is too short at the beginning, since the short ones finish first.

    Args:
        waiting: samples that are still to be drawn.
    """

    def __init__(self, waiting: int) -> None:
        self._waiting = self._all = waiting
        self._began: dict[Hashable, float] = {}
        self._took: list[float] = []
        self._ended = 0
        self._step = 1
        """One in so many ended samples is in the curve. It doubles when there are too many."""
        self._widest = 0
        self._limits: dict[Hashable, int] = {}

    @property
    def running(self) -> int:
        """Return how many samples are being drawn."""
        return len(self._began)

    def expect(self, samples: int) -> None:
        """Set how many samples are drawn in all. A run in rounds learns it round by round."""
        self._waiting += samples - self._all
        self._all = samples

    def began(self, sample: Hashable, now: float, limit: int | None = None) -> None:
        """Record that a sample is begun, or begun again. `now` is in seconds of any clock.

        Args:
            limit: the tokens at which it ends at the latest. None: unknown, or it has several turns.
        """
        if limit is not None:
            self._limits[sample] = limit
        self._waiting -= sample not in self._began
        self._began[sample] = now
        self._widest = max(self._widest, len(self._began))

    def ended(self, sample: Hashable, now: float) -> None:
        """Record that a sample is complete."""
        began = self._began.pop(sample, None)
        self._limits.pop(sample, None)
        if began is None:
            return
        self._ended += 1
        if self._ended % self._step == 0:
            self._took.append(now - began)
        if len(self._took) >= _MOST_KEPT:
            del self._took[::2]
            self._step *= 2

    def seconds(self, now: float, tokens: float | None = None) -> float | None:
        """Return the seconds until all samples are drawn, or None as long as too few have finished.

        Args:
            tokens: those that the running samples have together. None: the engine does not count them.
        """
        if self._ended < max(_FIRST, min(self._widest, _FIRST_SHARE * self._all)):
            return None
        ages = [now - began for began in self._began.values()]
        if not ages:
            return 0.0 if self._waiting <= 0 else self._waiting * sum(self._took) / len(self._took)
        # The curve has the same share of those that run as of those that ended.
        curve = survival(self._took, ages[:: self._step])
        per_s = tokens / sum(ages) if tokens and sum(ages) > 0 else None
        ends = [self._end(curve, sample, now, per_s) for sample in self._began]
        rest = sum(likely for likely, _ in ends) / len(ends)
        lanes = len(ages)
        # The last samples end one after the other. The harmonic number is the expected longest of `lanes`
        # exponential durations, and its root is between engines whose steps take as long however many
        # samples they contain, and engines whose steps become faster.
        drain = rest * math.sqrt(sum(1 / place for place in range(1, lanes + 1)))
        # Samples that do not end by themselves began together, and reach their limits together.
        drain = max(drain, *(endless for _, endless in ends))
        return max(self._waiting, 0) * curve.rest(0.0) / lanes + drain

    def _end(
        self, curve: SurvivalCurve, sample: Hashable, now: float, per_s: float | None
    ) -> tuple[float, float]:
        """Return how much longer a sample is expected to last, and how much of that is for its limit.

        A sample that has outlasted all that ended either ends soon or never by itself, as loops do. The
        longer it outlasts them, the surer is the second, by Bayes' rule.

        Args:
            per_s: tokens a second of a running sample.
        """
        age = now - self._began[sample]
        rest, limit = curve.rest(age), self._limits.get(sample)
        if limit is None or per_s is None:
            return rest, 0.0
        most = max(0.0, limit / per_s - age)
        beyond = max(0.0, age - curve.times[-1]) / max(curve.beyond, 1e-9)
        endless = _ENDLESS / (_ENDLESS + (1 - _ENDLESS) * math.exp(-min(beyond, 50.0)))
        if not beyond:
            return min(rest, most), 0.0
        return endless * most + (1 - endless) * min(rest, most), endless * most


@dataclass(frozen=True, slots=True)
class SurvivalCurve:
    """The share of samples that last longer than each time (Kaplan and Meier 1958), with its tail.

    `times` are those at which samples ended, ascending. `shares` are the shares that last longer, with
    1 before the first time. `beyond` is how much longer a sample lasts that outlasted all of them. `areas`
    are those below the curve after each time.
    """

    times: Sequence[float]
    shares: Sequence[float]
    beyond: float
    areas: Sequence[float]

    def rest(self, age: float) -> float:
        """Return how much longer a sample of this age is expected to last, in seconds."""
        first = bisect.bisect_right(self.times, age)
        left = self.shares[first - 1] if first else 1.0
        if first == len(self.times) or left <= 0:
            return self.beyond
        return self.times[first] - age + self.areas[first] / left


def survival(took: Sequence[float], ages: Sequence[float]) -> SurvivalCurve:
    """Return the survival curve of durations of which some are only known to exceed an age.

    Beyond the last time samples are assumed to end at a constant rate. It is the geometric mean of the rate
    over all times, which is right if a share of the samples runs into its limit, and of the rate in the
    longer half, which is right if the samples are about as long as each other.

    Args:
        took: durations of finished samples. There is at least one.
        ages: ages of those that still run.
    """
    known = sorted([*((time, True) for time in took), *((age, False) for age in ages)])
    times: list[float] = []
    shares: list[float] = []
    share, at_risk = 1.0, len(known)
    for seconds, is_end in known:
        if is_end:
            share *= 1 - 1 / at_risk
            times.append(seconds)
            shares.append(share)
        at_risk -= 1
    middle = times[len(times) // 2 - 1] if len(times) > 1 else 0.0
    rests = [_mean_rest(known, since) for since in (0.0, middle)]
    beyond = math.sqrt(rests[0] * rests[1])
    return SurvivalCurve(times, shares, beyond, _areas(times, shares, beyond))


def _areas(times: Sequence[float], shares: Sequence[float], beyond: float) -> list[float]:
    """Return the area below a curve after each of its times."""
    areas = [shares[-1] * beyond] if times else []
    for place in range(len(times) - 2, -1, -1):
        areas.append(areas[-1] + shares[place] * (times[place + 1] - times[place]))
    return areas[::-1]


def _mean_rest(known: Sequence[tuple[float, bool]], since: float) -> float:
    """Return the time that samples spent after `since`, over the number of those that ended after it."""
    exposure = sum(max(seconds - since, 0.0) for seconds, _ in known)
    return exposure / max(sum(is_end and seconds > since for seconds, is_end in known), 1)


class Output(Protocol):
    """What a progress line is written to."""

    def write(self, text: str, /) -> object:
        """Write a text."""
        ...

    def flush(self) -> None:
        """Make sure that all that was written is out."""
        ...

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        ...


class OwnStderr:
    """A duplicate of a descriptor. It keeps its target while the descriptor itself leads elsewhere."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)

    def write(self, text: str, /) -> None:
        """Write a text. A terminal that is gone is not an error of the run."""
        data = text.encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            return

    def flush(self) -> None:
        """Return at once, since nothing is held back."""

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return os.isatty(self._descriptor)

    def __del__(self) -> None:
        os.close(self._descriptor)


def own_stderr() -> Output:
    """Return a duplicate of standard error, or `sys.stderr` if it is not a file, as in notebooks."""
    try:
        return OwnStderr(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return sys.stderr


_TTY_EVERY_S = 0.25
_LOG_EVERY_S = 15.0
_VERIFYING = ("verifying", "judging")


class Together:
    """The progress of all models of a command, of which several may draw at the same time.

    Args:
        samples: by model, the samples that it has in all. They count until its progress line is there.
    """

    def __init__(self, samples: Mapping[str, int] = MappingProxyType({})) -> None:
        self._ahead = dict(samples)
        self._lines: list[ProgressLine] = []
        self.shown = time.monotonic()

    def add(self, line: ProgressLine) -> None:
        """Count a model by its own progress line from now on."""
        self._ahead.pop(line.label, None)
        self._lines.append(line)

    @property
    def has_others(self) -> bool:
        """Tell whether the command has more than one model."""
        return len(self._lines) + len(self._ahead) > 1

    def line(self) -> str:
        """Return the line: `a 120/200  b 15/200  all 1,520/3,200 samples  1,234 tok/s  0:42 left in all`."""
        lines, now = self._lines, time.monotonic()
        shown = [line for line in lines if line.is_open]
        parts = [f"{line.label} {line.on_disk}/{line.total}" for line in shown]
        on_disk, total = sum(line.on_disk for line in lines), sum(line.total for line in lines)
        total += sum(self._ahead.values())
        parts.append(f"all {on_disk:,}/{total:,} samples")
        began = [now - line.seconds for line in lines if line.drawn]
        drawn = sum(line.drawn for line in lines)
        if on_disk < total and any(
            not line.is_open or line.left_s is not None for line in lines if line.drawn
        ):
            seconds = max(now - min(began), 1e-9)
            if rate := sum(line.tokens for line in lines) / seconds:
                parts.append(f"{rate:,.0f} tok/s")
            parts.append(f"{clock((total - on_disk) * seconds / drawn)} left in all")
        return "  ".join(parts)


class ProgressLine:
    """Counts completions and verdicts. Redraws a line on a terminal, and logs lines now and then elsewhere.

    Args:
        label: the model's name.
        total: samples of the run.
        done: samples that were on disk at the start.
        quiet: count, and write nothing.
        limits: by task, the tokens of a sample at the most. Tasks of several turns have none.
        further: verdicts beyond one for each sample, if tasks have several verifiers.
        together: the progress of all models of the command. While several draw, one line says it of all.
    """

    def __init__(
        self,
        label: str,
        total: int,
        done: int,
        quiet: bool = False,
        stream: Output | None = None,
        *,
        limits: Mapping[str, int] | None = None,
        further: int = 0,
        together: Together | None = None,
    ) -> None:
        self.further = further
        self.label, self.total, self.done = label, total, done
        self.drawn = 0
        self.tokens = 0
        self.statuses: Counter[str] = Counter()
        self.state = "starting"
        self.drawn_of: Counter[str] = Counter()
        self._left, self._limits = TimeLeft(total - done), limits or {}
        self._engines: dict[int, tuple[Engine, int]] = {}
        self._quiet = quiet
        self._stream = stream or own_stderr()
        self._tty = self._stream.isatty()
        self._started = self._stepped = time.monotonic()
        self._verdicts_before = 0
        self.is_open = True
        self._together = together or Together()
        self._together.add(self)

    @property
    def on_disk(self) -> int:
        """Return how many samples are complete, those of earlier attempts among them."""
        return self.done + self.drawn

    def begin(self, engine: Engine | None = None) -> None:
        """Record that an engine is up. Rates are counted from the first one on."""
        if self.state != "drawing":
            self._started = time.monotonic()
        self.state = "drawing"
        if engine is not None:
            self._engines.setdefault(id(engine), (engine, engine.tokens_made))

    def step(self, state: str) -> None:
        """Record that another part of the work begins, such as `verifying`. Show the line at once."""
        if state not in (self.state, "drawing"):
            self.state = state
            self._stepped, self._verdicts_before = time.monotonic(), self.statuses.total()
            if self._tty:
                self.tick()

    def began(self, sample: SampleId) -> None:
        """Record that the engine begins with a sample."""
        self._left.began(sample, time.monotonic(), self._limits.get(sample.task))

    def completion(self, item: Completion) -> None:
        """Count the tokens of a completion."""
        self.tokens += item.completion_tokens or 0

    def sample(self, task: str, sample: SampleId | None = None) -> None:
        """Count a sample whose conversation is complete."""
        self.drawn += 1
        self.drawn_of[task] += 1
        self._left.ended(sample, time.monotonic())
        self._show()

    def copied(self) -> None:
        """Count a completion that is copied from another folder."""
        self.drawn += 1
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
    def tokens_per_s(self) -> float | None:
        """Return the tokens per second since drawing began, those of running samples among them.

        Engines that do not count running tokens count a completion when it ends. None before the first.
        """
        tokens = max(self.tokens, self._counted)
        return tokens / self.seconds if tokens else None

    @property
    def _counted(self) -> int:
        """The tokens that the engines have made, those of running samples among them."""
        return sum(engine.tokens_made - before for engine, before in self._engines.values())

    @property
    def left_s(self) -> float | None:
        """Return the seconds until all is drawn, or None as long as that is unknown."""
        self._left.expect(self.total - self.done)
        return self._left.seconds(time.monotonic(), max(0, self._counted - self.tokens))

    def line(self) -> str:
        """Return the line: `base 120/480 samples  1,234 tok/s  0:42 left  correct 80, wrong 31`."""
        at = self.on_disk
        parts = [f"{self.label} {at}/{self.total} samples"]
        if self.state == "drawing":
            parts += self._drawing(at)
        elif self.state == "merging":
            parts = [f"{self.label} merging", f"{self.drawn:,} completions"]
        elif self.state in _VERIFYING:
            parts = [f"{self.label} {self.state}", *self._verifying()]
        elif self.state != "starting" or at < self.total:
            parts.append(f"{self.state} {clock(time.monotonic() - self._stepped)}")
        if self.statuses:
            parts.append(", ".join(f"{status} {count}" for status, count in self.statuses.most_common()))
        return "  ".join(parts)

    def _drawing(self, at: int) -> Iterator[str]:
        rate, left = self.tokens_per_s, self.left_s
        if rate is not None:
            yield f"{rate:,.0f} tok/s"
        if at < self.total:
            yield f"{clock(left)} left" if left is not None else f"{self._left.running} running"

    def _verifying(self) -> Iterator[str]:
        """Yield the verdicts of the run, their rate, and the time that the rest takes."""
        made = self.statuses.total()
        if made:
            yield f"{made}/{self.total + self.further} verdicts"
        new = made - self._verdicts_before
        rate = new / max(time.monotonic() - self._stepped, 1e-9)
        if new:
            yield f"{rate:,.0f} a second" if rate >= 1 else f"{60 * rate:,.0f} a minute"
        missing = self.total + self.further - made
        if new and missing > 0:
            yield f"{clock(missing / rate)} left"

    def tick(self) -> None:
        """Redraw the line of a terminal, so that its clock keeps running while nothing else happens."""
        if self._tty:
            self._together.shown = 0.0
            self._show()

    def _show(self) -> None:
        now, together = time.monotonic(), self._together
        if self._quiet or now - together.shown < (_TTY_EVERY_S if self._tty else _LOG_EVERY_S):
            return
        together.shown = now
        text = together.line() if together.has_others and self.state == "drawing" else self.line()
        self._write(self._fitting(text), end="" if self._tty else "\n")

    def say(self, text: str) -> None:
        """Write a line of its own, above the progress line."""
        if not self._quiet:
            self._write(text, end="\n")

    def close(self) -> None:
        """Write the last state of the line. Nothing is left of a line on which nothing was counted."""
        self.is_open = False
        if self._quiet:
            return
        if self.drawn or self.statuses or self.state in ("starting", "drawing"):
            self._write(self._fitting(self.line()), end="\n")
        elif self._tty:
            self._write("", end="")

    def _fitting(self, text: str) -> str:
        return fitted(text, shutil.get_terminal_size().columns) if self._tty else text

    def _write(self, text: str, end: str) -> None:
        lead = "\r\x1b[K" if self._tty else ""
        self._stream.write(f"{lead}{text}{end}")
        self._stream.flush()


def fitted(text: str, columns: int) -> str:
    """Return one line that a terminal does not wrap. A wrapped line cannot be redrawn, and stays behind.

    Wide characters take two columns, and control characters are shown as escapes.
    """
    text = printable(text.replace("\n", " "))
    if _width(text) < columns:
        return text
    while text and _width(text) > max(columns - 2, 0):
        text = text[:-1]
    return text + "…"


def _width(text: str) -> int:
    """Return the columns of a text in a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def clock(seconds: float) -> str:
    """Return a duration as text: `0:42`, `1:05:09`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
