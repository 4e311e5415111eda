"""Models of pairwise comparisons: Bradley-Terry strengths, and a win rate at equal lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.scores import Floats

_STEPS = 100
_TOLERANCE = 1e-10
_SEPARATED = 25.0
"""Log odds beyond which the fit diverges: e^-25 is far below one loss in any real number of pairs."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients and their covariance, both in log odds."""

    coefficients: Floats
    covariance: Floats


def fit_logistic(design: Floats, outcomes: Floats, groups: Floats) -> Fit:
    """Fit by maximum likelihood (Newton) with a sandwich covariance over groups (Liang and Zeger 1986).

    Args:
        design: array (rows, columns). No intercept is added.
        outcomes: array (rows,) in [0, 1]. A half is a tie (quasi-likelihood).
        groups: array (rows,) with one number for each independent cluster.

    Raises:
        InputError: no finite estimate exists, because the outcomes are separated or a column is empty.
    """
    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        mean = expit(design @ beta)
        hessian = (design * (mean * (1 - mean))[:, None]).T @ design
        try:
            step = np.linalg.solve(hessian, design.T @ (outcomes - mean))
        except np.linalg.LinAlgError:
            raise InputError("the comparisons do not connect all sides; compare more pairs") from None
        beta = beta + step
        if np.abs(beta).max() > _SEPARATED:
            break
        if np.abs(step).max() < _TOLERANCE:
            return Fit(beta, _sandwich(design, outcomes, groups, beta))
    raise InputError("one side wins (or loses) everything it is compared in; no finite estimate exists")


def _sandwich(design: Floats, outcomes: Floats, groups: Floats, beta: Floats) -> Floats:
    """Return the covariance of the coefficients that is valid under clustering by group."""
    mean = expit(design @ beta)
    bread = np.linalg.inv((design * (mean * (1 - mean))[:, None]).T @ design)
    residuals = design * (outcomes - mean)[:, None]
    _, places = np.unique(groups, return_inverse=True)
    sums = np.zeros((places.max() + 1, design.shape[1]))
    np.add.at(sums, places, residuals)
    covariance: Floats = bread @ (sums.T @ sums) @ bread
    return covariance


@dataclass(frozen=True, slots=True)
class Pair:
    """One comparison: `score` is 1 if `first` won, 0 if `second` won, 1/2 for a tie."""

    first: str
    second: str
    score: float
    problem: str


@dataclass(frozen=True, slots=True)
class Strength:
    """A model's strength in log odds over the reference. exp(difference of two) is the odds of winning."""

    value: float
    se: float
    ci: tuple[float, float]


def bradley_terry(pairs: Sequence[Pair], reference: str, level: float = LEVEL) -> Mapping[str, Strength]:
    """Return Bradley-Terry strengths (1952) by model, with intervals clustered by problem.

    A tie is half a win for each side. The reference has strength 0.

    Raises:
        InputError: the reference is in no pair, the pairs do not connect the models, or one always wins.
    """
    names = sorted({pair.first for pair in pairs} | {pair.second for pair in pairs})
    if reference not in names:
        raise InputError(f"the reference '{reference}' is in no pair; models: {', '.join(names) or 'none'}")
    free = [name for name in names if name != reference]
    problems = {name: place for place, name in enumerate(dict.fromkeys(pair.problem for pair in pairs))}
    design = np.zeros((len(pairs), len(free)))
    for row, pair in enumerate(pairs):
        if pair.first != reference:
            design[row, free.index(pair.first)] += 1
        if pair.second != reference:
            design[row, free.index(pair.second)] -= 1
    outcomes = np.array([pair.score for pair in pairs])
    fit = fit_logistic(design, outcomes, np.array([float(problems[pair.problem]) for pair in pairs]))
    z = normal_quantile(level)
    found = {reference: Strength(0.0, 0.0, (0.0, 0.0))}
    for place, name in enumerate(free):
        value, se = float(fit.coefficients[place]), float(np.sqrt(fit.covariance[place, place]))
        found[name] = Strength(value, se, (value - z * se, value + z * se))
    return found


@dataclass(frozen=True, slots=True)
class LengthControlled:
    """A win rate at equal lengths. `slope` is in log odds and positive if longer answers win."""

    value: float
    ci: tuple[float, float]
    slope: float
    slope_ci: tuple[float, float]


