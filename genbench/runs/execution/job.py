"""The work of one command on one model: the job before its folder is opened, and what its steps share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from genbench.analysis.adaptive.plan import begun, plan_warnings
from genbench.analysis.sides.side import Side
from genbench.data.subset import Shard
from genbench.draw.draw_queue import Lengths
from genbench.draw.progress import ProgressLine, Together
from genbench.engines.placement import EngineKeeper
from genbench.judges.session import JudgeSession
from genbench.models.prepare import PreparedModel
from genbench.runs.event_loop import StopSwitch
from genbench.runs.execution.simulated_users import SimulatedUsers
from genbench.runs.options import RunOptions
from genbench.store.contract import digest, shaping
from genbench.store.folder import RunFolder
from genbench.store.manifest import AboutRecord, AdaptivePlan, AdaptiveRecord, TrackRecord
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import SampleId


@dataclass(frozen=True, slots=True)
class AdaptiveJob:
    """What an adaptive run needs beyond its own folder.

    `base` is the stored run. `whole` are the tasks with the problems of all shards. `finish` says that tasks
    draw on after another one REGRESSED.
    """

    base: Side
    whole: Sequence[LoadedTask]
    plan: AdaptivePlan
    finish: bool = False

    @property
    def record(self) -> AdaptiveRecord:
        """Return the record of the run before its first draw."""
        return begun(self.plan)

    @property
    def warnings(self) -> list[str]:
        """Return the reservations about the plan."""
        return plan_warnings(self.base, self.plan)


@dataclass(frozen=True, slots=True)
class Job:
    """The work of one command on one model.

    `origin` has the data folder, limit and tasks, so that `genbench score` can read the same data again.
    """

    suite: Suite
    tasks: Sequence[LoadedTask]
    model: PreparedModel
    path: Path
    origin: Mapping[str, Any]
    machine: Mapping[str, Any]
    """The facts about this machine. They are read once for all jobs of a command."""
    options: RunOptions
    """What the command was asked. Each option is read where it acts."""
    lengths: Lengths | None = None
    """The expected lengths that order the queue. None means each task's max_tokens."""
    earlier: Sequence[Path] = ()
    """Run folders of the same model and suite, from which samples are taken over if nothing about them
    changed. The newest is first."""
    notes: Sequence[str] = ()
    """Lines for people, printed when the run begins."""
    reused: bool = False
    """Whether the folder is a stored run that `--reuse` named. If it is complete, nothing in it is
    changed."""

    track: TrackRecord | None = None
    """The run's place in a track. None if it belongs to none."""

    samples: frozenset[SampleId] | None = None
    """The only samples that are drawn, or None for all. Metrics that need the others are missing then."""

    about: AboutRecord = field(default_factory=AboutRecord)
    """What the user says about the run."""

    shard: Shard | None = None
    """The part of a job array that is drawn, or None for everything."""
    fails_alone: bool = False
    """Whether an error of this model leaves the others of the command as they are."""
    adaptive: AdaptiveJob | None = None
    """The plan and the base of an adaptive run, or None if all samples are drawn."""

    @property
    def is_night(self) -> bool:
        """Return whether the run is a night of a track. A night takes over nothing from earlier runs."""
        return self.track is not None and self.track.kind == "night"

    @property
    def deferred(self) -> bool:
        """Return whether some verdicts wait for a judge that loads after all models under test are closed."""
        return bool(JudgeSession(self.suite, self.tasks, self.path).deferred)

    @property
    def run_id(self) -> str:
        """Return the run's name in seeds of resampling. It is equal for equal model, terms and run seed."""
        terms = {**shaping(self.model.terms), "decoding": None}
        return digest([self.suite.name, self.model.identity, terms, self.suite.config.decoding.seed])[:12]


@dataclass(frozen=True, slots=True)
class RunContext:
    """One job in its run folder.

    `switch` stops the run. `keeper` has the engines that models share. `judges` grade the tasks that no rule
    can verify. `ran_dry` is called when no sample waits for an engine any more. `together` has the progress
    of all models of the command.
    """

    job: Job
    folder: RunFolder
    switch: StopSwitch
    keeper: EngineKeeper
    judges: JudgeSession
    ran_dry: Callable[[], None] = lambda: None
    together: Together = field(default_factory=Together)

    def simulated_users(self) -> SimulatedUsers:
        """Return the models that play the users of the job's tasks. None of them is loaded yet.

        Raises:
            ConfigError: a task with a user does not say who plays it.
        """
        return SimulatedUsers(self.job.tasks, self.job.suite.folder, self.folder.path / "engine" / "user")

    def narrowed(self, needed: int | None) -> RunContext:
        """Return the context with engines for requests of at most `needed` tokens, and say so.

        None changes nothing.
        """
        model = self.job.model
        if needed is None:
            return self
        settings = model.settings.narrowed(needed)
        own, used = model.settings.max_model_len, settings.max_model_len
        if own is not None and used is not None and used < own:
            say = ProgressLine(model.name, 0, 0, self.job.options.quiet).say
            say(f"{model.name}: context {used:,} of {own:,} tokens: no request needs more")
        return replace(self, job=replace(self.job, model=replace(model, settings=settings)))
