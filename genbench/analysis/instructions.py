"""Instruction following as the field reports it: four accuracies with intervals, and a table by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genbench.stats.intervals import problem_interval
from genbench.verifiers.constraints.accuracies import (
    ACCURACIES,
    LOOSE,
    STRICT,
    accuracies,
    by_kind,
    mean_of_turns,
    tallies,
    turns_of,
)
from genbench.verifiers.constraints.defects import DEFECTS

Parts = Mapping[str, float]


def has_instructions(parts: Parts) -> bool:
    """Whether a verdict's parts are results of single instructions."""
    return any(name.startswith((f"{STRICT}/", f"{LOOSE}/")) for name in parts)


def instruction_record(problems: Sequence[Sequence[Parts]], seed: int, official: bool) -> dict[str, Any]:
    """The accuracies of each turn with question-population intervals, and how each kind came out.

    Args:
        problems: for every problem the parts of its scored samples.
        official: the verifier keeps the official checkers' defects; each kind then names its own.
        seed: of the resampling, which draws whole prompts (instructions of one prompt hang together).
    """
    samples = [parts for of_problem in problems for parts in of_problem]
    turns = turns_of(samples)
    record: dict[str, Any] = {
        "turns": [_turn(problems, turn, seed) for turn in range(turns)],
        "kinds": [
            {"instruction": kind.instruction, "n": kind.n, "strict": kind.strict, "loose": kind.loose}
            | ({"defect": DEFECTS[kind.instruction]} if official and kind.instruction in DEFECTS else {})
            for kind in by_kind(samples)
        ],
    }
    return record | ({"mean_of_turns": mean_of_turns(problems)} if turns > 1 else {})


def _turn(problems: Sequence[Sequence[Parts]], turn: int, seed: int) -> dict[str, Any]:
    values = accuracies(tallies(problems, turn).sum(axis=0))
    names = dict(zip(ACCURACIES, values, strict=True))
    return {
        name: {"value": float(value), "ci": _interval(problems, turn, name, seed)}
        for name, value in names.items()
        if not np.isnan(value)
    }


def _interval(problems: Sequence[Sequence[Parts]], turn: int, accuracy: str, seed: int) -> list[float] | None:
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
    found_interval = problem_interval(np.array(values), seed=seed, groups=prompts, draws=1.0)
    return list(found_interval.bounds)
