"""The check of a comparison that stored verdicts are those that today's verifiers give.

A few stored answers of each task are verified again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from genbench.analysis.comparison.spot_check import RecheckedTask
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import GenbenchError, InputError
from genbench.judges.judged_tasks import is_judged
from genbench.models.traces import Reasoning
from genbench.runs.event_loop import run_coroutine
from genbench.runs.execution.scoring import (
    case_of,
    conversations,
    deciding,
    graded_by,
    unverified_finding,
    verdict_of,
    without_answer,
)
from genbench.runs.stored.load import stored_tasks, why_not_loadable
from genbench.runs.stored.trust import Kind
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.store.signature import is_sealed
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import OURS, Answer, Problem, SampleId, Status, Verdict
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

T = TypeVar("T")
JUDGED = "a judge graded it"
PROGRAMS = (
    "its answers are programs, and the run folder is not your own; to run them in the sandbox, add "
    "--trust-run code"
)
_RUNS_PROGRAMS = ("code", "program", "prediction")
_SHOWN = 3
_MACHINE: frozenset[Status] = OURS | {"timeout", "memory", "output_limit"}
"""Statuses that depend on the machine and its load as well as on the answer."""


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """The stored answers of one task and side, of which a few completions are in memory.

    `where` is the side, `path` its run folder.
    """

    where: Literal["base", "tuned"]
    path: Path
    manifest: Manifest
    side: SideTask

    @property
    def name(self) -> str:
        """Return the name of the task."""
        return self.side.name

    @property
    def folder(self) -> RunFolder:
        """Return the run folder, opened for reading."""
        return RunFolder(self.path)

    async def verified(
        self, pool: VerifierPool, data_dir: Path | None, end: float, *, programs: bool
    ) -> RecheckedTask:
        """Verify the completions until `end` (of time.monotonic) and compare with the stored verdicts.

        Args:
            data_dir: the mirror of the data, if its location has changed since the run.
            programs: whether programs that a model wrote may run in the sandbox.

        Raises:
            GenbenchError: the data or the verifier cannot be used here.
        """
        (task,) = stored_tasks(self.folder, self.manifest, data_dir, [self.name])
        if is_judged(task):
            return self.skipped(JUDGED)
        if task.verifier in _RUNS_PROGRAMS and not programs:
            return self.skipped(PROGRAMS)
        cases = list(self._cases(task))
        spec = VerifierSpec(task.verifier, task.verifier_options, task.folder)
        references = {problem.problem_id: task.reference(problem, 0) for problem, _, _ in cases}
        opened = await pool.open(spec, references.items())
        then = self.manifest.tasks[self.name].verifier
        digest = graded_by(task, spec.digest(opened.version))
        if digest != then.digest:
            return self.skipped(
                f"its verifier is '{opened.version}' now and was '{then.version}'; "
                f"run: genbench score {self.path}"
            )

        async def verdict(problem: Problem, index: int, answers: tuple[Answer, ...]) -> Verdict:
            decide = tuple(deciding(task, answers))
            finding = await pool.verify(spec, case_of(task, problem, index, decide))
            sample = SampleId(task.name, problem.problem_id, index)
            return verdict_of(sample, decide, finding, digest, without_answer(task))

        found = await _within(end, [verdict(*case) for case in cases])
        return self._compared(found, len(cases))

    def _cases(self, task: LoadedTask) -> Iterator[tuple[Problem, int, tuple[Answer, ...]]]:
        """Yield the kept samples. Those without a score, or whose engine failed, are left out."""
        split = Reasoning.from_record(self.manifest.reasoning).split
        problems = {problem.problem_id: problem for problem in task.problems}
        rows = {name: row for row, name in enumerate(self.side.problem_ids)}
        for problem, index, completions in conversations(self.side.kept, problems):
            scored = self.side.scores[rows[problem.problem_id]][index] is not None
            if scored and unverified_finding(completions) is None:
                yield problem, index, tuple(split(item) for item in completions)

    def _compared(self, found: Sequence[Verdict], chosen: int) -> RecheckedTask:
        """Return how many stored verdicts differ from those of today."""
        rows = {name: row for row, name in enumerate(self.side.problem_ids)}
        assert self.side.statuses is not None and self.side.answers is not None
        unsettled, differing = 0, []
        for now in found:
            row, column = rows[now.sample.problem_id], now.sample.sample_index
            status, score = self.side.statuses[row][column], self.side.scores[row][column]
            if status == "truncated" and score == now.score and not now.truncated:
                status = (
                    now.status
                )  # verdicts before 0.3 counted an answer as cut off that had reached its stop
            if {status, now.status} & _MACHINE:
                unsettled += 1
            elif (status, score, self._voted(self.side.answers[row][column])) != (
                now.status,
                now.score,
                self._voted(now.extracted),
            ):
                differing.append(_moved(status, score, now))
        return RecheckedTask(
            side=self.where,
            task=self.name,
            verified=len(found),
            chosen=chosen,
            differing=len(differing),
            examples=tuple(differing[:_SHOWN]),
            unsettled=unsettled,
            skipped=None,
        )

    def _voted(self, answer: str | None) -> str | None:
        """Return the extracted answer if the score depends on it (maj@k), else None."""
        return answer if self.side.metric.startswith("maj") else None

    def skipped(self, why: str) -> RecheckedTask:
        """Return the record of a task that was not verified again."""
        return RecheckedTask(
            side=self.where,
            task=self.name,
            verified=0,
            chosen=0,
            differing=0,
            examples=(),
            unsettled=0,
            skipped=why,
        )


def _moved(status: Status, score: float | None, now: Verdict) -> str:
    """Return a differing verdict in words."""
    place = f"problem {now.sample.problem_id}, sample {now.sample.sample_index}"
    return f"{place}: {status} ({_shown(score)}) -> {now.status} ({_shown(now.score)})"


def _shown(score: float | None) -> str:
    return "no score" if score is None else f"{score:g}"


async def _within(end: float, work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results that are ready before `end` (of time.monotonic), in the order of `work`.

    Raises:
        GenbenchError: one of them failed.
    """
    running = [asyncio.create_task(item) for item in work]
    if running:
        await asyncio.wait(running, timeout=max(0.0, end - time.monotonic()))
    late = [item for item in running if not item.done()]
    for item in late:
        item.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return [item.result() for item in running if item not in late]


