"""The paired test of a change along a track: the last nights against the nights before, over problems.

The units of the test are the problems. A line that drifts over other problems without getting worse keeps the
error rate. What moves all problems of a night together is not in such a test. It is estimated from successive
nights (`night_variances`) and added to the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import chdtri, ndtri, stdtr, stdtrit

from genbench.errors import InputError
from genbench.stats.resample import cluster_numbers
from genbench.stats.scores import Floats, Ints

WINDOWS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)
"""Lengths, in nights, of the stretch after a possible change."""
HISTORY = 60
"""The stretch before a possible change has at most this many nights."""
MIN_HISTORY = 7
"""The stretch before a possible change has at least this many nights."""
MIN_PROBLEMS = 20
"""Tasks with fewer problems take no part: a few problems that collapse make any paired test err."""
NOISE_NIGHTS = 200
"""The noise that nights have of their own is estimated from at most this many nights."""
PRIOR_NIGHTS = 14
"""The weight, in nights, of the assumption that nights have no noise of their own."""
STRETCHES = (7, 28)
"""Noise that lasts is estimated from stretches of so many nights."""
ALARM_RATE = 0.346
"""Alarms of one series in one night are ALARM_RATE exp(-h^2/2) at threshold h (benchmarks/nights.py)."""
NIGHTS_PER_YEAR = 365.0
_ROUNDING = 1e-12
_MEDIAN_SQUARE = 0.4549
"""The median of the square of a standard normal."""
_LASTING_CHANCE = 0.05
_MOST_SQUARES = 9.0
"""A step between two nights counts as at most three of its standard deviations: a real step is not noise."""


def alarm_threshold(
    series: int, alarms_per_year: float = 1.0, nights_per_year: float = NIGHTS_PER_YEAR
) -> float:
    """Return the z value h at which `series` series together alarm `alarms_per_year` times a year.

    h = sqrt(2 ln(0.346 N J / a)) for N nights a year, J series and a alarms a year. It is at least 0.

    Raises:
        InputError: a number is not positive.
    """
    if series < 1 or not alarms_per_year > 0 or not nights_per_year > 0:
        raise InputError(
            f"{series} series, {alarms_per_year:g} alarms and {nights_per_year:g} nights a year: "
            "all must be positive"
        )
    return math.sqrt(2 * max(0.0, math.log(ALARM_RATE * nights_per_year * series / alarms_per_year)))


def expected_alarms(threshold: float, series: int = 1, nights_per_year: float = NIGHTS_PER_YEAR) -> float:
    """Return the expected alarms a year of `series` series at a threshold (z). See `alarm_threshold`."""
    return ALARM_RATE * nights_per_year * series * math.exp(-(threshold**2) / 2)


@dataclass(frozen=True, slots=True)
class SplitTests:
    """Paired tests of several splits of one series: arrays (splits,), NaN if a split cannot be tested.

    `differences` are after minus before, as fractions of 1. `errors` are their standard errors and `dof` the
    degrees of freedom. `z` is t brought to a normal.
    """

    differences: Floats
    errors: Floats
    dof: Floats
    z: Floats

    def interval(self, at: int, level: float = 0.95) -> tuple[float, float]:
        """Return the paired t interval of one split's difference, within [-1, 1]."""
        half = float(stdtrit(self.dof[at], (1 + level) / 2)) * float(self.errors[at])
        middle = float(self.differences[at])
        return max(-1.0, middle - half), min(1.0, middle + half)


