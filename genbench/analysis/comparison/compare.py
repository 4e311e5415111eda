"""The comparison of two runs or score files: differences paired by problem, and the gate's decisions.

Scores in its record are fractions of 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from genbench.analysis.adaptive.gate import adaptive_of
from genbench.analysis.adaptive.results import AdaptiveResults
from genbench.analysis.comparison.compared_task import (
    ComparedTask,
    compared_tasks,
    with_corpus,
    with_other_forms,
    with_readings,
    with_reviews,
    with_stopping,
)
from genbench.analysis.comparison.decisions import Decisions, decide
from genbench.analysis.comparison.judge_change import other_judge_only
from genbench.analysis.comparison.pairing import Pairing, pair_sides
from genbench.analysis.comparison.read_pairs import read_pairs, reading_warnings
from genbench.analysis.comparison.spot_check import Recheck, RecheckedTask, recheck_notes, settle_recheck
from genbench.analysis.comparison.variant import Variant, variant_of, verdict_of
from genbench.analysis.comparison.warnings import (
    budget_notes,
    comparison_notes,
    comparison_warnings,
    judge_notes,
    stopping_lines,
)
from genbench.analysis.side_by_side import ChangedTexts, changed_texts
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideRecord
from genbench.engines.checkpoint import is_declared, no_gate_base
from genbench.errors import InputError, NotComparableError
from genbench.json_record import DifferenceInterval, JsonRecord, Share, ShownRecord, SignedShare
from genbench.stats.comparison.gate import Gate, GateVerdict, plain_mean
from genbench.stats.comparison.paired import Paired
from genbench.suite.block import headlines


class SuiteVerdict(JsonRecord):
    """The gate's decision on the suite, from the pooled difference and the bound of the mean difference."""

    plain_difference: SignedShare | None = Field(
        default=None,
        description="plain mean of the differences of all compared tasks, gating or not; further scores of a "
        "task are left out",
    )
    plain_ci: DifferenceInterval | None = Field(
        default=None, description="95% interval of `plain_difference`"
    )
    pooled_difference: SignedShare | None = Field(
        description="mean of the gating tasks' differences with weights 1/variance; it finds a small change "
        "that the tasks share"
    )
    ci: DifferenceInterval | None = Field(description="95% interval of `pooled_difference`")
    p_regression: Share = Field(description="one-sided p value of a drop")
    p_improvement: Share = Field(description="one-sided p value of a gain")
    tasks: tuple[str, ...] = Field(description="the gating tasks")
    pooled_tasks: tuple[str, ...] = Field(description="the gating tasks with any difference at all")
    alpha: Share = Field(description="level of each family of tests")
    familywise: Share = Field(
        description="error of each verdict on an unchanged model: of REGRESSED, and separately of IMPROVED"
    )
    mean_difference: SignedShare | None = Field(
        description="plain mean of the gating tasks' differences, with every excluded sample against tuned"
    )
    lower: SignedShare | None = Field(description="its one-sided 95% lower bound")
    margin: Share = Field(description="a mean loss that counts as none")
    doubtful: tuple[str, ...] = Field(
        description="gating tasks that may have lost twice their margin; they keep the suite inconclusive"
    )
    inconclusive: tuple[str, ...] = Field(description="gating tasks that are inconclusive by themselves")
    undecided: tuple[str, ...] = Field(
        description="gating tasks without a difference, or inconclusive while a score file lacks more than "
        "1 % of the scores; with them the gate fails"
    )
    verdict: GateVerdict = Field(description="the gate's decision")


