"""A stored run verified again, or for the first time, without any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.analysis.results import build_results
from genbench.draw.progress import ProgressLine
from genbench.errors import InterruptedRunError, RunFolderError
from genbench.judges.session import JudgeSession
from genbench.judges.tasks import is_judged
from genbench.models.prepared import Reasoning
from genbench.runs.loop import run_coroutine
from genbench.runs.scoring import Scorer, catch_up
from genbench.runs.signals import StopSwitch
from genbench.runs.verifying import (
    load_verifiers,
    publish,
    renew_stale,
    verifier_specs,
    verify_with,
)
from genbench.store import manifest as manifests
from genbench.store.contract import digest
from genbench.store.folder import RunFolder
from genbench.suite.config import SuiteConfig
from genbench.suite.engine import STORED
from genbench.suite.suitefile import Suite
from genbench.tasks.load import load_task, selected_entries
from genbench.tasks.loaded import LoadedTask, VerifiedTask
from genbench.verifiers.pool import VerifierPool


def score_folder(
    path: Path, data_dir: Path | None, again: bool, quiet: bool, switch: StopSwitch
) -> dict[str, Any]:
    """Verifies what has no verdict of the current verifiers, and writes results.json.

    Args:
        data_dir: the mirror, where it is no longer where the run found it.
        again: drop the verdicts that there are first.

    Raises:
        RunFolderError: no run folder, or its data are not what it was drawn for.
    """
    RunFolder(path).require_manifest()
    with RunFolder.writer(path) as folder:
        manifest = folder.require_manifest()
        tasks = stored_tasks(folder, manifest, data_dir)
        room = JudgeSession(stored_suite(manifest), tasks, path)

        async def work() -> dict[str, Any]:
            async with room:
                return await _score(folder, manifest, tasks, room, again=again, quiet=quiet, switch=switch)

        return run_coroutine(work())


def judge_folders(
    paths: Sequence[Path], data_dir: Path | None, quiet: bool, switch: StopSwitch
) -> dict[str, Any]:
    """Makes the verdicts that waited for a judge on this machine: one engine for all runs of a suite.

    Returns:
        The results of each model.
    """
    manifests_ = [RunFolder(path).require_manifest() for path in paths]
    tasks = [
        stored_tasks(RunFolder(path), found, data_dir) for path, found in zip(paths, manifests_, strict=True)
    ]
    room = JudgeSession(stored_suite(manifests_[0]), tasks[0], paths[0])

    async def work() -> dict[str, Any]:
        results: dict[str, Any] = {}
        async with room:
            for path, found, own in zip(paths, manifests_, tasks, strict=True):
                with RunFolder.writer(path) as folder:
                    name = found["model"]["name"]
                    results[name] = await _score(
                        folder, found, own, room, again=False, quiet=quiet, switch=switch
                    )
        return results

    return run_coroutine(work())


def stored_suite(manifest: Mapping[str, Any]) -> Suite:
    """The suite as it was run, from the manifest; its file may have changed or gone."""
    config = SuiteConfig.model_validate(manifest["suite"]["config"], context=STORED)
    return Suite(config, Path(manifest["suite"]["path"]), tuple(manifest["suite"]["overrides"]), {})


def stored_tasks(folder: RunFolder, manifest: Mapping[str, Any], data_dir: Path | None) -> list[LoadedTask]:
    """The tasks of a stored run with the problems that its folder holds, in the order of their data.

    Raises:
        RunFolderError: the data are not what the run was drawn for. DataError: they are not there.
    """
    suite, origin = stored_suite(manifest), manifest["origin"]
    mirror = data_dir or (Path(origin["data_dir"]) if origin["data_dir"] else None)
    entries = selected_entries(suite, list(manifest["tasks"]), with_test=True)
    found = [load_task(suite, entry, mirror, origin["limit"]) for entry in entries]
    return [_as_drawn(folder, task, manifest) for task in found]


def _as_drawn(folder: RunFolder, task: LoadedTask, manifest: Mapping[str, Any]) -> LoadedTask:
    """The task with the problems that the run asked, if their references are still the same."""
    stored = folder.problems(task.name)
    kept = tuple(problem for problem in task.problems if problem.problem_id in stored)
    for problem in kept:
        found = digest(task.reference(problem, 0))[:16]
        if found != stored[problem.problem_id]["reference_digest"]:
            raise RunFolderError(
                f"{folder.path}: task {task.name}, problem {problem.problem_id}: the reference in "
                f"{manifest['origin']['data_dir'] or 'the data'} is not the one that the run was drawn for; "
                "give the data of the run with --data-dir"
            )
    if len(kept) < manifest["tasks"][task.name]["n"]:
        raise RunFolderError(
            f"{folder.path}: task {task.name}: the data hold only {len(kept)} of its problems"
        )
    return replace(task, problems=kept, k=manifest["tasks"][task.name]["k"])


async def _score(
    folder: RunFolder,
    manifest: dict[str, Any],
    tasks: list[LoadedTask],
    room: JudgeSession,
    *,
    again: bool,
    quiet: bool,
    switch: StopSwitch,
) -> dict[str, Any]:
    suite = stored_suite(manifest)
    room.remember(manifest)
    specs = verifier_specs(tasks, room)
    verify_config = suite.config.verify
    total = sum(task.samples for task in tasks)
    progress = ProgressLine(manifest["model"]["name"], total, 0, quiet)
    async with VerifierPool(verify_config.workers, verify_config.nice, verify_config.load_timeout_s) as pool:
        judged = _judges_first(await load_verifiers(pool, specs, tasks, room))
        renew_stale(folder, judged, again)
        verify = verify_with(pool, specs, room, folder)
        reasoning = Reasoning.from_record(manifest["reasoning"])
        scorer = Scorer(folder, judged, verify, reasoning.split, progress.verdict)
        try:
            await catch_up(scorer, switch)
        finally:
            await scorer.cancel()
            progress.close()
    if switch.reason is not None:
        raise InterruptedRunError(f"stopped by {switch.reason}; continue with: genbench score {folder.path}")
    publish(folder, judged)
    for name, item in judged.items():
        verifier = manifest["tasks"][name]["verifier"]
        verifier |= {"version": item.version, "digest": item.verifier}
        if name in room:
            manifest["tasks"][name]["judge"] = room.record(name)
    manifest["scored"] = [*manifest.get("scored", []), {"at": manifests.now(), "again": again}]
    folder.write_manifest(manifest)
    in_order = {name: judged[name] for name in (task.name for task in tasks)}
    results = build_results(folder, in_order, manifest, suite.config.max_excluded_share)
    folder.write_results(results)
    return results


def _judges_first(judged: Mapping[str, VerifiedTask]) -> dict[str, VerifiedTask]:
    """Nothing else needs the device here: a judge that cannot start is told before the rules are run."""
    return dict(sorted(judged.items(), key=lambda item: not is_judged(item[1].task)))
