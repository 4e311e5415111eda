"""Figures of a judge's verdicts beyond their mean: unscored, order flips, lengths, accuracy of the rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genbench.analysis.judge_records import (
    AccuracyRecord,
    AttemptsRecord,
    CascadeAccuracy,
    LengthControlledRate,
    MeanChars,
    PairwiseRecord,
    PositionBias,
)
from genbench.analysis.results_record import JudgedRecord, TaskResults
from genbench.analysis.table import VerdictTable
from genbench.errors import InputError
from genbench.stats.estimates import Estimate
from genbench.stats.intervals import problem_interval
from genbench.stats.pairwise import length_controlled
from genbench.store.manifest import JudgeRecord
from genbench.types import Verdict


def judged_record(
    judge: JudgeRecord, lead: Estimate, table: VerdictTable, verdicts: Sequence[Verdict], seed: int
) -> JudgedRecord:
    """Return the record of a judge's verdicts in results.json. Rates are fractions of 1, lengths characters.

    Args:
        judge: the judge's entry in the manifest.
        lead: the task's headline metric.
        verdicts: the verdicts that count, one per sample.
        seed: the seed of the resampling.
    """
    unscored = sum(verdict.status == "unscored" for verdict in verdicts)
    scored = [verdict for verdict in verdicts if verdict.score is not None]
    extra: dict[str, Any] = {}
    if any("rule" in verdict.parts for verdict in scored):
        extra["accuracy"] = CascadeAccuracy(
            rule=_accuracy(table, "rule", seed), cascade=_accuracy(table, "cascade", seed)
        )
        extra["decided_by"] = dict(Counter(str(verdict.detail["decided_by"]) for verdict in scored))
    if "no_answer" in judge.statuses.values():
        extra["attempts"] = _attempts(scored)
    if judge.in_pairs and scored:
        extra["pairwise"] = _pairwise(lead, scored)
    return JudgedRecord(
        **{name: getattr(judge, name) for name in JudgeRecord.model_fields},
        unscored=unscored,
        unscored_share=unscored / len(verdicts) if verdicts else None,
        **extra,
    )


def _accuracy(table: VerdictTable, name: str, seed: int) -> AccuracyRecord:
    """Return the mean over problems of the samples' part, with the interval of the question population."""
    means = [float(np.mean([parts[name] for parts in samples])) for samples in table.parts if samples]
    groups = [problem.group for problem, samples in zip(table.problems, table.parts, strict=True) if samples]
    values = np.array(means)
    draws = float(np.mean([len(samples) for samples in table.parts if samples]))
    found = problem_interval(values, seed=seed, groups=groups if any(groups) else None, draws=draws)
    return AccuracyRecord(value=float(values.mean()), ci=found.bounds, ci_method=found.method)


def _attempts(scored: Sequence[Verdict]) -> AttemptsRecord:
    """Return the share of attempted answers and their accuracy (Wei et al. 2024, SimpleQA)."""
    n = len(scored)
    right = sum(verdict.score or 0.0 for verdict in scored)
    silent = sum(verdict.status == "no_answer" for verdict in scored)
    given = right / (n - silent) if n > silent else None
    total = right / n if n else None
    both = (given or 0.0) + (total or 0.0)
    return AttemptsRecord(
        correct=total,
        not_attempted=silent / n if n else None,
        incorrect=(n - silent - right) / n if n else None,
        correct_given_attempted=given,
        f1=2 * (given or 0.0) * (total or 0.0) / both if both else None,
    )


def _pairwise(lead: Estimate, scored: Sequence[Verdict]) -> PairwiseRecord:
    """Return the outcomes of pairs. Lengths and order are of the samples that the judge compared.

    A sample without an answer loses without the judge being asked.
    """
    compared = [verdict for verdict in scored if "flipped" in verdict.detail]
    record = PairwiseRecord(
        win_rate=lead.value,
        ci=lead.ci,
        n=len(scored),
        wins=sum(verdict.score == 1 for verdict in scored),
        ties=sum(verdict.score == 0.5 for verdict in scored),
        losses=sum(verdict.score == 0 for verdict in scored),
        unanswered=len(scored) - len(compared),
        compared=len(compared),
    )
    return record.model_copy(update=_compared(compared)) if compared else record


def _compared(compared: Sequence[Verdict]) -> dict[str, Any]:
    n = len(compared)
    places = [verdict.detail.get("place_favoured") for verdict in compared]
    ours, theirs = ([int(verdict.detail["chars"][side]) for verdict in compared] for side in (0, 1))
    flipped = sum(bool(verdict.detail["flipped"]) for verdict in compared)
    return {
        "flipped": flipped,
        "flip_rate": flipped / n,
        "position_bias": PositionBias(first=places.count("first") / n, second=places.count("second") / n),
        "mean_chars": MeanChars(answer=sum(ours) / n, baseline=sum(theirs) / n),
        "length_controlled": _length_controlled(compared, ours, theirs),
    }


def _length_controlled(
    compared: Sequence[Verdict], ours: list[int], theirs: list[int]
) -> LengthControlledRate:
    scores = [verdict.score or 0.0 for verdict in compared]
    try:
        found = length_controlled(scores, ours, theirs, [verdict.sample.problem_id for verdict in compared])
    except InputError as error:
        return LengthControlledRate(value=None, ci=None, slope=None, missing=str(error))
    return LengthControlledRate(value=found.value, ci=found.ci, slope=found.slope, missing=None)


def too_many_unscored(tasks: Mapping[str, TaskResults], share: float) -> list[str]:
    """Return one line for each task whose judge left too many samples without a verdict."""
    found: list[str] = []
    for name, task in tasks.items():
        unscored = task.status_counts.get("unscored", 0)
        if unscored > share * task.samples:
            found.append(
                f"{name}: {unscored} of {task.samples} samples are unscored (no verdict), more than "
                f"the {share:.1%} that judge.max_unscored_share allows; run again to judge only these"
            )
    return found


def drift_words(tasks: Mapping[str, TaskResults]) -> list[str]:
    """Return one line for each task whose judge's canary labels differ from the pinned ones."""
    found: list[str] = []
    for name, task in tasks.items():
        canary = task.judge.canary if task.judge else None
        if canary is not None and canary.drifted:
            found.append(
                f"{name}: the judge drifted: {len(canary.drifted)} canary cases have other labels than when "
                f"it was pinned ({', '.join(canary.drifted)})"
            )
    return found
