"""Kinds of instruction: how often each was followed, sample by sample, and base beside tuned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from genbench.analysis.sides import SideTask
from genbench.stats.families import benjamini_hochberg
from genbench.stats.paired import Paired, paired
from genbench.stats.resample import derive_seed
from genbench.types import Verdict

Shares = tuple[tuple[float | None, ...], ...]
"""For every problem its samples' shares of followed instructions of one kind; a problem without any: ()."""


def shares_by_kind(rows: Sequence[Sequence[Verdict | None]]) -> dict[str, Shares]:
    """Mode and kind, ``strict/punctuation:no_comma`` -> shares by problem and sample.

    Args:
        rows: for every problem the verdicts of its samples. A sample that is excluded is None in every
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
    """One sample's share by mode and kind, over its turns and over repeated instructions."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for name, value in (verdict.parts if verdict is not None and verdict.score is not None else {}).items():
        mode, turn_and_rest = name.partition("/")[::2]
        kind = turn_and_rest.split("/", 2)[-1]
        if turn_and_rest[:1].isdigit() and ":" in kind:
            values[f"{mode}/{kind}"].append(value)
    return {kind: sum(found) / len(found) for kind, found in values.items()}


def compare_kinds(
    base: SideTask, tuned: SideTask, mode: str, *, seed: int, shared_seeds: bool
) -> list[tuple[str, Paired, float | None]]:
    """The paired difference of each kind in `mode` (strict or loose) and its q value, kinds sorted.

    Pairs problems: instructions of one prompt hang together. Exploratory, as strata are.
    """
    found = [
        (kind.partition("/")[2], _paired(base, tuned, kind, seed, shared_seeds))
        for kind in base.followed
        if kind.startswith(f"{mode}/") and kind in tuned.followed
    ]
    known = [row.p_two_sided for _, row in found if row.p_two_sided is not None]
    q_values = iter(benjamini_hochberg(known) if known else ())
    return [(kind, row, None if row.p_two_sided is None else next(q_values)) for kind, row in found]


def _paired(base: SideTask, tuned: SideTask, kind: str, seed: int, shared_seeds: bool) -> Paired:
    left, right = base.followed[kind], tuned.followed[kind]
    asked = [place for place in range(len(left)) if left[place] and right[place]]
    groups = base.groups or tuned.groups
    return paired(
        [left[place] for place in asked],
        [right[place] for place in asked],
        seed=derive_seed(str(seed), kind),
        metric="avg@k",
        groups=[groups[place] for place in asked] if groups else None,
        shared_seeds=shared_seeds,
    )


def headline_mode(described: Mapping[str, object]) -> str:
    """The mode that a task's score goes by: loose for IFBench, strict elsewhere."""
    verifier = described.get("verifier")
    name = verifier.get("name") if isinstance(verifier, Mapping) else None
    return "loose" if name == "ifbench" else "strict"
