"""Token budgets from stored runs: the score at fewer tokens than the run had, and two runs compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.table import estimate_seed
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
from genbench.stats.ratios import Bounds, mean_bounds
from genbench.stats.scores import Floats
from genbench.store.folder import RunFolder


class BudgetPoint(JsonRecord):
    """One task at one budget."""

    budget: Count = Field(description="tokens of a reply, the trace included")
    low: Share = Field(description="score if replies that were not finished count as wrong")
    high: Share = Field(description="score if answers that had begun were right where they are at the end")
    ci: Interval = Field(description="95% interval for new questions, around both")
    tokens: float = Field(description="mean tokens of a sample")
    right_per_thousand: float = Field(description="right answers for a thousand tokens, by `low`")
    gpu_seconds: float | None = Field(
        default=None,
        description="GPU seconds of a right answer by a model of the run's own times; null if it has none",
    )


class BudgetDifference(JsonRecord):
    """Tuned minus base at one budget, paired by problem."""

    budget: Count = Field(description="tokens of a reply")
    difference: SignedShare = Field(description="difference of the lower scores")
    bounds: DifferenceInterval = Field(description="what it can be where answers had begun")
    ci: DifferenceInterval = Field(description="95% interval of `difference` for new questions")
    p: Share = Field(description="two-sided p value after Holm over the budgets")
    tokens: float = Field(default=0.0, description="tuned minus base, mean tokens of a sample")
    tokens_ci: tuple[float, float] = Field(default=(0.0, 0.0), description="95% interval of `tokens`")
    front: Literal["tuned dominates", "base dominates", "none"] = Field(
        default="none", description="whether one side is better and cheaper, both beyond their intervals"
    )


class TaskBudgets(JsonRecord):
    """The curve of one task, and its difference to another run."""

    points: tuple[BudgetPoint, ...] = Field(description="budgets from small to large; empty if unknown")
    differences: tuple[BudgetDifference, ...] = Field(description="tuned minus base; empty without base")
    unknown: str | None = Field(description="why there is no curve, or null")
    residual: float | None = Field(
        default=None, description="relative error of the model of GPU seconds, sample by sample (median)"
    )


class Budgets(JsonRecord):
    """Scores by token budget of one run, and of a second one."""

    format: Literal[1] = Field(description="version of this record")
    run: str = Field(description="the run folder")
    base: str | None = Field(description="the run that it is compared with, or null")
    tasks: dict[str, TaskBudgets] = Field(description="tasks by name")


CutScores = Mapping[str, Mapping[int, Mapping[tuple[str, int], float]]]
"""Scores of texts that end at a budget: task -> budget -> (problem, sample) -> score."""


def budgets(
    run: str | Path,
    base: str | Path | None = None,
    tasks: Sequence[str] = (),
    at: Sequence[int] = (),
    *,
    cut: CutScores | None = None,
    base_cut: CutScores | None = None,
) -> Budgets:
    """Return what a stored run would have scored with fewer tokens. Nothing is drawn.

    A reply that had ended by a budget keeps its score, one whose trace was open has none, and one whose
    answer had begun is between. This is exact for models that do not know their limit: it does not hold for
    `thinking_token_budget`, or for prompts that name a length.

    Args:
        base: a second run, which this one is compared with at each budget, paired by problem.
        tasks: only these. None means all.
        at: the budgets, at most eight. None: the run's own limit, halved again and again.
        cut: the scores of texts that end at a budget, see `genbench.cut_scores`. They close the bounds.
        base_cut: the same of the second run.

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
    cuts = _Cuts(cut or {}, base_cut or {})
    found = {name: _task(tuned, other, name, tuple(sorted(set(at))), cuts) for name in tuned.tasks}
    return Budgets(format=1, run=str(run), base=None if base is None else str(base), tasks=found)


@dataclass(frozen=True, slots=True)
class _Cuts:
    """What was verified at budgets, of tuned and of base."""

    tuned: CutScores
    base: CutScores


