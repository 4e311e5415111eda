"""Interim estimates: what the samples so far say of each task, while a run draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from genbench.draw.progress import ProgressLine, Together
from genbench.runs.execution.job import Job
from genbench.stats.intervals import problem_interval
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Verdict

SHARES = (0.1, 0.25, 0.5, 0.75)
"""Shares of a task's samples after which an estimate is printed. They are few, since each further look makes
a chance finding more likely."""
CAUTION = (
    "interim estimates are not results: short responses end first, and whoever looks often finds differences "
    "that are not there. Decide with the finished run only."
)
_SEED = 0
"""The seed of the resampling. It does not matter, since nothing is stored."""


@dataclass(slots=True)
class _TaskSoFar:
    """The verdicts of one task so far. `scores` are by problem."""

    samples: int
    problems: int
    verdicts: int = 0
    shares: list[float] = field(default_factory=lambda: list(SHARES))
    scores: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class InterimEstimates:
    """Counts verdicts and makes a line when a further share of a task is verified.

    Args:
        label: the model's name.
        wanted: by task, the number of samples and the number of problems.
    """

    def __init__(self, label: str, wanted: Mapping[str, tuple[int, int]]) -> None:
        self._label = label
        self._tasks = {name: _TaskSoFar(*sizes) for name, sizes in wanted.items()}
        self._cautioned = False

    def add(self, item: Verdict) -> Iterator[str]:
        """Count a verdict. Yield lines for people if an estimate is due."""
        task = self._tasks[item.sample.task]
        task.verdicts += 1
        if item.score is not None:
            task.scores[item.sample.problem_id].append(item.score)
        if not task.shares or task.verdicts < task.shares[0] * task.samples:
            return
        while task.shares and task.verdicts >= task.shares[0] * task.samples:
            task.shares.pop(0)
        if task.verdicts == task.samples or len(task.scores) < 2:
            return
        if not self._cautioned:
            self._cautioned = True
            yield f"{self._label}: {CAUTION}"
        yield self._line(item.sample.task, task)

    def _line(self, name: str, task: _TaskSoFar) -> str:
        values = np.array([sum(scores) / len(scores) for scores in task.scores.values()])
        draws = float(np.mean([len(scores) for scores in task.scores.values()]))
        low, high = problem_interval(values, seed=_SEED, draws=draws).bounds
        return (
            f"interim: {self._label}/{name} {100 * values.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}] "
            f"after {task.verdicts:,} of {task.samples:,} samples, {len(values):,} of "
            f"{task.problems:,} problems"
        )


class InterimProgress(ProgressLine):
    """A progress line that prints estimates above it when they are due."""

    def __init__(
        self, job: Job, tasks: Sequence[LoadedTask], total: int, done: int, together: Together | None = None
    ) -> None:
        super().__init__(
            job.model.name,
            total,
            done,
            job.options.quiet,
            limits=_limits(tasks),
            further=further(tasks),
            together=together,
        )
        wanted = {task.name: (task.samples, len(task.problems)) for task in tasks}
        self._estimates = InterimEstimates(job.model.name, wanted)

    def verdict(self, item: Verdict) -> None:
        """Count a verdict by its status, and print the estimates that are due."""
        super().verdict(item)
        for line in self._estimates.add(item):
            self.say(line)


def progress_line(
    job: Job, tasks: Sequence[LoadedTask], total: int, done: int, together: Together
) -> ProgressLine:
    """Return the progress line of a job. It prints interim estimates if the command asks for them.

    Args:
        tasks: the tasks of the run.
        total: samples of the run.
        done: samples that were on disk at the start.
        together: the progress of all models of the command.
    """
    if job.options.interim:
        return InterimProgress(job, tasks, total, done, together)
    return ProgressLine(
        job.model.name,
        total,
        done,
        job.options.quiet,
        limits=_limits(tasks),
        further=further(tasks),
        together=together,
    )


def further(tasks: Sequence[LoadedTask]) -> int:
    """Return how many verdicts the tasks have beyond one for each sample that is drawn."""
    return sum(task.samples for task in tasks if not task.is_drawn)


def _limits(tasks: Sequence[LoadedTask]) -> dict[str, int]:
    """Return the tokens of a sample at the most, of the tasks with one reply for each problem."""
    return {
        task.name: task.decoding.max_tokens
        for task in tasks
        if not task.is_scored and all(problem.turns == 1 for problem in task.problems)
    }
