"""Verification of the beginnings of stored replies: what they would have scored with fewer tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from genbench.judges.judged_tasks import is_judged
from genbench.models.traces import Reasoning
from genbench.runs.event_loop import run_coroutine
from genbench.runs.execution.scoring import case_of
from genbench.runs.stored.load import stored_tasks
from genbench.runs.stored.trust import Kind, require_trust
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import FIRST_OFFSET, Completion
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

Scores = dict[str, dict[int, dict[tuple[str, int], float]]]


def cut_scores(
    run: str | Path,
    tasks: Sequence[str] = (),
    *,
    data_dir: Path | None = None,
    trusted: Collection[Kind] = (),
) -> Scores:
    """Verify stored replies cut after 1,024, 2,048, 4,096 … tokens, where an answer had begun by then.

    Tasks that a judge grades are left out, and so are replies of runs that did not store where to cut.

    Args:
        tasks: only these. Empty: all.
        data_dir: the mirror of the data, if its location has changed since the run.
        trusted: what the stored suite may do (see trust).

    Returns:
        Task -> budget -> (problem, sample) -> score.

    Raises:
        RunFolderError: no run folder, other data, or a stored suite that asks for more than is allowed.
    """
    folder = RunFolder(Path(run))
    manifest = folder.require_manifest()
    require_trust(folder, manifest, data_dir, trusted)
    return run_coroutine(_verified(folder, manifest, tasks, data_dir))


async def _verified(
    folder: RunFolder, manifest: Manifest, tasks: Sequence[str], data_dir: Path | None
) -> Scores:
    found: Scores = {}
    async with VerifierPool(nice=0) as pool:
        for task in stored_tasks(folder, manifest, data_dir, list(tasks) or None):
            if not is_judged(task) and not task.is_scored:
                found[task.name] = await _of_task(pool, folder, manifest, task)
    return found


async def _of_task(
    pool: VerifierPool, folder: RunFolder, manifest: Manifest, task: LoadedTask
) -> dict[int, dict[tuple[str, int], float]]:
    split = Reasoning.from_record(manifest.reasoning).split
    problems = {problem.problem_id: problem for problem in task.problems}
    cuts = [item for item in _cuts(folder, task.name) if item[1].sample.problem_id in problems]
    spec = VerifierSpec(task.verifier, task.verifier_options, task.folder)
    asked = {item.sample.problem_id for _, item in cuts}
    await pool.open(spec, [(name, task.reference(problems[name], 0)) for name in sorted(asked)])

    async def score(budget: int, item: Completion) -> tuple[int, tuple[str, int], float | None]:
        sample = item.sample
        case = case_of(task, problems[sample.problem_id], sample.sample_index, (split(item),))
        return budget, (sample.problem_id, sample.sample_index), (await pool.verify(spec, case)).score

    found: dict[int, dict[tuple[str, int], float]] = {}
    for budget, key, value in await asyncio.gather(*(score(*item) for item in cuts)):
        if value is not None:
            found.setdefault(budget, {})[key] = value
    return found


def _cuts(folder: RunFolder, task: str) -> Iterator[tuple[int, Completion]]:
    """Yield (budget, reply cut there) where the trace had ended and the reply had not."""
    for item in folder.completions(task):
        total, trace = item.completion_tokens, item.trace_tokens
        if item.turn or total is None or trace is None:
            continue
        for number, end in enumerate(item.offsets):
            budget = FIRST_OFFSET << number
            if trace < budget < total:
                yield budget, replace(item, text=item.text[:end], finish_reason="length", offsets=())
