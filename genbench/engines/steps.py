"""Statistics of an engine's steps: what ran and waited, the KV cache, preemptions, and what limited it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

_POINTS = 60
"""Most points of the course over time. Neighbours are averaged when there are twice as many."""
_FIRST_POINT_S = 10.0


class PrefixStats(Protocol):
    """Tokens looked up in the prefix cache during one step (vLLM's PrefixCacheStats)."""

    queries: int
    hits: int
    preempted_requests: int


class SchedulerStats(Protocol):
    """The state of vLLM's scheduler after one step."""

    num_running_reqs: int
    num_waiting_reqs: int
    kv_cache_usage: float

    @property
    def prefix_cache_stats(self) -> PrefixStats:
        """Return the lookups of this step."""
        ...


@dataclass(slots=True)
class _Sums:
    """Sums over time: seconds, tokens, and running and waiting requests and used cache times seconds."""

    seconds: float = 0.0
    tokens: int = 0
    running: float = 0.0
    waiting: float = 0.0
    cache: float = 0.0

    def add(self, seconds: float, running: int, waiting: int, cache: float) -> None:
        self.seconds += seconds
        self.running += seconds * running
        self.waiting += seconds * waiting
        self.cache += seconds * cache

    def join(self, other: _Sums) -> None:
        self.seconds += other.seconds
        self.tokens += other.tokens
        self.running += other.running
        self.waiting += other.waiting
        self.cache += other.cache

    @property
    def record(self) -> dict[str, Any]:
        seconds = self.seconds or 1.0
        return {
            "tokens_per_s": round(self.tokens / self.seconds, 1) if self.seconds else None,
            "running": round(self.running / seconds, 1),
            "waiting": round(self.waiting / seconds, 1),
            "kv_used": round(self.cache / seconds, 3),
        }


class StepStatistics:
    """Adds up the steps of one engine.

    Args:
        slots: requests that the engine computes at most at the same time, over all ranks.
        clock: seconds, as time.monotonic.
    """

    def __init__(self, slots: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._slots, self._clock = slots, clock
        self._last: float | None = None
        self._all, self._starved_s = _Sums(), 0.0
        self._course: list[_Sums] = [_Sums()]
        self._point_s = _FIRST_POINT_S
        self._steps = self._most_running = self._preemptions = 0
        self._queries = self._hits = 0
        self._most_cache = 0.0

    @property
    def tokens(self) -> int:
        """Return the completion tokens of all steps so far."""
        return self._all.tokens

    def add_tokens(self, tokens: int) -> None:
        """Count the completion tokens of one step."""
        self._steps += 1
        self._all.tokens += tokens
        self._course[-1].tokens += tokens

    def add_state(self, state: SchedulerStats) -> None:
        """Add the scheduler's state after a step. It is taken to have lasted since the step before."""
        now = self._clock()
        seconds = 0.0 if self._last is None else now - self._last
        self._last = now
        running, waiting = state.num_running_reqs, state.num_waiting_reqs
        self._all.add(seconds, running, waiting, state.kv_cache_usage)
        self._course[-1].add(seconds, running, waiting, state.kv_cache_usage)
        self._starved_s += seconds if waiting == 0 and running < self._slots / 2 else 0.0
        self._most_running = max(self._most_running, running)
        self._most_cache = max(self._most_cache, state.kv_cache_usage)
        prefix = state.prefix_cache_stats
        self._queries += prefix.queries
        self._hits += prefix.hits
        self._preemptions += prefix.preempted_requests
        self._thin()

    def _thin(self) -> None:
        if self._course[-1].seconds < self._point_s:
            return
        self._course.append(_Sums())
        if len(self._course) <= 2 * _POINTS:
            return
        points, last = self._course[:-1], self._course[-1]
        for left, right in zip(points[::2], points[1::2], strict=False):
            left.join(right)
        self._course = [*points[::2], last]
        self._point_s *= 2

    @property
    def record(self) -> dict[str, Any]:
        """Return JSON: shares are of 1, times are seconds, and the course has one point per `point_s`."""
        seconds = self._all.seconds
        return {
            "seconds": round(seconds, 1),
            "steps": self._steps,
            "completion_tokens": self.tokens,
            **self._all.record,
            "most_running": self._most_running,
            "most_kv_used": round(self._most_cache, 3),
            "preemptions": self._preemptions,
            "prompt_tokens": self._queries,
            "cached_prompt_tokens": self._hits,
            "prompt_tokens_per_s": round((self._queries - self._hits) / seconds, 1) if seconds else None,
            "starved": round(self._starved_s / seconds, 3) if seconds else None,
            "limited_by": self._limit(),
            "point_s": self._point_s,
            "course": [point.record for point in self._course if point.seconds],
        }

    def _limit(self) -> str | None:
        """Say in one sentence what limited the engine."""
        if not self._all.seconds:
            return None
        mean = self._all.record
        if mean["waiting"] >= 1 and self._most_cache >= 0.9 and mean["running"] < 0.9 * self._slots:
            return (
                f"the KV cache: {mean['running']:.0f} of {self._slots} slots were in use on average while "
                f"{mean['waiting']:.0f} requests waited"
            )
        if mean["running"] >= 0.9 * self._slots:
            return f"the slots: {mean['running']:.0f} of {self._slots} were in use on average"
        starved = self._starved_s / self._all.seconds
        return (
            f"too few samples: less than half of the {self._slots} slots were in use and none waited in "
            f"{starved:.0%} of the time"
            if starved >= 0.2
            else "nothing in particular: slots, KV cache and samples were in balance"
        )
