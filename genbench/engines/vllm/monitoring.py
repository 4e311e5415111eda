"""What a loaded vLLM engine reports: its resolved terms, the statistics of its steps, and whether it makes
progress.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from genbench.engines.repetition import CHECKED_EVERY, DRAWN, Signs, ends_in_loop

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


_BACKEND = re.compile(rb"Using (\w+) attention backend")
_PACKAGES = ("torch", "triton", "flashinfer-python", "nvidia-nccl-cu13", "nvidia-nccl-cu12", "xgrammar")


def resolved(config: Any) -> dict[str, Any]:
    """Return JSON with what the engine chose while it loaded.

    Args:
        config: vLLM's VllmConfig after loading. A field that a version lacks is left out.
    """
    paths = {
        "max_model_len": "model_config.max_model_len",
        "dtype": "model_config.dtype",
        "max_num_seqs": "scheduler_config.max_num_seqs",
        "max_num_batched_tokens": "scheduler_config.max_num_batched_tokens",
        "chunked_prefill": "scheduler_config.enable_chunked_prefill",
        "async_scheduling": "scheduler_config.async_scheduling",
        "watermark": "scheduler_config.watermark",
        "prefix_caching": "cache_config.enable_prefix_caching",
        "block_size": "cache_config.block_size",
        "blocks": "cache_config.num_gpu_blocks",
        "kv_cache_dtype": "cache_config.cache_dtype",
        "attention_backend": "attention_config.backend",
        "compilation": "compilation_config.mode",
        "graphs": "compilation_config.cudagraph_mode",
        "executor": "parallel_config.distributed_executor_backend",
        "second_runner": "use_v2_model_runner",
    }
    found = {name: _at(config, path) for name, path in paths.items()}
    return {name: value for name, value in found.items() if value is not None}


def _at(config: Any, path: str) -> Any:
    for part in path.split("."):
        config = getattr(config, part, None)
    plain = isinstance(config, bool | int | float | str) or config is None
    return config if plain else getattr(config, "name", str(config))


def packages() -> dict[str, str]:
    """Return the versions of the packages that compute, as far as they are installed."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


_NEW = attrgetter("new_token_ids")


@dataclass(slots=True)
class _Repeating:
    """The last tokens of a running request as signs of a text, and how many more there are until a look."""

    left: int = CHECKED_EVERY
    seen: int = 0
    tail: str = ""

    def is_loop(self, tokens: Sequence[int], signs: Signs) -> bool:
        """Take the tokens so far, and return whether they end in a loop."""
        self.tail = (self.tail + "".join(map(chr, tokens[self.seen :])))[-DRAWN.reach :]
        self.seen = len(tokens)
        self.left = CHECKED_EVERY - self.seen % CHECKED_EVERY
        return ends_in_loop(self.tail, signs)


class LoopWatch:
    """Ends the requests that repeat, of those that are watched. Others are not affected.

    `found` are the requests that were ended so and not taken yet. They come back as aborted, with all of
    their text (vLLM 0.32).

    Args:
        vocabulary: returns the pieces of the tokenizer with their numbers, when a request is first watched.
    """

    def __init__(self, vocabulary: Callable[[], Mapping[str, int]]) -> None:
        self.watched: dict[str, _Repeating] = {}
        self.found: set[str] = set()
        self._vocabulary = vocabulary
        self._signs: Signs | None = None

    def watch(self, request_id: str) -> None:
        """Look at a request from now on."""
        self.watched[request_id] = _Repeating()
        if self._signs is None:
            self._signs = Signs.of(self._vocabulary())

    def take(self, request_id: str) -> bool:
        """Look at a request no longer. Return whether it was ended for its repetition."""
        self.watched.pop(request_id, None)
        was_found = request_id in self.found
        self.found.discard(request_id)
        return was_found

    def ended(self, processor: Any, outputs: Sequence[Any]) -> list[str]:
        """Return vLLM's ids of the requests that repeat after a step. Each of them has its final output."""
        looping = []
        for output in outputs:
            state = processor.request_states.get(output.request_id)
            watched = None if state is None else self.watched.get(state.external_req_id)
            if state is None or watched is None or self._signs is None:
                continue
            watched.left -= len(output.new_token_ids)
            if watched.left <= 0 and watched.is_loop(state.detokenizer.output_token_ids, self._signs):
                self.found.add(state.external_req_id)
                looping.append(output.request_id)
        return processor.abort_requests(looping, internal=True) if looping else []


