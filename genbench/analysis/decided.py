"""The differences of two paired sides with the gate's decisions on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from genbench.analysis.adaptive_results_record import AdaptiveResults
from genbench.analysis.adaptivegate import (
    adaptive_gate,
    adaptive_of,
    changed_words,
    check_choices,
    interval_levels,
    repeated,
)
from genbench.analysis.adaptiveresults import adaptive_results
from genbench.analysis.excluded import lacking_scores
from genbench.analysis.gating import gate_family, gate_margins
from genbench.analysis.pairing import Pairing
from genbench.stats.gate import Gate
from genbench.stats.gate import gate as decide
from genbench.stats.paired import Paired
from genbench.store.manifest import AdaptiveRecord


@dataclass(frozen=True, slots=True)
class Chosen:
    """The gating tasks and margins that were chosen on the command line. `compare` says what they mean."""

    gating: Sequence[str] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    suite_margin: float | None = None


@dataclass(frozen=True, slots=True)
class Decided:
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


def decided(pairing: Pairing, chosen: Chosen) -> Decided:
    """Return the differences and decisions of two sides. The looks of an adaptive run have decided already.

    Raises:
        InputError: a chosen task is not compared, or was planned before an adaptive run.
    """
    record = adaptive_of(pairing.tuned)
    if record is not None:
        return _looked(pairing, chosen, record)
    family = gate_family(pairing.base, pairing.tuned, pairing.tasks, chosen.gating)
    found = pairing.differences()
    gate = decide(
        found,
        gating=family.names,
        margins=gate_margins(pairing.tasks, chosen.margins),
        suite_margin=chosen.suite_margin,
        absent=family.absent,
        lacking=lacking_scores(pairing.tasks),
    )
    return Decided(found, gate, family.notes)


def _looked(pairing: Pairing, chosen: Chosen, record: AdaptiveRecord) -> Decided:
    """Return the decisions of the looks, with repeated intervals."""
    check_choices(
        record,
        {"--gating": chosen.gating, "--margin": chosen.margins, "--suite-margin": chosen.suite_margin},
    )
    levels = interval_levels(record)
    found = repeated(record, pairing.differences(levels))
    samples = {name: task.samples for name, task in pairing.tuned.tasks.items()}
    return Decided(
        found,
        adaptive_gate(record, found),
        warnings=changed_words(record, found),
        levels=levels,
        adaptive=adaptive_results(record, samples),
    )
