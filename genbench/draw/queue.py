"""The samples that are missing, in the order in which they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from genbench.store.drawn import Drawn
from genbench.tasks.loaded import LoadedTask
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
    drawn: Mapping[str, Drawn],
    expected: Expected | None = None,
) -> list[Draw]:
    """Return the samples of one round of an adaptive run that are not on disk, in the order of drawing.

    Args:
        wanted: by task and problem, the sample indices of the round.
        drawn: by task, what is on disk.
    """
    draws = [
        Draw(task, problem, index)
        for task in tasks
        for problem in task.problems
        for index in wanted.get(task.name, {}).get(problem.problem_id, ())
        if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1)
    ]
    return _in_order(draws, expected)


def missing_draws(
    tasks: Iterable[LoadedTask], drawn: Mapping[str, Drawn], expected: Expected | None = None
) -> list[Draw]:
    """Return all samples whose conversation is not complete on disk, the longest expected ones first.

    `expected` gives one length for each problem (None: its task's max_tokens), so that the k samples of
    a problem stay together and share their prompt in the engine's prefix cache. Among equals programs
    come first. They take the longest to verify, which is then done while the engine draws others.

    Args:
        drawn: by task, what is on disk.
    """

    draws = [
        Draw(task, problem, index)
        for task in tasks
        for problem in task.problems
        for index in range(task.k)
        if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1)
    ]
    return _in_order(draws, expected)


def _in_order(draws: list[Draw], expected: Expected | None) -> list[Draw]:
    """Return the draws with the longest expected ones first, and programs first among equals."""

    def longest_first(draw: Draw) -> tuple[float, bool]:
        most = draw.task.decoding.max_tokens
        length = most if expected is None else expected.of(draw.task.name, draw.problem.problem_id, most)
        return -length, draw.task.verifier != _SLOWEST

    return sorted(draws, key=longest_first)