SAMPLES = 50
"""Answers of each task and side that are verified again."""
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The check that stored verdicts are those that today's verifiers give.

    A task is left out if a judge graded it, if its data would come from the network, if its verifier is
    another version now, or if the run folder asks for something that the user has not allowed. Programs of
    models run in the sandbox, as in a run.

    Args:
        samples: answers of each task and side. They are always the same ones.
        limit_s: seconds after which nothing more is verified. No task is opened after them.
        data_dir: the mirror of the data, if its location has changed since the runs.
        trusted: what the stored suites may do (see trust).
    """

    samples: int = SAMPLES
    limit_s: float = LIMIT_S
    data_dir: Path | None = None
    trusted: Collection[Kind] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise InputError(f"{self.samples} answers to verify again: wanted 1 or more")

    def __call__(self, base: Side, tuned: Side) -> list[RecheckedTask]:
        """Return what was found in each task that both sides have."""
        if base.manifest is None and tuned.manifest is None:
            return []
        return run_coroutine(self._check(base, tuned))

    async def _check(self, base: Side, tuned: Side) -> list[RecheckedTask]:
        end = time.monotonic() + self.limit_s
        found = []
        async with VerifierPool(nice=0) as pool:
            for name in [name for name in base.tasks if name in tuned.tasks]:
                found += [await self._of_task(pool, task, end) for task in _stored(name, base, tuned)]
        return found

    async def _of_task(self, pool: VerifierPool, stored: StoredAnswers, end: float) -> RecheckedTask:
        why = self._obstacle(stored)
        if why is None and time.monotonic() >= end:
            why = f"{self.limit_s:g} s were over"
        if why is not None:
            return stored.skipped(why)
        try:
            programs = "code" in self.trusted or is_sealed(stored.folder, stored.manifest)
            return await stored.verified(pool, self.data_dir, end, programs=programs)
        except GenbenchError as error:
            return stored.skipped(str(error).split("\n", maxsplit=1)[0])

    def _obstacle(self, stored: StoredAnswers) -> str | None:
        """Return why the task cannot be verified here, or None. Nothing outside the folder is opened."""
        if stored.manifest.tasks[stored.name].judge is not None:
            return JUDGED
        if not stored.side.kept:
            return "it has no completions on disk"
        return why_not_loadable(stored.folder, stored.manifest, stored.name, self.data_dir, self.trusted)


def _stored(name: str, base: Side, tuned: Side) -> Iterator[StoredAnswers]:
    """Yield a task's stored answers of each side that is a run."""
    if base.manifest is not None:
        yield StoredAnswers("base", base.path, base.manifest, base.tasks[name])
    if tuned.manifest is not None:
        yield StoredAnswers("tuned", tuned.path, tuned.manifest, tuned.tasks[name])
