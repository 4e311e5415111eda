"""The samples that are missing, in the order in which they are drawn, and the queue that engines share.

The order follows the expected lengths of completions, which a stored run may tell.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.errors import InputError
from genbench.store.contract import digest
from genbench.store.sample_index import DrawnSamples
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Problem, SampleId


@dataclass(frozen=True, slots=True)
class Lengths:
    """Mean completion tokens of a sample, by task and problem. They were counted in the run at `path`."""

    path: Path
    run_id: str
    model: str
    tokens: Mapping[str, Mapping[str, float]]

    def of(self, task: str, problem_id: str, max_tokens: int) -> float:
        """Return the expected tokens of one sample. A problem without a stored one counts as the longest."""
        return min(self.tokens.get(task, {}).get(problem_id, float(max_tokens)), float(max_tokens))

    @property
    def record(self) -> dict[str, Any]:
        """Return the rule for the record of an attempt. Runs with equal lengths have equal records."""
        rounded = {
            task: {name: round(value, 1) for name, value in sorted(problems.items())}
            for task, problems in self.tokens.items()
        }
        return {
            "rule": "longest expected problem first, by the mean tokens of a stored run",
            "run_id": self.run_id,
            "model": self.model,
            "digest": digest(rounded)[:16],
        }


BY_TASK: Mapping[str, Any] = {"rule": "longest expected task first, by max_tokens; among equals code first"}
"""The rule if no stored run is named."""


def read_lengths(path: Path) -> Lengths:
    """Average the completion tokens of a stored run.

    Raises:
        InputError: it is not a run folder, a line is damaged, or its tokens were not counted.
    """
    run = StoredRun(path)
    found = {task: _task_lengths(run.task(task)) for task in run.manifest.tasks}
    if not any(found.values()):
        raise InputError(f"{path}: has no completion whose tokens were counted; name another run")
    return Lengths(path, run.manifest.run_id, run.manifest.model.name, found)


def _task_lengths(task: StoredTask) -> dict[str, float]:
    """Return the mean tokens of each problem's samples, all turns added, in the order of the folder."""
    tokens: Counter[str] = Counter()
    samples: Counter[str] = Counter()
    for item in task.all_completions():
        if item.completion_tokens is not None:
            tokens[item.sample.problem_id] += item.completion_tokens
            samples[item.sample.problem_id] += item.turn == 0
    return {name: total / max(samples[name], 1) for name, total in tokens.items()}


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample to draw. Some of its turns may be stored already."""

    task: LoadedTask
    problem: Problem
    sample_index: int
    sample: SampleId = field(init=False, compare=False, repr=False)
    """The sample's identity, which is asked for eight times while it is drawn."""

    def __post_init__(self) -> None:
        name = SampleId(self.task.name, self.problem.problem_id, self.sample_index)
        object.__setattr__(self, "sample", name)


_SLOWEST = "code"
"""The verifier that takes ten times as long as the others (5 ms of cage for each program)."""


def wanted_draws(
    tasks: Iterable[LoadedTask],
    wanted: Mapping[str, Mapping[str, range]],
    drawn: Mapping[str, DrawnSamples],
    expected: Lengths | None = None,
) -> list[Draw]:
    """Return the samples of one round of an adaptive run that are not on disk, in the order of drawing.

    Args:
        wanted: by task and problem, the sample indices of the round.
        drawn: by task, what is on disk.
    """
    return [
        Draw(task, problem, index)
        for task, problem in _in_order(tasks, expected)
        for index in wanted.get(task.name, {}).get(problem.problem_id, ())
        if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1)
    ]


def missing_draws(
    tasks: Iterable[LoadedTask], drawn: Mapping[str, DrawnSamples], expected: Lengths | None = None
) -> list[Draw]:
    """Return all samples whose conversation is not complete on disk, the longest expected ones first.

    `expected` gives one length for each problem (None: its task's max_tokens), so that the k samples of
    a problem stay together and share their prompt in the engine's prefix cache. Among equals programs
    come first. They take the longest to verify, which is then done while the engine draws others.

    Args:
        drawn: by task, what is on disk.
    """
    return list(_missing(tasks, drawn, expected))


