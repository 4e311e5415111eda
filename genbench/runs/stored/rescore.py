"""Verification of a stored run again, or for the first time, without any engine.

Under an edited suite, with corrected references or other verifier options, a copy of the run is scored.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.results.build import build_results
from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import state_of
from genbench.draw.progress import ProgressLine
from genbench.errors import InterruptedRunError, RunFolderError
from genbench.judges.session import JudgeSession
from genbench.runs.event_loop import StopSwitch, run_coroutine
from genbench.runs.execution.interim import further
from genbench.runs.execution.prompt_records import reference_text
from genbench.runs.execution.run_manifest import scored_manifest, stored_judges
from genbench.runs.execution.scoring import (
    Scorer,
    all_readers,
    catch_up,
    load_verifiers,
    publish,
    readers_of,
    renew_stale,
    verifier_pool,
    verifier_specs,
    verify_with,
)
from genbench.runs.stored.load import StoredRunInputs, keep_seal, load_stored, stored_suite
from genbench.runs.stored.trust import EVERYTHING, Kind, require_trust
from genbench.store.continuation import now
from genbench.store.contract import digest
from genbench.store.folder import RunFolder
from genbench.store.manifest import EditRecord, Manifest, SuiteRecord, TakenRecord, TaskRecord
from genbench.store.state import RunState
from genbench.suite.block import draw_of, is_headline
from genbench.suite.config import TaskEntry
from genbench.suite.shipped import resolve, suite_path
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.tasks.loading import load_all
from genbench.types import Verdict


@dataclass(frozen=True, slots=True)
class Rescoring:
    """The options for scoring a stored run.

    Args:
        judges: the LLM judges of its tasks.
        again: make all verdicts anew.
        quiet: print no progress.
        state: what was edited before. Verdicts of tasks whose lines were edited are made anew. The manifest
            keeps the names of edited files that scoring cannot make anew.
    """

    judges: JudgeSession
    switch: StopSwitch
    again: bool = False
    quiet: bool = False
    state: RunState | None = None

    async def run(self, folder: RunFolder, stored: StoredRunInputs) -> Results:
        """Make the missing verdicts and write results.json.

        Raises:
            InterruptedRunError: stopped by a signal. What was verified is kept.
        """
        self.judges.remember(stored_judges(stored.manifest))
        tasks = await self._verify(folder, stored)
        publish(folder, tasks)
        manifest = scored_manifest(stored.manifest, tasks, self.judges, again=self.again)
        found = [EditRecord(file=file, found=now()) for file in self.state.sources] if self.state else []
        manifest = manifest.model_copy(update={"edited": (*manifest.edited, *found)}) if found else manifest
        in_order = {task.name: tasks[task.name] for task in stored.tasks}
        readers = readers_of(folder, [item.task for item in in_order.values()], manifest.adaptive)
        results = build_results(in_order, readers, manifest, stored.suite.config).write(folder)
        healed = self.state.healed if self.state else ()
        return results.model_copy(update={"warnings": (*results.warnings, *healed)}) if healed else results

    async def _verify(self, folder: RunFolder, stored: StoredRunInputs) -> dict[str, VerifiedTask]:
        specs = verifier_specs(stored.tasks, self.judges)
        total = sum(task.samples for task in stored.tasks if task.is_drawn)
        name, more = stored.manifest.model.name, further(stored.tasks)
        progress = ProgressLine(name, total, total, self.quiet, further=more)
        async with verifier_pool(stored.suite.config.verify) as pool:
            tasks = self._judges_first(await load_verifiers(pool, specs, stored.tasks, self.judges))
            renew_stale(folder, tasks, self.again, self.state.edited_tasks if self.state else ())
            verify = verify_with(pool, specs, self.judges, folder)
            own = [item.task for item in tasks.values()]
            read = readers_of if stored.manifest.adaptive is None else all_readers
            readers = read(folder, own)
            scorer = Scorer(folder, tasks, verify, stored.split, progress.verdict, stored=readers)
            progress.step("reading verdicts")
            for verdict in (item for name in tasks for item in readers[name].verdicts()):
                progress.verdict(verdict)
            progress.step("judging" if any(name in self.judges for name in tasks) else "verifying")
            try:
                await catch_up(scorer, self.switch)
            finally:
                await scorer.cancel()
                progress.close()
        if self.switch.reason is not None:
            raise InterruptedRunError(
                f"stopped by {self.switch.reason}; continue with: genbench score {folder.path}"
            )
        return tasks

    def _judges_first(self, tasks: Mapping[str, VerifiedTask]) -> dict[str, VerifiedTask]:
        """Put tasks with an LLM judge first, so that a judge that cannot start fails before the rules run."""
        return dict(sorted(tasks.items(), key=lambda item: item[0] not in self.judges))


def score_folder(
    path: Path,
    data_dir: Path | None,
    again: bool,
    quiet: bool,
    switch: StopSwitch,
    *,
    trusted: Collection[Kind] = (),
) -> Results:
    """Verify the samples without a verdict of the current verifiers, and write results.json.

    All verdicts of a task are made anew if its lines were edited after results.json was written.

    Args:
        data_dir: the mirror, if its location has changed since the run.
        again: drop the existing verdicts first.
        trusted: what the user allows the stored suite to do (see trust).

    Raises:
        RunFolderError: no run folder, data that differ from those that it was drawn for, or a stored suite
            that asks for more than is allowed.
        InterruptedRunError: stopped by a signal.
    """
    stored = RunFolder(path)
    require_trust(stored, stored.require_manifest(), data_dir, trusted)
    with RunFolder.writer(path) as folder:
        run = load_stored(folder, data_dir, trusted)
        judges = JudgeSession(run.suite, run.tasks, path)
        state = state_of(path)

        async def work() -> Results:
            async with judges:
                return await Rescoring(judges, switch, again, quiet, state).run(folder, run)

        return run_coroutine(work())


def looks_wait(path: Path) -> bool:
    """Return whether an adaptive run waits for a judge that loads after its model is closed."""
    found = RunFolder(path).require_manifest().adaptive
    return found is not None and (not found.state.is_over or bool(found.state.confirming))


def judge_folders(
    paths: Sequence[Path], data_dir: Path | None, quiet: bool, switch: StopSwitch
) -> dict[str, Results]:
    """Make the verdicts that wait for a judge on this machine, with one engine for all runs of a suite.

    Returns:
        The results of each model.
    """
    # The command that calls this has just written the suite of these folders.
    runs = [load_stored(RunFolder(path), data_dir, EVERYTHING) for path in paths]
    judges = JudgeSession(runs[0].suite, runs[0].tasks, paths[0])

    async def work() -> dict[str, Results]:
        results: dict[str, Results] = {}
        async with judges:
            for path, run in zip(paths, runs, strict=True):
                with RunFolder.writer(path) as folder:
                    name = run.manifest.model.name
                    results[name] = await Rescoring(judges, switch, quiet=quiet).run(folder, run)
        return results

    return run_coroutine(work())


_SHOWN = 10
_SCORING_KEYS = ("verify", "judge", "max_excluded_share", "price")
"""Blocks of a suite that score samples. Everything else of the stored run stays as it was drawn."""


def copy_for_suite(path: Path, suite_name: str, data_dir: Path | None, into: Path | None) -> Path:
    """Copy a stored run into a new folder with the references and verifiers of an edited suite.

    The stored run stays as it is. The copy has no verdicts of the suite's tasks, so that `score` makes them.

    Args:
        suite_name: the edited suite, as `run` takes it.
        into: the folder of the copy. None means a folder next to the run's, named by what was edited.

    Returns:
        The run folder of the copy.

    Raises:
        RunFolderError: the suite has no task of the run, asks other prompts, or lacks problems of the run.
            Or `into` has another run already, or is in a run folder.
        ConfigError, DataError: the suite or its data cannot be read.
    """
    source = RunFolder(path)
    manifest = source.require_manifest()
    suite = read_suite(suite_path(suite_name))
    tasks = _loaded(source, manifest, suite, data_dir)
    config = _config(source, manifest, suite)
    record = manifest.suite.model_copy(
        update={"path": str(suite.path.resolve()), "config": config, "digest": digest(config)}
    )
    references = [[digest(task.reference(item, 0)) for item in task.problems] for task in tasks]
    place = path.resolve()
    name = f"{place.parent.name}-rescored-{digest([config, references])[:8]}"
    target = (into or place.parent.parent / name) / place.name
    existing = _existing(target)
    if existing is None:
        _write(source, manifest, record, tasks, target)
    elif existing.suite.digest != record.digest or not _is_copy(RunFolder(target), place, tasks):
        raise RunFolderError(f"{target}: is there already, and another run; give another --into")
    return target


def _existing(target: Path) -> Manifest | None:
    """Return the manifest of the folder of a copy, or None if there is no such folder yet.

    Raises:
        RunFolderError: the folder would be inside a run folder.
    """
    outer = next(
        (folder for folder in target.absolute().parents if (folder / "manifest.json").is_file()), None
    )
    if outer is not None:
        raise RunFolderError(
            f"--into {target.parent}: {outer} is a run folder; name the folder in which the copy is made"
        )
    return RunFolder(target).manifest()


def _is_copy(folder: RunFolder, source: Path, tasks: Sequence[LoadedTask]) -> bool:
    """Return whether a run has the samples of another one, and the references of some tasks."""
    taken = folder.require_manifest().taken_over
    if not taken or any(item.run != str(source) for item in taken):
        return False
    for task in tasks:
        problems = {problem.problem_id: problem for problem in task.problems}
        for name, record in folder.problems(task.name).items():
            if record["reference_digest"] != digest(task.reference(problems[name], 0))[:16]:
                return False
    return True


def moved_verdicts(before: Path, after: Path) -> list[str]:
    """Return which verdicts differ between two folders of the same samples, in words, task by task."""
    tasks = RunFolder(after).require_manifest().tasks
    return [line for name in tasks for line in _moved(name, RunFolder(before), RunFolder(after))]


def _moved(task: str, before: RunFolder, after: RunFolder) -> list[str]:
    old, new = (_by_sample(folder.verdicts(task)) for folder in (before, after))
    if new and not old:
        return [f"{task}: {len(new):,} verdicts of a verifier that the run did not have"]
    changed = [
        key
        for key in new
        if key in old and (old[key].status, old[key].score) != (new[key].status, new[key].score)
    ]
    if not changed:
        return [f"{task}: none of {len(new):,} verdicts moved"]
    ways = Counter(f"{old[key].status} -> {new[key].status}" for key in changed)
    lines = [f"{task}: {len(changed):,} of {len(new):,} verdicts moved: {_counted(ways)}"]
    problems = Counter(problem for problem, _ in changed)
    for problem, count in list(problems.items())[:_SHOWN]:
        own = Counter(f"{old[key].status} -> {new[key].status}" for key in changed if key[0] == problem)
        lines.append(f"  problem {problem}: {count} ({_counted(own)})")
    more = len(problems) - _SHOWN
    return lines if more <= 0 else [*lines, f"  … and {more} more problems"]


def _counted(ways: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {way}" for way, count in ways.items())


def _by_sample(verdicts: Any) -> dict[tuple[str, int], Verdict]:
    return {(item.sample.problem_id, item.sample.sample_index): item for item in verdicts}


def _loaded(source: RunFolder, manifest: Manifest, suite: Suite, data_dir: Path | None) -> list[LoadedTask]:
    """Return the tasks that run and suite share, after checks that they ask what the run asked."""
    mirror = data_dir or (Path(manifest.origin.data_dir) if manifest.origin.data_dir else None)
    shared = [entry for entry in suite.config.scores if draw_of(entry.label) in manifest.tasks]
    if not shared:
        raise RunFolderError(
            f"{suite.path}: has none of the run's tasks ({', '.join(manifest.tasks)}); "
            "name a task as the run does"
        )
    tasks = load_all(suite, shared, mirror, None)
    for task in tasks:
        _check_asked(source, task, suite.path)
    return tasks


def _check_asked(source: RunFolder, task: LoadedTask, path: Path) -> None:
    problems = {problem.problem_id: problem for problem in task.problems}
    known = _known(source, task)
    gone = [name for name in source.problems(known) if name not in problems]
    if gone:
        raise RunFolderError(
            f"{path}: task {task.name} lacks {len(gone)} problems of the run, such as '{gone[0]}'; scoring "
            "needs the same problems, so correct their references and keep their ids"
        )
    for name, asks in source.asks(known).items():
        ask = task.ask(problems[name], asks[0]["samples"][0], ())
        said = [message.content.strip() for message in ask.messages] if ask is not None else []
        if not all(text in asks[0]["prompt"] for text in said):
            raise RunFolderError(
                f"{path}: task {task.name}, problem {name}: the prompt is not the one that the run asked; "
                "other prompts need other samples, so run the suite instead: `genbench run` takes over what "
                "did not change"
            )


def _known(source: RunFolder, task: LoadedTask) -> str:
    """Return the score of the run whose problems are those of a task: a verifier may have been added."""
    return task.name if source.file(task.name, "problems").is_file() else task.draw


def _config(source: RunFolder, manifest: Manifest, suite: Suite) -> dict[str, Any]:
    """Return the run's configuration with the edited tasks and the suite's settings of scoring."""
    stored = stored_suite(manifest, source.manifest_path)
    edited = {entry.label: _placed(entry, suite) for entry in suite.config.tasks}
    tasks = [edited.get(entry.label) or _placed(entry, stored) for entry in stored.config.tasks]
    scoring = {key: suite.config.model_dump(mode="json")[key] for key in _SCORING_KEYS}
    return {**manifest.suite.config, **scoring, "tasks": tasks}


def _placed(entry: TaskEntry, suite: Suite) -> dict[str, Any]:
    """Return an entry whose data and files are found from any folder."""
    record: dict[str, Any] = entry.model_dump(mode="json")
    if entry.data is not None and entry.data.path is not None:
        record["data"]["path"] = str(resolve(entry.data.path, suite.folder).resolve())
    for key, file in (("subset", entry.subset), ("rulings", entry.rulings)):
        if file is not None:
            record[key] = str(resolve(file, suite.folder).resolve())
    return record


def _write(
    source: RunFolder, manifest: Manifest, suite: SuiteRecord, tasks: Sequence[LoadedTask], target: Path
) -> None:
    with RunFolder.writer(target) as folder:
        given = {task.name: task for task in tasks}
        described = {
            name: record
            for name, record in manifest.tasks.items()
            if is_headline(name) or name in given or draw_of(name) not in given
        }
        for name in (*described, *(name for name in given if name not in described)):
            kinds = ("problems", "asks", "completions", "judgments")
            edited = given.get(name)
            known = name if edited is None else _known(source, edited)
            for kind in kinds if edited else (*kinds, "verdicts"):
                _copy(source.file(known, kind), folder.file(name, kind))
            if edited is not None:
                _correct(folder, edited)
                described[name] = _described(manifest.tasks[known], edited)
        described = {name: described[name] for name in _in_order(described, tasks)}
        taken = [
            TakenRecord(task=name, run=str(source.path.resolve()), samples=record.n * record.k)
            for name, record in described.items()
        ]
        uid = str(uuid.uuid4())
        found = [EditRecord(file=file, found=now()) for file in state_of(source.path).sources]
        update = {"uid": uid, "suite": suite, "tasks": described, "taken_over": tuple(taken)}
        update |= {"edited": (*manifest.edited, *found), "drawn": {}}
        folder.write_manifest(manifest.model_copy(update=update))
        keep_seal(source, manifest, folder)  # the rest of the suite is still the stored run's


def _in_order(names: Iterable[str], tasks: Sequence[LoadedTask]) -> list[str]:
    """Return names of scores with those of a task next to each other, in the order of the suite."""
    given = [task.name for task in tasks]
    draws = list(dict.fromkeys(map(draw_of, names)))
    return sorted(names, key=lambda name: (draws.index(draw_of(name)), name in given and given.index(name)))


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _correct(folder: RunFolder, task: LoadedTask) -> None:
    """Write the task's references into problems.jsonl and asks.jsonl."""
    problems = {problem.problem_id: problem for problem in task.problems}
    records = folder.problems(task.name)
    for name, record in records.items():
        record["reference_digest"] = digest(task.reference(problems[name], 0))[:16]
    folder.write_problems(task.name, list(records.values()))
    asks = [ask for found in folder.asks(task.name).values() for ask in found]
    for ask in asks:
        reference = task.reference(problems[str(ask["problem_id"])], ask["samples"][0])
        ask["reference"] = reference_text(reference)
    if asks:
        folder.write_asks(task.name, asks)


def _described(record: TaskRecord, task: LoadedTask) -> TaskRecord:
    entry = task.entry
    return record.model_copy(
        update={
            "version": task.task.info.version,
            "role": entry.role,
            "gating": entry.gating,
            "margin": entry.margin,
            "headline": task.task.info.headline,
            "metrics": tuple(task.metrics),
            "data": dict(task.provenance),
            "data_digest": task.provenance.get("digest"),
            "verifier": record.verifier.model_copy(update={"name": task.verifier}),
        }
    )
