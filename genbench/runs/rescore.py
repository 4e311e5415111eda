"""Verification of a stored run again, or for the first time, without any engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from genbench.analysis.results_record import Results
from genbench.analysis.unsealed import edited_tasks
from genbench.judges.session import JudgeSession
from genbench.runs.loop import run_coroutine
from genbench.runs.rereading import reread
from genbench.runs.scorepass import ScorePass
from genbench.runs.scoring import readers_of
from genbench.runs.signals import StopSwitch
from genbench.runs.trust import EVERYTHING, Kind, require_trust
from genbench.store.folder import RunFolder


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
        run = reread(folder, data_dir, trusted)
        judges = JudgeSession(run.suite, run.tasks, path)
        edited = edited_tasks(folder, readers_of(folder, run.tasks))

        async def work() -> Results:
            async with judges:
                return await ScorePass(judges, switch, again, quiet, edited).run(folder, run)

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
    runs = [reread(RunFolder(path), data_dir, EVERYTHING) for path in paths]
    judges = JudgeSession(runs[0].suite, runs[0].tasks, paths[0])

    async def work() -> dict[str, Results]:
        results: dict[str, Results] = {}
        async with judges:
            for path, run in zip(paths, runs, strict=True):
                with RunFolder.writer(path) as folder:
                    name = run.manifest.model.name
                    results[name] = await ScorePass(judges, switch, quiet=quiet).run(folder, run)
        return results

    return run_coroutine(work())
