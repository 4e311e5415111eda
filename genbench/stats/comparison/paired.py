"""The paired difference of two runs on the same problems, with interval, tests and detectable drop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, InstanceOf

from genbench.errors import NotComparableError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.comparison.differences import (
    ALPHA,
    difference_interval,
    lower_bound,
    rerun_difference,
    smallest_detectable_drop,
)
from genbench.stats.comparison.exchange_test import NullLaw, exchange_law
from genbench.stats.comparison.sign_flip_test import McNemarRecord, mcnemar, sign_flip
from genbench.stats.intervals import LEVEL
from genbench.stats.metrics import (
    AnswersLike,
    ProblemValues,
    check_shapes,
    parse_metric,
    problem_values,
    undetermined,
)
from genbench.stats.resample import Clusters, cluster
from genbench.stats.scores import ScoresLike, as_scores

FEW_PROBLEMS = 50
"""With fewer problems, a few that collapse can make any paired test err (17 % at 30, simulated)."""


class PairedDifference(JsonRecord):
    """A paired difference tuned - base, with its interval and its power."""

    n: Count = Field(description="problems in both sides")
    k_base: Count = Field(description="samples that every problem of base has at least")
    k_tuned: Count = Field(description="samples that every problem of tuned has at least")
    base: Share | None = Field(description="the score of base")
    tuned: Share | None = Field(description="the score of tuned")
    difference: SignedShare | None = Field(description="tuned - base, mean over problems")
    se: float | None = Field(description="standard error, clustered by problem or group")
    ci: DifferenceInterval | None = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made")
    lower: SignedShare | None = Field(
        description="one-sided 95% lower bound with every excluded sample against tuned; above minus the "
        "margin a loss is excluded"
    )
    upper: SignedShare | None = Field(
        default=None, description="one-sided 95% upper bound; below 0 a drop is shown"
    )
    bounds: DifferenceInterval | None = Field(
        description="the difference if every excluded sample counted against tuned, and if for it; "
        "null if nothing is excluded"
    )
    left_out: Count = Field(description="problems without a scored sample in both; the difference lacks them")
    rerun_ci: DifferenceInterval | None = Field(
        description="95% interval of sampling noise on these problems"
    )
    rerun_ci_method: str = Field(description="how `rerun_ci` was made, or why there is none")
    p_two_sided: Share | None = Field(description="p value of no difference")
    p_regression: Share | None = Field(description="one-sided p value of a drop")
    p_improvement: Share | None = Field(description="one-sided p value of a gain")
    p_method: str = Field(description="how the p values were made")
    mde: Share | None = Field(description="smallest drop that a one-sided 5% test finds with 80% power")
    excluded_base: Count = Field(description="samples of base without a score")
    excluded_tuned: Count = Field(description="samples of tuned without a score")
    missing: str | None = Field(description="why there is no difference; null if it is given")


class Paired(PairedDifference):
    """A paired difference with what the gate and other statistics need of it.

    The difference and its tests are over the problems with a value in both runs. `lower` and `bounds` are
    over all problems: a loss that may hide in excluded samples is not overlooked. If `missing` is set, only
    the counts are known.
    """

    mcnemar: McNemarRecord | None = None
    p_improvement_worst: float | None = None
    """The p value of a gain if every excluded sample counts against tuned. None if nothing is excluded."""
    clusters: InstanceOf[Clusters] | None = Field(default=None, repr=False)
    """Differences by independent cluster, for pooling over tasks."""
    worst: InstanceOf[Clusters] | None = Field(default=None, repr=False)
    """The same over all problems, with every excluded sample against tuned."""
    base_scores: InstanceOf[Clusters] | None = Field(default=None, repr=False)
    """The scores of base by cluster, and below those of tuned. `clusters` has their differences."""
    tuned_scores: InstanceOf[Clusters] | None = Field(default=None, repr=False)
    law: InstanceOf[NullLaw] | None = Field(default=None, repr=False)
    """The law of the difference under exchange within problems. None if flips of signs are enough."""

    @classmethod
    def of(cls, n: int, k_base: int, k_tuned: int, **known: Any) -> Self:
        """Return the difference over n problems of which `known` is known. The rest is None, 0 or empty."""
        unknown = dict.fromkeys(PairedDifference.model_fields) | {
            **dict.fromkeys(("ci_method", "rerun_ci_method", "p_method"), ""),
            **dict.fromkeys(("left_out", "excluded_base", "excluded_tuned"), 0),
        }
        return cls.model_validate(unknown | {"n": n, "k_base": k_base, "k_tuned": k_tuned} | known)

    @property
    def p_gain(self) -> float | None:
        """The p value of a gain on which a decision may rest."""
        return self.p_improvement if self.p_improvement_worst is None else self.p_improvement_worst

    @property
    def has_few_problems(self) -> bool:
        """Whether there are too few problems for the test's own error rate."""
        return self.n < FEW_PROBLEMS


