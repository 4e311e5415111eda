"""Exploratory tables by stratum (level, subject, difficulty, language), with q values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import Field

from genbench.errors import InputError
from genbench.json_record import JsonRecord, Share
from genbench.stats.comparison.paired import Paired, PairedDifference, paired
from genbench.stats.estimates import EstimateRecord, estimate
from genbench.stats.intervals import LEVEL
from genbench.stats.metrics import AnswersLike
from genbench.stats.multiple_testing import benjamini_hochberg
from genbench.stats.resample import RESAMPLES, derive_seed
from genbench.stats.scores import ScoresLike, as_scores

T = TypeVar("T")
Labels = Sequence[str | None]
"""The stratum of each problem (n,). None is a problem without one, which belongs to no row."""


class _Named(JsonRecord):
    """A row with a name, which comes first."""

    name: str = Field(description="the stratum, or the kind of instruction")


class StratumDifference(PairedDifference, _Named):
    """One row of an exploratory table: a stratum, or a kind of instruction."""

    q_value: Share | None = Field(description="false discovery rate over the rows of this table")


def estimate_strata(
    metric: str,
    scores: ScoresLike,
    labels: Labels,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    answers: AnswersLike | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    may_be_silent: bool = False,
) -> dict[str, EstimateRecord]:
    """Return the metric within each stratum, sorted by name. The arguments are those of `estimate`.

    Raises:
        InputError: labels and scores differ in number, or `estimate` raises it.
    """
    matrix = as_scores(scores)
    return {
        name: estimate(
            metric,
            matrix.take(rows),
            seed=derive_seed(str(seed), name),
            groups=_pick(groups, rows),
            answers=_pick(answers, rows),
            level=level,
            resamples=resamples,
            may_be_silent=may_be_silent,
        )
        for name, rows in _strata(labels, matrix.n).items()
    }


def compare_strata(
    base: ScoresLike,
    tuned: ScoresLike,
    labels: Labels,
    *,
    metric: str = "acc",
    groups: Sequence[str | None] | None = None,
    shared_seeds: bool = False,
    base_answers: AnswersLike | None = None,
    tuned_answers: AnswersLike | None = None,
    level: float = LEVEL,
) -> tuple[StratumDifference, ...]:
    """Return the paired difference within each stratum, sorted by name, with q values of two-sided tests.

    Raises:
        InputError: labels and scores differ in number, or `paired` raises it.
    """
    b, t = as_scores(base), as_scores(tuned)
    rows_of = _strata(labels, b.n)
    found = {
        name: paired(
            b.take(rows),
            t.take(rows),
            metric=metric,
            groups=_pick(groups, rows),
            shared_seeds=shared_seeds,
            base_answers=_pick(base_answers, rows),
            tuned_answers=_pick(tuned_answers, rows),
            level=level,
        )
        for name, rows in rows_of.items()
    }
    return with_q_values(found)


def with_q_values(rows: Mapping[str, Paired]) -> tuple[StratumDifference, ...]:
    """Return the rows of an exploratory table by name, with q values over those that have a difference."""
    p_values = {name: row.p_two_sided for name, row in rows.items() if row.p_two_sided is not None}
    q_values = dict(zip(p_values, benjamini_hochberg(list(p_values.values())), strict=True))
    return tuple(
        StratumDifference.from_object(row, name=name, q_value=q_values.get(name))
        for name, row in rows.items()
    )


def _strata(labels: Labels, n: int) -> dict[str, list[int]]:
    """Return the positions of the problems of each stratum, sorted by name."""
    if len(labels) != n:
        raise InputError(f"{len(labels)} stratum labels for {n} problems: one is needed for each")
    names = sorted({label for label in labels if label is not None})
    return {name: [i for i, label in enumerate(labels) if label == name] for name in names}


def _pick(values: Sequence[T] | None, rows: Sequence[int]) -> list[T] | None:
    """Return the values at the given positions, or None for None."""
    return None if values is None else [values[i] for i in rows]
