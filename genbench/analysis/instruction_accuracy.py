"""Instruction following: four accuracies, and shares by kind of instruction with their paired differences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Bounded
from genbench.analysis.sides.side import Side, SideTask
from genbench.json_record import JsonRecord
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.intervals import LEVEL, problem_interval
from genbench.stats.strata import StratumDifference, with_q_values
from genbench.store.contract import task_entry
from genbench.types import Verdict
from genbench.verifiers.instructions.accuracies import (
    ACCURACIES,
    DEFECTS,
    LOOSE,
    STRICT,
    InstructionKind,
    accuracies,
    by_kind,
    mean_of_turns,
    tallies,
    turns_of,
)


class InstructionsRecord(JsonRecord):
    """Instruction following as the field reports it."""

    turns: tuple[dict[str, Bounded], ...] = Field(description="the four accuracies of each turn")
    kinds: tuple[InstructionKind, ...] = Field(description="results by kind of instruction")
    mean_of_turns: float | None = Field(
        default=None, description="mean of the four over the turns, as Multi-IF is published"
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
        kinds=tuple(_with_defect(kind) if official else kind for kind in by_kind(samples)),
        **extra,
    )


def _with_defect(kind: InstructionKind) -> InstructionKind:
    """Return the kind with what the official checker gets wrong, if it is known."""
    defect = DEFECTS.get(kind.instruction)
    return kind if defect is None else kind.model_copy(update={"defect": defect})


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


Mode = Literal["strict", "loose"]
Shares = tuple[tuple[float | None, ...], ...]
"""Shares of followed instructions of one kind, by problem and sample. () for a problem without any."""
_DEFAULTS: Mapping[str, Mode] = {"ifbench": "loose"}
"""The default of the option `headline` by verifier. It is strict for all others."""


def shares_by_kind(rows: Sequence[Sequence[Verdict | None]]) -> dict[str, Shares]:
    """Return shares by mode and kind, as `strict/punctuation:no_comma`, for every problem and sample.

    Args:
        rows: for every problem the verdicts of its samples. The share of an excluded sample is None in every
            kind that the problem asks for.
    """
    found: defaultdict[str, dict[int, list[float | None]]] = defaultdict(dict)
    for place, verdicts in enumerate(rows):
        for index, verdict in enumerate(verdicts):
            for kind, share in _shares(verdict).items():
                found[kind].setdefault(place, [None] * len(verdicts))[index] = share
    return {
        kind: tuple(tuple(by_problem.get(place, ())) for place in range(len(rows)))
        for kind, by_problem in sorted(found.items())
    }


def _shares(verdict: Verdict | None) -> dict[str, float]:
    """Return one sample's share by mode and kind, over its turns and over repeated instructions."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for name, value in (verdict.parts if verdict is not None and verdict.score is not None else {}).items():
        # `strict/0/1/punctuation:no_comma` is mode, turn, place and kind. Other parts are not instructions.
        mode, turn_and_rest = name.partition("/")[::2]
        kind = turn_and_rest.split("/", 2)[-1]
        if turn_and_rest[:1].isdigit() and ":" in kind:
            values[f"{mode}/{kind}"].append(value)
    return {kind: sum(found) / len(found) for kind, found in values.items()}


def compare_kinds(
    base: SideTask, tuned: SideTask, mode: Mode, *, shared_seeds: bool, level: float = LEVEL
) -> tuple[StratumDifference, ...]:
    """Return each kind with its paired difference in `mode` and its q value, sorted by kind.

    Differences are paired by problem, because instructions of one prompt are not independent. The table is
    exploratory, as tables by stratum are.
    """
    return with_q_values(
        {
            kind.partition("/")[2]: _paired(base, tuned, kind, shared_seeds, level)
            for kind in base.followed
            if kind.startswith(f"{mode}/") and kind in tuned.followed
        }
    )


def _paired(base: SideTask, tuned: SideTask, kind: str, shared_seeds: bool, level: float) -> Paired:
    """Return the paired difference of one kind over the problems that ask for it in both sides."""
    left, right = base.followed[kind], tuned.followed[kind]
    asked = [place for place in range(len(left)) if left[place] and right[place]]
    groups = base.groups or tuned.groups
    return paired(
        [left[place] for place in asked],
        [right[place] for place in asked],
        metric="avg@k",
        groups=[groups[place] for place in asked] if groups else None,
        shared_seeds=shared_seeds,
        level=level,
    )


def headline_mode(side: Side, task: str) -> Mode:
    """Return the mode that makes the score of a task.

    This is the option `headline` of the task's verifier in the suite, else the default of that verifier. The
    default is loose for IFBench and strict for the others.
    """
    if side.manifest is None:
        return "strict"
    default = _DEFAULTS.get(side.manifest.tasks[task].verifier.name, "strict")
    options = task_entry(task, side.manifest.suite.config).get("verifier", {})
    return "loose" if options.get("headline", default) == "loose" else "strict"
