"""How many samples an engine should have in flight."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from genbench.draw.draw_queue import Draw, Lengths, one
from genbench.engines.kind import EngineSettings
from genbench.protocols import Engine
from genbench.types import Completion, SampleId

_WINDOW = 256
"""Finished samples that the length in flight is estimated from: the tasks change during a run."""
_ENOUGH = 32
"""Finished samples from which on they replace the expectation."""
_UNKNOWN = 0.15
"""Mean tokens in flight of samples that nothing is known of, as a share of max_tokens."""
QUEUED = 8
"""Samples that wait in an engine at least, so that a freed slot is filled in the same step."""
_SLOTS_PER_QUEUED = 8
"""Slots for each sample that waits at least: more samples end in one step of a large engine."""
_AHEAD_S = 1.0
"""For how long what waits in an engine should last. Late is this process: it renders prompts and writes."""


class Unfinished:
    """How much longer samples take than those that are finished say, since the short ones end first.

    All samples of an engine get tokens at the same rate. The time that all have been in flight, over that of
    the finished ones, is therefore the factor by which the mean of the finished is too small. It is exact for
    lengths with an exponential distribution, and falls to 1 while more and more are finished.
    """

    def __init__(self) -> None:
        self._finished_s = self._began_s = 0.0
        self._finished = 0
        self._began: dict[SampleId, float] = {}

    def begin(self, sample: SampleId, now: float) -> None:
        """Record that a sample was handed to an engine, at a time in seconds."""
        self._began[sample] = now
        self._began_s += now

    def end(self, sample: SampleId, now: float, *, finished: bool) -> None:
        """Record that a sample is finished, or was taken back."""
        began = self._began.pop(sample)
        self._began_s -= began
        self._finished_s += now - began if finished else 0.0
        self._finished += finished

    def factor(self, now: float) -> float:
        """Return the factor, at least 1."""
        count = len(self._began)
        if self._finished_s <= 0 or self._finished >= count:
            return 1.0
        more = max(0.0, count * now - self._began_s) / self._finished_s
        return 1 + more * (1 - self._finished / count)


class FinishRate:
    """How many samples one engine finishes in a second, as a mean with weights that fall with age."""

    def __init__(self) -> None:
        self._count = self._last = 0.0

    def add(self, now: float) -> None:
        """Count a finished sample, at a time in seconds."""
        self._count = self.of(now) + 1
        self._last = now

    def of(self, now: float) -> float:
        """Return the samples a second."""
        return self._count * math.exp(min(0.0, self._last - now))


class InFlightLength:
    """The mean tokens of a sample in flight.

    A sample of final length L is seen at all lengths between 0 and L, and long samples are in flight for
    longer. The mean length in flight is therefore E[L^2] / (2 E[L]). A prompt that k samples share is in the
    cache once, so each sample counts for 1/k of it.

    Args:
        expected: final lengths that a stored run gives, used until enough samples are finished.
        assumed: mean tokens in flight until then if there is no stored run, or None.
    """

    def __init__(self, expected: Sequence[float] = (), assumed: float | None = None) -> None:
        self._finished: deque[tuple[float, float]] = deque()
        seen = _seen_length(expected)
        self._expected = assumed if seen is None else seen
        self._prompts = self._completions = self._squares = 0.0

    def add(self, prompt_tokens: float, completion_tokens: float) -> None:
        """Add a finished sample: its share of the prompt, and its completion, in tokens."""
        self._finished.append((prompt_tokens, completion_tokens))
        self._count(prompt_tokens, completion_tokens, 1)
        if len(self._finished) > _WINDOW:
            self._count(*self._finished.popleft(), -1)

    def _count(self, prompt_tokens: float, completion_tokens: float, sign: int) -> None:
        self._prompts += sign * prompt_tokens
        self._completions += sign * completion_tokens
        self._squares += sign * completion_tokens * completion_tokens

    @property
    def mean(self) -> float | None:
        """Return the mean tokens in flight, or None if nothing is known yet."""
        if len(self._finished) < _ENOUGH:
            return self._expected
        if self._completions <= 0:
            return None
        return self._squares / (2 * self._completions) + self._prompts / len(self._finished)


def _seen_length(lengths: Sequence[float]) -> float | None:
    total = sum(lengths)
    return sum(length * length for length in lengths) / (2 * total) if total > 0 else None


def expected_lengths(draws: Sequence[Draw], expected: Lengths | None) -> list[float]:
    """Return the tokens that each draw is expected to have, or nothing without a stored run."""
    if expected is None:
        return []
    return [
        expected.of(draw.task.name, draw.problem.problem_id, draw.task.decoding.max_tokens) for draw in draws
    ]


class Growth:
    """A number of requests in flight that grows until the engine's throughput grows no more.

    Each size is measured over at least `seconds` and over twice as many completions as are in flight, so
    that what a smaller size left behind does not count. A size that gave less than 5 % more than the one
    before ends the growth, and the smaller one stays.

    Args:
        first, most: requests in flight at first and at most.
        clock: seconds, as time.monotonic.
    """

    _GAIN = 1.05

    def __init__(
        self, first: int, most: int, *, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.size, self._most, self._seconds, self._clock = min(first, most), most, seconds, clock
        self._before: tuple[int, float] | None = None
        self._grows = first < most
        self._begin()

    def add(self, tokens: int) -> None:
        """Count a completion, and change the size if the present one is measured."""
        if not self._grows:
            return
        self._completions += 1
        self._tokens += max(tokens, 1)
        seconds = self._clock() - self._since
        if seconds >= self._seconds and self._completions >= 2 * self.size:
            self._decide(self._tokens / seconds)

    def _decide(self, rate: float) -> None:
        if self._before is not None and rate < self._GAIN * self._before[1]:
            self.size, self._grows = self._before[0], False
            return
        self._before = (self.size, rate)
        self._grows = self.size < self._most
        self.size = min(self._most, 2 * self.size)
        self._begin()

    def _begin(self) -> None:
        self._completions, self._tokens, self._since = 0, 0, self._clock()


@dataclass(slots=True)
class Capacity:
    """The number of samples that an engine may have in flight. It may change during a run.

    Args:
        most: requests in flight that an engine takes, with those that wait in it.
        slots: requests that an engine computes at the same time, or None if they are unknown.
        lengths: the tokens of a sample in flight, which say how many fit into an engine's KV cache.
        growth: for an engine whose size is unknown.
        weigh: returns the expected tokens of a draw, or 1 if nothing is known.
        clock: seconds, as time.monotonic.
    """

    most: int
    slots: int | None = None
    lengths: InFlightLength = field(default_factory=InFlightLength)
    growth: Growth | None = None
    weigh: Callable[[Draw], float] = one
    clock: Callable[[], float] = time.monotonic
    unfinished: Unfinished = field(default_factory=Unfinished)

    def weight(self, draw: Draw) -> float:
        """Return how much work a draw is, compared with others. Above 0."""
        return self.weigh(draw)

    def begin(self, sample: SampleId) -> None:
        """Record that a sample was handed to an engine."""
        self.unfinished.begin(sample, self.clock())

    def end(self, sample: SampleId, *, finished: bool) -> None:
        """Record that a sample is finished, or was taken back."""
        self.unfinished.end(sample, self.clock(), finished=finished)

    def of(self, engine: Engine, waiting: int | None = None) -> int:
        """Return the samples that fit into the engine, and some that wait in it.

        Fewer wait if the KV cache is full before the slots are. vLLM begins with a sample whose prompt fits,
        and takes its place from it again when the others grow.

        Args:
            waiting: how many may wait (see `waiting`). None: as many as the engine takes.
        """
        most = self.most if self.growth is None else self.growth.size
        if self.slots is not None and waiting is not None:
            most = min(most, self.slots + waiting)
        cache, mean = engine.kv_tokens, self.lengths.mean
        if cache is None or mean is None:
            return max(1, most)
        fits = int(cache / (mean * self.unfinished.factor(self.clock())))
        if self.slots is not None and fits >= self.slots:
            return max(1, most)
        return max(1, min(most, fits + QUEUED))

    def waiting(self, rate: float, queued: int, engines: int) -> int | None:
        """Return how many samples may wait inside one engine, or None for as many as it takes.

        A single engine has nobody to leave them to. One of several has what it finishes in a second, and no
        more than its part of the queue, so that none has a backlog while another is idle.

        Args:
            rate: samples that the engine finishes in a second.
            queued: samples that wait in the queue for all engines.
            engines: how many share the queue.
        """
        if engines <= 1 or self.slots is None:
            return None
        least = max(QUEUED, self.slots // _SLOTS_PER_QUEUED)
        return max(least, min(math.ceil(rate * _AHEAD_S), queued // engines))

    def note(self, draw: Draw, completion: Completion) -> None:
        """Learn from a completion of a sample."""
        tokens = completion.completion_tokens
        if tokens is None:
            return
        self.lengths.add((completion.prompt_tokens or 0) / draw.task.k, tokens)
        if self.growth is not None:
            self.growth.add(tokens)


def assumed_length(draws: Sequence[Draw]) -> float | None:
    """Return the mean tokens in flight of samples that nothing is known of, or None without a draw."""
    most = [draw.task.decoding.max_tokens for draw in draws]
    return _UNKNOWN * sum(most) / len(most) if most else None


def limit_of(settings: EngineSettings, draws: Sequence[Draw], expected: Lengths | None) -> Capacity:
    """Return the limit of a run. A stored run tells its lengths before the first sample is finished."""
    grows = settings.first_workers < settings.workers
    growth = Growth(settings.first_workers, settings.workers) if grows else None
    lengths = InFlightLength(expected_lengths(draws, expected), assumed_length(draws))
    weigh = one if expected is None else partial(_tokens, expected)
    return Capacity(settings.workers, settings.slots, lengths, growth, weigh)


def _tokens(expected: Lengths, draw: Draw) -> float:
    return max(1.0, expected.of(draw.task.name, draw.problem.problem_id, draw.task.decoding.max_tokens))
