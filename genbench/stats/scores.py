"""Scores of one task as a matrix of problems by samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genbench.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores in [0, 1] of n problems by up to k samples.

    `values` is (n, k). It is NaN both for an excluded sample and for one that was not drawn. `drawn` (n,)
    counts the samples drawn for each problem and so distinguishes the two.
    """

    values: Floats
    drawn: Ints

    @property
    def n(self) -> int:
        """The number of problems."""
        return len(self.drawn)

    @property
    def k(self) -> int:
        """The number of samples that every problem has at least."""
        return int(self.drawn.min())

    @property
    def is_ragged(self) -> bool:
        """Whether the problems have different numbers of samples."""
        return bool(self.drawn.min() != self.drawn.max())

    @property
    def was_drawn(self) -> Bools:
        """The mask (n, k) of the samples that were drawn, scored or not."""
        return np.arange(self.values.shape[1]) < self.drawn[:, None]

    @property
    def scored(self) -> Ints:
        """The number (n,) of samples with a score."""
        return np.asarray((~np.isnan(self.values)).sum(axis=1), dtype=np.int64)

    @property
    def excluded(self) -> int:
        """The number of samples that were drawn and have no score."""
        return int(self.drawn.sum() - self.scored.sum())

    @property
    def is_binary(self) -> bool:
        """Whether every score is 0 or 1, so that p(1 - p) is the variance of one sample."""
        known = self.values[~np.isnan(self.values)]
        return bool(np.isin(known, (0.0, 1.0)).all())

    @property
    def means(self) -> Floats:
        """The mean (n,) over each problem's scored samples, NaN if it has none."""
        total = np.nansum(self.values, axis=1)
        means: Floats = np.divide(total, self.scored, out=np.full(self.n, np.nan), where=self.scored > 0)
        return means

    @property
    def variances(self) -> Floats:
        """The sample variance (n,) within each problem (ddof = 1), NaN with under two scored samples."""
        spread = np.nansum((self.values - self.means[:, None]) ** 2, axis=1)
        many = self.scored > 1
        variances: Floats = np.divide(spread, self.scored - 1, out=np.full(self.n, np.nan), where=many)
        return variances

    def take(self, rows: Sequence[int]) -> Scores:
        """Return the problems at the given positions."""
        return Scores(self.values[list(rows)], self.drawn[list(rows)])

    def filled(self, score: float) -> Scores:
        """Return the same samples with `score` for every excluded one."""
        gaps = np.isnan(self.values) & self.was_drawn
        return Scores(np.where(gaps, score, self.values), self.drawn)


ScoresLike = Scores | npt.NDArray[np.floating] | npt.NDArray[np.integer] | Sequence[Sequence[float | None]]
"""Scores, an (n, k) array, or one sequence per problem. NaN or None is a sample without a score."""


def as_scores(scores: ScoresLike) -> Scores:
    """Return scores from an (n, k) array or from one sequence per problem, of equal lengths or not.

    Raises:
        InputError: there is no problem, a problem has no samples, or a score is outside [0, 1].
    """
    if isinstance(scores, Scores):
        return scores
    if isinstance(scores, np.ndarray):
        if scores.ndim != 2:
            raise InputError(f"scores must be (problems, samples), got an array of shape {scores.shape}")
        values = np.asarray(scores, dtype=np.float64)
        drawn = np.full(values.shape[0], values.shape[1], dtype=np.int64)
    else:
        rows = [np.asarray(row, dtype=np.float64) for row in scores]
        if any(row.ndim != 1 for row in rows):
            raise InputError("scores must be one sequence of samples per problem")
        drawn = np.array([len(row) for row in rows], dtype=np.int64)
        values = np.full((len(rows), int(drawn.max(initial=0))), np.nan)
        for line, row in zip(values, rows, strict=True):
            line[: len(row)] = row
    _check(values, drawn)
    return Scores(values, drawn)


def scores_of_sums(
    sums: Sequence[float], counts: Sequence[int], squares: Sequence[float] | None, drawn: Sequence[int]
) -> Scores:
    """Return scores of which the sums and sums of squares by problem are given. Their order is lost.

    Means, variances and what follows from them are those of the original scores. If these were 0 and 1, so
    are those returned.

    Args:
        sums: sum of the scores of each problem.
        counts: scored samples of each problem.
        squares: sum of the squared scores of each problem. None: every score is 0 or 1.
        drawn: samples drawn for each problem, scored or not.
    """
    total, scored, asked = np.array(sums), np.array(counts), np.array(drawn, dtype=np.int64)
    column = np.arange(int(asked.max(initial=0)))
    if squares is None:
        values = (column < total[:, None]).astype(np.float64)
    else:
        mean = total / np.maximum(scored, 1)
        spread = np.sqrt(np.maximum(np.array(squares) - scored * mean**2, 0.0) / 2)
        values = np.repeat(mean[:, None], len(column), axis=1)
        for place, sign in ((0, 1.0), (1, -1.0)):
            values[scored > 1, place : place + 1] += sign * spread[scored > 1, None]
    values[column >= scored[:, None]] = np.nan
    return Scores(values, asked)


def _check(values: Floats, drawn: Ints) -> None:
    """Raise InputError for no problem, a problem without samples, or a score outside [0, 1]."""
    if len(drawn) == 0:
        raise InputError("no problems: at least one is needed for an estimate")
    if drawn.min() == 0:
        raise InputError(f"problem at position {int(drawn.argmin())} has no samples at all")
    wrong = ~np.isnan(values) & ~((values >= 0) & (values <= 1))
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise InputError(
            f"score {values[row, column]} of problem at position {row}, sample {column} is outside [0, 1]"
        )
