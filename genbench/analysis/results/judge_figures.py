"""Records about a judge's verdicts beyond their mean: cascades, pairs and attempts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.table import VerdictTable
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.estimates import EstimateRecord
from genbench.stats.intervals import problem_interval
from genbench.stats.pairwise import length_controlled, style_controlled
from genbench.stats.ratios import MeanDifference, mean_bounds, mean_difference
from genbench.stats.scores import Floats
from genbench.store.manifest import JudgeRecord
from genbench.types import Status, Verdict


class AccuracyRecord(JsonRecord):
    """A mean score with its interval, as fractions of 1."""

    value: Share = Field(description="mean over problems")
    ci: Interval = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made")


class CascadeAccuracy(JsonRecord):
    """The accuracies of a cascade of a rule and a judge."""

    rule: AccuracyRecord = Field(description="accuracy of the rule only")
    cascade: AccuracyRecord = Field(description="accuracy of the rule and the judge together")


class PositionBias(JsonRecord):
    """Shares of the compared pairs in which one position won in both orders."""

    first: Share = Field(description="share of pairs in which the answer shown first won in both orders")
    second: Share = Field(description="share of pairs in which the answer shown second won in both orders")


class MeanChars(JsonRecord):
    """Mean lengths of the compared answers, in characters."""

    answer: float = Field(description="mean length of the model's answers")
    baseline: float = Field(description="mean length of the opponent's answers")


class LengthControlledRate(JsonRecord):
    """The win rate at equal lengths, from a logistic regression on the lengths."""

    value: Share | None = Field(
        description="P(win) at d = 0 of logit P = a + slope * tanh(d / s), d = log(length / baseline's), "
        "s its root mean square; null if it cannot be given"
    )
    ci: Interval | None = Field(description="95% interval, clustered by problem")
    slope: float | None = Field(description="log odds of the length; positive if longer answers win")
    missing: str | None = Field(description="why there is no value; null if it is given")


class StyleControlledRate(JsonRecord):
    """The win rate at equal length and style, from a logistic regression."""

    value: Share | None = Field(
        description="P(win) at equal length, headers, bold passages and lists; null if it cannot be given"
    )
    ci: Interval | None = Field(description="95% interval, clustered by problem")
    effects: dict[str, float] = Field(
        description="log odds for one standard deviation of each feature's normalised difference"
    )
    missing: str | None = Field(description="why there is no value; null if it is given")


class PairwiseRecord(JsonRecord):
    """Outcomes of a model's answers compared with its opponent's."""

    win_rate: Share | None = Field(
        description="share of wins; ties and verdicts that flip with the order are half a win"
    )
    ci: Interval | None = Field(description="95% interval for new questions of this kind")
    n: Count = Field(description="samples with a score")
    wins: Count = Field(description="samples that won")
    ties: Count = Field(description="samples that tied, or whose verdict flipped with the order")
    losses: Count = Field(description="samples that lost")
    unanswered: Count = Field(description="samples decided without the judge because one side never answered")
    compared: Count = Field(description="samples that the judge compared; the keys below are about these")
    flipped: Count | None = Field(default=None, description="verdicts that flipped with the order")
    flip_rate: Share | None = Field(default=None, description="share of the verdicts that flipped")
    position_bias: PositionBias | None = Field(default=None, description="how often a place decided")
    mean_chars: MeanChars | None = Field(default=None, description="lengths of the compared answers")
    length_controlled: LengthControlledRate | None = Field(
        default=None, description="the win rate at equal lengths"
    )
    style_controlled: StyleControlledRate | None = Field(
        default=None, description="the win rate at equal length and style; absent in older runs"
    )


AttemptRatio = Literal["f1", "hallucination"]
"""The figures of attempts that are ratios of two sums over problems."""


class AttemptsRecord(JsonRecord):
    """Shares of attempted answers (Wei et al. 2024, SimpleQA, section 3)."""

    correct: Share | None = Field(description="share of all samples that are correct")
    not_attempted: Share | None = Field(description="share of all samples that attempt no answer")
    incorrect: Share | None = Field(description="share of all samples that are incorrect")
    correct_given_attempted: Share | None = Field(
        description="share of the attempted samples that are correct"
    )
    f1: Share | None = Field(description="harmonic mean of correct and correct_given_attempted")
    f1_ci: Interval | None = Field(
        default=None, description="95% interval for new questions of this kind; absent in older runs"
    )
    partial: Share | None = Field(
        default=None, description="share of all samples that are right in part; absent in older runs"
    )
    hallucination: Share | None = Field(
        default=None,
        description="share incorrect of the samples that are not correct; null if all are correct, absent in "
        "older runs",
    )
    hallucination_ci: Interval | None = Field(
        default=None, description="95% interval for new questions of this kind; absent in older runs"
    )


class PointsRecord(JsonRecord):
    """Points of weighted criteria as HealthBench reports them (arXiv 2505.08775): cut off at the mean."""

    value: Share = Field(
        description="mean over problems of the share of points, which may be below 0, cut to 0 to 1 at last"
    )
    negative: Share = Field(description="share of samples that lost more points than they won")


class JudgeBias(JsonRecord):
    """What may have moved a judge besides the quality of answers. The order is under `pairwise`."""

    length: float | None = Field(
        description="Spearman's rank correlation of score and length of the answer, in characters; null if "
        "all scores or all lengths are equal"
    )
    samples: Count = Field(description="samples that the judge graded, which `length` is over")
    unreadable: Count = Field(description="samples whose judge gave no verdict when it was first asked")
    is_judged_model: bool = Field(description="whether the judge is the model under test")


class JudgedRecord(JudgeRecord):
    """The LLM judge of a task, and figures of its verdicts beyond their mean."""

    unscored: Count = Field(description="samples that the judge left without a verdict")
    unscored_share: Share | None = Field(
        description="share of the samples without a verdict of the judge; null if there are no samples"
    )
    accuracy: CascadeAccuracy | None = Field(
        default=None, description="accuracy of rule and cascade; absent without a rule before the judge"
    )
    decided_by: dict[str, Count] | None = Field(default=None, description="samples by who decided them")
    attempts: AttemptsRecord | None = Field(
        default=None,
        description="figures of attempts; absent unless a label means that nothing was attempted",
    )
    pairwise: PairwiseRecord | None = Field(default=None, description="absent unless answers are compared")
    points: PointsRecord | None = Field(
        default=None, description="absent unless the judge's criteria have points"
    )
    bias: JudgeBias | None = Field(default=None, description="what may have moved it; absent in older runs")
    ceiling: str | None = Field(
        default=None, description="the limit of `judge.ceiling` that left samples ungraded; absent if none"
    )


def judged_record(
    judge: JudgeRecord,
    lead: EstimateRecord,
    table: VerdictTable,
    verdicts: Sequence[Verdict],
    *,
    seed: int,
    model: str,
) -> JudgedRecord:
    """Return the record of a judge's verdicts in results.json. Rates are fractions of 1, lengths characters.

    Args:
        judge: the judge's entry in the manifest.
        lead: the task's headline metric.
        verdicts: the verdicts that count, one per sample.
        seed: the seed of the resampling.
        model: identity of the model under test.
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
        extra["attempts"] = attempts_record(scored, table)
    if judge.in_pairs and scored:
        extra["pairwise"] = _pairwise(lead, scored)
    if any("share_of_points" in verdict.detail for verdict in scored):
        extra["points"] = _points(scored)
    reasons = {str(item.detail.get("why", "")) for item in verdicts if item.status == "unscored"}
    if stopped := sorted(why for why in reasons if why.startswith("judge.ceiling")):
        extra["ceiling"] = stopped[0].partition(" is reached")[0]
    if graded := [verdict for verdict in scored if "answer_chars" in verdict.detail]:
        extra["bias"] = JudgeBias(
            length=_rank_correlation(graded),
            samples=len(graded),
            unreadable=sum(
                verdict.status == "unscored"
                or "asked_again" in verdict.detail
                or "answer_cut_to_chars" in verdict.detail
                for verdict in verdicts
            ),
            is_judged_model=judge.engine.get("identity") == model,
        )
    return JudgedRecord.from_object(
        judge,
        unscored=unscored,
        unscored_share=unscored / len(verdicts) if verdicts else None,
        **extra,
    )


