"""The tasks that decide a gate, and the loss of each that counts as none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from genbench.analysis.sides import Side, SideTask
from genbench.errors import InputError, nearest
from genbench.stats.gate import MARGIN


def parse_margins(texts: Sequence[str]) -> dict[str, float]:
    """Read texts like `aime25=3` (points of 100) as fractions of 1 by task.

    Raises:
        InputError: a text is not of that form, or not between 0 and 100 points.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        try:
            points = float(value)
        except ValueError:
            points = 0.0
        if not equals or not name or not 0 < points <= 100:
            raise InputError(f"--margin {text}: wanted TASK=POINTS, as in --margin aime25=3")
        found[name] = points / 100
    return found


def gate_family(
    base: Side, tuned: Side, pairs: Collection[str], chosen: Sequence[str]
) -> tuple[list[str] | None, list[str]]:
    """Return the gating tasks (None: all) and notes about the choice."""
    for name in chosen:
        if name not in pairs:
            raise InputError(f"--gating {name}: no such task in this comparison{nearest(name, pairs)}")
    declared = [
        [name for name in pairs if side.tasks[name].gating] for side in (base, tuned) if side.manifest
    ]
    if chosen:
        differs = declared and sorted(chosen) != sorted(declared[-1])
        note = f"gating chosen on the command line, not declared by the suite: {', '.join(chosen)}"
        return list(dict.fromkeys(chosen)), [note] if differs else []
    if not declared:
        return None, []
    family = declared[-1]
    notes = []
    if declared[0] != family:
        notes.append(f"base declared other gating tasks ({', '.join(declared[0]) or 'none'}); tuned's count")
    if not family:
        return None, [*notes, "no task here is declared gating: every task gates"]
    return family, notes


def gate_margins(
    pairs: Mapping[str, tuple[SideTask, SideTask]], given: Mapping[str, float]
) -> dict[str, float]:
    """Return the margin of each task: as given, else as a suite declares it, else the default."""
    for name in given:
        if name not in pairs:
            raise InputError(f"--margin {name}: no such task in this comparison{nearest(name, pairs)}")
    declared = {name: tuned.margin or base.margin or MARGIN for name, (base, tuned) in pairs.items()}
    return declared | dict(given)
