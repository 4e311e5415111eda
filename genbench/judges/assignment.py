"""The judges of a suite's tasks: who grades which task, after which rule, against which opponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genbench.errors import ConfigError
from genbench.judges.baseline import Baseline, read_baseline
from genbench.judges.calibration import read_calibration
from genbench.judges.file import judge_path, read_judge
from genbench.judges.judge import Judge
from genbench.judges.tasks import JudgedBy, check_references, is_judged, options_of
from genbench.store.contract import digest
from genbench.suite.judge import JudgeModel
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.verifiers.pool.process import VerifierSpec


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task with its judge, its options and, for pairs against a stored run, its opponent."""

    name: str
    judge: Judge
    options: JudgedBy
    baseline: Baseline | None
    folder: str
    """The suite's folder, in which a rule of the suite's own may be."""

    @property
    def rule(self) -> VerifierSpec | None:
        """The rule before the judge, or None."""
        if len(self.options.cascade) == 1:
            return None
        return VerifierSpec(self.options.cascade[0], self.options.rule, self.folder)

    @property
    def is_local(self) -> bool:
        """Whether the judge loads on this machine."""
        return isinstance(self.judge.spec.engine, JudgeModel)

    def verifier(self, rule: str) -> tuple[str, str]:
        """Return digest and version that verdicts carry; `rule` is the digest of the rule or empty."""
        facts = [self.judge.digest, rule, *([self.baseline.digest] if self.baseline else [])]
        return digest(facts)[:16], f"judge {self.judge.file.name} {self.judge.digest}"

    @property
    def warnings(self) -> list[str]:
        """What a report must say of the judge."""
        spec = self.judge.spec
        if not spec.unpinned:
            return []
        return [
            f"{self.name}: judge '{spec.file.name}' is unpinned (revision {spec.engine.revision!r}): "
            "its verdicts cannot be made again"
        ]


def judged_tasks(suite: Suite, tasks: Sequence[LoadedTask]) -> dict[str, JudgedTask]:
    """Return the judged ones of `tasks` by name, everything checked.

    Raises:
        ConfigError: an unknown or unpinned judge, a wrong reference, a baseline that cannot be used.
    """
    judged = {task.name: task for task in tasks if is_judged(task)}
    options = {name: options_of(suite, task) for name, task in judged.items()}
    judges = {name: _judge(suite, name, options[name]) for name in judged}
    for name, task in judged.items():
        check_references(task, judges[name], options[name])
    return {
        name: JudgedTask(
            name, judges[name], options[name], _baseline(suite, task, options[name]), str(suite.folder)
        )
        for name, task in judged.items()
    }


def _judge(suite: Suite, task: str, options: JudgedBy) -> Judge:
    where = suite.where_task(task)
    used = options.judge or suite.config.judge.use
    if used is None:
        raise ConfigError(
            f"{where}: task '{task}' names no judge: set verifier: {{judge: NAME}} or judge.use"
        )
    try:
        judge = Judge(read_judge(judge_path(used, suite.folder), suite.config.judge))
        if judge.file.calibration is not None:  # asked with the first question, which may be hours later
            read_calibration(judge.spec)
        return judge
    except ConfigError as error:
        raise ConfigError(f"{where}: task '{task}': {error}") from None


def _baseline(suite: Suite, task: LoadedTask, options: JudgedBy) -> Baseline | None:
    return None if options.baseline is None else read_baseline(resolve(options.baseline, suite.folder), task)
