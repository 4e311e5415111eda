"""A task that is ready to run: its benchmark, its problems, its k and its decoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genbench.protocols import Task
from genbench.suite.config import Decoding, TaskEntry
from genbench.tasks.askcache import AskCache
from genbench.tasks.generated import GeneratedTask
from genbench.types import Ask, Problem


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """One task of one run.

    `problems` are those within the limit, in the order of the data. `left_out` are the ids of the others.
    `provenance` is the source of the rows (revision, digest, path).
    """

    entry: TaskEntry
    task: Task
    k: int
    decoding: Decoding
    problems: tuple[Problem, ...]
    left_out: frozenset[str]
    provenance: Mapping[str, Any]
    where: str = ""
    """File, line and name of the task's entry, for messages."""
    folder: str | None = None
    """The suite's folder, which is searched for the modules that the entry names."""
    row_ids: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The problem of each row of the data. It is empty if a row is not one problem."""
    asked: AskCache = field(default_factory=AskCache, compare=False, repr=False)
    """The cache of what the tasks of a command have asked so far."""

    @property
    def name(self) -> str:
        """Return the task's name in files and reports."""
        return self.entry.label

    @property
    def verifier(self) -> str:
        """Return the name of the verifier: the one that the suite names, or the task's own."""
        return self.entry.used_verifier or self.task.info.verifier

    @property
    def verifier_options(self) -> dict[str, Any]:
        """Return the options of the verifier: the suite's replace the task's own.

        If the suite replaces the task's own verifier, it gets only the suite's options.
        """
        info = self.task.info
        own = dict(info.verifier_options) if self.verifier == info.verifier else {}
        return own | self.entry.verifier_options

    @property
    def is_scored(self) -> bool:
        """Return whether the model scores given texts instead of drawing an answer."""
        return self.task.info.is_scored

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics to estimate. The headline metric is always among them."""
        found = self.entry.metrics or self.task.info.metrics
        headline = self.task.info.headline
        named = {self._resolved(metric) for metric in found}
        return found if self._resolved(headline) in named else (headline, *found)

    def _resolved(self, metric: str) -> str:
        return metric.replace("@k", f"@{self.k}").replace("^k", f"^{self.k}")

    @property
    def chance(self) -> float | None:
        """Return the score of blind guessing in [0, 1]: the benchmark's own, or the mean over the problems.

        A problem has a chance of its own, or options.
        """
        own = [float(problem.row["chance"]) for problem in self.problems if "chance" in problem.row]
        if own and len(own) == len(self.problems):
            return sum(own) / len(own)
        counts = [len(problem.row.get("options", ())) for problem in self.problems]
        if self.task.info.chance is not None or not all(count > 1 for count in counts):
            return self.task.info.chance
        return sum(1 / count for count in counts) / len(counts) if counts else None

    @property
    def is_slow(self) -> bool:
        """Return whether it may take seconds to ask the task, so that it is asked in a thread first."""
        return bool(getattr(self.task, "is_slow", False))

    @property
    def samples(self) -> int:
        """Return how many samples the run needs."""
        return len(self.problems) * self.k

    @property
    def rows(self) -> dict[str, int]:
        """Return the row of each problem in its data, from 1, as far as known."""
        return {problem_id: row for row, problem_id in enumerate(self.row_ids, start=1)}

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the sample is asked next, or None if its conversation is over.

        The task is asked once for each prompt, unless there are too many to keep.
        """
        if len(replies) >= problem.turns:
            return None
        sample = None if self.task.info.asks_alike else sample_index
        key = (self.name, problem.problem_id, sample, tuple(map(hash, replies)))
        return self.asked.get(key, lambda: self.task.ask(problem, sample_index, replies))

    def reference(self, problem: Problem, sample_index: int, replies: Sequence[str] = ()) -> Any:
        """Return what the sample's answers are checked against. Replies not made yet count as empty.

        This is a list with one reference for each turn. If only the last turn is graded, it is the
        reference of that turn. A problem that ends early has one reference, that of the first turn.
        """
        if isinstance(self.task, GeneratedTask):
            return self.task.reference(problem)  # no prompt of megabytes is made for it
        if problem.ends_early:
            first = self.ask(problem, sample_index, ())
            return None if first is None else first.reference
        said = [*replies, *[""] * problem.turns]
        asks = [self.ask(problem, sample_index, said[:turn]) for turn in range(problem.turns)]
        found = [ask.reference if ask is not None else None for ask in asks]
        only_last = all(reference is None for reference in found[:-1])
        return found[-1] if only_last else found


@dataclass(frozen=True, slots=True)
class VerifiedTask:
    """A loaded task with the digest and the version of its verifier, and its problems by id."""

    task: LoadedTask
    verifier: str
    version: str
    problems: Mapping[str, Problem]
    warning: str | None = None
