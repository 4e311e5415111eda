"""The paired difference of two runs on the same problems, with interval, tests and detectable drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from genbench.errors import NotComparableError
from genbench.stats.comparison.differences import (
    difference_interval,
    lower_bound,
    rerun_difference,
    smallest_detectable_drop,
)
from genbench.stats.comparison.sign_flip_test import McNemar, mcnemar, sign_flip
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


@dataclass(frozen=True, slots=True)
class Paired:
    """The difference tuned - base over the problems of both runs, as fractions of 1.

    `ci` is the question-population interval and `rerun_ci` that of sampling noise on these problems.
    `mde` is the smallest drop that a one-sided 5 % test finds with 80 % power. If `missing` is set, only the
    counts are known.

    The difference and its tests are over the problems with a value in both runs. `left_out` counts the
    others. `bounds` are the difference over all problems if every excluded sample counted against tuned, and
    if every one counted for it. `lower` is the one-sided 95 % lower bound of the former: a loss that may
    hide in excluded samples is not overlooked.
    """

    n: int
    k_base: int
    k_tuned: int
    base: float | None = None
    tuned: float | None = None
    difference: float | None = None
    se: float | None = None
    ci: tuple[float, float] | None = None
    ci_method: str = ""
    lower: float | None = None
    p_two_sided: float | None = None
    p_regression: float | None = None
    p_improvement: float | None = None
    p_method: str = ""
    mde: float | None = None
    rerun_ci: tuple[float, float] | None = None
    rerun_ci_method: str = ""
    mcnemar: McNemar | None = None
    excluded_base: int = 0
    excluded_tuned: int = 0
    left_out: int = 0
    bounds: tuple[float, float] | None = None
    p_improvement_worst: float | None = None
    """The p value of a gain if every excluded sample counts against tuned. None if nothing is excluded."""
    missing: str | None = None
    clusters: Clusters | None = field(default=None, repr=False, compare=False)
    """Differences by independent cluster, for pooling over tasks."""
    worst: Clusters | None = field(default=None, repr=False, compare=False)
    """The same over all problems, with every excluded sample against tuned."""

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
    head = Paired(b.n, b.k, t.k, excluded_base=b.excluded, excluded_tuned=t.excluded)
    found: list[ProblemValues] = []
    for name, scores, answers in (("base", b, base_answers), ("tuned", t, tuned_answers)):
        check_shapes(scores, asked, groups, answers)
        side = problem_values(asked, scores, answers, draws)
        if np.isnan(side.low).any() or np.isnan(side.values).all():
            return replace(head, missing=f"{name}: {undetermined(asked, side.values, draws)}")
        found.append(side)
    rows = np.flatnonzero(~(np.isnan(found[0].values) | np.isnan(found[1].values)))
    if len(rows) == 0:
        return replace(head, missing="no problem has scored samples in both")
    result = _with_tests(head, found[0], found[1], rows, groups=groups, level=level)
    if not asked.is_mean:
        return replace(result, rerun_ci_method="given for means only")
    b, t = b.take(rows.tolist()), t.take(rows.tolist())
    rerun = rerun_difference(b, t, shared_seeds=shared_seeds, level=level)
    return replace(
        result,
        rerun_ci=rerun.bounds if rerun else None,
        rerun_ci_method=rerun.method if rerun else "not estimable (k = 1)",
        mcnemar=mcnemar(b, t) if groups is None else None,
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
    worst = cluster(tuned.low - base.high, groups)
    interval = difference_interval(clusters, level)
    flips = sign_flip(clusters.totals)
    result = replace(
        head,
        base=cluster(base.values[rows]).mean,
        tuned=cluster(tuned.values[rows]).mean,
        difference=clusters.mean,
        se=clusters.se,
        ci=interval.bounds,
        ci_method=interval.method,
        lower=lower_bound(worst),
        p_two_sided=flips.p_two_sided,
        p_regression=flips.p_regression,
        p_improvement=flips.p_improvement,
        p_method=flips.method,
        mde=smallest_detectable_drop(clusters),
        left_out=head.n - len(rows),
        clusters=clusters,
        worst=worst,
    )
    if not head.excluded_base and not head.excluded_tuned:
        return result
    best = cluster(tuned.high - base.low, groups).mean
    return replace(
        result, bounds=(worst.mean, best), p_improvement_worst=sign_flip(worst.totals).p_improvement
    )
