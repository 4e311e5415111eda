"""The record of a comparison: what `genbench compare` returns and prints. Scores are fractions of 1."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from genbench.analysis.adaptive_results_record import AdaptiveResults
from genbench.analysis.corpus_record import CorpusDifference
from genbench.analysis.judge_records import AttemptsRecord, CascadeAccuracy, PairwiseRecord
from genbench.analysis.likelihood_record import MeasureDifference
from genbench.analysis.noise_record import NoiseBand
from genbench.analysis.recheck_record import RecheckedTask
from genbench.analysis.records import Count, Share
from genbench.analysis.side_record import SideRecord
from genbench.json_record import JsonRecord
from genbench.stats.gate import GateVerdict
from genbench.types import Status

SignedShare = Annotated[float, Field(ge=-1, le=1)]
"""A difference of two fractions of 1."""
DifferenceInterval = tuple[SignedShare, SignedShare]
"""Lower and upper bound of a difference."""


class PairedRecord(JsonRecord):
    """A paired difference tuned - base, with its interval and its power."""

    n: Count = Field(description="problems in both sides")
    k_base: Count = Field(description="samples that every problem of base has at least")
    k_tuned: Count = Field(description="samples that every problem of tuned has at least")
    base: Share | None = Field(description="the score of base")
    tuned: Share | None = Field(description="the score of tuned")
    difference: SignedShare | None = Field(description="tuned - base, mean over problems")
    se: float | None = Field(description="standard error, clustered by problem or group")
    ci: DifferenceInterval | None = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made")
    lower: SignedShare | None = Field(
        description="one-sided 95% lower bound with every excluded sample against tuned; above minus the "
        "margin a loss is excluded"
    )
    bounds: DifferenceInterval | None = Field(
        description="the difference if every excluded sample counted against tuned, and if for it; "
        "null if nothing is excluded"
    )
    left_out: Count = Field(description="problems without a scored sample in both; the difference lacks them")
    rerun_ci: DifferenceInterval | None = Field(
        description="95% interval of sampling noise on these problems"
    )
    rerun_ci_method: str = Field(description="how `rerun_ci` was made, or why there is none")
    p_two_sided: Share | None = Field(description="p value of no difference")
    p_regression: Share | None = Field(description="one-sided p value of a drop")
    p_improvement: Share | None = Field(description="one-sided p value of a gain")
    p_method: str = Field(description="how the p values were made")
    mde: Share | None = Field(description="smallest drop that a one-sided 5% test finds with 80% power")
    excluded_base: Count = Field(description="samples of base without a score")
    excluded_tuned: Count = Field(description="samples of tuned without a score")
    missing: str | None = Field(description="why there is no difference; null if it is given")


class _Named(JsonRecord):
    """A row with a name, which comes first."""

    name: str = Field(description="the stratum, or the kind of instruction")


class StratumDifference(PairedRecord, _Named):
    """One row of an exploratory table: a stratum, or a kind of instruction."""

    q_value: Share | None = Field(description="false discovery rate over the rows of this table")


class McNemarRecord(JsonRecord):
    """Problems by right or wrong in both sides, at one 0/1 sample per problem."""

    both_right: Count = Field(description="problems right in both")
    base_only: Count = Field(description="problems right in base only")
    tuned_only: Count = Field(description="problems right in tuned only")
    both_wrong: Count = Field(description="problems wrong in both")
    p_two_sided: Share = Field(description="exact two-sided p value")
    p_regression: Share = Field(description="exact one-sided p value of a drop")


class CauseRecord(JsonRecord):
    """The part of a difference that one status explains."""

    status: Status = Field(description="the status")
    part: SignedShare = Field(description="what tuned gained by it; the parts add up to the difference")
    ci: DifferenceInterval = Field(description="95% interval of the part")
    base_share: Share = Field(description="share of base's samples with this status")
    tuned_share: Share = Field(description="share of tuned's samples with this status")


class CausesRecord(JsonRecord):
    """A difference split by status."""

    leading: Status | None = Field(
        description="the status that moved the score most in the direction of the difference"
    )
    parts: tuple[CauseRecord, ...] = Field(description="contributions of the statuses, largest first")


class TransitionRecord(JsonRecord):
    """A number of samples with one status in base and one in tuned."""

    base: Status = Field(description="status in base")
    tuned: Status = Field(description="status in tuned")
    count: Count = Field(description="samples")


class TokenUse(JsonRecord):
    """Completion tokens of one side of a task."""

    completion: Count = Field(description="tokens of all completions")
    per_sample: float = Field(description="tokens per sample")
    per_correct: float | None = Field(description="tokens per correct answer; null if nothing is correct")


class TokensRecord(JsonRecord):
    """Completion tokens of both sides."""

    base: TokenUse = Field(description="token use of base")
    tuned: TokenUse = Field(description="token use of tuned")
    per_correct_ratio: float | None = Field(description="tuned's tokens per correct answer over base's")


class InstructionTable(JsonRecord):
    """The kinds of instruction of a task, each with its paired difference."""

    mode: Literal["strict", "loose"] = Field(description="the form whose results the table shows")
    kinds: tuple[StratumDifference, ...] = Field(
        description="differences by kind of instruction; `n` counts the prompts that ask for it"
    )


class JudgeFigures(JsonRecord):
    """The figures of one run's results about its judge. Null means that nothing was recorded."""

    unscored: Count | None = Field(description="samples without a verdict of the judge")
    accuracy: CascadeAccuracy | None = Field(
        description="accuracy of the rule only, and of rule and judge together"
    )
    pairwise: PairwiseRecord | None = Field(description="outcomes of pairs")
    attempts: AttemptsRecord | None = Field(
        description="of judges with a label for answers that attempt nothing"
    )


