"""Corpus metrics of a task from the counts of its samples, for results and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from genbench.analysis.comparison_record import ComparedTask
from genbench.analysis.corpus_record import CorpusDifference, CorpusRecord
from genbench.analysis.sides import SideTask
from genbench.analysis.table import VerdictTable
from genbench.errors import UnavailableError
from genbench.registry import load_object
from genbench.stats.corpus import LOWER_IS_BETTER, METRICS, corpus_difference, corpus_value, counts_of_choice
from genbench.stats.resample import derive_seed
from genbench.stats.scores import Floats
from genbench.types import Problem

_COUNTS = "genbench.verifiers.foreign.corpus_counts:counts_of"
Counts = Mapping[str, Sequence[float]]


def corpus_records(table: VerdictTable, seed: int) -> dict[str, CorpusRecord]:
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
) -> CorpusRecord:
    kept = [place for place, row in enumerate(rows) if row]
    sums = np.array([np.sum([counts[name] for counts in rows[place]], axis=0) for place in kept])
    own = None if groups is None else [groups[place] for place in kept]
    found = corpus_value(name, sums, seed=seed, groups=own)
    return CorpusRecord(
        value=found.value,
        ci=found.ci,
        method=found.method,
        lower_is_better=name in LOWER_IS_BETTER,
        empty=empty,
        missing=None,
    )


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
        classes = round(len(example["mcc"]) ** 0.5) - 1 if "mcc" in example else 2
        return counts_of_choice(names, problem.row["gold"][0], None, classes)
    counts: Counts = load_object(_COUNTS)(names, "", problem.row["reference"]["golds"])[0]
    return counts


def _missing(name: str, why: str) -> CorpusRecord:
    return CorpusRecord(
        value=None, ci=None, method="", lower_is_better=name in LOWER_IS_BETTER, empty=0, missing=why
    )


def with_corpus(
    tasks: Mapping[str, ComparedTask], sides: Mapping[str, tuple[SideTask, SideTask]]
) -> dict[str, ComparedTask]:
    """Return the records of compared tasks, with the differences of their corpus metrics if they have any."""
    found = {name: corpus_differences(*sides[name]) for name in tasks}
    return {
        name: task.model_copy(update={"corpus": found[name]}) if found[name] else task
        for name, task in tasks.items()
    }


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
