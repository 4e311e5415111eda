"""Corpus metrics of a task for results and comparisons, from the counts of its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from genbench.analysis.results.table import VerdictTable
from genbench.analysis.sides.side import SideTask
from genbench.errors import UnavailableError, asking_for_extras
from genbench.json_record import Count, JsonRecord
from genbench.stats.corpus_metrics import (
    LOWER_IS_BETTER,
    METRICS,
    corpus_difference,
    corpus_value,
    counts_of_choice,
)
from genbench.stats.resample import derive_seed
from genbench.stats.scores import Floats
from genbench.types import Problem, Verdict

Bounds = tuple[float, float]
"""Lower and upper bound."""


class CorpusMetricRecord(JsonRecord):
    """A corpus metric of one task: bleu, chrf, ter, f1 or mcc."""

    value: float | None = Field(description="fraction of 1 (ter can be above 1); null if `missing` says why")
    ci: Bounds | None = Field(description="95% interval for new questions of this kind")
    method: str = Field(description="how `ci` was made")
    lower_is_better: bool = Field(description="whether a lower value is better, as of ter")
    empty: Count = Field(description="samples without an answer, which count as empty answers")
    missing: str | None = Field(description="what the metric lacks; null if it is given")


class CorpusDifference(JsonRecord):
    """The difference tuned - base of a corpus metric, paired by problem."""

    base: float | None = Field(description="value of base")
    tuned: float | None = Field(description="value of tuned")
    difference: float | None = Field(description="tuned - base")
    ci: Bounds | None = Field(description="95% interval; both sides are resampled together")
    lower_is_better: bool = Field(description="whether a lower value is better, as of ter")
    missing: str | None = Field(description="what the difference lacks; null if it is given")


class CorpusCounts:
    """Sums of counts by metric and problem.

    Args:
        problems: how many problems the task has.
    """

    def __init__(self, problems: int) -> None:
        self._problems = problems
        self._sums: dict[str, list[list[float]]] = {}
        self._scored = self._counted = 0

    def add(self, row: int, verdict: Verdict) -> None:
        """Add the counts of a verdict to those of its problem. An excluded sample has none."""
        if verdict.score is None:
            return
        self._scored += 1
        counts = verdict.detail.get("corpus")
        if not counts:
            return
        self._counted += 1
        for name, values in counts.items():
            if name not in self._sums:
                self._sums[name] = [[0.0] * len(values) for _ in range(self._problems)]
            own = self._sums[name][row]
            own[:] = [before + value for before, value in zip(own, values, strict=True)]

    @property
    def sums(self) -> dict[str, tuple[tuple[float, ...], ...]]:
        """Return the sums by metric, one sequence for each problem."""
        return {name: tuple(tuple(row) for row in rows) for name, rows in self._sums.items()}

    @property
    def lacking(self) -> int:
        """Return how many scored samples have no counts, if any sample has."""
        return self._scored - self._counted if self._counted else 0


Counts = Mapping[str, Sequence[float]]


def corpus_records(table: VerdictTable, seed: int) -> dict[str, CorpusMetricRecord]:
    """Return the corpus metrics of a task whose verifier keeps counts, or nothing.

    A scored sample without counts, such as one whose trace never ended, counts as an empty answer. An
    excluded sample is left out.

    Args:
        seed: the seed of the resampling, which draws whole clusters.
    """
    names = next((tuple(counts) for row in table.corpus for counts in row), ())
    if not names:
        return {}
    if table.lacking:
        return {name: _missing(name, f"{table.lacking} samples have no verdict") for name in names}
    try:
        rows, empty = _complete(table, names)
    except UnavailableError as error:
        return {name: _missing(name, str(error)) for name in names}
    return {name: _record(name, rows, table.groups, seed, empty) for name in names}


def _record(
    name: str, rows: list[list[Counts]], groups: list[str | None] | None, seed: int, empty: int
) -> CorpusMetricRecord:
    kept = [place for place, row in enumerate(rows) if row]
    sums = np.array([np.sum([counts[name] for counts in rows[place]], axis=0) for place in kept])
    own = None if groups is None else [groups[place] for place in kept]
    found = corpus_value(name, sums, seed=seed, groups=own)
    lower = name in LOWER_IS_BETTER
    return CorpusMetricRecord.from_object(found, lower_is_better=lower, empty=empty, missing=None)


def _complete(table: VerdictTable, names: Sequence[str]) -> tuple[list[list[Counts]], int]:
    """Return the counts of every scored sample by problem, and how many are those of an empty answer.

    Raises:
        UnavailableError: sacrebleu, which counts an empty answer, is not installed.
    """
    rows: list[list[Counts]] = []
    added = 0
    example = next(counts for own in table.corpus for counts in own)
    for problem, scores, own in zip(table.problems, table.scores, table.corpus, strict=True):
        lacking = sum(score is not None for score in scores) - len(own)
        rows.append([*own, *([_of_nothing(problem, names, example)] * lacking if lacking > 0 else [])])
        added += max(lacking, 0)
    return rows, added


def _of_nothing(problem: Problem, names: Sequence[str], example: Counts) -> Counts:
    """Return the counts of an empty answer, or of no choice.

    Args:
        example: the counts of another sample, which have the same number of classes.
    """
    if "gold" in problem.row:
        # The confusion counts have one class more: no choice at all.
        classes = round(len(example["mcc"]) ** 0.5) - 1 if "mcc" in example else 2
        return counts_of_choice(names, problem.row["gold"][0], None, classes)
    with asking_for_extras():
        from genbench.verifiers.foreign.corpus_counts import counts_of  # noqa: PLC0415  an extra
    return counts_of(names, "", problem.row["reference"]["golds"])[0]


def _missing(name: str, why: str) -> CorpusMetricRecord:
    return CorpusMetricRecord(
        value=None, ci=None, method="", lower_is_better=name in LOWER_IS_BETTER, empty=0, missing=why
    )


def corpus_differences(base: SideTask, tuned: SideTask) -> dict[str, CorpusDifference]:
    """Return the difference of each corpus metric that both sides have counts for.

    The problems of both sides are the same and in the same order.
    """
    names = [name for name in METRICS if name in base.corpus and name in tuned.corpus]
    return {name: _difference(name, base, tuned) for name in names}


def _difference(name: str, base: SideTask, tuned: SideTask) -> CorpusDifference:
    lacking = base.without_counts + tuned.without_counts
    if lacking:
        return CorpusDifference(
            base=None,
            tuned=None,
            difference=None,
            ci=None,
            lower_is_better=name in LOWER_IS_BETTER,
            missing=f"{lacking} scored samples have no counts; see the results of each run",
        )
    sides: list[Floats] = [np.array(side.corpus[name], dtype=np.float64) for side in (base, tuned)]
    seed = derive_seed("corpus", base.name, name)
    found = corpus_difference(name, sides[0], sides[1], seed=seed, groups=base.groups or tuned.groups)
    values = [float(METRICS[name](side.sum(axis=0, keepdims=True))[0]) for side in sides]
    return CorpusDifference(
        base=values[0],
        tuned=values[1],
        difference=found.value,
        ci=found.ci,
        lower_is_better=name in LOWER_IS_BETTER,
        missing=None,
    )