class JudgePair(JsonRecord):
    """The judges' figures of both sides."""

    base: JudgeFigures = Field(description="figures of base")
    tuned: JudgeFigures = Field(description="figures of tuned")


class ComparedTask(PairedRecord):
    """One task of a comparison."""

    metric: str = Field(description="name with its k: avg@8; avg@k if the sides have different k")
    verdict: GateVerdict = Field(description="the gate's decision")
    gating: bool = Field(description="whether the task is in the gate's family")
    margin: Share = Field(description="largest loss that counts as none")
    alpha: Share = Field(description="level of the test of the (adjusted) p values")
    finds: Share | None = Field(
        description="smallest drop found with 80% power at the strictest level that the gate may use"
    )
    p_regression_adjusted: Share | None = Field(
        description="Holm over the gating tasks; null for the other tasks"
    )
    p_improvement_adjusted: Share | None = Field(
        description="Holm over the gating tasks; null for the other tasks"
    )
    few_problems: bool = Field(description="whether there are too few problems for the test's error rate")
    ragged: bool = Field(description="whether problems have different numbers of samples")
    shared_seeds: bool = Field(description="whether sample j was drawn with one seed in both")
    mcnemar: McNemarRecord | None = Field(description="McNemar's test; only at k = 1 with scores of 0 and 1")
    causes: CausesRecord | None = Field(
        description="null for score files, which have no statuses, and for metrics that are no mean"
    )
    transitions: tuple[TransitionRecord, ...] | None = Field(
        description="samples by status in base and in tuned; null for score files"
    )
    tokens: TokensRecord | None = Field(description="tokens of both sides; null if they were not counted")
    strata: dict[str, tuple[StratumDifference, ...]] = Field(description="differences by column")
    instructions: InstructionTable | None = Field(
        description="differences by instruction; only of instruction tasks"
    )
    likelihood: dict[str, MeasureDifference] | None = Field(
        default=None, description="differences of the measures of scored texts; absent if answers were drawn"
    )
    judge: JudgePair | None = Field(description="figures of the judge; null if no judge was asked")
    noise: NoiseBand | None = Field(
        description="the stored false-alarm band, see `genbench estimate --noise`"
    )
    corpus: dict[str, CorpusDifference] | None = Field(
        default=None, description="differences of corpus metrics by name; absent if the task has none"
    )


class SuiteVerdict(JsonRecord):
    """The gate's decision on the suite, from the pooled difference and the bound of the mean difference."""

    plain_difference: SignedShare | None = Field(
        default=None, description="plain mean of the differences of all compared tasks, gating or not"
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


class Comparison(JsonRecord):
    """Two sides compared, task by task and as a suite."""

    format: Literal[1] = Field(description="version of this record")
    base: SideRecord = Field(description="the side that is compared with")
    tuned: SideRecord = Field(description="the side that is compared")
    tasks: dict[str, ComparedTask] = Field(description="the tasks of both sides, by name")
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
    rechecked: tuple[RecheckedTask, ...] = Field(
        default=(), description="stored answers that were verified again, by side and task"
    )
    gate: bool = Field(description="whether --gate was given")
    strict: bool = Field(description="whether --strict was given")
    exit_code: Literal[0, 1] = Field(
        description="the exit code of the command; 2 (bad input) and 3 (not comparable) leave no JSON"
    )
