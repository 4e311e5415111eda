"""The comparison of two runs or score files: differences paired by problem, and the gate's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from genbench.analysis.comparison_record import ComparedTask, Comparison, SuiteVerdict
from genbench.analysis.decided import Chosen, Decided, decided
from genbench.analysis.followed import headline_mode
from genbench.analysis.noise import band_for
from genbench.analysis.opening import open_side
from genbench.analysis.pairing import Pairing, pair_sides
from genbench.analysis.pairs import compared_task
from genbench.analysis.remarks import comparison_notes, comparison_warnings
from genbench.analysis.sides import Side
from genbench.errors import InputError
from genbench.stats.gate import Gate
from genbench.stats.intervals import LEVEL


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The options of a comparison. `compare` says what each of them means."""

    gate: bool = False
    strict: bool = False
    gating: Sequence[str] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    suite_margin: float | None = None
    allow: Sequence[str] = ()
    strict_contract: bool = False


def compare(
    base: Path | str,
    tuned: Path | str,
    *,
    tasks: Sequence[str] = (),
    gate: bool = False,
    strict: bool = False,
    gating: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    suite_margin: float | None = None,
    allow: Sequence[str] = (),
    strict_contract: bool = False,
) -> Comparison:
    """Compare two run folders or score files, paired by problem.

    Args:
        base: the side to compare with.
        tuned: the side to compare.
        tasks: the tasks to compare. Empty: all.
        gate: set `exit_code` in the result to 1 if the suite or a gating task regressed, or if a gating
            task could not be decided.
        strict: with `gate`, also if the suite is inconclusive.
        gating: the tasks of the gate's family. Empty: those that the suite declares, or else every task.
        margins: the loss that counts as none, by task, as a fraction of 1.
        suite_margin: the same for the mean of the gating tasks. None: the smallest margin of them.
        allow: names of differences to let through.
        strict_contract: refuse sides with other circumstances too.

    Raises:
        InputError: a side or an option cannot be used.
        NotComparableError: the sides differ in what must be equal.
    """
    if strict and not gate:
        raise InputError("--strict goes with --gate")
    options = CompareOptions(gate, strict, gating, margins or {}, suite_margin, allow, strict_contract)
    return compare_sides(open_side(Path(base), tasks), open_side(Path(tuned), tasks), options)


def compare_sides(base: Side, tuned: Side, options: CompareOptions | None = None) -> Comparison:
    """Compare two opened sides, by default without a gate.

    Raises:
        InputError: a side or an option cannot be used.
        NotComparableError: the sides differ in what must be equal.
    """
    options = options or CompareOptions()
    pairing = pair_sides(base, tuned, options.allow, options.strict_contract)
    chosen = Chosen(options.gating, options.margins, options.suite_margin)
    return _comparison(pairing, decided(pairing, chosen), options)


def _comparison(pairing: Pairing, found: Decided, options: CompareOptions) -> Comparison:
    """Return the record of a comparison."""
    gate = found.gate
    extra = {} if found.adaptive is None else {"adaptive": found.adaptive}
    return Comparison(
        format=1,
        base=pairing.base.record,
        tuned=pairing.tuned.record,
        tasks=_compared_tasks(pairing, found),
        suite=_suite(gate),
        allowed=tuple(map(str, pairing.allowed)),
        warnings=(*comparison_warnings(pairing, found.found), *found.warnings),
        circumstances=tuple(map(str, pairing.circumstances)),
        notes=(*comparison_notes(pairing), *found.notes),
        gate=options.gate,
        strict=options.strict,
        exit_code=gate.exit_code(strict=options.strict) if options.gate else 0,
        **extra,
    )


def _compared_tasks(pairing: Pairing, found: Decided) -> dict[str, ComparedTask]:
    """Return the record of each task."""
    sides, shared = (pairing.base, pairing.tuned), pairing.shares_seeds
    return {
        name: compared_task(
            base,
            tuned,
            found.found[name],
            found.gate.tasks[name],
            shared_seeds=shared[name],
            mode=headline_mode(pairing.tuned, name),
            noise=band_for(sides, tuned, (base.largest_k, tuned.largest_k)),
            level=found.levels.get(name, LEVEL),
        )
        for name, (base, tuned) in pairing.tasks.items()
    }


def _suite(decision: Gate) -> SuiteVerdict:
    """Return the record of the decision on the suite."""
    pooled, whole = decision.pooled, decision.together
    return SuiteVerdict(
        pooled_difference=pooled.difference,
        ci=pooled.ci,
        p_regression=pooled.p_regression,
        p_improvement=pooled.p_improvement,
        tasks=tuple(name for name, task in decision.tasks.items() if task.gating),
        pooled_tasks=pooled.tasks,
        alpha=decision.alpha_pooled,
        familywise=decision.alpha,
        mean_difference=whole.difference,
        lower=whole.lower,
        margin=whole.margin,
        doubtful=whole.doubtful,
        inconclusive=decision.inconclusive,
        undecided=decision.undecided,
        verdict=decision.verdict,
    )
