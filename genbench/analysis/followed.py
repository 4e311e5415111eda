"""Kinds of instruction: how often samples follow each kind, and the paired difference of base and tuned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from genbench.analysis.sides import Side, SideTask
from genbench.stats.families import benjamini_hochberg
from genbench.stats.intervals import LEVEL
from genbench.stats.paired import Paired, paired
from genbench.store.contract import task_entry
from genbench.types import Verdict

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
        mode, turn_and_rest = name.partition("/")[::2]
        kind = turn_and_rest.split("/", 2)[-1]
        if turn_and_rest[:1].isdigit() and ":" in kind:
            values[f"{mode}/{kind}"].append(value)
    return {kind: sum(found) / len(found) for kind, found in values.items()}


def compare_kinds(
    base: SideTask, tuned: SideTask, mode: Mode, *, shared_seeds: bool, level: float = LEVEL
) -> list[tuple[str, Paired, float | None]]:
    """Return each kind with its paired difference in `mode` and its q value, sorted by kind.

    Differences are paired by problem, because instructions of one prompt are not independent. The table is
    exploratory, as tables by stratum are.
    """
    found = [
        (kind.partition("/")[2], _paired(base, tuned, kind, shared_seeds, level))
        for kind in base.followed
        if kind.startswith(f"{mode}/") and kind in tuned.followed
    ]
    known = [row.p_two_sided for _, row in found if row.p_two_sided is not None]
    q_values = iter(benjamini_hochberg(known) if known else ())
    return [(kind, row, None if row.p_two_sided is None else next(q_values)) for kind, row in found]


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
