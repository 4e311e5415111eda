"""The comparison of two runs or score files: differences paired by problem, and the gate's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from genbench.analysis.comparison_record import Comparison, SuiteVerdict
from genbench.analysis.corpus import with_corpus
from genbench.analysis.decided import Chosen, Decided, decided
from genbench.analysis.opening import open_side
from genbench.analysis.pairing import Pairing, pair_sides
from genbench.analysis.pairs import compared_tasks
from genbench.analysis.rechecked import Recheck, recheck_notes, settle_recheck
from genbench.analysis.remarks import comparison_notes, comparison_warnings
from genbench.analysis.sides import Side
from genbench.errors import InputError
from genbench.stats.gate import Gate
from genbench.stats.paired import Paired
from genbench.stats.pool import plain_mean


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
    recheck: Recheck | None = None


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
    recheck: Recheck | None = None,
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
        recheck: verify a sample of the stored answers again, as the command does. See `genbench.AnswerCheck`.

    Raises:
        InputError: a side or an option cannot be used.
        NotComparableError: the sides differ in what must be equal.
    """
    if strict and not gate:
        raise InputError("--strict goes with --gate")
    options = CompareOptions(
        gate, strict, gating, margins or {}, suite_margin, allow, strict_contract, recheck
    )
    keep = recheck.samples if recheck is not None else 0
    left, right = (open_side(Path(path), tasks, keep=keep) for path in (base, tuned))
    return compare_sides(left, right, options)


def compare_sides(base: Side, tuned: Side, options: CompareOptions | None = None) -> Comparison:
    """Compare two opened sides, by default without a gate.

    Raises:
        InputError: a side or an option cannot be used.
        NotComparableError: the sides differ in what must be equal.
    """
    options = options or CompareOptions()
    pairing = pair_sides(base, tuned, options.allow, options.strict_contract)
    rechecked = tuple(options.recheck(base, tuned)) if options.recheck is not None else ()
    let_through = settle_recheck(rechecked, options.allow, f"not comparable ({base.path} -> {tuned.path})")
    pairing = replace(pairing, allowed=[*pairing.allowed, *let_through])
    chosen = Chosen(options.gating, options.margins, options.suite_margin)
    record = _comparison(pairing, decided(pairing, chosen), options)
    notes = (*record.notes, *recheck_notes(rechecked))
    return record.model_copy(update={"rechecked": rechecked, "notes": notes})


def _comparison(pairing: Pairing, found: Decided, options: CompareOptions) -> Comparison:
    """Return the record of a comparison."""
    gate = found.gate
    extra = {} if found.adaptive is None else {"adaptive": found.adaptive}
    return Comparison(
        format=1,
        base=pairing.base.record,
        tuned=pairing.tuned.record,
        tasks=with_corpus(compared_tasks(pairing, found.found, found.gate, found.levels), pairing.tasks),
        suite=_suite(gate, found.found),
        allowed=tuple(map(str, pairing.allowed)),
        warnings=(*comparison_warnings(pairing, found.found), *found.warnings),
        circumstances=tuple(map(str, pairing.circumstances)),
        notes=(*comparison_notes(pairing), *found.notes),
        gate=options.gate,
        strict=options.strict,
        exit_code=gate.exit_code(strict=options.strict) if options.gate else 0,
        **extra,
    )


def _suite(decision: Gate, found: Mapping[str, Paired]) -> SuiteVerdict:
    """Return the record of the decision on the suite."""
    pooled, whole, plain = decision.pooled, decision.together, plain_mean(found)
    return SuiteVerdict(
        plain_difference=plain.difference,
        plain_ci=plain.ci,
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
