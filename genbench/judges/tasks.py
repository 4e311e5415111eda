"""The options under a judged task's `verifier:`: which judge, after which rule, against which opponent."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from genbench import registry
from genbench.errors import ConfigError, nearest
from genbench.judges.judge import Judge
from genbench.suite.block import Strict
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask

JUDGE = "judge"


class JudgedBy(Strict):
    """The options under a judged task's `verifier:`."""

    judge: str | None = Field(
        None, description="name of a shipped judge, or a judge file; default: the suite's judge"
    )
    cascade: tuple[str, ...] = (JUDGE,)
    rule: dict[str, Any] = Field(
        default_factory=dict, description="options of the rule that runs before the judge"
    )
    baseline: str | None = Field(
        None, description="pairs: folder of a stored run; default: the task's reference is the opponent"
    )


def is_judged(task: LoadedTask) -> bool:
    """Return whether a judge grades the task, either by itself or after a rule."""
    return task.verifier == JUDGE or "cascade" in task.entry.verifier


def options_of(suite: Suite, task: LoadedTask) -> JudgedBy:
    """Return the task's own options with the suite's over them.

    Raises:
        ConfigError: an unknown key, or a cascade that cannot be run.
    """
    where = f"{suite.where_task(task.name)}: task '{task.name}'"
    own = task.verifier_options if task.verifier == JUDGE else task.entry.verifier_options
    try:
        options = JudgedBy.model_validate(own)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        hint = nearest(key, JudgedBy.model_fields) if first["type"] == "extra_forbidden" else ""
        raise ConfigError(f"{where}: verifier.{key}: {first['msg']}{hint}") from None
    *rules, last = options.cascade or ("",)
    if last != JUDGE or len(rules) > 1 or JUDGE in rules:
        raise ConfigError(f"{where}: verifier.cascade: wanted [judge] or [RULE, judge]")
    for name in rules:
        try:
            registry.find("verifier", name)
        except ConfigError as error:
            raise ConfigError(f"{where}: verifier.cascade: {error}") from None
    return options


def check_references(task: LoadedTask, judge: Judge, options: JudgedBy) -> None:
    """Refuse references that the judge's form cannot use, before anything is drawn.

    The prompts of the first problem are built once, so that a form's mistake is found here as well.

    Raises:
        ConfigError: names the problem. For a pair without an opponent it says how to give one.
    """
    if options.baseline is not None:
        if not judge.form.in_pairs:
            raise ConfigError(
                f"task {task.name}: verifier.baseline goes with a judge of form 'pairwise'; "
                f"'{judge.file.name}' is of form '{judge.file.form}'"
            )
        judge.rehearse("The opponent's answer.")
        return
    for problem in task.problems:
        try:
            judge.check(task.reference(problem, 0))
        except ConfigError as error:
            hint = ""
            if judge.form.in_pairs:
                hint = "; or set verifier: {baseline: RUN_DIR/<model>}, a stored run of this task"
            raise ConfigError(f"task {task.name}, problem {problem.problem_id}: {error}{hint}") from None
    if task.problems:
        judge.rehearse(task.reference(task.problems[0], 0))
