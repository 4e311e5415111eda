"""Verification of a stored run again, or for the first time, without any engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from genbench.analysis.results.build import build_results
from genbench.analysis.results.edited_files import edited_tasks
from genbench.analysis.results.record import Results
from genbench.draw.progress import ProgressLine
from genbench.errors import InterruptedRunError
from genbench.judges.session import JudgeSession
from genbench.runs.asyncio_bridge import run_coroutine
from genbench.runs.execution.run_manifest import scored_manifest, stored_judges
from genbench.runs.execution.scoring import Scorer, all_readers, catch_up, readers_of
from genbench.runs.execution.verifier_setup import (
    load_verifiers,
    publish,
    renew_stale,
    verifier_pool,
    verifier_specs,
    verify_with,
)
from genbench.runs.signals import StopSwitch
from genbench.runs.stored.load import StoredRunInputs, load_stored
from genbench.runs.stored.trust import EVERYTHING, Kind, require_trust
from genbench.store.folder import RunFolder
from genbench.tasks.loaded_task import VerifiedTask


@dataclass(frozen=True, slots=True)
class Rescoring:
    """The options for scoring a stored run.

    Args:
        judges: the LLM judges of its tasks.
        again: make all verdicts anew.
        quiet: print no progress.
        edited: tasks whose lines were edited. All their verdicts are made anew.
    """

    judges: JudgeSession
    switch: StopSwitch
    again: bool = False
    quiet: bool = False
    edited: Collection[str] = ()

    async def run(self, folder: RunFolder, reread: StoredRunInputs) -> Results:
        """Make the missing verdicts and write results.json.

        Raises:
            InterruptedRunError: stopped by a signal. What was verified is kept.
        """
        self.judges.remember(stored_judges(reread.manifest))
        tasks = await self._verify(folder, reread)
        publish(folder, tasks)
        manifest = scored_manifest(reread.manifest, tasks, self.judges, again=self.again)
        folder.write_manifest(manifest)
        in_order = {task.name: tasks[task.name] for task in reread.tasks}
        readers = readers_of(folder, [item.task for item in in_order.values()], manifest.adaptive)
        return build_results(in_order, readers, manifest, reread.suite.config).write(folder)

    async def _verify(self, folder: RunFolder, reread: StoredRunInputs) -> dict[str, VerifiedTask]:
        specs = verifier_specs(reread.tasks, self.judges)
        total = sum(task.samples for task in reread.tasks)
        progress = ProgressLine(reread.manifest.model.name, total, total, self.quiet)
        async with verifier_pool(reread.suite.config.verify) as pool:
            tasks = self._judges_first(await load_verifiers(pool, specs, reread.tasks, self.judges))
            renew_stale(folder, tasks, self.again, self.edited)
            verify = verify_with(pool, specs, self.judges, folder)
            own = [item.task for item in tasks.values()]
            read = readers_of if reread.manifest.adaptive is None else all_readers
            readers = read(folder, own)
            scorer = Scorer(folder, tasks, verify, reread.split, progress.verdict, stored=readers)
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
        edited = edited_tasks(folder, readers_of(folder, run.tasks))

        async def work() -> Results:
            async with judges:
                return await Rescoring(judges, switch, again, quiet, edited).run(folder, run)

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
