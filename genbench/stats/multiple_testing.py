"""Corrections for many p values: Holm for a family of tests, Benjamini-Hochberg for exploratory tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genbench.stats.scores import Floats


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for the familywise error, valid under any dependence (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return _back_in_order(np.minimum(steps, 1.0), order)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return q values: the false discovery rate at which each test is significant.

    Source: Benjamini & Hochberg 1995.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[::-1]
    steps = np.minimum.accumulate(len(p) / np.arange(len(p), 0, -1) * p[order])
    return _back_in_order(np.minimum(steps, 1.0), order)


def _back_in_order(sorted_values: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[float]:
    """Return sorted values in their original order."""
    values = np.empty_like(sorted_values)
    values[order] = sorted_values
    return [float(value) for value in values]