class TaskNights:
    """The problem means of one task along a track, ready for tests of any split.

    `values` is (nights, problems), as fractions of 1 and in the order of the track. NaN is a problem without
    a scored sample, and a row of NaN is a night without the task. `groups` names the cluster of each
    problem. A problem with the group None is its own cluster.
    """

    def __init__(self, values: Floats, groups: Sequence[str | None] | None = None) -> None:
        self.nights, self.problems = values.shape
        self._sizes, order = _clusters(self.problems, groups)
        known = ~np.isnan(values)
        self._whole = bool(known.all())
        held = values if self._whole else np.where(known, values, 0.0)
        if order is not None:
            held, known = held[:, order], known[:, order]
        self._sums = _prefix(held)
        self._counts = None if self._whole else _prefix(known.astype(np.float64))
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]]).astype(np.int64)
        self._single = len(self._sizes) == self.problems

    @property
    def clusters(self) -> int:
        """The number of independent clusters of problems."""
        return len(self._sizes)

    def tests(self, lows: Ints, splits: Ints, ends: Ints, *, least: float = 0.0) -> SplitTests:
        """Test nights [split, end) against nights [low, split), one test for each triple.

        Problems without a value on one side of a split are left out of it.

        Args:
            least: see `split_tests`.
        """
        moved = self._means(splits, ends)
        moved -= self._means(lows, splits)
        found = self._whole_tests(moved) if self._counts is None else self._ragged_tests(moved)
        return split_tests(*found, least=least)

    def _means(self, lows: Ints, ends: Ints) -> Floats:
        """Return the mean of each problem over nights [low, end), (splits, problems), NaN if it has none."""
        sums: Floats = self._sums[ends]
        sums -= self._sums[lows]
        if self._counts is None:
            sums *= (1 / (ends - lows))[:, None]
            return sums
        counts = np.rint(self._counts[ends] - self._counts[lows])
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def _whole_tests(self, moved: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return what tests of differences (splits, problems) without gaps are made of, see `split_tests`."""
        n, g = self.problems, self.clusters
        means = moved.mean(axis=1) if n >= MIN_PROBLEMS else np.full(len(moved), np.nan)
        totals = moved if self._single else np.add.reduceat(moved, self._starts, axis=1)
        totals -= means[:, None] * (1.0 if self._single else self._sizes)
        squares = np.einsum("ij,ij->i", totals, totals)
        errors = np.sqrt(squares * (g / max(1, g - 1))) / n
        return means, errors, np.full(len(means), g - 1.0), np.full(len(means), float(g))

    def _ragged_tests(self, moved: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the same of differences in which some problems are missing (NaN)."""
        known = ~np.isnan(moved)
        n = known.sum(axis=1)
        means = np.where(known, moved, 0.0).sum(axis=1) / np.maximum(n, 1)
        residuals = np.add.reduceat(np.where(known, moved - means[:, None], 0.0), self._starts, axis=1)
        g = np.add.reduceat(known, self._starts, axis=1).astype(bool).sum(axis=1)
        squares = np.einsum("ij,ij->i", residuals, residuals)
        errors = np.sqrt(squares * (g / np.maximum(1, g - 1))) / np.maximum(n, 1)
        means = np.where(n >= MIN_PROBLEMS, means, np.nan)
        return means, errors, g - 1.0, g.astype(np.float64)


def split_tests(
    differences: Floats, errors: Floats, dof: Floats, clusters: Floats, *, least: float = 0.0
) -> SplitTests:
    """Return tests with their z values. One cluster, or a NaN difference, cannot be tested.

    Without any spread, a difference of all clusters has the p value of the sign-flip test, 2^-clusters.

    Args:
        least: a z whose size is below this need not be exact. It is t then, which is below this as well. Most
            of the time is that of the distribution function of t.
    """
    usable = ~np.isnan(differences) & (dof >= 1)
    spread = usable & (errors > _ROUNDING)
    ratio = np.where(spread, differences / np.where(spread, errors, 1.0), 0.0)
    far = spread & (np.abs(ratio) >= least)
    moved = usable & ~spread & (np.abs(differences) > _ROUNDING)
    tail = np.empty(len(ratio))
    tail[far] = stdtr(dof[far], -np.abs(ratio[far]))
    tail[moved] = np.exp2(-np.minimum(clusters[moved], 1000.0))
    exact = far | moved
    z = np.where(usable, ratio, np.nan)
    z[exact] = np.sign(differences[exact]) * -ndtri(np.maximum(tail[exact], 1e-300))
    return SplitTests(differences, np.where(usable, errors, np.nan), dof, z)


def pooled_tests(tests: Sequence[SplitTests], least: float = 0.0) -> SplitTests:
    """Pool the tests of the same splits over tasks, by inverse variance.

    Weights are estimated, so the variance is raised as Meier (1953) says, and the degrees of freedom are
    Satterthwaite's. Tasks that cannot be tested, or whose problems all moved alike, take no part in a split.
    The z values of the tasks are not read.

    Args:
        least: see `split_tests`.
    """
    differences = np.array([test.differences for test in tests])
    errors = np.array([test.errors for test in tests])
    dof = np.array([test.dof for test in tests])
    usable = ~np.isnan(errors) & (errors > _ROUNDING) & (dof >= 4)
    precision = np.where(usable, 1 / np.where(usable, errors, 1.0) ** 2, 0.0)
    total = precision.sum(axis=0)
    known = total > 0
    share = precision / np.where(known, total, 1.0)
    mean = np.where(known, np.where(usable, share * differences, 0.0).sum(axis=0), np.nan)
    spare = np.maximum(dof, 1.0)
    inflation = 1 + 4 * (share * (1 - share) / spare).sum(axis=0)
    error = np.sqrt(inflation / np.where(known, total, 1.0))
    joined = 1 / np.where(known, (share**2 / spare).sum(axis=0), 1.0)
    thousand = np.full(len(mean), 1000.0)
    return split_tests(mean, np.where(known, error, np.nan), joined, thousand, least=least)


def night_variances(steps: Floats, variances: Floats, since: int = 0) -> Floats:
    """Return what nights vary by themselves, beyond their samples, as far as it is known at each night.

    What moves all problems of a night together is in no test over problems: another seed of the training, a
    judge that drifts, other kernels. It shows in successive nights, whose means differ by more than their
    problems explain. A change of level counts once.

    Args:
        steps: differences between the means of successive nights, (nights - 1,), NaN if there is none.
        variances: their variances over the problems, (nights - 1,).
        since: the first night that is asked for.

    Returns:
        The variance of one night's mean, (nights - since,), as a square of a fraction of 1. It is 0 if the
        problems explain all. It has a prior of PRIOR_NIGHTS nights without noise, and no later night is in
        it.
    """
    front = np.full(NOISE_NIGHTS, np.nan)
    lacking = np.isnan(steps) | np.isnan(variances)
    squares = np.concatenate([front, np.where(lacking, np.nan, steps**2)])
    errors = np.concatenate([front, np.where(lacking, np.nan, variances)])
    windows = (sliding_window_view(own, NOISE_NIGHTS)[since:] for own in (squares, errors))
    return _excess(*windows)


def _excess(squares: Floats, errors: Floats) -> Floats:
    """Return the variance of each row (rows, steps) of squared steps beyond that of their problems."""
    counts = (~np.isnan(squares)).sum(axis=1)
    usual = np.maximum(_medians(squares, counts) / _MEDIAN_SQUARE, _medians(errors, counts))
    excess = (np.minimum(squares, _MOST_SQUARES * usual[:, None]) - errors) / 2
    found: Floats = np.maximum(0.0, np.nansum(excess, axis=1)) / (counts + PRIOR_NIGHTS)
    return found


def _medians(values: Floats, counts: Ints) -> Floats:
    """Return the median of each row over its `counts` known values, 0 if it has none."""
    ordered, own = np.sort(values, axis=1), np.arange(len(values))  # NaN comes last
    middle = (ordered[own, np.maximum(counts - 1, 0) // 2] + ordered[own, counts // 2]) / 2
    return np.where(counts > 0, middle, 0.0)


def lasting_variance(steps: Floats, variances: Floats, length: int) -> float:
    """Return what noise that lasts adds to the variance of a mean over `length` nights.

    A judge or a server that drifts moves neighbouring nights alike, so that successive nights hardly show it.
    It shows in successive stretches of nights, as in the Allan variance of clocks. Noise moves both ways and
    a change of the model one way, so the direction with the smaller squares counts for both. That is half of
    the noise or a little more: few stretches fit into a track, and neighbouring ones share noise. So the
    squares are not halved for the two stretches of a step. It is 0 if luck explains the steps: by a
    chi-square test with the degrees of freedom of stretches that do not overlap. At 5 % it errs in 1 % of
    tracks of independent nights, since the smaller direction counts (simulated, 60 to 200 nights).

    Args:
        steps: differences between the means of successive stretches of `length` nights, at each night.
        variances: their variances over the problems, with the noise of single nights.
    """
    squares = 2 * min(float(np.square(np.maximum(sign * steps, 0.0)).mean()) for sign in (1, -1))
    usual, dof = float(variances.mean()), len(steps) / length
    is_shown = squares * dof >= usual * chdtri(dof, _LASTING_CHANCE)
    return max(0.0, squares - usual) if is_shown else 0.0


def with_night_noise(
    tests: SplitTests, noise: Sequence[tuple[Floats, Floats]], *, least: float = 0.0
) -> SplitTests:
    """Return tests with the noise of the nights themselves in their errors.

    The degrees of freedom are Satterthwaite's.

    Args:
        tests: tests over problems. Their z values are not read.
        noise: parts of what the noise of the nights adds to the squared error of each difference, (splits,),
            with the degrees of freedom of each part.
        least: see `split_tests`.
    """
    own = np.square(tests.errors)
    added = np.sum([variances for variances, _ in noise], axis=0)
    spread = own**2 / np.maximum(tests.dof, 1.0) + np.sum([part**2 / dof for part, dof in noise], axis=0)
    noisy = added > 0
    dof = np.where(noisy, (own + added) ** 2 / np.where(noisy, spread, 1.0), tests.dof)
    return split_tests(tests.differences, np.sqrt(own + added), dof, tests.dof + 1, least=least)


def _clusters(problems: int, groups: Sequence[str | None] | None) -> tuple[Floats, Ints | None]:
    """Return the size of each cluster, and the order of problems that puts each cluster together."""
    if groups is None or all(group is None for group in groups):
        return np.ones(problems), None
    codes = cluster_numbers(groups)
    return np.bincount(codes).astype(np.float64), np.argsort(codes, kind="stable")


def _prefix(values: Floats) -> Floats:
    """Return sums (nights + 1, problems): row t is the sum over the first t nights."""
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