def _task(tuned: Side, base: Side | None, name: str, at: tuple[int, ...], cuts: _Cuts) -> TaskBudgets:
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
    seed = estimate_seed(tuned.run_id, name)
    replies = _replies(task, cuts.tuned.get(name, {}))
    curve = budget_curve(replies, chosen, len(task.problem_ids), groups=task.groups, seed=seed)
    cost = _Cost.of(tuned, name)
    points = tuple(
        BudgetPoint(
            budget=budget,
            low=float(curve.low[place]),
            high=float(curve.high[place]),
            ci=(float(curve.ci_low[place]), float(curve.ci_high[place])),
            tokens=float(curve.tokens[place]),
            right_per_thousand=float(curve.per_thousand[place]),
            gpu_seconds=None if cost is None else cost.of_right(budget, replies),
        )
        for place, budget in enumerate(chosen)
    )
    return TaskBudgets(
        points=points,
        differences=_differences(tuned, base, name, chosen, cuts),
        unknown=None,
        residual=None if cost is None else cost.residual,
    )


@dataclass(frozen=True, slots=True)
class _Cost:
    """A model of the GPU seconds of a sample: c0 prompt + c1 tokens + c2 tokens², by the run's own times.

    The times of samples say what costs more than what, and the run's drawing time how much all cost.
    """

    weights: Floats
    scale: float
    prompts: Floats
    tokens: Floats
    residual: float

    @classmethod
    def of(cls, side: Side, name: str) -> _Cost | None:
        """Return the model of a task, or None if its run did not draw, or counted no tokens."""
        if side.manifest is None:
            return None
        rows = [
            (item.prompt_tokens, item.completion_tokens, item.seconds)
            for item in RunFolder(side.path).completions(name)
            if item.prompt_tokens and item.completion_tokens and item.seconds
        ]
        drawing = sum(item.generation_s * max(len(item.gpu_busy or ()), 1) for item in side.manifest.attempts)
        total = sum(
            task.index.completion_tokens or 0 for task in side.tasks.values() if task.index is not None
        )
        if len(rows) < _LEAST_TIMES or not drawing or not total:
            return None
        prompts, tokens, seconds = np.array(rows, dtype=float).T
        design = np.stack([prompts, tokens, tokens**2], axis=1)
        sizes = design.max(axis=0)
        from scipy.optimize import nnls  # noqa: PLC0415  it takes 0.2 s, and most comparisons need none

        weights = nnls(design / sizes, seconds)[0] / sizes
        modelled = design @ weights
        if not modelled.sum():
            return None
        share = drawing * float(tokens.sum()) / total
        residual = float(np.median(np.abs(modelled - seconds) / seconds))
        return cls(weights, share / float(modelled.sum()), prompts, tokens, residual)

    def of_right(self, budget: int, replies: Replies) -> float | None:
        """Return the GPU seconds of a right answer if replies had ended at a budget."""
        right = float(replies.at(budget)[0].sum()) * len(self.tokens) / len(replies.tokens)
        cut = np.minimum(self.tokens, budget)
        spent = self.scale * float((np.stack([self.prompts, cut, cut**2], axis=1) @ self.weights).sum())
        return spent / right if right else None


_LEAST_TIMES = 8


def budget_line(base: Side, tuned: Side, name: str) -> str | None:
    """Return in a line where two runs differ otherwise at fewer tokens than at the end, or None."""
    if any(name not in side.tasks or _unknown(side, name) is not None for side in (base, tuned)):
        return None
    limit = min(_limit(side.tasks[name]) for side in (base, tuned))
    found = _differences(tuned, base, name, budgets_up_to(limit), _Cuts({}, {}))
    if len(found) < 2:
        return None
    last = found[-1]
    telling = [
        item
        for item in found[:-1]
        if item.p <= _TELLING and (last.p > _TELLING or (item.difference < 0) != (last.difference < 0))
    ]
    if not telling:
        return None
    first = telling[0]
    low, high = sorted(100 * abs(bound) for bound in first.ci)
    said = f"tuned is {100 * abs(first.difference):.1f} [{low:.1f}, {high:.1f}] {_side(first)} base"
    return f"at {first.budget:,} tokens {said}, at {limit:,} {100 * abs(last.difference):.1f} {_side(last)}"