def _points(scored: Sequence[Verdict]) -> PointsRecord:
    """Return the mean of the shares of points before they are cut. A sample without an answer has 0."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for verdict in scored:
        shares[verdict.sample.problem_id].append(float(verdict.detail.get("share_of_points", 0.0)))
    mean = float(np.mean([np.mean(own) for own in shares.values()]))
    below = [share < 0 for own in shares.values() for share in own]
    return PointsRecord(value=min(1.0, max(0.0, mean)), negative=sum(below) / len(below))


def _rank_correlation(graded: Sequence[Verdict]) -> float | None:
    """Return Spearman's correlation of score and length. Equal values share their mean rank.

    Return None if all scores or all lengths are equal.
    """
    scores = _ranks([item.score or 0.0 for item in graded])
    lengths = _ranks([item.detail["answer_chars"] for item in graded])
    if np.ptp(scores) == 0 or np.ptp(lengths) == 0:
        return None
    return float(np.corrcoef(scores, lengths)[0, 1])


def _ranks(values: Sequence[float]) -> Floats:
    _, place, counts = np.unique(np.array(values, dtype=float), return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _accuracy(table: VerdictTable, name: str, seed: int) -> AccuracyRecord:
    """Return the mean over problems of the samples' part, with the interval of the question population."""
    means = [float(np.mean([parts[name] for parts in samples])) for samples in table.parts if samples]
    groups = [problem.group for problem, samples in zip(table.problems, table.parts, strict=True) if samples]
    values = np.array(means)
    draws = float(np.mean([len(samples) for samples in table.parts if samples]))
    found = problem_interval(values, seed=seed, groups=groups if any(groups) else None, draws=draws)
    return AccuracyRecord(value=float(values.mean()), ci=found.bounds, ci_method=found.method)


