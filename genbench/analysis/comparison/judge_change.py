"""What another judge makes of the same texts, task by task. It says nothing about models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideRecord, SideTask
from genbench.errors import InputError, NotComparableError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.agreement import clustered_kappa
from genbench.stats.comparison.paired import paired

_SEED = 20260101
_MOST_SCORES = 12
"""Different scores of one task up to which they are labels. More of them are a scale without steps."""


class JudgeName(JsonRecord):
    """A judge of one side."""

    name: str = Field(description="name of the judge file")
    digest: str = Field(description="digest of all that can change a verdict")
    model: str = Field(description="identity of the model that answered, or what its server declares")


class JudgeChange(JsonRecord):
    """The scores of one task's texts by two judges."""

    first: JudgeName = Field(description="the judge of the first run")
    second: JudgeName = Field(description="the judge of the second run")
    n: Count = Field(description="problems")
    samples: Count = Field(description="texts that both judges scored; all figures are about these")
    unscored: tuple[Count, Count] = Field(description="texts without a score, by judge")
    score_first: Share | None = Field(description="mean over problems by the first judge")
    score_second: Share | None = Field(description="mean over problems by the second judge")
    difference: SignedShare | None = Field(description="second - first")
    ci: DifferenceInterval | None = Field(description="95% interval of the difference for new questions")
    higher: Count = Field(description="texts that the second judge scores higher")
    lower: Count = Field(description="texts that the second judge scores lower")
    agreement: Share | None = Field(description="share of texts with the same score")
    kappa: float | None = Field(
        description="Cohen's kappa of the scores, with quadratic weights if there are more than two; null if "
        "one score is used throughout, or if there are too many different ones"
    )
    kappa_ci: DifferenceInterval | None = Field(description="95% interval of kappa, by problem")
    missing: str | None = Field(default=None, description="why there is no difference; null if it is given")


class JudgeChanges(JsonRecord):
    """The same texts of one model by two judges."""

    format: int = Field(default=1, description="version of this record")
    first: SideRecord = Field(description="the run with the first judge")
    second: SideRecord = Field(description="the run with the second judge")
    tasks: dict[str, JudgeChange] = Field(description="the judged tasks that both runs have")
    same: tuple[str, ...] = Field(description="tasks with one judge in both: the difference is its own noise")


def judge_changes(first: Path, second: Path, tasks: Sequence[str] = ()) -> JudgeChanges:
    """Compare two judges on the same texts.

    Args:
        first: a run. second: the same run, scored under another judge.
        tasks: the tasks to read. Empty reads all.

    Raises:
        InputError: a side cannot be read, or no judged task is in both.
        NotComparableError: another model, or other texts.
    """
    one, two = open_side(first, tasks), open_side(second, tasks)
    if one.identity is None or one.identity != two.identity:
        raise NotComparableError(
            f"judge compare takes two judges on the same texts, and {first} and {second} are of two models "
            f"({one.identity} and {two.identity}); for models there is genbench compare"
        )
    shared = {
        name: (task, two.tasks[name])
        for name, task in one.tasks.items()
        if name in two.tasks and task.judged is not None and two.tasks[name].judged is not None
    }
    if not shared:
        raise InputError(f"{first} and {second} have no task in common that a judge graded in both")
    found = {name: _change(name, *pair) for name, pair in shared.items()}
    return JudgeChanges(
        first=one.record,
        second=two.record,
        tasks=found,
        same=tuple(name for name, item in found.items() if item.first == item.second),
    )


def other_judge_only(base: Side, tuned: Side) -> bool:
    """Return whether two sides are the same texts of one model, of which some were graded by two judges."""
    if base.identity is None or base.identity != tuned.identity:
        return False
    shared = [(task, tuned.tasks[name]) for name, task in base.tasks.items() if name in tuned.tasks]
    judged = [pair for pair in shared if pair[0].judged is not None and pair[1].judged is not None]
    return any(_judge(left) != _judge(right) for left, right in judged) and all(
        _has_same_texts(*pair) for pair in shared
    )


def _has_same_texts(first: SideTask, second: SideTask) -> bool:
    if first.index is None or second.index is None:
        return False
    return first.problem_ids == second.problem_ids and dict(first.index.texts) == dict(second.index.texts)


def _change(name: str, first: SideTask, second: SideTask) -> JudgeChange:
    if not _has_same_texts(first, second):
        raise NotComparableError(
            f"task {name}: the runs have other texts, so their difference is not one of judges; score the "
            "same texts again: genbench score RUN --suite OTHER_JUDGE.yaml --into FOLDER"
        )
    both = [
        [
            (left, right) if left is not None and right is not None else (None, None)
            for left, right in zip(*rows, strict=True)
        ]
        for rows in zip(first.scores, second.scores, strict=True)
    ]
    scores = [[[pair[side] for pair in row] for row in both] for side in (0, 1)]
    scored = [(left, right) for row in both for left, right in row if left is not None and right is not None]
    found = paired(scores[0], scores[1], groups=first.groups, shared_seeds=True)
    values = sorted({value for pair in scored for value in pair})
    kappa = None
    if scored and len(values) <= _MOST_SCORES:
        labels = [[[str(one) for one in row if one is not None] for row in side] for side in scores]
        labels = [[row for row in side if row] for side in labels]
        ordered = [str(value) for value in values] if len(values) > 2 else None
        kappa = clustered_kappa(labels[0], labels[1], seed=_SEED, ordered=ordered)
    return JudgeChange(
        first=_judge(first),
        second=_judge(second),
        n=len(first.problem_ids),
        samples=len(scored),
        unscored=(_unscored(first), _unscored(second)),
        score_first=found.base,
        score_second=found.tuned,
        difference=found.difference,
        ci=found.ci,
        higher=sum(right > left for left, right in scored),
        lower=sum(right < left for left, right in scored),
        agreement=sum(left == right for left, right in scored) / len(scored) if scored else None,
        kappa=None if kappa is None else kappa.value,
        kappa_ci=None if kappa is None else kappa.ci,
        missing=found.missing,
    )


def _unscored(task: SideTask) -> int:
    return sum(score is None for row in task.scores for score in row)


def _judge(task: SideTask) -> JudgeName:
    assert task.judged is not None
    engine = task.judged.engine
    model = engine.get("identity") or f"{engine.get('model')} {engine.get('revision_declared') or ''}".strip()
    return JudgeName(name=task.judged.name, digest=task.judged.digest, model=str(model))
