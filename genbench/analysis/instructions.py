"""Accuracies of instruction following: four accuracies with intervals, and a table by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from genbench.analysis.records import Bounded
from genbench.analysis.results_record import InstructionKind, InstructionsRecord
from genbench.stats.intervals import problem_interval
from genbench.verifiers.instructions.accuracies import (
    ACCURACIES,
    DEFECTS,
    LOOSE,
    STRICT,
    Kind,
    accuracies,
    by_kind,
    mean_of_turns,
    tallies,
    turns_of,
)

Parts = Mapping[str, float]


def has_instructions(parts: Parts) -> bool:
    """Return whether a verdict's parts are results of single instructions."""
    return any(name.startswith((f"{STRICT}/", f"{LOOSE}/")) for name in parts)


def instruction_record(problems: Sequence[Sequence[Parts]], seed: int, official: bool) -> InstructionsRecord:
    """Return the accuracies of each turn with their intervals, and the results of each kind.

    Args:
        problems: for every problem the parts of its scored samples.
        seed: the seed of the resampling. It draws whole prompts, as instructions of one prompt are dependent.
        official: whether the verifier keeps the official checkers' defects. Each kind then names its own.
    """
    samples = [parts for of_problem in problems for parts in of_problem]
    turns = turns_of(samples)
    extra = {"mean_of_turns": mean_of_turns(problems)} if turns > 1 else {}
    return InstructionsRecord(
        turns=tuple(_turn(problems, turn, seed) for turn in range(turns)),
        kinds=tuple(_kind(kind, official) for kind in by_kind(samples)),
        **extra,
    )


def _kind(kind: Kind, official: bool) -> InstructionKind:
    known = official and kind.instruction in DEFECTS
    extra = {"defect": DEFECTS[kind.instruction]} if known else {}
    return InstructionKind(
        instruction=kind.instruction, n=kind.n, strict=kind.strict, loose=kind.loose, **extra
    )


def _turn(problems: Sequence[Sequence[Parts]], turn: int, seed: int) -> dict[str, Bounded]:
    values = accuracies(tallies(problems, turn).sum(axis=0))
    names = dict(zip(ACCURACIES, values, strict=True))
    return {
        name: Bounded(value=float(value), ci=_interval(problems, turn, name, seed))
        for name, value in names.items()
        if not np.isnan(value)
    }


def _interval(
    problems: Sequence[Sequence[Parts]], turn: int, accuracy: str, seed: int
) -> tuple[float, float] | None:
    mode = STRICT if "strict" in accuracy else LOOSE
    values: list[float] = []
    prompts: list[str | None] = []
    for number, samples in enumerate(problems):
        for parts in samples:
            found = [value for name, value in parts.items() if name.startswith(f"{mode}/{turn}/")]
            if accuracy.startswith("prompt") and found:
                found = [min(found)]
            values += found
            prompts += [str(number)] * len(found)
    if len(set(prompts)) < 2:
        return None
    return problem_interval(np.array(values), seed=seed, groups=prompts, draws=1.0).bounds