def attempts_record(scored: Sequence[Verdict], table: VerdictTable) -> AttemptsRecord:
    """Return the shares of attempted answers (Wei et al. 2024, SimpleQA), and ratios with their intervals."""
    n = len(scored)
    if not n:
        return AttemptsRecord(
            correct=None, not_attempted=None, incorrect=None, correct_given_attempted=None, f1=None
        )
    shares: defaultdict[str, list[str]] = defaultdict(list)
    for verdict in scored:
        shares[verdict.sample.problem_id].append(attempt_of(verdict.status, verdict.score))
    total = Counter(kind for said in shares.values() for kind in said)
    right, wrong, silent = (total[kind] / n for kind in ("correct", "incorrect", "not_attempted"))
    sums = attempt_sums(list(shares.values()))
    clusters = {problem.problem_id: problem.group for problem in table.problems}
    groups = [clusters.get(name) for name in shares]
    f1, f1_ci = _ratio(*sums["f1"], groups)
    hallucination, hallucination_ci = _ratio(*sums["hallucination"], groups)
    return AttemptsRecord(
        correct=right,
        not_attempted=silent,
        incorrect=wrong,
        correct_given_attempted=right / (1 - silent) if silent < 1 else None,
        f1=f1,
        f1_ci=f1_ci,
        partial=total["partial"] / n,
        hallucination=hallucination,
        hallucination_ci=hallucination_ci,
    )


def attempt_of(status: Status, score: float | None) -> str:
    """Return what a judged sample is: correct, incorrect, partial or not_attempted."""
    if status == "no_answer":
        return "not_attempted"
    return {1.0: "correct", 0.0: "incorrect"}.get(score or 0.0, "partial")


