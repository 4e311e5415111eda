"""The verifiers of a run. They are loaded before any engine, and their verdicts are kept up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.judged_tasks import is_judged
from genbench.judges.session import JudgeSession, forget_unscored
from genbench.runs.execution.scoring import Verify, stale_verifiers
from genbench.store.folder import RunFolder
from genbench.suite.config import VerifyConfig
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.types import Case, Finding
from genbench.verifiers.pool.pool import Opened, VerifierPool
from genbench.verifiers.pool.process import RefusedReferencesError, VerifierSpec, refused_text


def verifier_pool(settings: VerifyConfig) -> VerifierPool:
    """Return the pool of verifier processes that a suite asks for."""
    return VerifierPool(settings.workers, settings.nice, settings.load_timeout_s)


def verifier_specs(tasks: Sequence[LoadedTask], judges: JudgeSession) -> dict[str, VerifierSpec]:
    """Return the verifiers that the pool runs.

    They are those of tasks without a judge, and those before a judge.
    """
    by_rule = [task for task in tasks if task.name not in judges]
    specs = {task.name: VerifierSpec(task.verifier, task.verifier_options, task.folder) for task in by_rule}
    return specs | judges.rules


async def load_verifiers(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], tasks: Sequence[LoadedTask], judges: JudgeSession
) -> dict[str, VerifiedTask]:
    """Load each verifier once, so that a missing one stops the run before the engine loads.

    Problems that a verifier cannot verify on this machine (a tagger may be missing) are left out and
    counted, and the run says so.
    """
    found: dict[str, VerifiedTask] = {}
    for task in tasks:
        if task.name not in specs:
            own = {problem.problem_id: problem for problem in task.problems}
            found[task.name] = VerifiedTask(task, *judges.verifier(task.name), own)
            continue
        opened = await _opened(pool, specs[task.name], task)
        kept = tuple(problem for problem in task.problems if problem.problem_id not in opened.unavailable)
        verifiable = replace(task, problems=kept, left_out=task.left_out | opened.unavailable.keys())
        problems = {problem.problem_id: problem for problem in kept}
        warning = "; ".join(_opened_words(task, opened)) or None
        digest_ = specs[task.name].digest(opened.version)
        version = opened.version
        if task.name in judges:
            digest_, version = judges.verifier(task.name, digest_)
        found[task.name] = VerifiedTask(verifiable, digest_, version, problems, warning)
    return found


async def _opened(pool: VerifierPool, spec: VerifierSpec, task: LoadedTask) -> Opened:
    try:
        return await pool.open(spec, _References(task))
    except RefusedReferencesError as error:
        source = task.provenance.get("path")
        data = f"{source}: " if source else ""
        raise ConfigError(f"{task.where}: {data}{refused_text(error.reasons, task.rows)}") from error
    except ConfigError as error:
        raise type(error)(f"{task.where}: {error}") from error


def verify_with(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], judges: JudgeSession, folder: RunFolder
) -> Verify:
    """Return the function that a scorer calls.

    It is the pool's rule, or the task's judge with the rule before it.
    """

    async def rule(task: str, case: Case) -> Finding:
        return await pool.verify(specs[task], case)

    async def verify(task: str, case: Case) -> Finding:
        if task in judges:
            return await judges.verify(folder, task, case, rule)
        return await rule(task, case)

    return verify


def _opened_words(task: LoadedTask, opened: Opened) -> Iterator[str]:
    if opened.unavailable:
        why = next(iter(opened.unavailable.values()))
        yield f"{task.name}: {len(opened.unavailable)} of {len(task.problems)} problems are left out: {why}"
    for note in opened.notes:
        yield f"{task.name}: {note}"


@dataclass(frozen=True, slots=True)
class _References:
    """The references of a task by problem. Each pass makes them again: those of programs are gigabytes."""

    task: LoadedTask

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for problem in self.task.problems:
            yield problem.problem_id, self.task.reference(problem, 0)


def renew_stale(
    folder: RunFolder,
    verified: Mapping[str, VerifiedTask],
    again: bool = False,
    edited: Collection[str] = (),
) -> None:
    """Start new verdict files for tasks with verdicts of another verifier, and drop unscored verdicts.

    The old files are kept until `publish`, so that a run that is killed in between does not lose them.

    Args:
        again: make all verdicts again.
        edited: the tasks whose lines were edited. All their verdicts are made again.
    """
    for name, item in verified.items():
        anew = again or name in edited
        if anew or stale_verifiers(folder, item):
            folder.renew_verdicts(name, None if anew else item.verifier)
        else:
            folder.forget_renewal(name)
        if is_judged(item.task):
            forget_unscored(folder, name)


def publish(folder: RunFolder, verified: Mapping[str, VerifiedTask]) -> None:
    """Replace old verdict files by the new ones. Call this only if no verdict is missing."""
    for name in verified:
        folder.publish_verdicts(name)