def length_controlled(
    scores: Sequence[float],
    ours: Sequence[int],
    theirs: Sequence[int],
    problems: Sequence[str],
    level: float = LEVEL,
) -> LengthControlled:
    """Return the win rate at equal lengths.

    The model is logit P(win) = a + b · tanh(d / s) with d = log(our length / theirs) and s its root mean
    square. The value is P at d = 0. tanh limits the effect of a few extreme lengths on the slope. The
    interval is that of `a`, clustered by problem, after the logistic function.

    Raises:
        InputError: there are too few pairs, all have one ratio of lengths, or one side always wins.
    """
    if len(scores) < 3:
        raise InputError(f"{len(scores)} pairs are too few for a length-controlled win rate")
    ratio = np.log((np.array(ours, float) + 1) / (np.array(theirs, float) + 1))
    spread = float(np.sqrt(np.mean(ratio**2)))
    column = np.tanh(ratio / spread) if spread > 0 else ratio
    if np.ptp(column) < 1e-9:
        raise InputError("all pairs have one ratio of lengths; its effect cannot be told from the win rate")
    design = np.column_stack([np.ones_like(column), column])
    places = {name: place for place, name in enumerate(dict.fromkeys(problems))}
    groups = np.array([float(places[name]) for name in problems])
    fit = fit_logistic(design, np.array(scores, float), groups)
    z = normal_quantile(level)
    half = z * np.sqrt(np.diag(fit.covariance))
    a, b = (float(value) for value in fit.coefficients)
    return LengthControlled(
        value=float(expit(a)),
        ci=(float(expit(a - half[0])), float(expit(a + half[0]))),
        slope=b,
        slope_ci=(b - float(half[1]), b + float(half[1])),
    )


STYLE = ("length", "headers", "bold", "lists")
"""What Arena-Hard's control for style takes out."""


@dataclass(frozen=True, slots=True)
class StyleControlled:
    """A win rate at equal length and style. `effects` are in log odds for one standard deviation."""

    value: float
    ci: tuple[float, float]
    effects: Mapping[str, float]


def style_controlled(
    scores: Sequence[float],
    ours: Sequence[Sequence[int]],
    theirs: Sequence[Sequence[int]],
    problems: Sequence[str],
    level: float = LEVEL,
) -> StyleControlled:
    """Return the win rate at equal length and style.

    The model is logit P(win) = a + sum of b_j d_j / s_j with d_j = (ours - theirs) / (ours + theirs) for each
    of `STYLE` and s_j its root mean square. The value is P at d = 0. A feature that is equal in all pairs is
    left out. Source of the features and of their normalised difference: Arena-Hard-Auto 196f6b8
    (utils/math_utils.py). There the reference is the mean of all models in the table, and here it is the
    opponent.

    Args:
        ours: (n, 4) characters, headers, bold passages and items of lists of our answers.
        theirs: (n, 4) the same of the opponent's.

    Raises:
        InputError: there are too few pairs, no feature differs, or one side always wins.
    """
    first, second = np.array(ours, float), np.array(theirs, float)
    if len(scores) < len(STYLE) + 2:
        raise InputError(f"{len(scores)} pairs are too few for a style-controlled win rate")
    total = first + second
    differences = np.divide(first - second, total, out=np.zeros_like(total), where=total > 0)
    used = [place for place in range(len(STYLE)) if np.ptp(differences[:, place]) > 1e-9]
    if not used:
        raise InputError("no feature of style differs between pairs")
    columns = differences[:, used]
    columns = columns / np.sqrt(np.mean(columns**2, axis=0))
    places = {name: place for place, name in enumerate(dict.fromkeys(problems))}
    groups = np.array([float(places[name]) for name in problems])
    design = np.column_stack([np.ones(len(columns)), columns])
    fit = fit_logistic(design, np.array(scores, float), groups)
    a, *slopes = (float(value) for value in fit.coefficients)
    half = normal_quantile(level) * float(np.sqrt(fit.covariance[0, 0]))
    return StyleControlled(
        value=float(expit(a)),
        ci=(float(expit(a - half)), float(expit(a + half))),
        effects={STYLE[place]: slope for place, slope in zip(used, slopes, strict=True)},
    )