def attempt_sums(said: Sequence[Sequence[str]]) -> dict[AttemptRatio, tuple[Floats, Floats]]:
    """Return the two sums by problem whose ratios are F1 and the rate of hallucinations.

    With P = c / attempted and R = c / N, F1 = 2 P R / (P + R) = 2 c / (N + attempted).

    Args:
        said: what the samples of each problem are. No problem has none.
    """
    correct, incorrect, unsaid = (
        np.array([own.count(kind) / len(own) for own in said])
        for kind in ("correct", "incorrect", "not_attempted")
    )
    return {"f1": (2 * correct, 2 - unsaid), "hallucination": (incorrect, 1 - correct)}


def attempt_differences(
    base: Sequence[Sequence[str]], tuned: Sequence[Sequence[str]], groups: Sequence[str | None] | None
) -> dict[AttemptRatio, MeanDifference]:
    """Return the paired differences of F1 and of the rate of hallucinations, as far as both have one.

    Args:
        base: what the samples of each problem are in base.
        tuned: the same of tuned, for the same problems.
    """
    pairs = zip(attempt_sums(base).items(), attempt_sums(tuned).values(), strict=True)
    return {
        name: mean_difference(_linear(*before), _linear(*after), groups)
        for (name, before), after in pairs
        if before[1].any() and after[1].any()
    }


def _linear(counts: Floats, units: Floats) -> Floats:
    """Return values by problem whose mean is the ratio of two sums, to the first order (delta method)."""
    value = float(counts.sum() / units.sum())
    return np.asarray(value + (counts - value * units) / units.mean(), dtype=np.float64)


def _ratio(
    counts: Floats, units: Floats, groups: Sequence[str | None]
) -> tuple[float | None, Interval | None]:
    """Return a ratio of two sums over problems with its interval (whole clusters).

    Both are None if the second sum is 0.
    """
    if not units.any():
        return None, None
    value = float(counts.sum() / units.sum())
    found = mean_bounds(_linear(counts, units), groups)
    if found.ci is None:
        return value, None
    return value, (max(0.0, found.ci[0]), min(1.0, found.ci[1]))


def _pairwise(lead: EstimateRecord, scored: Sequence[Verdict]) -> PairwiseRecord:
    """Return the outcomes of pairs. Lengths and order are of the samples that the judge compared.

    A sample without an answer loses without the judge being asked.
    """
    compared = [verdict for verdict in scored if "flipped" in verdict.detail]
    record = PairwiseRecord(
        win_rate=lead.value,
        ci=lead.ci,
        n=len(scored),
        wins=sum((verdict.score or 0) > 0.5 for verdict in scored),
        ties=sum(verdict.score == 0.5 for verdict in scored),
        losses=sum((verdict.score or 0) < 0.5 for verdict in scored),
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
        **_style_controlled(compared),
    }


def _style_controlled(compared: Sequence[Verdict]) -> dict[str, StyleControlledRate]:
    """Return the win rate at equal length and style as a field, or nothing for verdicts of older runs."""
    if not all("style" in verdict.detail for verdict in compared):
        return {}
    ours, theirs = (
        [[verdict.detail["chars"][side], *verdict.detail["style"][side]] for verdict in compared]
        for side in (0, 1)
    )
    scores = [verdict.score or 0.0 for verdict in compared]
    try:
        found = style_controlled(scores, ours, theirs, [verdict.sample.problem_id for verdict in compared])
    except InputError as error:
        rate = StyleControlledRate(value=None, ci=None, effects={}, missing=str(error))
    else:
        rate = StyleControlledRate.from_object(found, missing=None)
    return {"style_controlled": rate}


def _length_controlled(
    compared: Sequence[Verdict], ours: list[int], theirs: list[int]
) -> LengthControlledRate:
    scores = [verdict.score or 0.0 for verdict in compared]
    try:
        found = length_controlled(scores, ours, theirs, [verdict.sample.problem_id for verdict in compared])
    except InputError as error:
        return LengthControlledRate(value=None, ci=None, slope=None, missing=str(error))
    return LengthControlledRate.from_object(found, missing=None)
