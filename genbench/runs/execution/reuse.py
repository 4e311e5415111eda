"""Reuse of stored runs: the whole run if it is the one that a command asks for, or those of its samples that
are.

A run of an edited suite takes over the samples that the edit did not change instead of drawing them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from genbench.analysis.results.record import Results, TaskResults, read_results
from genbench.analysis.results.run_state import run_state
from genbench.errors import GenbenchError, RunFolderError
from genbench.models.responses import ReplaySettings
from genbench.runs.execution.job import Job
from genbench.runs.execution.prompt_records import prompt_records
from genbench.runs.execution.run_manifest import binding_record
from genbench.store import continuation as manifests
from genbench.store.contract import differences, digest, shaping
from genbench.store.folder import RunFolder
from genbench.store.json_files import Appender, read_lines
from genbench.store.manifest import Manifest, TakenRecord
from genbench.store.seal import Seal, is_edited
from genbench.store.stored_run import StoredRun
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Completion, Problem


def stored_results(job: Job) -> Results | None:
    """Return the results of a reused job's folder, which is only read. None means that the job must run.

    Raises:
        RunFolderError: the folder contains another run, or more than this command asks for.
    """
    if not job.reused:
        return None
    folder = RunFolder(job.path)
    manifests.check_same_run(folder, folder.require_manifest().binding, binding_record(job))
    results = read_results(folder)
    for task in job.tasks:
        records, _ = prompt_records(job.model, task)
        lacking = {record["problem_id"] for record in records} - folder.problems(task.name).keys()
        manifests.check_problems(folder, task.name, records)
        found = results.tasks.get(task.name) if results else None
        if lacking or found is None or not _is_as_asked(job, task, found):
            return None
    if results is None:
        return None
    return results.model_copy(update={"tasks": {task.name: results.tasks[task.name] for task in job.tasks}})


def _is_as_asked(job: Job, task: LoadedTask, found: TaskResults) -> bool:
    """Return whether the stored task is finished at this size. It is not if this command makes it larger."""
    if found.n > len(task.problems) or found.k > task.k:
        raise RunFolderError(
            f"{job.path}: task {task.name} has {found.n} problems x {found.k} samples, this command "
            f"asks for {len(task.problems)} x {task.k}: ask for the same, or leave --reuse out"
        )
    return found.n == len(task.problems) and found.k == task.k and not found.lacking


def earlier_runs(path: Path, suite: str) -> list[Path]:
    """Return the other default folders of a suite's model, the one that was written last first."""
    found = [
        place
        for place in path.parent.parent.glob(f"{suite}-*/{path.name}")
        if (place / "manifest.json").is_file() and place.resolve() != path.resolve()
    ]
    return sorted(found, key=lambda place: (place / "manifest.json").stat().st_mtime, reverse=True)


def take_over(job: Job, folder: RunFolder) -> list[TakenRecord]:
    """Copy samples of the same prompt, seed and decoding from the job's earlier runs into its new folder.

    Verdicts come along for problems whose reference is the same as well, unless somebody changed their files.

    Returns:
        How many samples of each task were taken, and from where.
    """
    if folder.manifest() is not None or isinstance(job.model.settings, ReplaySettings):
        return []
    taken: list[TakenRecord] = []
    lacking = {task.name: task.samples for task in job.tasks if task.is_drawn}
    for path in job.earlier:
        for task in (task for task in job.tasks if lacking.get(task.name)):
            found = _take(job, task, RunFolder(path), folder)
            lacking[task.name] -= len(found)
            if found:
                taken.append(TakenRecord(task=task.name, run=str(path.resolve()), samples=len(found)))
            for further in (item for item in job.tasks if item.draw == task.name and found):
                _take_verdicts(further, RunFolder(path), folder, found)
    folder.sync()
    return taken


def _is_edited(task: LoadedTask, source: RunFolder, manifest: Manifest) -> bool:
    """Return whether somebody changed a task's completions, which are then drawn again."""
    file = f"{task.name}/completions.jsonl"
    if any(edit.file == file for edit in manifest.edited):
        return True
    sealed, seal = manifest.drawn.get(task.name), Seal()
    if sealed is None:
        return False
    source.drawn(task.name, seal)
    return is_edited(seal.record, sealed)