def has_missing(tasks: Iterable[LoadedTask], drawn: Mapping[str, DrawnSamples]) -> bool:
    """Return whether the conversation of any sample is not complete on disk."""
    return any(True for _ in _missing(tasks, drawn, None))


def _missing(
    tasks: Iterable[LoadedTask], drawn: Mapping[str, DrawnSamples], expected: Lengths | None
) -> Iterator[Draw]:
    for task, problem in _in_order(tasks, expected):
        for index in range(task.k):
            if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1):
                yield Draw(task, problem, index)


def _in_order(tasks: Iterable[LoadedTask], expected: Lengths | None) -> Iterable[tuple[LoadedTask, Problem]]:
    """Return the problems with the longest expected ones first, and programs first among equals.

    Without expected lengths whole tasks are put in order. Keys of a million samples would take 100 MiB.
    Further scores of a task have no draws of their own.
    """
    tasks = [task for task in tasks if task.is_drawn]

    if expected is None:
        ordered = sorted(tasks, key=lambda task: (-task.decoding.max_tokens, task.verifier != _SLOWEST))
        return ((task, problem) for task in ordered for problem in task.problems)

    def longest_first(item: tuple[LoadedTask, Problem]) -> tuple[float, bool]:
        task, problem = item
        length = expected.of(task.name, problem.problem_id, task.decoding.max_tokens)
        return -length, task.verifier != _SLOWEST

    return sorted(((task, problem) for task in tasks for problem in task.problems), key=longest_first)


def one(draw: Draw) -> float:
    """Return the weight of a draw if nothing is known of its length."""
    return 1.0


class DrawQueue:
    """A queue of draws. It is over when none waits and none is being drawn, since those may come back.

    Args:
        weigh: returns how much work a draw is, compared with others.
    """

    def __init__(self, draws: Iterable[Draw], weigh: Callable[[Draw], float] = one) -> None:
        self._waiting = deque(draws)
        self._taken = 0
        self.handed_out = 0
        """How often a draw was taken."""
        self._weigh = weigh
        self.weight = math.fsum(map(weigh, self._waiting))
        """The work of all draws that wait or are being drawn."""
        self._listeners: set[asyncio.Event] = set()
        self.over = asyncio.Event()
        self._settle()

    @property
    def size(self) -> int:
        """Return how many draws wait or are being drawn."""
        return len(self._waiting) + self._taken

    @property
    def waiting(self) -> int:
        """Return how many draws wait."""
        return len(self._waiting)

    def listen(self, changed: asyncio.Event) -> None:
        """Set `changed` whenever a draw comes back and when the queue is over."""
        self._listeners.add(changed)

    def ignore(self, changed: asyncio.Event) -> None:
        """Stop setting an event."""
        self._listeners.discard(changed)

    def take(self, at: int = 0) -> Draw | None:
        """Return a draw, or None if no draw waits now.

        Args:
            at: its place among those that wait, from 0. A place behind the last means the last.
        """
        if not self._waiting:
            return None
        self._taken += 1
        self.handed_out += 1
        if at <= 0:
            return self._waiting.popleft()
        at = min(at, len(self._waiting) - 1)
        draw = self._waiting[at]
        del self._waiting[at]
        return draw

    def done(self, draw: Draw) -> None:
        """Record that a draw that was taken is finished."""
        self._taken -= 1
        self.weight -= self._weigh(draw)
        self._settle()

    def put_back(self, draw: Draw, *, first: bool = False) -> None:
        """Return a draw that was taken to the end of the queue, or to its front."""
        self._taken -= 1
        if first:
            self._waiting.appendleft(draw)
        else:
            self._waiting.append(draw)
        self._wake()

    def _settle(self) -> None:
        if not self._waiting and not self._taken:
            self.over.set()
            self._wake()

    def _wake(self) -> None:
        for changed in self._listeners:
            changed.set()
