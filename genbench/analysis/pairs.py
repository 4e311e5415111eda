"""The record of one compared task: difference, causes, transitions, tokens and exploratory tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.analysis.comparison_record import (
    CauseRecord,
    CausesRecord,
    ComparedTask,
    InstructionTable,
    JudgeFigures,
    JudgePair,
    McNemarRecord,
    PairedRecord,
    StratumDifference,
    TokensRecord,
    TokenUse,
    TransitionRecord,
)
from genbench.analysis.followed import Mode, compare_kinds, headline_mode
from genbench.analysis.noise import band_for
from genbench.analysis.noise_record import NoiseBand
from genbench.analysis.pairing import Pairing
from genbench.analysis.sides import SideTask, likelihood_fields
from genbench.stats.causes import Cause, split_by_cause, transitions
from genbench.stats.estimates import parse_metric
from genbench.stats.gate import Gate, TaskGate
from genbench.stats.intervals import LEVEL
from genbench.stats.paired import Paired
from genbench.stats.strata import compare_strata


def compared_tasks(
    pairing: Pairing, found: Mapping[str, Paired], decision: Gate, levels: Mapping[str, float]
) -> dict[str, ComparedTask]:
    """Return the record of each task of a comparison.

    Args:
        found: the paired difference of each task.
        decision: the gate's decisions.
        levels: the confidence of the intervals of tasks that stopped early.
    """
    sides, shared = (pairing.base, pairing.tuned), pairing.shares_seeds
    return {
        name: compared_task(
            base,
            tuned,
            found[name],
            decision.tasks[name],
            shared_seeds=shared[name],
            mode=headline_mode(pairing.tuned, name),
            noise=band_for(sides, tuned, (base.largest_k, tuned.largest_k)),
            level=levels.get(name, LEVEL),
        )
        for name, (base, tuned) in pairing.tasks.items()
    }


def compared_task(
    base: SideTask,
    tuned: SideTask,
    found: Paired,
    decision: TaskGate,
    *,
    shared_seeds: bool,
    mode: Mode,
    noise: NoiseBand | None,
    level: float = LEVEL,
) -> ComparedTask:
    """Return the record of a task whose sides have the same problems in the same order.

    Args:
        found: the paired difference.
        decision: the gate's decision.
        shared_seeds: whether sample j was drawn with one seed in both.
        mode: the form of instructions that makes the score.
        noise: the stored false-alarm band.
        level: confidence of the intervals of causes and tables.
    """
    return ComparedTask(
        **_paired_fields(found),
        metric=metric_label(base, tuned),
        verdict=decision.verdict,
        gating=decision.gating,
        margin=decision.margin,
        alpha=decision.alpha,
        finds=decision.finds,
        p_regression_adjusted=decision.p_regression_adjusted,
        p_improvement_adjusted=decision.p_improvement_adjusted,
        few_problems=found.has_few_problems,
        ragged=base.is_ragged or tuned.is_ragged,
        shared_seeds=shared_seeds,
        mcnemar=_mcnemar(found),
        causes=_causes(base, tuned, found, level),
        transitions=_transitions(base, tuned),
        tokens=_tokens(base, tuned),
        strata=dict(_strata(base, tuned, shared_seeds, level)),
        instructions=_instructions(base, tuned, mode, shared_seeds, level),
        judge=_judge_pair(base, tuned),
        noise=noise,
        **likelihood_fields(base, tuned),
    )


def metric_label(base: SideTask, tuned: SideTask) -> str:
    """Return the metric's name: `avg@8` if both sides have 8 samples of every problem, else `avg@k`."""
    same = base.largest_k == tuned.largest_k and not (base.is_ragged or tuned.is_ragged)
    ending = str(tuned.largest_k) if same else "k"
    return tuned.metric.replace("@k", f"@{ending}").replace("^k", f"^{ending}")


def _paired_fields(found: Paired) -> dict[str, Any]:
    """Return the fields that every record of a paired difference has."""
    return {name: getattr(found, name) for name in PairedRecord.model_fields}


def _stratum(name: str, found: Paired, q_value: float | None) -> StratumDifference:
    """Return one row of an exploratory table."""
    return StratumDifference(name=name, **_paired_fields(found), q_value=q_value)


def _mcnemar(found: Paired) -> McNemarRecord | None:
    """Return the record of McNemar's table, or None if there is none."""
    if found.mcnemar is None:
        return None
    return McNemarRecord(**{name: getattr(found.mcnemar, name) for name in McNemarRecord.model_fields})