class StepWatch:
    """Listens to the front end of a vLLM engine (0.32): each step's outputs and its scheduler's state.

    vLLM's own loggers would cost several microseconds a token. The state of a step costs ten.

    Args:
        engine: an AsyncLLM that was loaded with `disable_log_stats=False` and has not answered yet.
        followers: returns the statistics that a step is added to: one of each model that is served.
        heard: called at every step.
        loops: ends requests that repeat.
    """

    def __init__(
        self,
        engine: Any,
        followers: Callable[[], Iterable[StepStatistics]],
        heard: Callable[[], object],
        loops: LoopWatch,
    ) -> None:
        self._followers, self._heard, self._loops = followers, heard, loops
        engine.log_stats, engine.logger_manager = False, None
        processor = self._processor = engine.output_processor
        processor.log_stats = False
        self._process, self._update = processor.process_outputs, processor.update_scheduler_stats
        processor.process_outputs, processor.update_scheduler_stats = self._outputs, self._state

    def _outputs(self, outputs: Sequence[Any], *arguments: Any, **options: Any) -> Any:
        self._heard()
        new = sum(map(len, map(_NEW, outputs)))
        for statistics in self._followers():
            statistics.add_tokens(new)
        processed = self._process(outputs, *arguments, **options)
        if self._loops.watched:
            # vLLM ends requests with a stop text in this way: the scheduler drops them after the step.
            processed.reqs_to_abort += self._loops.ended(self._processor, outputs)
        return processed

    def _state(self, state: Any, *arguments: Any, **options: Any) -> Any:
        for statistics in self._followers() if state is not None else ():
            statistics.add_state(state)
        return self._update(state, *arguments, **options)


def logged_backend(log: Path, start: int) -> str | None:
    """Return the attention backend that vLLM chose, or None if the log does not name one.

    The engine's own process chooses it and tells only the log (vLLM 0.32).

    Args:
        start: the byte of the log at which loading began.
    """
    try:
        with log.open("rb") as stream:
            stream.seek(start)
            found = _BACKEND.search(stream.read())
    except OSError:
        return None
    return found[1].decode() if found else None


def facts(
    config: Any,
    kv_tokens: int | None,
    statistics: StepStatistics,
    versions: Mapping[str, str | None],
    backend: str | None = None,
) -> Mapping[str, Any]:
    """Return JSON for the record of an attempt.

    Args:
        versions: of driver, CUDA and NCCL. None for each that is not there.
        backend: the attention backend, if vLLM chose one itself.
    """
    chosen = {} if backend is None else {"attention_backend": backend}
    return {
        "resolved": {**chosen, **resolved(config), "kv_tokens": kv_tokens},
        "packages": {**packages(), **versions},
        "statistics": statistics.record,
    }


_FIRST = 5.0
"""The first token may take so many times as long: kernels are compiled, and long prompts are read."""
_LONGEST = 10.0
"""A silence is suspicious from so many times the longest one that ended by itself."""
_TICKS = 20
_LONGEST_TICK_S = 5.0


class Watchdog:
    """Measures for how long an engine with work gives no token.

    The limit depends on load and model through the silences that were seen before. It is `silence_s`, or ten
    times the longest silence so far if that is more, and five times `silence_s` before the first token.

    Args:
        silence_s: seconds without a token after which an engine counts as dead.
    """

    def __init__(self, silence_s: float) -> None:
        self._silence_s = silence_s
        self._longest_s = 0.0
        self._has_heard = False
        self.silent_s = 0.0
        """Seconds without a token while there was work."""

    @property
    def limit_s(self) -> float:
        """Return the seconds of silence after which the engine counts as dead."""
        if not self._has_heard:
            return _FIRST * self._silence_s
        return max(self._silence_s, _LONGEST * self._longest_s)

    @property
    def tick_s(self) -> float:
        """Return how often `tick` should be called, in seconds."""
        return min(self._silence_s / _TICKS, _LONGEST_TICK_S)

    def heard(self) -> None:
        """Record that the engine gave a token."""
        self._longest_s = max(self._longest_s, self.silent_s)
        self._has_heard = True
        self.silent_s = 0.0

    def tick(self, passed_s: float, *, has_work: bool) -> bool:
        """Let time pass. Return whether the engine has been silent for too long.

        Args:
            passed_s: seconds since the last call. Of a long time only two ticks count, since then this
                process was stopped itself, and the engine perhaps with it.
            has_work: whether a request is in flight.
        """
        self.silent_s = self.silent_s + min(passed_s, 2 * self.tick_s) if has_work else 0.0
        return self.silent_s > self.limit_s

    async def watch(self, has_work: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        """Return when the engine has been silent for too long."""
        last = clock()
        while True:
            await asyncio.sleep(self.tick_s)
            now = clock()
            if self.tick(now - last, has_work=has_work()):
                return
            last = now
