"""The samples that are missing, in the order in which they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from genbench.store.sample_index import DrawnSamples
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Problem, SampleId


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample to draw. Some of its turns may be stored already."""

    task: LoadedTask
    problem: Problem
    sample_index: int

    @property
    def sample(self) -> SampleId:
        """Return the sample's identity."""
        return SampleId(self.task.name, self.problem.problem_id, self.sample_index)


class Expected(Protocol):
    """An estimate of how many tokens the samples of a problem will have."""

    def of(self, task: str, problem_id: str, max_tokens: int) -> float:
        """Return the expected tokens of one sample."""
        ...


_SLOWEST = "code"
"""The verifier that takes ten times as long as the others (5 ms of cage for each program)."""


def wanted_draws(
    tasks: Iterable[LoadedTask],
    wanted: Mapping[str, Mapping[str, range]],
    drawn: Mapping[str, DrawnSamples],
    expected: Expected | None = None,
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
    tasks: Iterable[LoadedTask], drawn: Mapping[str, DrawnSamples], expected: Expected | None = None
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
    tasks: Iterable[LoadedTask], drawn: Mapping[str, DrawnSamples], expected: Expected | None
) -> Iterator[Draw]:
    for task, problem in _in_order(tasks, expected):
        for index in range(task.k):
            if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1):
                yield Draw(task, problem, index)


def _in_order(tasks: Iterable[LoadedTask], expected: Expected | None) -> Iterable[tuple[LoadedTask, Problem]]:
    """Return the problems with the longest expected ones first, and programs first among equals.

    Without expected lengths whole tasks are put in order. Keys of a million samples would take 100 MiB.
    """

    if expected is None:
        ordered = sorted(tasks, key=lambda task: (-task.decoding.max_tokens, task.verifier != _SLOWEST))
        return ((task, problem) for task in ordered for problem in task.problems)

    def longest_first(item: tuple[LoadedTask, Problem]) -> tuple[float, bool]:
        task, problem = item
        length = expected.of(task.name, problem.problem_id, task.decoding.max_tokens)
        return -length, task.verifier != _SLOWEST

    return sorted(((task, problem) for task in tasks for problem in task.problems), key=longest_first)
