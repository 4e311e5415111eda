"""Which samples are missing, and in which order they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from genbench.store.folder import Drawn
from genbench.tasks.loaded import LoadedTask
from genbench.types import Problem, SampleId


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample to draw (or to go on with: some of its turns may be stored already)."""

    task: LoadedTask
    problem: Problem
    sample_index: int

    @property
    def sample(self) -> SampleId:
        return SampleId(self.task.name, self.problem.problem_id, self.sample_index)


class Expected(Protocol):
    """Tells how many tokens one sample of a problem will have."""

    def of(self, task: str, problem_id: str, max_tokens: int) -> float: ...


_SLOWEST = "code"
"""The verifier that costs ten times what the others do (5 ms of cage for each program)."""


def missing_draws(
    tasks: Iterable[LoadedTask], drawn: Mapping[str, Drawn], expected: Expected | None = None
) -> list[Draw]:
    """All samples whose conversation is not complete on disk: one queue, longest expected first.

    `expected` gives one length a problem (None: its task's max_tokens), so that the k samples of a
    problem stay together and share their prompt in the engine's prefix cache. Among equals programs
    come first: they take the longest to verify, and what the engine draws meanwhile hides that.
    """

    def longest_first(draw: Draw) -> tuple[float, bool]:
        most = draw.task.decoding.max_tokens
        length = most if expected is None else expected.of(draw.task.name, draw.problem.problem_id, most)
        return -length, draw.task.verifier != _SLOWEST

    draws = [
        Draw(task, problem, index)
        for task in tasks
        for problem in task.problems
        for index in range(task.k)
        if not drawn[task.name].has(problem.problem_id, index, problem.turns - 1)
    ]
    return sorted(draws, key=longest_first)
