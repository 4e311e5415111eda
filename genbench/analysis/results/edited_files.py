"""Tasks of a stored run whose verdicts or completions were edited after results.json was written."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.results.record import read_results
from genbench.store.folder import RunFolder
from genbench.store.seal import Seal, SealRecord
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
        if any(now.lines == then.lines and now.digest != then.digest for now, then in pairs):
            found.add(name)
    return frozenset(found)


def _verdicts_seal(stored: StoredTask, verifier: str) -> SealRecord:
    """Return the seal of one verifier's verdicts, the first of each sample."""
    seal, seen = Seal(), set()
    for verdict in stored.verdicts():
        if verdict.verifier == verifier and verdict.sample not in seen:
            seen.add(verdict.sample)
            seal.add_verdict(verdict)
    return seal.record
