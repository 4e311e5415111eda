"""Causes of a difference: transitions between statuses, and a split by status that adds up exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from genbench.errors import InputError, NotComparableError
from genbench.json_record import DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.comparison.differences import difference_interval
from genbench.stats.intervals import LEVEL
from genbench.stats.resample import ROUNDING, cluster
from genbench.stats.scores import Floats, Scores, ScoresLike, as_scores
from genbench.types import OURS, STATUSES, Status

StatusesLike = Sequence[Sequence[Status]]
"""One sequence of statuses per problem, in the shape of the scores."""

_FEWER = {
    "partial": "partial credit",
    "wrong": "wrong answers",
    "no_answer": "samples without an answer",
    "truncated": "truncated samples",
    "unclosed_trace": "unclosed traces",
    "format_error": "format errors",
    "timeout": "time-outs",
    "runtime_error": "run-time errors",
    "memory": "memory overruns",
    "output_limit": "output overruns",
    "no_code": "answers without code",
    "unrated": "answers that nothing scores",
    "unscored": "samples without a verdict",
    "verifier_error": "verifier errors",
    "engine_error": "engine errors",
    "unavailable": "samples that cannot be verified here",
}


def status_words(status: str, part: float) -> str:
    """Return `fewer format errors` if the part is a gain, `more format errors` if it is a loss."""
    if status == "partial":
        return f"{'more' if part > 0 else 'less'} partial credit"
    return f"{'fewer' if part > 0 else 'more'} {_FEWER.get(status, status)}"


class CauseRecord(JsonRecord):
    """The part of a difference that one status explains."""

    status: Status = Field(description="the status")
    part: SignedShare = Field(description="what tuned gained by it; the parts add up to the difference")
    ci: DifferenceInterval = Field(description="95% interval of the part")
    base_share: Share = Field(description="share of base's samples with this status")
    tuned_share: Share = Field(description="share of tuned's samples with this status")


@dataclass(frozen=True, slots=True)
class Split:
    """The difference and its parts, largest first. The parts add up to the difference."""

    difference: float
    ci: tuple[float, float]
    causes: tuple[CauseRecord, ...]

    @property
    def leading(self) -> CauseRecord | None:
        """Return the cause that moved the score most in the direction of the difference, or None."""
        same = [cause for cause in self.causes if cause.part * self.difference > 0]
        return max(same, key=lambda cause: abs(cause.part), default=None)


def transitions(base: StatusesLike, tuned: StatusesLike) -> Mapping[tuple[Status, Status], int]:
    """Count pairs (status in base, status in tuned), sample j against sample j of the same problem.

    Samples beyond the smaller k have no partner and are not counted.

    Raises:
        NotComparableError: the runs have different numbers of problems.
    """
    _check_lengths(base, tuned)
    pairs = Counter(pair for b, t in zip(base, tuned, strict=True) for pair in zip(b, t, strict=False))
    order = {status: place for place, status in enumerate(STATUSES)}
    return {pair: pairs[pair] for pair in sorted(pairs, key=lambda p: (order[p[0]], order[p[1]]))}


def split_by_cause(
    base_scores: ScoresLike,
    base_statuses: StatusesLike,
    tuned_scores: ScoresLike,
    tuned_statuses: StatusesLike,
    *,
    groups: Sequence[str | None] | None = None,
    level: float = LEVEL,
) -> Split:
    """Split the difference of mean scores into one part per status, each with its paired interval.

    A status with score 0 costs its share of the samples, so its part is minus the change of that share. What
    moves between such statuses on one problem gains and costs nothing, so it is left out: wrong answers that
    are cut off now are the cause of nothing. The remainder of fractional scores is the part of `partial`.
    Shares are over scored samples and averaged over problems.

    Raises:
        InputError: statuses and scores differ in shape, an excluded status has a score, or a problem
            has no scored sample.
        NotComparableError: the runs have different numbers of problems.
    """
    _check_lengths(base_statuses, tuned_statuses)
    base, tuned = as_scores(base_scores), as_scores(tuned_scores)
    b = _shares(base, base_statuses, "base")
    t = _shares(tuned, tuned_statuses, "tuned")
    difference = tuned.means - base.means
    moved: dict[Status, Floats] = {
        status: b[status] - t[status]
        for status in STATUSES
        if status not in {"correct", "partial"} and (b[status].any() or t[status].any())
    }
    parts = _without_swaps(moved)
    rest = difference - sum(parts.values(), np.zeros(base.n))
    if not (base.is_binary and tuned.is_binary) or np.abs(rest).max() > ROUNDING:
        parts["partial"] = rest
    causes = []
    for status, part in parts.items():
        clusters = cluster(part, groups)
        causes.append(
            CauseRecord(
                status=status,
                part=clusters.mean,
                ci=difference_interval(clusters, level).bounds,
                base_share=cluster(b[status]).mean,
                tuned_share=cluster(t[status]).mean,
            )
        )
    whole = cluster(difference, groups)
    causes.sort(key=lambda cause: -abs(cause.part))
    return Split(whole.mean, difference_interval(whole, level).bounds, tuple(causes))


def _without_swaps(moved: Mapping[Status, Floats]) -> dict[Status, Floats]:
    """Return what each status gained (n,), less what moved between the statuses on the same problem."""
    gained, lost = (
        sum((np.maximum(sign * part, 0.0) for part in moved.values()), np.zeros(1)) for sign in (1, -1)
    )
    swapped = np.minimum(gained, lost)
    kept_gain, kept_loss = (
        1 - np.divide(swapped, whole, out=np.zeros_like(swapped), where=whole > 0) for whole in (gained, lost)
    )
    return {status: np.where(part > 0, part * kept_gain, part * kept_loss) for status, part in moved.items()}


def _shares(scores: Scores, statuses: StatusesLike, name: str) -> dict[Status, Floats]:
    """Return the share (n,) of each status among the scored samples of each problem."""
    if [len(row) for row in statuses] != scores.drawn.tolist():
        raise InputError(f"{name}: statuses and scores differ in shape: one status is needed per sample")
    if (scores.scored == 0).any():
        raise InputError(f"{name}: problem at position {int(scores.scored.argmin())} has no scored sample")
    shares: dict[Status, Floats] = {status: np.zeros(scores.n) for status in STATUSES}
    for i, (row, line) in enumerate(zip(statuses, scores.values, strict=True)):
        kept = [status for status, score in zip(row, line, strict=False) if not np.isnan(score)]
        for status, count in Counter(kept).items():
            if status in OURS:
                raise InputError(
                    f"{name}: a sample of problem {i} is '{status}' and has a score; such samples have none"
                )
            shares[status][i] = count / len(kept)
    return shares


def _check_lengths(base: StatusesLike, tuned: StatusesLike) -> None:
    """Raise NotComparableError if the runs have different numbers of problems."""
    if len(base) != len(tuned):
        raise NotComparableError(
            f"base has {len(base)} problems, tuned {len(tuned)}: compare runs of the same problems"
        )
