"""Load a stored run with its suite and its tasks from their data, or say why that is not possible."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from genbench.errors import RunFolderError
from genbench.models.traces import Reasoning
from genbench.runs.execution.scoring import Split
from genbench.runs.stored.trust import (
    Kind,
    lacking_trust,
    requests_of,
    require_trust,
    stored_config,
    take_seal,
)
from genbench.store.contract import digest
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.suite.config import TaskEntry
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_all, selected_entries, tasks_at_effort

Trusted = Collection[Kind]
"""What the user allows a stored suite to do."""


@dataclass(frozen=True, slots=True)
class StoredRunInputs:
    """A stored run to be scored: its manifest, its suite as it was run, its tasks with their problems."""

    manifest: Manifest
    suite: Suite
    tasks: tuple[LoadedTask, ...]

    @property
    def split(self) -> Split:
        """Return the splitter of completions into reasoning trace and answer."""
        return Reasoning.from_record(self.manifest.reasoning).split


def load_stored(
    folder: RunFolder, data_dir: Path | None, trusted: Collection[Kind] = (), *, draws: bool = False
) -> StoredRunInputs:
    """Read the data of a stored run again.

    Args:
        data_dir: the mirror, if its location has changed since the run.
        trusted: what the user allows the stored suite to do (see trust).
        draws: whether its model is drawn from too.

    Raises:
        RunFolderError: no run folder, data that differ from those of the run, or a stored suite that asks for
            more than is allowed.
        DataError: the data are missing.
    """
    manifest = folder.require_manifest()
    require_trust(folder, manifest, data_dir, trusted, draws=draws)
    suite = stored_suite(manifest, folder.manifest_path)
    return StoredRunInputs(manifest, suite, tuple(stored_tasks(folder, manifest, data_dir)))


def stored_suite(manifest: Manifest, where: Path) -> Suite:
    """Return the suite as it was run, from the manifest. Its file may have changed or been deleted.

    Args:
        where: the manifest's file, for messages.

    Raises:
        RunFolderError: the manifest has no whole suite.
    """
    config = stored_config(manifest, where)
    return Suite(config, Path(manifest.suite.path), manifest.suite.overrides, {})


def stored_tasks(
    folder: RunFolder, manifest: Manifest, data_dir: Path | None, tasks: Collection[str] | None = None
) -> list[LoadedTask]:
    """Return the tasks of a stored run with the problems that its folder has, in the order of their data.

    Args:
        data_dir: the mirror, if its location has changed since the run.
        tasks: the tasks to read. None reads all.

    Raises:
        RunFolderError: the data differ from those of the run.
        DataError: the data are missing.
    """
    names = list(manifest.tasks if tasks is None else tasks)
    suite, origin = stored_suite(manifest, folder.manifest_path), manifest.origin
    mirror = data_dir or (Path(origin.data_dir) if origin.data_dir else None)
    entries = selected_entries(suite, names, with_test=True)
    found = load_all(suite, entries, mirror, origin.limit)
    if manifest.model.name in suite.config.models:  # not in a run that was made of another tool's log
        found = tasks_at_effort(suite, manifest.model.name, found)
    return [_as_drawn(folder, task, manifest) for task in found if task.name in names]


def _as_drawn(folder: RunFolder, task: LoadedTask, manifest: Manifest) -> LoadedTask:
    """Return the task with the problems that the run asked, if their references are still the same."""
    stored = folder.problems(task.name)
    kept = tuple(problem for problem in task.problems if problem.problem_id in stored)
    for problem in kept:
        found = digest(task.reference(problem, 0))[:16]
        if found != stored[problem.problem_id]["reference_digest"]:
            raise RunFolderError(
                f"{folder.path}: task {task.name}, problem {problem.problem_id}: the reference in "
                f"{manifest.origin.data_dir or 'the data'} is not the one that the run was drawn for; "
                "give the data of the run with --data-dir"
            )
    if len(kept) < manifest.tasks[task.name].n:
        raise RunFolderError(
            f"{folder.path}: task {task.name}: the data have only {len(kept)} of its problems"
        )
    return replace(task, entry=_as_now(task), problems=kept, k=manifest.tasks[task.name].k)


def _as_now(task: LoadedTask) -> TaskEntry:
    """Return a stored entry with the present names of its options: `extract: stated` is now `guess: off`.

    Verdicts of one rule then have one digest, whatever its options were called when the run was drawn.
    """
    own = task.entry.verifier
    rules = own.get("cascade") or (task.verifier,)
    options = own.get("rule", {}) if "cascade" in own else own
    if rules[0] != "math" or options.get("extract") != "stated":
        return task.entry
    renamed = {key: value for key, value in options.items() if key != "extract"} | {"guess": "off"}
    verifier = own | {"rule": renamed} if "cascade" in own else renamed
    return task.entry.model_copy(update={"verifier": verifier})


def check_allowed(folder: RunFolder, manifest: Manifest, data_dir: Path | None, trusted: Trusted) -> None:
    """Check that a stored suite asks for nothing that is not allowed (see trust).

    Raises:
        RunFolderError: it does. The message lists what.
    """
    require_trust(folder, manifest, data_dir, trusted)


def keep_seal(source: RunFolder, manifest: Manifest, target: RunFolder) -> None:
    """Seal a folder that was made from a sealed one (see trust)."""
    take_seal(source, manifest, target)


def why_not_loadable(
    folder: RunFolder, manifest: Manifest, task: str, data_dir: Path | None, trusted: Collection[Kind]
) -> str | None:
    """Return why a task of a stored run cannot be read again, or None. Nothing outside the folder is opened.

    Args:
        data_dir: the mirror, if its location has changed since the run.
        trusted: what the user allows the stored suite to do (see trust).
    """
    lacking = lacking_trust(folder, manifest, data_dir, trusted, [task])
    if lacking:
        words = " ".join(f"--trust-run {kind}" for kind in dict.fromkeys(item.kind for item in lacking))
        return f"the run folder asks for {lacking[0]}; to allow it, add {words}"
    found = requests_of(folder, manifest, data_dir, trusted, [task])
    if any(item.kind == "network" and item.kind not in trusted for item in found):
        return "its data would come from the network; give --data-dir or --trust-run network"
    return None
