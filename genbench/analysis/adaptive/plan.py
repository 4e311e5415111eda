"""The plan of an adaptive run, made before anything is drawn, and the records of its looks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import ConfigError, InputError
from genbench.stats.adaptive.group_sequential import (
    POOLED_MARGIN,
    SURE_SAMPLES,
    Looks,
    TaskRule,
    plan_looks,
    sure_problems,
    task_rule,
)
from genbench.stats.adaptive.looks import NightLookRecord
from genbench.stats.comparison.differences import ALPHA
from genbench.stats.comparison.gate import MARGIN
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.metrics import parse_metric
from genbench.store.contract import digest
from genbench.store.manifest import (
    AdaptivePlan,
    AdaptiveRecord,
    AdaptiveState,
    BaseRecord,
    ConfirmationRecord,
    TaskPlan,
    place_of,
)
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.metrics import is_built_in


def make_plan(base: Side, tasks: Sequence[LoadedTask]) -> AdaptivePlan:
    """Return the plan of a run of `tasks` against `base`.

    Args:
        base: the stored run.
        tasks: the tasks with the problems of the whole run, over all its shards.

    Raises:
        InputError: base lacks a task, a problem or samples, or the headline metric of a task is not a mean.
    """
    for task in tasks:
        _check_task(base, task)
    family = [task.name for task in tasks if task.entry.gating] or [task.name for task in tasks]
    share = ALPHA if len(family) == 1 else ALPHA / 2 / len(family)
    plans = {
        task.name: _task_plan(
            base, task, gating=task.name in family, alpha=share if task.name in family else ALPHA
        )
        for task in tasks
    }
    assert base.manifest is not None
    return AdaptivePlan(
        base=BaseRecord(
            path=str(base.path.resolve()),
            uid=base.manifest.run_uid,
            model=base.manifest.model.name,
            model_identity=base.manifest.model_identity,
            digest=base_digest(base, {task.name: _ids(task) for task in tasks}),
        ),
        alpha=ALPHA,
        pooled_margin=POOLED_MARGIN,
        tasks=plans,
    )


def base_digest(base: Side, problems: Mapping[str, Sequence[str]]) -> str:
    """Return the digest of the base's scores on these problems of each task, in any order."""
    found = {}
    for name, ids in problems.items():
        scores = dict(zip(base.tasks[name].problem_ids, base.tasks[name].scores, strict=True))
        found[name] = [[problem, list(scores.get(problem, ()))] for problem in sorted(ids)]
    return digest(found)[:32]


def plan_warnings(base: Side, plan: AdaptivePlan) -> list[str]:
    """Return the reservations about a plan: a base with few samples makes false alarms come together."""
    return [
        f"{name}: base has {base.tasks[name].smallest_k} samples of each problem; with fewer than "
        f"{SURE_SAMPLES} no problem is sure, and false alarms come in clusters of nights"
        for name in plan.tasks
        if base.tasks[name].smallest_k < SURE_SAMPLES
    ]


def rules_of(plan: AdaptivePlan) -> dict[str, TaskRule]:
    """Return the rule of each task of a plan."""
    family = sum(task.gating for task in plan.tasks.values())
    return {
        name: task_rule(
            Looks(task.n, task.k, task.steps, task.by_problems),
            margin=task.margin,
            gating=task.gating,
            family=family,
            alpha=plan.alpha,
        )
        for name, task in plan.tasks.items()
    }


def begun(plan: AdaptivePlan) -> AdaptiveRecord:
    """Return the record of a run before its first draw."""
    return AdaptiveRecord(plan=plan, state=AdaptiveState(reached=dict.fromkeys(plan.tasks, 1)))


def _ids(task: LoadedTask) -> list[str]:
    return [problem.problem_id for problem in task.problems]


def _check_task(base: Side, task: LoadedTask) -> None:
    """Raise InputError if the looks at a task cannot be compared with the base."""
    where = f"--against {base.path}: task {task.name}"
    metric = task.task.info.headline
    if not is_built_in(metric) or not parse_metric(metric).is_mean:
        raise ConfigError(
            f"--adaptive: task {task.name} is measured by {metric}; looks need a mean of samples (acc, "
            "avg@k): leave the task out with --task, or run it without --adaptive"
        )
    stored = base.tasks.get(task.name)
    if stored is None:
        raise InputError(
            f"{where}: the base has no such task; draw it there too, or leave it out with --task"
        )
    lacking = sorted(set(_ids(task)) - set(stored.problem_ids))
    if lacking:
        raise InputError(
            f"{where}: the base lacks {len(lacking)} of {len(task.problems)} problems (the first: "
            f"{lacking[0]}); draw the base on all of them"
        )
    if stored.smallest_k < task.k:
        raise InputError(
            f"{where}: the base has {stored.smallest_k} samples of each problem, wanted at least {task.k}; "
            f"draw it with --set tasks.{task.name}.k={SURE_SAMPLES}"
        )


def _task_plan(base: Side, task: LoadedTask, *, gating: bool, alpha: float) -> TaskPlan:
    """Return the planned looks of one task."""
    looks = plan_looks(len(task.problems), task.k)
    steps, cuts = looks.steps, list[str]()
    if looks.by_problems:
        places = sorted(place_of(problem.problem_id, problem.group) for problem in task.problems)
        cuts = sorted({places[step - 1] for step in steps})
        # Problems of one group are drawn together, so a look may have a few more than a quarter.
        steps = tuple(bisect_right(places, cut) for cut in cuts)
    stored = base.tasks[task.name].take(_ids(task))
    sure = sure_problems(stored.scores)
    margin = MARGIN if task.entry.margin is None else task.entry.margin / 100
    return TaskPlan(
        n=len(task.problems),
        k=task.k,
        by_problems=looks.by_problems,
        steps=steps,
        fractions=tuple(step / steps[-1] for step in steps),
        cuts=tuple(cuts),
        sure=tuple(name for name, is_sure in zip(stored.problem_ids, sure, strict=True) if is_sure),
        margin=margin,
        gating=gating,
        alpha=alpha,
        interval=task_rule(Looks(looks.n, looks.k, steps, looks.by_problems)).interval,
    )


Scores = Mapping[str, Sequence[float | None]]
"""The scores of tuned by problem."""


def paired_at(base: SideTask, scores: Scores) -> Paired:
    """Return the difference of tuned to base over the problems of `scores`, in the order of base."""
    own = base.take([problem for problem in base.problem_ids if problem in scores])
    tuned = [list(scores[problem]) for problem in own.problem_ids]
    return paired([list(row) for row in own.scores], tuned, metric="avg@k", groups=own.groups)


def confirmation(base: SideTask, scores: Scores) -> ConfirmationRecord:
    """Return the test of a drop in fresh samples only."""
    found = paired_at(base, scores)
    return ConfirmationRecord(
        samples=sum(map(len, scores.values())),
        difference=found.difference,
        p=1.0 if found.p_regression is None else found.p_regression,
    )


def look_words(look: NightLookRecord) -> list[str]:
    """Return a look in one or two lines: what was decided, and who draws on."""
    decided = [f"{name} {task.decision}" for name, task in look.tasks.items() if task.decision]
    lines = [f"look {look.number}: {', '.join(decided) or 'no task is decided'}"]
    if look.draws:
        lines[0] += f"; draws on: {', '.join(look.draws)}"
    if look.verdict is not None:
        lines.append(f"the suite is {look.verdict} after {look.number} look{'s' if look.number > 1 else ''}")
    return lines
