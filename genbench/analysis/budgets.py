"""Token budgets from stored runs: the score at fewer tokens than the run had, and two runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.budgets import (
    MOST,
    Replies,
    budget_curve,
    budget_difference,
    budgets_up_to,
    problem_means,
)
from genbench.stats.resample import derive_seed


class BudgetPoint(JsonRecord):
    """One task at one budget."""

    budget: Count = Field(description="tokens of a reply, the trace included")
    low: Share = Field(description="score if replies that were not finished count as wrong")
    high: Share = Field(description="score if answers that had begun were right where they are at the end")
    ci: Interval = Field(description="95% interval for new questions, around both")
    tokens: float = Field(description="mean tokens of a sample")
    right_per_thousand: float = Field(description="right answers for a thousand tokens, by `low`")


class BudgetDifference(JsonRecord):
    """Tuned minus base at one budget, paired by problem."""

    budget: Count = Field(description="tokens of a reply")
    difference: SignedShare = Field(description="difference of the lower scores")
    bounds: DifferenceInterval = Field(description="what it can be where answers had begun")
    ci: DifferenceInterval = Field(description="95% interval of `difference` for new questions")
    p: Share = Field(description="two-sided p value after Holm over the budgets")


class TaskBudgets(JsonRecord):
    """The curve of one task, and its difference to another run."""

    points: tuple[BudgetPoint, ...] = Field(description="budgets from small to large; empty if unknown")
    differences: tuple[BudgetDifference, ...] = Field(description="tuned minus base; empty without base")
    unknown: str | None = Field(description="why there is no curve, or null")


class Budgets(JsonRecord):
    """Scores by token budget of one run, and of a second one."""

    format: Literal[1] = Field(description="version of this record")
    run: str = Field(description="the run folder")
    base: str | None = Field(description="the run that it is compared with, or null")
    tasks: dict[str, TaskBudgets] = Field(description="tasks by name")


def budgets(
    run: str | Path, base: str | Path | None = None, tasks: Sequence[str] = (), at: Sequence[int] = ()
) -> Budgets:
    """Return what a stored run would have scored with fewer tokens. Nothing is drawn.

    A reply that had ended by a budget keeps its score, one whose trace was open has none, and one whose
    answer had begun is between. This is exact for models that do not know their limit: it does not hold for
    `thinking_token_budget`, or for prompts that name a length.

    Args:
        base: a second run, which this one is compared with at each budget, paired by problem.
        tasks: only these. None means all.
        at: the budgets, at most eight. None: the run's own limit, halved again and again.

    Raises:
        InputError: a run cannot be read or is not finished, or a budget is above its limit.
    """
    tuned = open_side(Path(run), tasks)
    other = None if base is None else open_side(Path(base), tasks)
    for side in (tuned, other):
        if side is not None:
            require_finished(side)
    if len(at) > MOST:
        raise InputError(f"{len(at)} budgets: wanted at most {MOST}, since each is a test")
    found = {name: _task(tuned, other, name, tuple(sorted(set(at)))) for name in tuned.tasks}
    return Budgets(format=1, run=str(run), base=None if base is None else str(base), tasks=found)


def _task(tuned: Side, base: Side | None, name: str, at: tuple[int, ...]) -> TaskBudgets:
    task = tuned.tasks[name]
    why = _unknown(tuned, name)
    if why is not None:
        return TaskBudgets(points=(), differences=(), unknown=why)
    limit = _limit(task)
    chosen = at or budgets_up_to(limit)
    if chosen[0] < 1:
        raise InputError(f"a budget of {chosen[0]} tokens: wanted 1 or more")
    if chosen[-1] > limit:
        raise InputError(
            f"{tuned.path}: task {name}: a budget of {chosen[-1]:,} tokens, and its replies had at most "
            f"{limit:,}: nobody knows what they would have said after that"
        )
    seed = derive_seed(tuned.run_id, name, "budgets")
    curve = budget_curve(_replies(task), chosen, len(task.problem_ids), groups=task.groups, seed=seed)
    points = tuple(
        BudgetPoint(
            budget=budget,
            low=float(curve.low[place]),
            high=float(curve.high[place]),
            ci=(float(curve.ci_low[place]), float(curve.ci_high[place])),
            tokens=float(curve.tokens[place]),
            right_per_thousand=float(curve.per_thousand[place]),
        )
        for place, budget in enumerate(chosen)
    )
    return TaskBudgets(points=points, differences=_differences(tuned, base, name, chosen), unknown=None)


def _differences(
    tuned: Side, base: Side | None, name: str, chosen: tuple[int, ...]
) -> tuple[BudgetDifference, ...]:
    """Return the differences at the budgets that both runs reach, of the problems that both have."""
    if base is None or name not in base.tasks or _unknown(base, name) is not None:
        return ()
    ids = [
        problem for problem in tuned.tasks[name].problem_ids if problem in set(base.tasks[name].problem_ids)
    ]
    kept = tuple(budget for budget in chosen if budget <= _limit(base.tasks[name]))
    if not ids or not kept:
        return ()
    sides = [side.tasks[name].take(ids) for side in (base, tuned)]
    means = [problem_means(_replies(task), kept, len(ids)) for task in sides]
    found = budget_difference(
        means[0], means[1], sides[0].groups, seed=derive_seed(tuned.run_id, name, "budgets")
    )
    return tuple(
        BudgetDifference(
            budget=budget,
            difference=float(found.middle[place]),
            bounds=(float(found.low[place]), float(found.high[place])),
            ci=(float(found.ci[place][0]), float(found.ci[place][1])),
            p=float(found.p[place]),
        )
        for place, budget in enumerate(kept)
    )


def _limit(task: SideTask) -> int:
    """Return the tokens up to which every reply is known: the largest limit that all requests had."""
    assert task.index is not None
    limits = task.index.max_tokens
    return min(limits[problem] for problem in task.problem_ids)


def _unknown(side: Side, name: str) -> str | None:
    """Return why a task has no curve, or None."""
    task = side.tasks[name]
    if task.index is None:
        return "a score file has no replies"
    if task.described is not None and task.described.decoding.get("thinking_token_budget"):
        return "its model was told of a budget (thinking_token_budget), so a shorter one is another decoding"
    lengths = task.index.lengths
    scored = [
        (problem, place)
        for problem, row in zip(task.problem_ids, task.scores, strict=True)
        for place, score in enumerate(row)
        if score is not None
    ]
    if not scored:
        return "no sample has a score"
    lacking = sum(key not in lengths for key in scored)
    if lacking:
        return f"the tokens of {lacking:,} of {len(scored):,} samples were not counted, or it has turns"
    if not any(isinstance(limit, int) and limit > 0 for limit in task.index.max_tokens.values()):
        return "nothing says how many tokens a reply could have"
    return None


def _replies(task: SideTask) -> Replies:
    assert task.index is not None
    lengths = task.index.lengths
    rows = [
        (number, *lengths[problem, place], score)
        for number, (problem, row) in enumerate(zip(task.problem_ids, task.scores, strict=True))
        for place, score in enumerate(row)
        if score is not None
    ]
    problem, tokens, trace, scores = zip(*rows, strict=True)
    whole = [np.array(column, dtype=np.int64) for column in (problem, tokens, trace)]
    return Replies(whole[0], whole[1], whole[2], np.array(scores, dtype=float))
