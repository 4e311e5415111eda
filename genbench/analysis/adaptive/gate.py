"""The gate of a comparison whose tuned run was adaptive: its decisions are those of the looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scipy.special import ndtri

from genbench.analysis.adaptive.plan import base_digest, rules_of
from genbench.analysis.comparison.comparability import Difference
from genbench.analysis.sides.side import Side
from genbench.errors import InputError
from genbench.stats.adaptive.alpha_spending import level
from genbench.stats.adaptive.group_sequential import TaskRule
from genbench.stats.comparison.differences import lower_bound, smallest_detectable_drop
from genbench.stats.comparison.gate import MARGIN, Gate, GateVerdict, TaskGate, pool, together
from genbench.stats.comparison.paired import Paired
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.store.manifest import AdaptiveRecord

SAME = 1e-9
"""Differences closer than this are the same, because sums in another order differ a little."""


def adaptive_of(side: Side) -> AdaptiveRecord | None:
    """Return the plan and the looks of a side, or None if it was not adaptive.

    Raises:
        InputError: the run is not over.
    """
    record = None if side.manifest is None else side.manifest.adaptive
    if record is not None and not record.state.is_over:
        raise InputError(f"{side.path}: the adaptive run is not over; continue it with its command")
    return record


def interval_levels(record: AdaptiveRecord | None) -> dict[str, float]:
    """Return for each task the confidence of the repeated interval at the look that it reached."""
    if record is None:
        return {}
    reached = record.state.reached
    return {name: rule.interval[reached[name] - 1] for name, rule in rules_of(record.plan).items()}


def plan_differences(base: Side, record: AdaptiveRecord | None) -> list[Difference]:
    """Return a difference if the tuned run was planned against other scores than those of base."""
    if record is None:
        return []
    planned = record.plan.base
    known = {name: base.tasks[name].problem_ids for name in record.plan.tasks if name in base.tasks}
    # A base with more problems than the plan has another digest, so its run is named as well.
    uid = None if base.manifest is None else base.manifest.run_uid
    if uid == planned.uid and set(known) == set(record.plan.tasks):
        return []
    if known and base_digest(base, known) == planned.digest:
        return []
    return [
        Difference(
            "adaptive",
            f"the looks of tuned were planned against {planned.path} (run {planned.uid}), not against "
            f"{base.path} (run {uid}): their errors do not hold for another base",
        )
    ]


def check_choices(
    record: AdaptiveRecord, given: Mapping[str, Sequence[str] | Mapping[str, float] | float | None]
) -> None:
    """Refuse options of the gate that an adaptive run fixed before its first draw.

    Raises:
        InputError: one is given.
    """
    for option, value in given.items():
        if value:
            raise InputError(
                f"{option}: tuned is an adaptive run against {record.plan.base.path}, whose gating tasks and "
                "margins were planned before its first draw; set them in its suite"
            )


def repeated(record: AdaptiveRecord, tasks: Mapping[str, Paired]) -> dict[str, Paired]:
    """Return the differences with the words of their repeated intervals and the bound of their last look."""
    rules, reached = rules_of(record.plan), record.state.reached
    found = dict(tasks)
    for name, rule in rules.items():
        if name not in tasks:
            continue
        task, look = tasks[name], reached[name]
        words = f"repeated interval, look {look} of {rule.looks.count}: {task.ci_method}"
        lower = None if task.worst is None else lower_bound(task.worst, rule.bound[look - 1])
        found[name] = task.model_copy(update={"ci_method": words, "lower": lower})
    return found


def changed_words(record: AdaptiveRecord, tasks: Mapping[str, Paired]) -> list[str]:
    """Return a warning for each task whose verdicts were made again with another outcome after its look."""
    words: list[str] = []
    for name, task in tasks.items():
        seen = [look.tasks[name] for look in record.state.looks if name in look.tasks]
        if not seen or task.difference is None or seen[-1].look != record.state.reached[name]:
            continue
        before = seen[-1].difference
        if before is None or abs(before - task.difference) > SAME:
            words.append(
                f"{name}: verdicts of tuned or base changed since the look that decided; the command of the "
                "run looks again"
            )
    return words


def adaptive_gate(record: AdaptiveRecord, tasks: Mapping[str, Paired]) -> Gate:
    """Return the decisions of the looks as a gate."""
    rules, last = rules_of(record.plan), record.state.looks[-1]
    gates = {name: _task_gate(record, name, rules, tasks[name]) for name in tasks if name in rules}
    family = {name: tasks[name] for name, found in gates.items() if found.gating}
    margins = {name: found.margin for name, found in gates.items() if found.gating}
    fractions = [look.pooled.fraction for look in record.state.looks if look.pooled is not None]
    alpha = record.plan.alpha
    bound = level("pocock", alpha, fractions) if fractions else alpha
    whole = together(family, margins, min(margins.values(), default=MARGIN), bound)
    pooled = pool(family)
    if fractions:
        pooled = replace(pooled, ci=_widened(pooled.ci, level("pocock", alpha / 2, fractions)))
    verdict = last.verdict or "INCONCLUSIVE"
    return Gate(gates, pooled, whole, verdict, alpha, alpha if len(family) == 1 else alpha / 2, ())


def _widened(ci: tuple[float, float] | None, error: float) -> tuple[float, float] | None:
    """Return a normal interval with this one-sided error instead of 2.5 %."""
    if ci is None:
        return None
    middle, half = (ci[0] + ci[1]) / 2, (ci[1] - ci[0]) / 2
    half *= float(ndtri(1 - error)) / normal_quantile(LEVEL)
    return max(-1.0, middle - half), min(1.0, middle + half)


def _task_gate(record: AdaptiveRecord, name: str, rules: Mapping[str, TaskRule], task: Paired) -> TaskGate:
    """Return the decision of a task, with p and level of its last look."""
    seen = [look.tasks[name] for look in record.state.looks if name in look.tasks]
    decision = record.state.decisions.get(name, "STOPPED")
    verdict: GateVerdict = "INCONCLUSIVE"
    if decision in ("REGRESSED", "NON_INFERIOR"):
        verdict = decision
    allowed = seen[-1].level
    return TaskGate(
        verdict=verdict,
        gating=rules[name].gating,
        margin=rules[name].margin,
        alpha=allowed,
        p_regression_adjusted=seen[-1].p if rules[name].gating else None,
        p_improvement_adjusted=None,
        finds=None if task.clusters is None else smallest_detectable_drop(task.clusters, allowed),
    )
