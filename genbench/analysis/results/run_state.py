"""The state of a stored run: whether its files are those that the last command wrote.

Every command that takes numbers of a run folder asks here: compare, gate, ledger, trend, estimate, score and
report. So none of them takes a run that another one refuses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from genbench.analysis.results.record import Results, TaskResults, read_results
from genbench.errors import GenbenchError, RunFolderError
from genbench.store.file_seal import noted_seal
from genbench.store.folder import RunFolder, sealed_files
from genbench.store.manifest import Manifest
from genbench.store.seal import SealRecord, broken, is_edited
from genbench.store.state import GONE, NOT_ENDED, Finding, FindingKind, RunState
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.suite.block import is_headline


def run_state(
    run: StoredRun, results: Results | None, *, lines: bool = True, tasks: Collection[str] | None = None
) -> RunState:
    """Compare a run folder with the digests and seals in its manifest and results.

    Args:
        results: results.json as it is, None if there is none.
        lines: also read the files of each task. Otherwise only manifest, results and sums are read.
        tasks: only the files of these tasks. None: those of all.

    Raises:
        RunFolderError: a file is damaged.
    """
    names = [name for name in run.manifest.tasks if tasks is None or name in tasks]
    found = [*_of_run(run, results)]
    if lines:
        found += _of_files(run, results, names)
        for name in names:
            if not (run.path / name).is_dir():
                continue  # its files were looked for before
            task = results.tasks.get(name) if results else None
            found += _of_lines(run.task(name), task, run.manifest.drawn.get(name))
    found = [item for item in found if item.task is None or item.task in names]
    return RunState(run.path, tuple(found), results is not None and results.digest is not None)


def require_results(folder: RunFolder) -> Results:
    """Read results.json of a finished run. Its warnings also say if manifest, results and sums do not fit.

    Raises:
        RunFolderError: the run is not finished. The message says what to do.
    """
    results = read_results(folder)
    if results is None:
        path = folder.path
        raise RunFolderError(f"{path}: the run is not finished; continue it, or run: genbench score {path}")
    return with_warnings(results, state_of(folder.path, lines=False))


def with_warnings(results: Results, state: RunState) -> Results:
    """Return results whose warnings also name the files that are not as they were written."""
    found = state.warnings()
    return results.model_copy(update={"warnings": (*results.warnings, *found)}) if found else results


def state_of(path: Path, *, lines: bool = True) -> RunState:
    """Read the state of a run folder, see `run_state`.

    Raises:
        RunFolderError: no run folder, or a damaged one.
    """
    run = StoredRun(path)
    return run_state(run, read_results(run.folder), lines=lines)


def edit_words(path: Path, *, lines: bool) -> tuple[str, ...]:
    """Return what was edited in a folder that is in a ledger, in words. A folder that is gone shows nothing.

    Args:
        lines: also read the files of each task, and say what moves no number. Otherwise only edits of
            manifest, results and sums count.
    """
    if not (path / "manifest.json").is_file():
        return ()
    try:
        found = state_of(path, lines=lines)
    except GenbenchError as error:
        return (str(error),) if lines else ()
    return tuple(f"{path}/{item}" for item in (found.findings if lines else found.edits))


def _of_run(run: StoredRun, results: Results | None) -> Iterator[Finding]:
    """Yield what manifest, results and sums say of each other."""
    for edit in run.manifest.edited:
        task, _, kind = edit.file.partition("/")
        why = str(edit).removeprefix(edit.file).strip()
        yield Finding("source", edit.file, why, task if kind else None, is_known=True)
    for misfit in run.folder.misfits():
        is_source = misfit.file == "manifest.json" and _has_ended(run.manifest)
        yield Finding("source" if is_source else "made", misfit.file, misfit.why)
    if results is None:
        yield Finding("aside", "results.json", GONE if run.manifest.drawn else NOT_ENDED)
        return
    if results.digest is None and run.manifest.drawn:
        why = "has no digest, though the manifest has seals, and a version that makes both wrote it"
        yield Finding("made", "results.json", why)
    for name, found in results.tasks.items():
        if results.digest is not None and found.seal is None:
            yield Finding("made", "results.json", "has no seal of this task any more", name)


def _has_ended(manifest: Manifest) -> bool:
    """Return whether the last attempt ended. If not, the manifest may be newer than the results."""
    return all(attempt.has_ended and not attempt.interrupted for attempt in manifest.attempts[-1:])


def _of_files(run: StoredRun, results: Results | None, tasks: Collection[str]) -> Iterator[Finding]:
    """Yield the files whose seals are in results.json, or next to them, and that are other ones now."""
    is_pushed = not any((run.path / name).is_dir() for name in run.manifest.tasks)
    for file, task in sealed_files(tasks):
        sealed, path = results.files.get(file) if results else None, run.path / file
        if sealed is None:
            continue
        if task is not None and is_pushed:
            continue  # a pushed run has no files of tasks
        if not path.is_file():
            yield Finding("aside" if task is None else "absent", file, "is gone", task)
        elif not sealed.fits(path):
            kind: FindingKind = "source" if _has_ended(run.manifest) else "made"
            why = "was changed after results.json was written, or a continued run did not end"
            yield Finding("aside" if task is None else kind, file, why, task)
    table = run.path / "samples.parquet"
    noted = noted_seal(table)
    if noted is not None and table.is_file() and not noted.fits(table):
        yield Finding("aside", table.name, "was changed after the report was written")


def _of_lines(stored: StoredTask, task: TaskResults | None, drawn: SealRecord | None) -> Iterator[Finding]:
    """Yield how the lines of one task differ from those that results and manifest were made from."""
    sealed = task.seal if task else None
    then = (None if sealed is None else sealed.completions, drawn)
    if is_headline(stored.name):  # else they are another task's, which is looked at itself
        found = _compared(stored, "completions", stored.completions_seal, then)
        if found is not None:
            yield found
    if task is not None and sealed is not None:
        own = stored.verdicts_seal(task.verifier.digest)
        found = _compared(stored, "verdicts", own, (sealed.verdicts,))
        if found is not None:
            yield found


def _compared(
    stored: StoredTask, kind: str, now: SealRecord, then: tuple[SealRecord | None, ...]
) -> Finding | None:
    """Return how the lines of a file differ from the first of some seals that they do not fit."""
    path = stored.folder.file(stored.name, kind)
    for number, seal in enumerate(then):
        # What was drawn may be more than results.json was made from: then it is not an edit.
        if seal is None or (number and not is_edited(now, seal)):
            continue
        said = broken(kind, now, seal)
        if said is not None:
            gone = not path.is_file()
            is_source = kind == "completions" and is_edited(now, seal)
            return Finding(
                "absent" if gone else "source" if is_source else "made",
                f"{stored.name}/{path.name}",
                said.removeprefix(f"{path.name} "),
                stored.name,
                other_lines=not is_edited(now, seal),
            )
    return None
