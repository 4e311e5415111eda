"""Logistic regression on fractions, with standard errors that are valid under clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from genbench.errors import InputError
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
