"""Strengths from paired comparisons, and a win rate with the effect of length taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL
from genbench.stats.logistic import fit_logistic


@dataclass(frozen=True, slots=True)
class Pair:
    """One comparison: `score` is 1 where `first` won, 0 where `second` did, 1/2 for a tie."""

    first: str
    second: str
    score: float
    problem: str


@dataclass(frozen=True, slots=True)
class Strength:
    """A model's strength in log odds over the reference model; exp of a difference is the odds of winning."""

    value: float
    se: float
    ci: tuple[float, float]


def bradley_terry(pairs: Sequence[Pair], reference: str, level: float = LEVEL) -> Mapping[str, Strength]:
    """Bradley-Terry strengths (1952), ties as half a win each; intervals cluster by problem.

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
    z = float(norm.ppf((1 + level) / 2))
    found = {reference: Strength(0.0, 0.0, (0.0, 0.0))}
    for place, name in enumerate(free):
        value, se = float(fit.coefficients[place]), float(np.sqrt(fit.covariance[place, place]))
        found[name] = Strength(value, se, (value - z * se, value + z * se))
    return found


@dataclass(frozen=True, slots=True)
class LengthControlled:
    """A win rate as it would be at equal lengths; `slope` in log odds, positive where longer wins."""

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
    """logit P(win) = a + b · tanh(d / s), d = log(our length / theirs), s its spread; value = P at d = 0.

    tanh, so that a few extreme lengths do not set the slope. The interval is that of `a`, clustered by
    problem, taken through the logistic function.

    Raises:
        InputError: all scores on one side, or too few pairs to fit.
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
    z = float(norm.ppf((1 + level) / 2))
    half = z * np.sqrt(np.diag(fit.covariance))
    a, b = (float(value) for value in fit.coefficients)
    return LengthControlled(
        value=float(expit(a)),
        ci=(float(expit(a - half[0])), float(expit(a + half[0]))),
        slope=b,
        slope_ci=(b - float(half[1]), b + float(half[1])),
    )
