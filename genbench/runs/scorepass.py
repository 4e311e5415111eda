"""One pass over a stored run: load verifiers, make missing verdicts, write results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from genbench.analysis.results import build_results
from genbench.analysis.results_record import Results
from genbench.draw.progress import ProgressLine
from genbench.errors import InterruptedRunError
from genbench.judges.session import JudgeSession
from genbench.runs.record import scored_manifest, stored_judges
from genbench.runs.rereading import RereadRun
from genbench.runs.scoring import Scorer, all_readers, catch_up, readers_of
from genbench.runs.signals import StopSwitch
from genbench.runs.verifying import (
    load_verifiers,
    publish,
    renew_stale,
    verifier_pool,
    verifier_specs,
    verify_with,
)
from genbench.store.folder import RunFolder
from genbench.tasks.loaded import VerifiedTask


@dataclass(frozen=True, slots=True)
class ScorePass:
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

    async def run(self, folder: RunFolder, reread: RereadRun) -> Results:
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

    async def _verify(self, folder: RunFolder, reread: RereadRun) -> dict[str, VerifiedTask]:
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
