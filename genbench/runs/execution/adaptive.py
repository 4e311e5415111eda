"""Adaptive runs: the stored base that they are planned with, and the rounds in which they draw.

The base is checked before anything is drawn. After each complete round, a look at the scores so far decides
which tasks go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.analysis.adaptive.plan import (
    confirmation,
    look_words,
    make_plan,
    paired_at,
    rules_of,
)
from genbench.analysis.comparison.comparability import Difference, planned_differences, settle
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.data.subset import Shard
from genbench.draw.draw_queue import Draw, wanted_draws
from genbench.engines.checkpoint import is_declared, no_gate_base
from genbench.errors import ConfigError, InputError, InterruptedRunError
from genbench.runs.execution.job import AdaptiveJob, Job, RunContext
from genbench.runs.execution.prompt_records import SpooledPrompts
from genbench.runs.execution.run_manifest import RunManifest
from genbench.runs.options import RunOptions
from genbench.stats.adaptive.group_sequential import Night
from genbench.store.folder import RunFolder
from genbench.store.lock import writer_of
from genbench.store.manifest import AdaptiveState, plan_counts
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask


def adaptive_job(path: Path, whole: Sequence[LoadedTask], *, finish: bool) -> AdaptiveJob:
    """Return the base and the plan of an adaptive run.

    Args:
        path: the run folder of the base.
        whole: the tasks with the problems of all shards.
        finish: go on after a task REGRESSED, until each task is decided.

    Raises:
        InputError: the base cannot be used.
    """
    if not path.is_dir():
        raise InputError(f"--against {path}: no such run folder; wanted RUN_DIR/<model> of a stored base")
    base = open_side(path)
    require_finished(base)
    if base.manifest is not None and is_declared(base.manifest.model_identity):
        raise InputError(f"--against {no_gate_base(str(path))}")
    if base.manifest is not None and base.manifest.adaptive is not None:
        raise InputError(
            f"--against {path}: is itself an adaptive run; a base needs all its samples (64 of each problem)"
        )
    kept = {task.name: base.tasks[task.name] for task in whole if task.name in base.tasks}
    base = replace(base, tasks=kept)
    return AdaptiveJob(base, whole, make_plan(base, whole), finish)


def without_base(chosen: Sequence[str], adaptive: AdaptiveJob, options: RunOptions) -> list[str]:
    """Return the models to run. The model of the base is left out unless it was named.

    Raises:
        ConfigError: no model is left.
    """
    stored = adaptive.plan.base.model
    kept = [name for name in chosen if options.models or name != stored]
    if not kept:
        raise ConfigError(
            f"--against {options.against}: the suite has only the model of this run, {stored}; name the "
            "model to run with --model NAME=PATH"
        )
    return kept


def check_against_base(job: Job, verified: Mapping[str, VerifiedTask], asked: SpooledPrompts) -> None:
    """Check that an adaptive run will be comparable with its base, before anything is drawn.

    Args:
        verified: the tasks with their verifiers.
        asked: the records of each task's problems.

    Raises:
        NotComparableError: it will not. The message lists the differences.
        ConfigError: shards cannot look together, because their judge loads after the model is closed.
    """
    assert job.adaptive is not None
    if job.shard is not None and job.deferred:
        raise ConfigError(
            "--adaptive --shard: a judge of this suite loads on this machine after the model is closed, so "
            "the shards cannot look together; serve the judge (judge: server), or run without --shard"
        )
    base = job.adaptive.base
    found = [
        *planned_differences(base, job.model.terms, job.model.reasoning.record, list(verified)),
        *_task_differences(job, verified, asked),
    ]
    settle(found, (), f"the looks would not be comparable with {base.path} (stored -> wanted)")


def _task_differences(
    job: Job, verified: Mapping[str, VerifiedTask], asked: SpooledPrompts
) -> Iterator[Difference]:
    """Yield differences of versions, data, verifiers, prompts and references."""
    assert job.adaptive is not None
    base = job.adaptive.base
    folder = RunFolder(base.path)
    for name, item in verified.items():
        described = base.tasks[name].described
        assert described is not None
        pairs = {
            f"version.{name}": (described.version, item.task.task.info.version),
            f"data.{name}": (described.data_digest, item.task.provenance.get("digest")),
            f"verifier.{name}": (described.verifier.digest, item.verifier),
        }
        for key, (stored, wanted) in pairs.items():
            if stored != wanted:
                yield Difference(key, f"{stored} -> {wanted}")
        yield from _prompt_differences(name, folder, asked.of(name)[0])


def _prompt_differences(
    name: str, folder: RunFolder, records: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    stored = folder.problems(name)
    for key in ("prompt_digest", "reference_digest", "max_tokens"):
        other = [
            record["problem_id"]
            for record in records
            if record["problem_id"] in stored and stored[record["problem_id"]].get(key) != record[key]
        ]
        if other:
            kind = {"prompt_digest": "prompts", "reference_digest": "references"}.get(key, key)
            detail = f"{len(other)} of {len(records)} problems differ; the first: {other[0]}"
            yield Difference(f"{kind}.{name}", detail)


Wanted = Mapping[str, Mapping[str, range]]
"""By task and problem, the sample indices that a look needs."""
Found = dict[str, dict[str, list[float | None]]]
"""By task and problem, the scores of those samples that have a verdict, None for an excluded one."""


def shard_folders(job: Job) -> dict[int, Path]:
    """Return the folders of the same model in all shards by their number, or nothing without shards."""
    if job.shard is None:
        return {}
    folder = job.path.parent.parent
    return {
        index: folder / Shard(index, job.shard.of).folder / job.path.name
        for index in range(1, job.shard.of + 1)
    }


class ScoresOnDisk:
    """The scores of one run, over all its shards.

    Args:
        own: the folder that this command writes.
        shards: the folders of all shards by number. Empty: the own folder has everything.
        verifiers: by task, the digest of the verifier whose verdicts count.
    """

    def __init__(self, own: RunFolder, shards: Mapping[int, Path], verifiers: Mapping[str, str]) -> None:
        self._own, self._shards, self._verifiers = own, shards, verifiers

    def read(self, wanted: Wanted) -> Found:
        """Return the scores that have verdicts."""
        return {name: self._task(name, ranges) for name, ranges in wanted.items()}

    def _task(self, name: str, ranges: Mapping[str, range]) -> dict[str, list[float | None]]:
        scores: dict[str, dict[int, float | None]] = {problem: {} for problem in ranges}
        for folder in self._folders():
            for verdict in folder.verdicts(name):
                sample = verdict.sample
                if self._counts(name, verdict.verifier) and sample.sample_index in ranges.get(
                    sample.problem_id, ()
                ):
                    scores[sample.problem_id].setdefault(sample.sample_index, verdict.score)
        return {problem: [found[index] for index in sorted(found)] for problem, found in scores.items()}

    def _counts(self, name: str, verifier: str) -> bool:
        """Return whether a verdict counts. A shard without problems of a task does not know its verifier."""
        return self._verifiers.get(name, verifier) == verifier

    def _folders(self) -> Sequence[RunFolder]:
        others = [RunFolder(path) for path in self._shards.values() if path != self._own.path]
        return [self._own, *others]

    def lacking(self, wanted: Wanted, found: Found) -> set[Path | None]:
        """Return the folders of the shards that lack samples, None for the own folder."""
        paths: set[Path | None] = set()
        for name, ranges in wanted.items():
            for problem, indices in ranges.items():
                if len(found[name][problem]) < len(indices):
                    path = self._shard_of(name, problem)
                    paths.add(None if path == self._own.path else path)
        return paths

    def _shard_of(self, name: str, problem: str) -> Path:
        for index, path in self._shards.items():
            if Shard(index, len(self._shards)).contains(name, problem):
                return path
        return self._own.path


_POLL_S = 10.0
"""Seconds between two looks at the folders of other shards."""
CatchUp = Callable[[], Awaitable[None]]


class AdaptiveRounds:
    """The rounds of one run folder.

    The state is made again from the verdicts on disk, so a run that was killed takes the same decisions.

    Args:
        manifest: the folder's manifest, which has the plan.
        verified: the tasks with their verifiers.
    """

    def __init__(
        self, context: RunContext, manifest: RunManifest, verified: Mapping[str, VerifiedTask]
    ) -> None:
        adaptive, record = context.job.adaptive, manifest.current.adaptive
        assert adaptive is not None
        assert record is not None
        self._context, self._manifest, self._verified = context, manifest, verified
        self._adaptive, self._plan, self._stored = adaptive, record.plan, record.state
        self._night = Night(rules_of(record.plan), alpha=record.plan.alpha, finish=adaptive.finish)
        self._groups = {
            task.name: {problem.problem_id: problem.group for problem in task.problems}
            for task in adaptive.whole
        }
        self._said: list[str] = []
        self._drawn = {name: context.folder.drawn(name) for name in verified}
        self._state = AdaptiveState(reached=dict(self._night.reached))
        self._disk = ScoresOnDisk(
            context.folder,
            shard_folders(context.job),
            {name: item.verifier for name, item in verified.items()},
        )

    def said(self) -> list[str]:
        """Return the lines for people on what happened since the last call."""
        said, self._said = self._said, []
        return said

    async def next(self, catch_up: CatchUp) -> Sequence[Draw]:
        """Return the samples to draw next, after all looks that the verdicts on disk allow.

        Nothing is left to draw if the run is over, was stopped, or waits for verdicts that are made later.

        Args:
            catch_up: makes the verdicts of all complete samples.

        Raises:
            InterruptedRunError: other shards have not drawn this round, and no process is drawing it.
        """
        switch = self._context.switch
        while switch.reason is None:
            draws = self._missing()
            if draws:
                return draws
            await catch_up()
            if switch.reason is not None or not await self._look():
                return []
        return []

    def _wanted(self) -> dict[str, dict[str, range]]:
        """Return the sample indices of each problem that this round needs, over all shards."""
        if self._state.confirming:
            return {name: self._fresh(name) for name in self._state.confirming}
        return {
            name: {problem: range(count) for problem, count in self._counts(name).items()}
            for name in self._plan.tasks
        }

    def _counts(self, name: str) -> dict[str, int]:
        return plan_counts(self._plan.tasks[name], self._night.reached[name], self._groups[name])

    def _fresh(self, name: str) -> dict[str, range]:
        """Return the indices behind the planned ones. Their seeds were never drawn."""
        k = self._plan.tasks[name].k
        return {problem: range(k, k + count) for problem, count in self._counts(name).items()}

    def _missing(self) -> list[Draw]:
        """Return the samples of this round and this shard that are not on disk, and note them as drawn."""
        if self._state.is_over and not self._state.confirming:
            return []
        own = [item.task for item in self._verified.values()]
        draws = wanted_draws(own, self._wanted(), self._drawn, self._context.job.lengths)
        for draw in draws:
            self._drawn[draw.task.name].add(
                draw.problem.problem_id, draw.sample_index, draw.problem.turns - 1
            )
        return draws

    async def _look(self) -> bool:
        """Look at the complete round. Return whether the run continues."""
        if self._state.is_over and not self._state.confirming:
            return False
        found = await self._scores()
        if found is None:
            return False
        base = self._adaptive.base
        if self._state.confirming:
            done = {name: confirmation(base.tasks[name], scores) for name, scores in found.items()}
            self._keep(self._state.model_copy(update={"confirming": (), "confirmations": done}))
            return False
        data = {name: paired_at(base.tasks[name], scores) for name, scores in found.items()}
        samples = {name: sum(map(len, scores.values())) for name, scores in found.items()}
        seen = self._night.look(data, samples)
        over = self._night.is_over
        again = tuple(name for name, said in self._night.decisions.items() if said == "REGRESSED")
        self._said += look_words(seen)
        self._keep(
            AdaptiveState(
                reached=dict(self._night.reached),
                decisions=dict(self._night.decisions),
                looks=(*self._state.looks, seen),
                is_over=over,
                confirming=again if over and self._context.job.model.settings.generates else (),
            )
        )
        return not over or bool(self._state.confirming)

    def _keep(self, state: AdaptiveState) -> None:
        """Make the state the current one. It is written unless the folder has more looks already."""
        self._state = state
        if state.is_over or len(state.looks) >= len(self._stored.looks):
            record = self._manifest.current.adaptive
            assert record is not None
            self._manifest.update(adaptive=record.model_copy(update={"state": state}))

    async def _scores(self) -> dict[str, dict[str, list[float | None]]] | None:
        """Return the scores of this round by task and problem, None if verdicts are made later."""
        wanted = self._wanted()
        while True:
            found = self._disk.read(wanted)
            lacking = self._disk.lacking(wanted, found)
            if not lacking:
                return found
            if self._context.job.shard is None or None in lacking:
                return None
            await self._wait_for({path for path in lacking if path is not None})
            if self._context.switch.reason is not None:
                return None

    async def _wait_for(self, paths: set[Path]) -> None:
        """Wait for a moment if other shards are drawing.

        Raises:
            InterruptedRunError: no process writes one of their folders.
        """
        for path in sorted(paths):
            writer = writer_of(path)
            if writer is None or writer.alive is False:
                raise InterruptedRunError(
                    f"look {len(self._state.looks) + 1}, for which {path.parent.name} has not drawn its "
                    "part; it is not running, so start it"
                )
        stop = self._context.switch.attach(asyncio.get_running_loop())
        try:
            await asyncio.wait_for(stop.wait(), _POLL_S)
        except TimeoutError:
            return