def paired(
    base: ScoresLike,
    tuned: ScoresLike,
    *,
    metric: str = "acc",
    groups: Sequence[str | None] | None = None,
    shared_seeds: bool = False,
    base_answers: AnswersLike | None = None,
    tuned_answers: AnswersLike | None = None,
    level: float = LEVEL,
) -> Paired:
    """Compare two runs with the same problems in the same order. Their k may differ.

    `metric` is a name as in `estimate`. In the metrics of draws a "k" is the smaller k of both runs.
    `shared_seeds` says that sample j of a problem was drawn with one seed in both runs. The re-run
    interval then comes from per-sample differences.

    Raises:
        NotComparableError: the runs have different numbers of problems.
        InputError: the metric, the scores or the shapes are wrong, as in `estimate`.
    """
    asked, b, t = parse_metric(metric), as_scores(base), as_scores(tuned)
    if b.n != t.n:
        raise NotComparableError(f"base has {b.n} problems, tuned {t.n}: compare runs of the same problems")
    draws = asked.k or min(b.k, t.k)
    head = Paired.of(b.n, b.k, t.k, excluded_base=b.excluded, excluded_tuned=t.excluded)
    found: list[ProblemValues] = []
    for name, scores, answers in (("base", b, base_answers), ("tuned", t, tuned_answers)):
        check_shapes(scores, asked, groups, answers)
        side = problem_values(asked, scores, answers, draws)
        if np.isnan(side.low).any() or np.isnan(side.values).all():
            missing = f"{name}: {undetermined(asked, side.values, draws)}"
            return head.model_copy(update={"missing": missing})
        found.append(side)
    rows = np.flatnonzero(~(np.isnan(found[0].values) | np.isnan(found[1].values)))
    if len(rows) == 0:
        return head.model_copy(update={"missing": "no problem has scored samples in both"})
    result = _with_tests(head, found[0], found[1], rows, groups=groups, level=level)
    if not asked.is_mean:
        return result.model_copy(update={"rerun_ci_method": "given for means only"})
    b, t = b.take(rows.tolist()), t.take(rows.tolist())
    result = _with_exchange(result, exchange_law(b, t))
    rerun = rerun_difference(b, t, shared_seeds=shared_seeds, level=level)
    return result.model_copy(
        update={
            "rerun_ci": rerun.bounds if rerun else None,
            "rerun_ci_method": rerun.method if rerun else "not estimable (k = 1)",
            "mcnemar": mcnemar(b, t) if groups is None else None,
        }
    )


def _with_tests(
    head: Paired,
    base: ProblemValues,
    tuned: ProblemValues,
    rows: npt.NDArray[np.intp],
    *,
    groups: Sequence[str | None] | None,
    level: float,
) -> Paired:
    """Return `head` with the interval and tests of the problems at `rows`, and bounds over all problems."""
    kept = None if groups is None else [groups[row] for row in rows]
    clusters = cluster((tuned.values - base.values)[rows], kept)
    before, after = (cluster(side.values[rows], kept) for side in (base, tuned))
    worst = cluster(tuned.low - base.high, groups)
    interval = difference_interval(clusters, level)
    flips = sign_flip(clusters.totals)
    known: dict[str, Any] = {
        "base": before.mean,
        "tuned": after.mean,
        "difference": clusters.mean,
        "se": clusters.se,
        "ci": interval.bounds,
        "ci_method": interval.method,
        "lower": lower_bound(worst),
        "upper": difference_interval(clusters, 1 - 2 * ALPHA).bounds[1],
        "p_two_sided": flips.p_two_sided,
        "p_regression": flips.p_regression,
        "p_improvement": flips.p_improvement,
        "p_method": flips.method,
        "mde": smallest_detectable_drop(clusters),
        "left_out": head.n - len(rows),
        "clusters": clusters,
        "worst": worst,
        "base_scores": before,
        "tuned_scores": after,
    }
    if head.excluded_base or head.excluded_tuned:
        best = cluster(tuned.high - base.low, groups).mean
        known |= {
            "bounds": (worst.mean, best),
            "p_improvement_worst": sign_flip(worst.totals).p_improvement,
        }
    return head.model_copy(update=known)


def _with_exchange(found: Paired, law: NullLaw | None) -> Paired:
    """Return a difference whose p values are those of both tests: the larger one of each.

    Flips of signs are right for models that differ by problem, exchange for few samples against many.
    """
    if law is None:
        return found
    exchanged = {
        "p_two_sided": law.p_two_sided,
        "p_regression": law.p_regression,
        "p_improvement": law.p_improvement,
        "p_improvement_worst": law.p_improvement,
    }
    larger = {name: max(p, own) for name, p in exchanged.items() if (own := getattr(found, name)) is not None}
    method = f"{found.p_method} and exact exchange within problems"
    return found.model_copy(update={**larger, "p_method": method, "law": law})