_TELLING = 0.05


def _side(item: BudgetDifference) -> str:
    return "below" if item.difference < 0 else "above"


def _differences(
    tuned: Side, base: Side | None, name: str, chosen: tuple[int, ...], cuts: _Cuts
) -> tuple[BudgetDifference, ...]:
    """Return the differences at the budgets that both runs reach, of the problems that both have."""
    if base is None or name not in base.tasks or _unknown(base, name) is not None:
        return ()
    known = set(base.tasks[name].problem_ids)
    ids = [problem for problem in tuned.tasks[name].problem_ids if problem in known]
    kept = tuple(budget for budget in chosen if budget <= _limit(base.tasks[name]))
    if not ids or not kept:
        return ()
    sides = [side.tasks[name].take(ids) for side in (base, tuned)]
    verified = cuts.base.get(name, {}), cuts.tuned.get(name, {})
    replies = [_replies(task, own) for task, own in zip(sides, verified, strict=True)]
    means = [problem_means(own, kept, len(ids)) for own in replies]
    groups = sides[0].groups or sides[1].groups
    found = budget_difference(means[0], means[1], groups)
    spent = _spent(replies, kept, len(ids), groups)
    return tuple(
        BudgetDifference(
            budget=budget,
            difference=float(found.middle[place]),
            bounds=(float(found.low[place]), float(found.high[place])),
            ci=(float(found.ci[place][0]), float(found.ci[place][1])),
            p=float(found.p[place]),
            tokens=spent[place].value,
            tokens_ci=spent[place].ci or (-float(budget), float(budget)),
            front=_front(found.ci[place], spent[place].ci or (0.0, 0.0)),
        )
        for place, budget in enumerate(kept)
    )


def _spent(
    replies: Sequence[Replies], chosen: tuple[int, ...], problems: int, groups: Sequence[str | None] | None
) -> list[Bounds]:
    """Return tuned less base of the mean tokens of a sample at each budget."""
    means = []
    for own in replies:
        counts = np.bincount(own.problem, minlength=problems).astype(float)
        counts[counts == 0] = np.nan
        cut = (np.minimum(own.tokens, budget) for budget in chosen)
        means.append([np.bincount(own.problem, weights=one, minlength=problems) / counts for one in cut])
    known = ~np.isnan(means[0][0] + means[1][0])
    kept = None if groups is None else [group for group, own in zip(groups, known, strict=True) if own]
    return [mean_bounds((tuned - base)[known], kept) for base, tuned in zip(*means, strict=True)]


def _front(
    score: Floats, tokens: tuple[float, float]
) -> Literal["tuned dominates", "base dominates", "none"]:
    """Return which side is better and needs fewer tokens, both beyond their intervals."""
    if score[0] > 0 and tokens[1] < 0:
        return "tuned dominates"
    return "base dominates" if score[1] < 0 and tokens[0] > 0 else "none"


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


def _replies(task: SideTask, cut: Mapping[int, Mapping[tuple[str, int], float]] | None = None) -> Replies:
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
    keys = [
        (name, place)
        for name, row in zip(task.problem_ids, task.scores, strict=True)
        for place, score in enumerate(row)
        if score is not None
    ]
    verified = {
        budget: np.array([own.get(key, np.nan) for key in keys], dtype=float)
        for budget, own in (cut or {}).items()
    }
    return Replies(whole[0], whole[1], whole[2], np.array(scores, dtype=float), verified)