class Comparison(ShownRecord):
    """Two sides compared, task by task and as a suite."""

    format: Literal[1] = Field(description="version of this record")
    base: SideRecord = Field(description="the side that is compared with")
    tuned: SideRecord = Field(description="the side that is compared")
    tasks: dict[str, ComparedTask] = Field(description="the tasks of both sides, by name")
    texts: dict[str, ChangedTexts] = Field(
        default_factory=dict,
        description="tasks that nothing scores: how many answers changed; absent if there are none",
    )
    suite: SuiteVerdict = Field(description="the decision on the suite")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")
    warnings: tuple[str, ...] = Field(description="reasons to doubt the numbers")
    circumstances: tuple[str, ...] = Field(
        description="differences that change only rounding or speed; empty with --strict-contract"
    )
    notes: tuple[str, ...] = Field(description="facts that the reader should know")
    adaptive: AdaptiveResults | None = Field(
        default=None, description="looks of tuned, which decide; absent if all its samples were drawn"
    )
    variant: Variant | None = Field(
        default=None,
        description="recovery, drift and behaviour under a declared treatment, which then decide; absent "
        "without a treatment",
    )
    rechecked: tuple[RecheckedTask, ...] = Field(
        default=(), description="stored answers that were verified again, by side and task"
    )
    gate: bool = Field(description="whether --gate was given")
    strict: bool = Field(description="whether --strict was given")
    exit_code: Literal[0, 1] = Field(
        description="the exit code of the command; 2 (bad input) and 3 (not comparable) leave no JSON"
    )


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
    treatment: Sequence[str] = ()


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
    treatment: Sequence[str] = (),
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
        treatment: what differs on purpose, such as `quantization`. The gate then decides on the ratio of the
            scores, and margins are shares of base's score. Empty: what the suite of a run declares.

    Raises:
        InputError: a side or an option cannot be used, or the gate is asked about a run and itself.
        NotComparableError: the sides differ in what must be equal.
    """
    if strict and not gate:
        raise InputError("--strict goes with --gate")
    options = CompareOptions(
        gate, strict, gating, margins or {}, suite_margin, allow, strict_contract, recheck, treatment
    )
    keep = recheck.samples if recheck is not None else 0
    left, right = (open_side(Path(path), tasks, keep=keep) for path in (base, tuned))
    return compare_sides(left, right, options)


def compare_sides(base: Side, tuned: Side, options: CompareOptions | None = None) -> Comparison:
    """Compare two opened sides, by default without a gate.

    Raises:
        InputError: a side or an option cannot be used, or the gate is asked about a run and itself, or about
            a base whose weights have no digest.
        NotComparableError: the sides differ in what must be equal.
    """
    options = options or CompareOptions()
    if options.gate and is_one_run(base, tuned):
        raise InputError(
            f"{base.path} and {tuned.path} are one run: nothing changed between a run and itself, so no gate "
            "can decide; name the run that tuned is compared with as BASE"
        )
    if options.gate and base.manifest is not None and is_declared(base.manifest.model_identity):
        raise InputError(no_gate_base(str(base.path)))
    try:
        pairing = pair_sides(base, tuned, options.allow, options.strict_contract, options.treatment)
    except NotComparableError as error:
        if not other_judge_only(base, tuned):
            raise
        raise NotComparableError(
            f"{error}\nthese are the same texts of one model; what another judge makes of them is printed by "
            "genbench judge compare"
        ) from None
    if pairing.treated is not None and adaptive_of(tuned) is not None:
        raise InputError(
            f"{tuned.path}: the looks of an adaptive run decided by the difference, and a treatment is "
            "decided by the ratio; draw it without --adaptive"
        )
    pairing, texts = _without_unrated(pairing)
    if options.gate and texts and not pairing.tasks:
        raise InputError(
            f"{', '.join(texts)}: nothing scores the answers, so no gate can decide; leave --gate out, or "
            "compare a task with a verifier too"
        )
    rechecked = tuple(options.recheck(base, tuned)) if options.recheck is not None else ()
    let_through = settle_recheck(rechecked, options.allow, f"not comparable ({base.path} -> {tuned.path})")
    pairing = replace(pairing, allowed=[*pairing.allowed, *let_through])
    decisions = decide(
        pairing, gating=options.gating, margins=options.margins, suite_margin=options.suite_margin
    )
    record = _comparison(pairing, decisions, options)
    notes = (*record.notes, *recheck_notes(rechecked))
    extra = {"texts": texts} if texts else {}
    return record.model_copy(update={"rechecked": rechecked, "notes": notes, **extra})


def _without_unrated(pairing: Pairing) -> tuple[Pairing, dict[str, ChangedTexts]]:
    """Take the tasks that nothing scores out of a comparison. Return how many of their answers changed."""
    texts = {
        name: changed_texts(*sides)
        for name, sides in pairing.tasks.items()
        if any(task.described is not None and task.described.is_unrated for task in sides)
    }
    scored = {name: sides for name, sides in pairing.tasks.items() if name not in texts}
    return replace(pairing, tasks=scored), texts


def is_one_run(base: Side, tuned: Side) -> bool:
    """Return whether both sides are one run (also a copy of its folder), or one score file."""
    if base.manifest is not None and tuned.manifest is not None:
        return base.manifest.run_uid == tuned.manifest.run_uid
    return Path(base.path).resolve() == Path(tuned.path).resolve()


def _comparison(pairing: Pairing, found: Decisions, options: CompareOptions) -> Comparison:
    """Return the record of a comparison."""
    gate = found.gate
    extra: dict[str, Any] = {} if found.adaptive is None else {"adaptive": found.adaptive}
    tasks = with_corpus(compared_tasks(pairing, found.found, found.gate, found.levels), pairing.tasks)
    tasks = with_stopping(with_reviews(tasks, pairing), pairing.tasks)
    readings = read_pairs(pairing.tasks)
    tasks = with_readings(tasks, readings)
    code = gate.exit_code(strict=options.strict) if options.gate else 0
    suite = _suite(gate, found.found)
    if pairing.treated is not None:
        variant = variant_of(pairing, found.found, gate, tasks, margin=options.suite_margin)
        tasks = {
            name: task.model_copy(update={"verdict": verdict_of(task, variant.tasks[name])})
            for name, task in tasks.items()
        }
        suite = suite.model_copy(update={"verdict": variant.verdict, "margin": variant.margin})
        failing = {"REGRESSED", "INCONCLUSIVE"} if options.strict else {"REGRESSED"}
        code = int(options.gate and bool(gate.undecided or suite.verdict in failing or not suite.tasks))
        extra["variant"] = variant
    return Comparison(
        format=1,
        base=pairing.base.record,
        tuned=pairing.tuned.record,
        tasks=with_other_forms(tasks, pairing),
        suite=suite,
        allowed=tuple(map(str, pairing.allowed)),
        warnings=(
            *_same_run_words(pairing),
            *stopping_lines(tasks, worse=True),
            *comparison_warnings(pairing, found.found),
            *reading_warnings(readings),
            *found.warnings,
        ),
        circumstances=tuple(map(str, pairing.circumstances)),
        notes=(
            *comparison_notes(pairing),
            *stopping_lines(tasks, worse=False),
            *found.notes,
            *judge_notes(pairing, tasks),
            *budget_notes(pairing),
        ),
        gate=options.gate,
        strict=options.strict,
        exit_code=code,
        **extra,
    )


def _same_run_words(pairing: Pairing) -> list[str]:
    if not is_one_run(pairing.base, pairing.tuned):
        return []
    return ["both sides are one run: every difference is zero, and tells nothing"]


def _suite(decision: Gate, found: Mapping[str, Paired]) -> SuiteVerdict:
    """Return the record of the decision on the suite."""
    pooled, whole, plain = decision.pooled, decision.together, plain_mean(headlines(found))
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
