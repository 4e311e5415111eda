"""The verifiers of a run: loaded before any engine, and brought up with what is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.session import JudgeSession, forget_unscored
from genbench.judges.tasks import is_judged
from genbench.runs.scoring import Scorer, Verify, stale_verifiers
from genbench.runs.signals import StopSwitch
from genbench.store.folder import RunFolder
from genbench.tasks.loaded import LoadedTask, VerifiedTask
from genbench.types import Case, Finding
from genbench.verifiers.pool import Opened, VerifierPool
from genbench.verifiers.process import VerifierSpec


def verifier_specs(tasks: Sequence[LoadedTask], room: JudgeSession) -> dict[str, VerifierSpec]:
    """The rules that the pool runs: those of tasks without a judge, and those before a judge."""
    alone = [task for task in tasks if task.name not in room]
    specs = {task.name: VerifierSpec(task.verifier, task.verifier_options, task.folder) for task in alone}
    return specs | room.rules


async def load_verifiers(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], tasks: Sequence[LoadedTask], room: JudgeSession
) -> dict[str, VerifiedTask]:
    """Loads each verifier once, so that a missing one stops the run before the engine loads.

    Problems that a verifier cannot judge on this machine (it lacks a tagger, say) are left out and
    counted, and the run says so.
    """
    found: dict[str, VerifiedTask] = {}
    for task in tasks:
        if task.name not in specs:
            own = {problem.problem_id: problem for problem in task.problems}
            found[task.name] = VerifiedTask(task, *room.verifier(task.name), own)
            continue
        opened = await _opened(pool, specs[task.name], task)
        kept = tuple(problem for problem in task.problems if problem.problem_id not in opened.unavailable)
        judged = replace(task, problems=kept, left_out=task.left_out | opened.unavailable.keys())
        problems = {problem.problem_id: problem for problem in kept}
        warning = "; ".join(_opened_words(task, opened)) or None
        digest_ = specs[task.name].digest(opened.version)
        version = opened.version
        if task.name in room:
            digest_, version = room.verifier(task.name, digest_)
        found[task.name] = VerifiedTask(judged, digest_, version, problems, warning)
    return found


async def _opened(pool: VerifierPool, spec: VerifierSpec, task: LoadedTask) -> Opened:
    try:
        return await pool.open(spec, _references(task))
    except ConfigError as error:
        raise type(error)(f"{task.where}: {error}") from error


def verify_with(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], room: JudgeSession, folder: RunFolder
) -> Verify:
    """What a scorer calls: the pool's rule, or the task's judge with the rule before it."""

    async def rule(task: str, case: Case) -> Finding:
        return await pool.verify(specs[task], case)

    async def verify(task: str, case: Case) -> Finding:
        if task in room:
            return await room.verify(folder, task, case, rule)
        return await rule(task, case)

    return verify


def _opened_words(task: LoadedTask, opened: Opened) -> Iterator[str]:
    if opened.unavailable:
        why = next(iter(opened.unavailable.values()))
        yield f"{task.name}: {len(opened.unavailable)} of {len(task.problems)} problems are left out: {why}"
    for note in opened.notes:
        yield f"{task.name}: {note}"


def _references(task: LoadedTask) -> Iterator[tuple[str, Any]]:
    for problem in task.problems:
        yield problem.problem_id, task.reference(problem, 0)


def renew_stale(folder: RunFolder, judged: Mapping[str, VerifiedTask], again: bool = False) -> None:
    """Begins to make the verdicts of other verifiers anew (`again`: all of them), and forgets unscored ones.

    The old files stay until `publish`: a run that is killed in between keeps them whole.
    """
    for name, item in judged.items():
        if again or stale_verifiers(folder, item):
            folder.renew_verdicts(name, None if again else item.verifier)
        else:
            folder.forget_renewal(name)
        if is_judged(item.task):
            forget_unscored(folder, name)


def publish(folder: RunFolder, judged: Mapping[str, VerifiedTask]) -> None:
    """Puts verdicts that were made anew in the place of the old ones; call when none lacks."""
    for name in judged:
        folder.publish_verdicts(name)


async def catch_up(scorer: Scorer, switch: StopSwitch) -> None:
    """Makes the verdicts that still lack; a thrown switch ends it."""
    stop = switch.attach(asyncio.get_running_loop())
    work = asyncio.create_task(scorer.catch_up())
    waiter = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, waiter}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        work.cancel()
        waiter.cancel()
        await asyncio.gather(work, waiter, return_exceptions=True)
