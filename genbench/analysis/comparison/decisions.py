"""The differences of two paired sides with the gate's decisions on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from genbench.analysis.adaptive.gate import (
    adaptive_gate,
    adaptive_of,
    changed_words,
    check_choices,
    interval_levels,
    repeated,
)
from genbench.analysis.adaptive.results import AdaptiveResults, adaptive_results
from genbench.analysis.comparison.comparability import lacking_scores
from genbench.analysis.comparison.pairing import Pairing
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, nearest
from genbench.stats.comparison.gate import MARGIN, Gate, gate
from genbench.stats.comparison.paired import Paired
from genbench.store.manifest import AdaptiveRecord
from genbench.suite.block import is_headline


@dataclass(frozen=True, slots=True)
class Decisions:
    """The differences of a comparison and the decisions on them.

    `levels` are the confidences of the intervals of tasks that do not have 95 %. `adaptive` are the looks of
    tuned if they decided.
    """

    found: Mapping[str, Paired]
    gate: Gate
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    levels: Mapping[str, float] = field(default_factory=dict)
    adaptive: AdaptiveResults | None = None


def decide(
    pairing: Pairing,
    *,
    gating: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    suite_margin: float | None = None,
) -> Decisions:
    """Return the differences and decisions of two sides. The looks of an adaptive run have decided already.

    Args:
        gating: the tasks that decide, as `compare` has them.
        margins: the loss that counts as none, by task.
        suite_margin: the same for the mean of the gating tasks.

    Raises:
        InputError: a chosen task is not compared, or was planned before an adaptive run.
    """
    record = adaptive_of(pairing.tuned)
    if record is not None:
        check_choices(record, {"--gating": gating, "--margin": margins, "--suite-margin": suite_margin})
        return _of_looks(pairing, record)
    family = gate_family(pairing.base, pairing.tuned, pairing.tasks, gating)
    found = pairing.differences()
    decision = gate(
        found,
        gating=family.names,
        margins=gate_margins(pairing.tasks, margins or {}),
        suite_margin=suite_margin,
        absent=family.absent,
        lacking=lacking_scores(pairing.tasks),
    )
    return Decisions(found, decision, family.notes)


def _of_looks(pairing: Pairing, record: AdaptiveRecord) -> Decisions:
    """Return the decisions of the looks, with repeated intervals."""
    levels = interval_levels(record)
    found = repeated(record, pairing.differences(levels))
    samples = {name: task.samples for name, task in pairing.tuned.tasks.items()}
    return Decisions(
        found,
        adaptive_gate(record, found),
        warnings=changed_words(record, found),
        levels=levels,
        adaptive=adaptive_results(record, samples),
    )


NONE_DECLARED = "no task here is declared gating: every task gates"
"""A task gates by the score of its first verifier. Its other scores gate if the suite says so."""


@dataclass(frozen=True, slots=True)
class GateFamily:
    """The tasks that decide a gate.

    `names` is None if every compared task decides. `absent` are gating tasks that only one side has. `notes`
    are lines about the choice.
    """

    names: tuple[str, ...] | None
    absent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


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


def gate_family(base: Side, tuned: Side, tasks: Collection[str], chosen: Sequence[str]) -> GateFamily:
    """Return the gating tasks: those chosen, else those that the suite of tuned declares, else all.

    Raises:
        InputError: a chosen task is not compared.
    """
    for name in chosen:
        if name not in tasks:
            raise InputError(f"--gating {name}: no such task in this comparison{nearest(name, tasks)}")
    declared = [
        [name for name in tasks if side.tasks[name].gating] for side in (base, tuned) if side.manifest
    ]
    if chosen:
        differs = declared and sorted(chosen) != sorted(declared[-1])
        note = f"gating chosen on the command line, not declared by the suite: {', '.join(chosen)}"
        return GateFamily(tuple(dict.fromkeys(chosen)), notes=(note,) if differs else ())
    absent = _absent(base, tuned)
    if not declared:
        return GateFamily(None, absent)
    family, notes = declared[-1], list[str]()
    if declared[0] != family:
        notes.append(f"base declared other gating tasks ({', '.join(declared[0]) or 'none'}); tuned's count")
    if not family and not absent:
        heads = tuple(name for name in tasks if is_headline(name))
        return GateFamily(heads if len(heads) < len(tasks) else None, notes=(*notes, NONE_DECLARED))
    notes += [
        f"gating task {name} is only in {(base if name in base.tasks else tuned).path}: no pass; "
        "draw it in the other run too, or name the tasks that decide with --gating"
        for name in absent
    ]
    return GateFamily(tuple(family), absent, tuple(notes))


def _absent(base: Side, tuned: Side) -> tuple[str, ...]:
    """Return the gating tasks that only one side has."""
    both = {**base.tasks, **tuned.tasks}
    one = base.tasks.keys() ^ tuned.tasks.keys()
    return tuple(name for name, task in both.items() if name in one and task.gating)


def parse_suite_margin(points: float | None) -> float | None:
    """Return points of 100 as a fraction of 1, or None for None.

    Raises:
        InputError: the number is not above 0 and up to 100.
    """
    if points is not None and not 0 < points <= 100:
        raise InputError(f"--suite-margin {points:g}: wanted points of 100, above 0 and up to 100")
    return None if points is None else points / 100


def gate_margins(
    tasks: Mapping[str, tuple[SideTask, SideTask]], given: Mapping[str, float]
) -> dict[str, float]:
    """Return the margin of each task: as given, else as a suite declares it, else the default."""
    for name in given:
        if name not in tasks:
            raise InputError(f"--margin {name}: no such task in this comparison{nearest(name, tasks)}")
    declared = {name: tuned.margin or base.margin or MARGIN for name, (base, tuned) in tasks.items()}
    return declared | dict(given)