def _take(job: Job, task: LoadedTask, source: RunFolder, target: RunFolder) -> Set[tuple[str, int]]:
    """Copy the samples of one task that fit from one folder. Return which they are."""
    try:
        manifest = source.manifest()
        if manifest is None or not _is_alike(job, task, manifest) or _is_edited(task, source, manifest):
            return frozenset()
        samples = dict(_fitting(job, task, source, manifest))
    except GenbenchError:  # a damaged old folder has nothing to give
        return frozenset()
    drawn = target.drawn(task.name)
    samples = {key: items for key, items in samples.items() if not drawn.has(*key, 0)}
    for item in (item for items in samples.values() for item in items):
        target.append_completion(replace(item, attempt=0))
    return samples.keys()


def _take_verdicts(
    task: LoadedTask, source: RunFolder, target: RunFolder, samples: Set[tuple[str, int]]
) -> None:
    """Copy the verdicts on samples that were taken, unless their files or references were edited."""
    stored = source.problems(task.name)
    same = {
        problem.problem_id
        for problem in task.problems
        if problem.problem_id in stored
        and stored[problem.problem_id]["reference_digest"] == digest(task.reference(problem, 0))[:16]
    }
    if not same:
        return
    state = run_state(StoredRun(source.path), read_results(source), tasks=(task.name,))
    if all(item.other_lines for item in state.edits if item.task == task.name):
        _copy_verdicts(task.name, source, target, {key for key in samples if key[0] in same})


def _is_alike(job: Job, task: LoadedTask, manifest: Manifest) -> bool:
    """Tell whether model, seed, terms and trace format are those of the job, and the task's decoding too."""
    if task.name not in manifest.tasks:
        return False
    old, new = manifest.binding, binding_record(job)
    terms = [
        {**shaping(side.terms), "decoding": side.terms.get("decoding", {}).get(task.name)}
        for side in (old, new)
    ]
    sides = [
        [side.model_identity, side.run_seed, own, side.reasoning.to_json(), side.tasks[task.name].decoding]
        for side, own in zip((old, new), terms, strict=True)
    ]
    return not differences(dict(enumerate(sides[0])), dict(enumerate(sides[1])))


def _fitting(
    job: Job, task: LoadedTask, source: RunFolder, manifest: Manifest
) -> Iterator[tuple[tuple[str, int], list[Completion]]]:
    """Yield the whole samples of a folder whose request is the same as the job's."""
    problems = {problem.problem_id: problem for problem in task.problems}
    same_turns = manifest.tasks[task.name].version == task.task.info.version
    found: dict[tuple[str, int], list[Completion]] = {}
    for item in source.completions(task.name):
        problem = problems.get(item.sample.problem_id)
        if problem is None or item.sample.sample_index >= task.k or item.finish_reason == "error":
            continue
        if item.turn == 0 and not _is_asked_alike(job, task, problem, item):
            continue
        if problem.turns == 1 or same_turns:
            found.setdefault((problem.problem_id, item.sample.sample_index), []).append(item)
    for key, items in found.items():
        turns = len(items) if any(item.final for item in items) else problems[key[0]].turns
        if {item.turn for item in items} == set(range(turns)):
            yield key, items


def _is_asked_alike(job: Job, task: LoadedTask, problem: Problem, item: Completion) -> bool:
    request = job.model.maker.request(task, problem, item.sample.sample_index, ())
    return request is not None and (request.prompt_digest, request.seed, request.max_tokens) == (
        item.prompt_digest,
        item.seed,
        item.max_tokens,
    )


def _copy_verdicts(task: str, source: RunFolder, target: RunFolder, wanted: set[tuple[str, int]]) -> None:
    last = {(item.sample.problem_id, item.sample.sample_index): item for item in source.verdicts(task)}
    known = {(item.sample.problem_id, item.sample.sample_index) for item in target.verdicts(task)}
    for key in last.keys() & wanted - known:
        target.append_verdict(last[key])
    judgments = [record for _, record in read_lines(source.file(task, "judgments"))]
    if judgments:
        with Appender(target.file(task, "judgments")) as appender:
            for record in judgments:
                appender.append(record)


def taken_words(taken: Sequence[TakenRecord], tasks: Mapping[str, int]) -> list[str]:
    """Return a line for people about the samples of each task that were taken over.

    Args:
        tasks: the samples that each task needs.
    """
    return [
        f"{item.task}: {item.samples:,} of {tasks[item.task]:,} samples are taken over from {item.run}"
        for item in taken
    ]
