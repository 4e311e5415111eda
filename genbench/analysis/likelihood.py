"""Measures of scored texts over the problems of a task, of one run or of two paired runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.json_record import Count, JsonRecord
from genbench.stats.intervals import problem_interval
from genbench.stats.likelihood import DOCUMENT_RATIOS, MEASURES, ratio_value
from genbench.stats.ratios import (
    Bounds,
    MeanDifference,
    Ratio,
    mean_bounds,
    mean_difference,
    ratio_bounds,
    ratio_difference,
)
from genbench.stats.scores import Floats

_TURNED = {"float32": 0.002, "float16": 0.01, "bfloat16": 0.033}
"""By number format, the share of picks of a 135M model that other kernels, sums and ties turn. Larger models
turn fewer, because their choices are further apart."""
USUAL_TURNED = _TURNED["bfloat16"]
"""The share for a source that does not say its number format. GPUs evaluate in this one."""


def turned_share(*dtypes: str | None) -> float:
    """Return the share of picks of one model that turns between evaluations in these number formats.

    Args:
        dtypes: the number format of each evaluation. None if it is unknown.
    """
    return max(_TURNED.get(dtype or "", USUAL_TURNED) for dtype in dtypes)


class MeasureRecord(JsonRecord):
    """One measure of a task. Shares are fractions of 1, other measures are in their own unit."""

    value: float = Field(description="mean over problems, or ratio of sums over documents")
    ci: Interval | None = Field(description="95% interval for new problems; null for a single one")
    n: Count = Field(description="problems")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")


class LikelihoodRecord(JsonRecord):
    """What the log-probabilities of a task come to."""

    measures: dict[str, MeasureRecord] = Field(description="all measures by name")
    ties: Count = Field(description="problems in which several choices share the largest value exactly")
    merged: Count = Field(description="problems in which a token has characters of context and continuation")


class MeasureDifference(MeanDifference):
    """The paired difference tuned - base of one measure."""

    n: Count = Field(description="problems with scores in both")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")


Detail = Mapping[str, Any]
"""The detail of a likelihood verdict: `measures`, and `sums` of single texts."""


@dataclass(frozen=True, slots=True)
class ScoredTexts:
    """The details of a task's verdicts, one for each problem with a score, and the problem of each."""

    problem_ids: tuple[str, ...]
    details: tuple[Detail, ...]
    groups: tuple[str | None, ...] | None = None

    @property
    def names(self) -> list[str]:
        """Return the measures that every problem has, in the order of tables."""
        own = [name for name in MEASURES if all(name in detail["measures"] for detail in self.details)]
        if not all("sums" in detail for detail in self.details):
            return own
        if self.is_documents:
            return list(DOCUMENT_RATIOS)
        return [*own, "perplexity"]

    @property
    def is_documents(self) -> bool:
        """Return whether the texts are documents, whose measures are ratios of sums."""
        return all(detail.get("document") for detail in self.details)

    def values(self, name: str) -> Floats:
        """Return a measure of each problem (n,)."""
        return np.array([detail["measures"][name] for detail in self.details], dtype=float)

    def ratio(self, name: str) -> Ratio:
        """Return the sums of a ratio measure: nats, and the units that they are divided by."""
        nats = np.array([-detail["sums"]["logprob"] for detail in self.details], dtype=float)
        unit = DOCUMENT_RATIOS.get(name)
        if unit is None:
            return Ratio(nats, np.ones(len(nats)))
        return Ratio(nats, np.array([detail["sums"][unit] for detail in self.details], dtype=float))

    def take(self, ids: Sequence[str]) -> ScoredTexts:
        """Return the texts of these problems, in their order."""
        places = {name: place for place, name in enumerate(self.problem_ids)}
        rows = [places[name] for name in ids]
        groups = None if self.groups is None else tuple(self.groups[row] for row in rows)
        return ScoredTexts(tuple(ids), tuple(self.details[row] for row in rows), groups)


def scored_texts(
    problem_ids: Sequence[str], details: Sequence[Detail | None], groups: Sequence[str | None] | None
) -> ScoredTexts | None:
    """Return the scored texts of a task, or None if no verdict has any."""
    kept = [place for place, detail in enumerate(details) if detail is not None]
    if not kept:
        return None
    return ScoredTexts(
        tuple(problem_ids[place] for place in kept),
        tuple(detail for detail in details if detail is not None),
        None if groups is None else tuple(groups[place] for place in kept),
    )


def likelihood_record(texts: ScoredTexts, seed: int) -> LikelihoodRecord:
    """Return all measures of a task.

    Args:
        seed: the seed of the resampling, which draws whole clusters or documents.
    """
    return LikelihoodRecord(
        measures={name: _measure(texts, name, seed) for name in texts.names},
        ties=sum(bool(detail.get("ties")) for detail in texts.details),
        merged=sum(bool(detail.get("merged")) for detail in texts.details),
    )


def _measure(texts: ScoredTexts, name: str, seed: int) -> MeasureRecord:
    found = _bounds(texts, name, seed)
    lower = MEASURES[name].lower_is_better
    return MeasureRecord.from_object(found, n=len(texts.details), lower_is_better=lower)


def _bounds(texts: ScoredTexts, name: str, seed: int) -> Bounds:
    if _is_ratio(name):
        return ratio_bounds(texts.ratio(name), texts.groups, partial(ratio_value, name), seed=seed)
    values = texts.values(name)
    if not MEASURES[name].is_share or len(values) < 2:
        return mean_bounds(values, texts.groups)
    return Bounds(float(values.mean()), problem_interval(values, seed=seed, groups=texts.groups).bounds)


def _is_ratio(name: str) -> bool:
    return name == "perplexity" or name in DOCUMENT_RATIOS


def measure_differences(base: ScoredTexts, tuned: ScoredTexts, seed: int) -> dict[str, MeasureDifference]:
    """Return the paired difference of each measure that both sides have, over the problems of both."""
    return dict(_differences(base, tuned, seed))


def _differences(base: ScoredTexts, tuned: ScoredTexts, seed: int) -> Iterator[tuple[str, MeasureDifference]]:
    shared = set(tuned.problem_ids)
    ids = [name for name in base.problem_ids if name in shared]
    if not ids:
        return
    left, right = base.take(ids), tuned.take(ids)
    for name in left.names:
        if name in right.names:
            found = _difference(left, right, name, seed)
            lower = MEASURES[name].lower_is_better
            yield name, MeasureDifference.from_object(found, n=len(ids), lower_is_better=lower)


def _difference(left: ScoredTexts, right: ScoredTexts, name: str, seed: int) -> MeanDifference:
    groups = left.groups or right.groups
    if _is_ratio(name):
        transform = partial(ratio_value, name)
        return ratio_difference(left.ratio(name), right.ratio(name), groups, transform, seed=seed)
    return mean_difference(left.values(name), right.values(name), groups)
