"""A suite's task made ready: its benchmark, its problems, how often and under which decoding it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.protocols import Task
from genbench.suite.config import Decoding, TaskEntry
from genbench.types import Ask, Problem


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """One task of one run.

    `problems` are those that the limit leaves, in the dataset's order, `left_out` the ids of the
    others; `provenance` says where the rows came from (revision, digest, path).
    """

    entry: TaskEntry
    task: Task
    k: int
    decoding: Decoding
    problems: tuple[Problem, ...]
    left_out: frozenset[str]
    provenance: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.entry.label

    @property
    def verifier_options(self) -> dict[str, Any]:
        """The task's own options with the suite's over them."""
        return dict(self.task.info.verifier_options) | self.entry.verifier

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.entry.metrics or self.task.info.metrics

    @property
    def chance(self) -> float | None:
        """Score of blind guessing in [0, 1]: the benchmark's own, or that of the options."""
        counts = [len(problem.row.get("options", ())) for problem in self.problems]
        if self.task.info.chance is not None or self.task.info.verifier != "choice" or not all(counts):
            return self.task.info.chance
        return sum(1 / count for count in counts) / len(counts) if counts else None

    @property
    def samples(self) -> int:
        """How many samples the run needs."""
        return len(self.problems) * self.k

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """What the sample is asked next; None when its conversation is over."""
        return self.task.ask(problem, sample_index, replies) if len(replies) < problem.turns else None

    def reference(self, problem: Problem, sample_index: int, replies: Sequence[str] = ()) -> Any:
        """What the sample's answers are checked against; what is not said yet counts as empty replies.

        Of several turns a list, one reference a turn; where the last turn alone is graded, its own.
        """
        said = [*replies, *[""] * problem.turns]
        asks = [self.ask(problem, sample_index, said[:turn]) for turn in range(problem.turns)]
        found = [ask.reference if ask is not None else None for ask in asks]
        last_alone = all(reference is None for reference in found[:-1])
        return found[-1] if last_alone else found


@dataclass(frozen=True, slots=True)
class VerifiedTask:
    """A loaded task with the digest and the version of its verifier, and its problems by id."""

    task: LoadedTask
    verifier: str
    version: str
    problems: Mapping[str, Problem]
    warning: str | None = None
