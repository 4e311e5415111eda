"""Objects that the steps of one run share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from genbench.draw.progress import ProgressLine
from genbench.engines.kind import Narrows
from genbench.engines.placement import EngineKeeper
from genbench.judges.session import JudgeSession
from genbench.runs.execution.job import Job
from genbench.runs.execution.prompt_records import SpooledPrompts
from genbench.runs.execution.simulated_users import SimulatedUsers
from genbench.runs.signals import StopSwitch
from genbench.store.folder import RunFolder


@dataclass(frozen=True, slots=True)
class RunContext:
    """One job in its run folder.

    `switch` stops the run. `keeper` has the engines that models share. `judges` grade the tasks that no rule
    can verify. `ran_dry` is called when no sample waits for an engine any more.
    """

    job: Job
    folder: RunFolder
    switch: StopSwitch
    keeper: EngineKeeper
    judges: JudgeSession
    ran_dry: Callable[[], None] = lambda: None

    @classmethod
    def begin(
        cls,
        job: Job,
        folder: RunFolder,
        switch: StopSwitch,
        keeper: EngineKeeper,
        ran_dry: Callable[[], None] = lambda: None,
    ) -> Self:
        """Return the context of a job that has the lock of its folder. No judge is loaded yet."""
        judges = JudgeSession(job.suite, job.tasks, folder.path)
        return cls(job, folder, switch, keeper, judges, ran_dry)

    def simulated_users(self) -> SimulatedUsers:
        """Return the models that play the users of the job's tasks. None of them is loaded yet.

        Raises:
            ConfigError: a task with a user does not say who plays it.
        """
        return SimulatedUsers(self.job.tasks, self.job.suite.folder, self.folder.path / "engine" / "user")

    def packed_asks(self) -> SpooledPrompts:
        """Return the store of the run's questions, in its folder. Use it in `with`."""
        return SpooledPrompts(self.folder.path)

    def narrowed(self, needed: int | None) -> RunContext:
        """Return the context with engines for requests of at most `needed` tokens, and say so.

        None changes nothing.
        """
        model = self.job.model
        if needed is None or not isinstance(model.settings, Narrows):
            return self
        settings = model.settings.narrowed(needed)
        own, used = model.settings.max_model_len, settings.max_model_len
        if own is not None and used is not None and used < own:
            say = ProgressLine(model.name, 0, 0, self.job.quiet).say
            say(f"{model.name}: context {used:,} of {own:,} tokens: no request needs more")
        return replace(self, job=replace(self.job, model=replace(model, settings=settings)))