def _causes(base: SideTask, tuned: SideTask, found: Paired, level: float) -> CausesRecord | None:
    """Split the difference by status. Return None if statuses are unknown or the metric is not a mean."""
    if base.statuses is None or tuned.statuses is None or found.missing is not None:
        return None
    if not parse_metric(tuned.metric).is_mean:
        return None
    if found.left_out:
        base, tuned = _scored_in_both(base, tuned)
    assert base.statuses is not None
    assert tuned.statuses is not None
    split = split_by_cause(
        base.scores,
        base.statuses,
        tuned.scores,
        tuned.statuses,
        groups=base.groups or tuned.groups,
        level=level,
    )
    leading = split.leading.status if split.leading else None
    return CausesRecord(leading=leading, parts=tuple(_cause(cause) for cause in split.causes))


def _scored_in_both(base: SideTask, tuned: SideTask) -> tuple[SideTask, SideTask]:
    """Return both sides with only the problems that have a scored sample in both."""
    kept = [
        problem
        for problem, *rows in zip(base.problem_ids, base.scores, tuned.scores, strict=True)
        if all(any(score is not None for score in row) for row in rows)
    ]
    return base.take(kept), tuned.take(kept)


def _cause(cause: Cause) -> CauseRecord:
    """Return the record of one status's part."""
    return CauseRecord(
        status=cause.status,
        part=cause.part,
        ci=cause.ci,
        base_share=cause.base_share,
        tuned_share=cause.tuned_share,
    )


def _transitions(base: SideTask, tuned: SideTask) -> tuple[TransitionRecord, ...] | None:
    """Count samples by status in base and in tuned. Return None if statuses are unknown."""
    if base.statuses is None or tuned.statuses is None:
        return None
    counts = transitions(base.statuses, tuned.statuses)
    return tuple(TransitionRecord(base=b, tuned=t, count=count) for (b, t), count in counts.items())


def _tokens(base: SideTask, tuned: SideTask) -> TokensRecord | None:
    """Return both sides' completion tokens, or None if they were not counted."""
    left, right = _token_use(base), _token_use(tuned)
    if left is None or right is None:
        return None
    ratio = right.per_correct / left.per_correct if left.per_correct and right.per_correct else None
    return TokensRecord(base=left, tuned=right, per_correct_ratio=ratio)


def _token_use(task: SideTask) -> TokenUse | None:
    """Return the completion tokens of one side, or None if they were not counted."""
    if task.index is None or task.index.completion_tokens is None:
        return None
    if task.index.problems != len(task.problem_ids):  # the other side drew fewer problems
        return None
    total = task.index.completion_tokens
    return TokenUse(
        completion=total,
        per_sample=total / task.samples,
        per_correct=total / task.correct if task.correct else None,
    )


def _strata(
    base: SideTask, tuned: SideTask, shared_seeds: bool, level: float
) -> Iterator[tuple[str, tuple[StratumDifference, ...]]]:
    """Yield each column with two or more strata: its name and its rows, with q values."""
    for column, labels in {**base.strata, **tuned.strata}.items():
        if len({label for label in labels if label is not None}) < 2:
            continue
        rows = compare_strata(
            base.scores,
            tuned.scores,
            labels,
            metric=tuned.metric,
            groups=base.groups or tuned.groups,
            shared_seeds=shared_seeds,
            base_answers=base.answers,
            tuned_answers=tuned.answers,
            level=level,
        )
        yield column, tuple(_stratum(row.name, row.paired, row.q_value) for row in rows)


def _instructions(
    base: SideTask, tuned: SideTask, mode: Mode, shared_seeds: bool, level: float
) -> InstructionTable | None:
    """Return the table by kind of instruction, or None for a task without instructions."""
    rows = compare_kinds(base, tuned, mode, shared_seeds=shared_seeds, level=level)
    if not rows:
        return None
    return InstructionTable(mode=mode, kinds=tuple(_stratum(*row) for row in rows))


def _judge_pair(base: SideTask, tuned: SideTask) -> JudgePair | None:
    """Return the figures about each run's judge, or None if neither run used one."""
    if base.judged is None and tuned.judged is None:
        return None
    return JudgePair(base=_judge_figures(base), tuned=_judge_figures(tuned))


def _judge_figures(task: SideTask) -> JudgeFigures:
    """Return the figures of one side's judge."""
    return JudgeFigures(**{name: getattr(task.judged, name, None) for name in JudgeFigures.model_fields})
