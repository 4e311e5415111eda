"""Files of a stored run that were edited by hand after they were written."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.results.record import read_results
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.store.seal import Seal, SealRecord, is_edited
from genbench.store.stored_run import StoredTask


def edited_tasks(folder: RunFolder, stored: Mapping[str, StoredTask]) -> frozenset[str]:
    """Return the tasks that have as many lines as results.json was made from, but other contents.

    Other numbers of lines are those of a run that was continued. They are no edit.

    Args:
        stored: the reader of each task.

    Raises:
        RunFolderError: a line is damaged.
    """
    results = read_results(folder)
    found = set()
    for name, task in (results.tasks if results else {}).items():
        if name not in stored or task.seal is None:
            continue
        pairs = (
            (_verdicts_seal(stored[name], task.verifier.digest), task.seal.verdicts),
            (stored[name].completions_seal, task.seal.completions),
        )
        if any(is_edited(now, then) for now, then in pairs):
            found.add(name)
    return frozenset(found)


def edited_sources(folder: RunFolder, manifest: Manifest, stored: Mapping[str, StoredTask]) -> list[str]:
    """Return the files of a run that scoring cannot make anew and that were edited: completions, manifest.

    Completions are compared with what the manifest says of them, so that this finds an edit also if
    results.json was removed. A manifest that differs since an attempt did not end is none.

    Args:
        stored: the reader of each task.

    Raises:
        RunFolderError: a line is damaged.
    """
    results = read_results(folder)
    found = list[str]()
    ended = all(attempt.has_ended and not attempt.interrupted for attempt in manifest.attempts[-1:])
    if ended and any(item.file == "manifest.json" for item in folder.misfits()):
        found.append("manifest.json")
    for name, task in stored.items():
        sealed = results.tasks[name].seal if results and name in results.tasks else None
        seals = [manifest.drawn.get(name), sealed.completions if sealed else None]
        if any(then is not None and is_edited(task.completions_seal, then) for then in seals):
            found.append(f"{name}/completions.jsonl")
    return found


def _verdicts_seal(stored: StoredTask, verifier: str) -> SealRecord:
    """Return the seal of one verifier's verdicts, the first of each sample."""
    seal, seen = Seal(), set()
    for verdict in stored.verdicts():
        if verdict.verifier == verifier and verdict.sample not in seen:
            seen.add(verdict.sample)
            seal.add_verdict(verdict)
    return seal.record
