"""One compared task: difference, causes, transitions, tokens and exploratory tables, with their records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from genbench.analysis.comparison.pairing import Pairing
from genbench.analysis.comparison.read_pairs import ReadPair
from genbench.analysis.corpus_metrics import CorpusDifference, corpus_differences
from genbench.analysis.corrected import ReviewedPair, reviews_next_to
from genbench.analysis.instruction_accuracy import Mode, compare_kinds, headline_mode
from genbench.analysis.likelihood import MeasureDifference, measure_differences
from genbench.analysis.noise import band_for
from genbench.analysis.results.judge_figures import (
    AttemptRatio,
    AttemptsRecord,
    CascadeAccuracy,
    PairwiseRecord,
    attempt_differences,
    attempt_of,
)
from genbench.analysis.sides.side import SideTask
from genbench.analysis.stopping import SharePair, StoppingChange, stopping_changes
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.models.traces import Reasoning
from genbench.safetext.printable import one_line
from genbench.stats.comparison.causes import CauseRecord, split_by_cause, transitions
from genbench.stats.comparison.gate import Gate, TaskGate
from genbench.stats.comparison.paired import Paired, PairedDifference, paired
from genbench.stats.comparison.sign_flip_test import McNemarRecord
from genbench.stats.intervals import LEVEL
from genbench.stats.metrics import parse_metric
from genbench.stats.noise import NoiseBand
from genbench.stats.ratios import MeanDifference
from genbench.stats.resample import derive_seed
from genbench.stats.strata import StratumDifference, compare_strata
from genbench.store.stored_run import Split, StoredRun, StoredTask
from genbench.types import Completion, Status

if TYPE_CHECKING:
    from genbench.verifiers.text.short_answer import Wanted


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
    attempts: dict[AttemptRatio, MeanDifference] = Field(
        default_factory=dict,
        description="paired differences of F1 and of the rate of hallucinations, of judges with a label for "
        "answers that attempt nothing",
    )


class OtherForm(JsonRecord):
    """Lost answers with the content of the reference in a form that the verifier does not accept."""

    lost: Count = Field(description="samples that base got right and tuned got wrong")
    read: Count = Field(description="those whose answers were read for it, at most 200")
    same: Count = Field(description="the answers among them that give the reference in another form")
    problem_id: str = Field(description="the problem of the first of them")
    example: str = Field(description="its answer, shortened")

    @property
    def share(self) -> float:
        """Return the share of the answers that were read."""
        return self.same / self.read


class _WithMetric(JsonRecord):
    """A row with a metric, which comes after the difference."""

    metric: str = Field(description="name with its k: avg@8; avg@k if the sides have different k")


class ReportedChange(JsonRecord):
    """The figure that a benchmark reports, on both sides. It changes with the score."""

    name: str = Field(description="the figure's name in the field")
    better: Literal["higher", "lower"] = Field(description="in which direction it is better")
    base: float = Field(description="the figure of base")
    tuned: float = Field(description="the figure of tuned")
    difference: float = Field(description="tuned - base")
    ci: tuple[float, float] | None = Field(description="95% interval for new questions of this kind")


class PartDifference(JsonRecord):
    """A named part of the score on both sides, paired by problem."""

    base: Share | None = Field(description="mean of base")
    tuned: Share | None = Field(description="mean of tuned")
    difference: SignedShare | None = Field(description="tuned - base")
    ci: DifferenceInterval | None = Field(description="its 95% interval for new questions of this kind")


class ComparedTask(TaskGate, _WithMetric, PairedDifference):
    """One task of a comparison."""

    few_problems: bool = Field(description="whether there are too few problems for the test's error rate")
    ragged: bool = Field(description="whether problems have different numbers of samples")
    shared_seeds: bool = Field(description="whether sample j was drawn with one seed in both")
    mcnemar: McNemarRecord | None = Field(description="McNemar's test; only at k = 1 with scores of 0 and 1")
    causes: CausesRecord | None = Field(
        description="null for score files, which have no statuses, and for metrics that are not means"
    )
    transitions: tuple[TransitionRecord, ...] | None = Field(
        description="samples by status in base and in tuned; null for score files"
    )
    read_by: ReadPair | None = Field(
        default=None, description="how answers were read; absent if no verdict says it"
    )
    parts: dict[str, PartDifference] | None = Field(
        default=None, description="named parts of the score; absent if either side has none"
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
    stopping: StoppingChange | None = Field(
        default=None, description="how the replies end in both; absent for scored texts and score files"
    )
    noise: NoiseBand | None = Field(description="the stored false-alarm band, see `genbench noise`")
    other_form: OtherForm | None = Field(
        default=None,
        description="lost answers that are right but for their form; absent if they explain no drop",
    )
    corpus: dict[str, CorpusDifference] | None = Field(
        default=None, description="differences of corpus metrics by name; absent if the task has none"
    )
    reported: ReportedChange | None = Field(
        default=None, description="the figure that the benchmark reports; absent if it is the score"
    )
    reviewed: ReviewedPair | None = Field(
        default=None, description="the difference corrected by labels of people; absent without any"
    )

    @property
    def findable(self) -> float | None:
        """`finds`, or None if an exact test of so few problems finds nothing: its p is 2^-n or more."""
        return self.finds if 0.5**self.n <= self.alpha else None


def compared_tasks(
    pairing: Pairing, found: Mapping[str, Paired], decision: Gate, levels: Mapping[str, float]
) -> dict[str, ComparedTask]:
    """Return the record of each task of a comparison.

    Args:
        found: the paired difference of each task.
        decision: the gate's decisions.
        levels: the confidence of the intervals of tasks that stopped early.
    """
    sides, shared = (pairing.base, pairing.tuned), pairing.shares_seeds
    return {
        name: compared_task(
            base,
            tuned,
            found[name],
            decision.tasks[name],
            shared_seeds=shared[name],
            mode=headline_mode(pairing.tuned, name),
            noise=band_for(sides, tuned, (base.largest_k, tuned.largest_k)),
            level=levels.get(name, LEVEL),
        )
        for name, (base, tuned) in pairing.tasks.items()
    }


def compared_task(
    base: SideTask,
    tuned: SideTask,
    found: Paired,
    decision: TaskGate,
    *,
    shared_seeds: bool,
    mode: Mode,
    noise: NoiseBand | None,
    level: float = LEVEL,
) -> ComparedTask:
    """Return the record of a task whose sides have the same problems in the same order.

    Args:
        found: the paired difference.
        decision: the gate's decision.
        shared_seeds: whether sample j was drawn with one seed in both.
        mode: the form of instructions that makes the score.
        noise: the stored false-alarm band.
        level: confidence of the intervals of causes and tables.
    """
    return ComparedTask.from_object(
        found,
        **dict(decision),
        metric=metric_label(base, tuned),
        few_problems=found.has_few_problems,
        ragged=base.is_ragged or tuned.is_ragged,
        shared_seeds=shared_seeds,
        causes=_causes(base, tuned, found, level),
        transitions=_transitions(base, tuned),
        tokens=_tokens(base, tuned),
        strata=dict(_strata(base, tuned, shared_seeds, level)),
        instructions=_instructions(base, tuned, mode, shared_seeds, level),
        judge=_judge_pair(base, tuned),
        noise=noise,
        **likelihood_fields(base, tuned),
        **_reported(tuned, found),
        **_parts(base, tuned, level),
    )


def _parts(base: SideTask, tuned: SideTask, level: float) -> dict[str, dict[str, PartDifference]]:
    """Return the differences of the named parts that both sides have, as a field of the record."""
    groups = base.groups or tuned.groups
    found: dict[str, PartDifference] = {}
    for name in [name for name in base.parts if name in tuned.parts]:
        sides = [[[mean] for mean in side.parts[name]] for side in (base, tuned)]
        pair = paired(*sides, metric="avg@1", groups=groups, level=level)
        found[name] = PartDifference.from_object(pair)
    return {"parts": found} if found else {}


def _reported(tuned: SideTask, found: Paired) -> dict[str, ReportedChange]:
    """Return the figure that the benchmark reports as a field of the record, or nothing.

    A figure that is a mean over strata is none of these problems, and has no paired difference here.
    """
    scale = None if tuned.described is None else tuned.described.reported
    if scale is None or scale.of_macro or found.base is None or found.tuned is None:
        return {}
    base, after = scale.of(found.base), scale.of(found.tuned)
    ci = None if found.ci is None else tuple(sorted((scale.best - scale.worst) * end for end in found.ci))
    return {
        "reported": ReportedChange(
            name=scale.name, better=scale.better, base=base, tuned=after, difference=after - base, ci=ci
        )
    }


def with_stopping(
    tasks: Mapping[str, ComparedTask], sides: Mapping[str, tuple[SideTask, SideTask]]
) -> dict[str, ComparedTask]:
    """Return the records of compared tasks, with the changes of how their replies end."""
    pairs = {
        name: SharePair(
            base.endings,
            tuned.endings,
            base.groups or tuned.groups,
            tuned.samples,
            None if base.is_ragged or tuned.is_ragged else (base.largest_k, tuned.largest_k),
        )
        for name, (base, tuned) in sides.items()
        if name in tasks and base.endings is not None and tuned.endings is not None
    }
    found = stopping_changes(pairs)
    return {
        name: task.model_copy(update={"stopping": found[name]}) if name in found else task
        for name, task in tasks.items()
    }


def metric_label(base: SideTask, tuned: SideTask) -> str:
    """Return the metric's name: `avg@8` if both sides have 8 samples of every problem, else `avg@k`.

    Of draws it has their number: the smallest of both sides, as in `paired`.
    """
    least, most = (
        pick(pick(side.smallest_k, side.largest_k) for side in (base, tuned)) for pick in (min, max)
    )
    ending = "k" if least < most and tuned.metric.startswith("avg@") else str(least)
    return tuned.metric.replace("@k", f"@{ending}").replace("^k", f"^{ending}")


def _causes(base: SideTask, tuned: SideTask, found: Paired, level: float) -> CausesRecord | None:
    """Split the difference by status. Return None if statuses are unknown or the metric is not a mean."""
    if base.statuses is None or tuned.statuses is None or found.missing is not None:
        return None
    if not parse_metric(tuned.metric).is_mean:
        return None
    if found.left_out:
        base, tuned = _scored_in_both(base, tuned)
    assert base.statuses is not None
    assert tuned.statuses is not None
    split = split_by_cause(
        base.scores,
        base.statuses,
        tuned.scores,
        tuned.statuses,
        groups=base.groups or tuned.groups,
        level=level,
    )
    leading = split.leading.status if split.leading else None
    return CausesRecord(leading=leading, parts=split.causes)


def _scored_in_both(base: SideTask, tuned: SideTask) -> tuple[SideTask, SideTask]:
    """Return both sides with only the problems that have a scored sample in both."""
    kept = [
        problem
        for problem, *rows in zip(base.problem_ids, base.scores, tuned.scores, strict=True)
        if all(any(score is not None for score in row) for row in rows)
    ]
    return base.take(kept), tuned.take(kept)


def _transitions(base: SideTask, tuned: SideTask) -> tuple[TransitionRecord, ...] | None:
    """Count samples by status in base and in tuned. Return None if statuses are unknown."""
    if base.statuses is None or tuned.statuses is None:
        return None
    counts = transitions(base.statuses, tuned.statuses)
    return tuple(TransitionRecord(base=b, tuned=t, count=count) for (b, t), count in counts.items())


def _tokens(base: SideTask, tuned: SideTask) -> TokensRecord | None:
    """Return both sides' completion tokens, or None if they were not counted."""
    left, right = _token_use(base), _token_use(tuned)
    if left is None or right is None:
        return None
    ratio = right.per_correct / left.per_correct if left.per_correct and right.per_correct else None
    return TokensRecord(base=left, tuned=right, per_correct_ratio=ratio)


def _token_use(task: SideTask) -> TokenUse | None:
    """Return the completion tokens of one side, or None if they were not counted."""
    if task.index is None or task.index.completion_tokens is None:
        return None
    if task.index.problems != len(task.problem_ids):  # the other side drew fewer problems
        return None
    total = task.index.completion_tokens
    return TokenUse(
        completion=total,
        per_sample=total / task.samples,
        per_correct=total / task.correct if task.correct else None,
    )


def _strata(
    base: SideTask, tuned: SideTask, shared_seeds: bool, level: float
) -> Iterator[tuple[str, tuple[StratumDifference, ...]]]:
    """Yield each column with two or more strata: its name and its rows, with q values."""
    for column, labels in {**base.strata, **tuned.strata}.items():
        if len({label for label in labels if label is not None}) < 2:
            continue
        rows = compare_strata(
            base.scores,
            tuned.scores,
            labels,
            metric=tuned.metric,
            groups=base.groups or tuned.groups,
            shared_seeds=shared_seeds,
            base_answers=base.answers,
            tuned_answers=tuned.answers,
            level=level,
        )
        yield column, rows


def _instructions(
    base: SideTask, tuned: SideTask, mode: Mode, shared_seeds: bool, level: float
) -> InstructionTable | None:
    """Return the table by kind of instruction, or None for a task without instructions."""
    kinds = compare_kinds(base, tuned, mode, shared_seeds=shared_seeds, level=level)
    return InstructionTable(mode=mode, kinds=kinds) if kinds else None


def _judge_pair(base: SideTask, tuned: SideTask) -> JudgePair | None:
    """Return the figures about each run's judge, or None if neither run used one."""
    if base.judged is None and tuned.judged is None:
        return None
    return JudgePair(base=_judge_figures(base), tuned=_judge_figures(tuned), attempts=_attempts(base, tuned))


def _attempts(base: SideTask, tuned: SideTask) -> dict[AttemptRatio, MeanDifference]:
    """Return the differences of figures of attempts, over the problems that both sides have a score of."""
    if not all(side.judged is not None and side.judged.attempts is not None for side in (base, tuned)):
        return {}
    before, after = _said(base), _said(tuned)
    kept = [place for place in range(len(before)) if before[place] and after[place]]
    groups = base.groups or tuned.groups
    return attempt_differences(
        [before[place] for place in kept],
        [after[place] for place in kept],
        None if groups is None else [groups[place] for place in kept],
    )


def _said(side: SideTask) -> list[list[str]]:
    """Return what the scored samples of each problem are."""
    pairs = zip(side.scores, side.statuses or (), strict=True)
    return [
        [attempt_of(status, score) for score, status in zip(*row, strict=True) if score is not None]
        for row in pairs
    ]


def _judge_figures(task: SideTask) -> JudgeFigures:
    """Return the figures of one side's judge."""
    return JudgeFigures(**{name: getattr(task.judged, name, None) for name in JudgeFigures.model_fields})


def likelihood_fields(base: SideTask, tuned: SideTask) -> dict[str, Any]:
    """Return the differences of scored texts as a field of the record, or nothing if answers were drawn."""
    if base.texts is None or tuned.texts is None:
        return {}
    seed = derive_seed("likelihood", tuned.name)
    return {"likelihood": measure_differences(base.texts, tuned.texts, seed)}


def with_corpus(
    tasks: Mapping[str, ComparedTask], sides: Mapping[str, tuple[SideTask, SideTask]]
) -> dict[str, ComparedTask]:
    """Return the records of compared tasks, with the differences of their corpus metrics if they have any."""
    found = {name: corpus_differences(*sides[name]) for name in tasks}
    return {
        name: task.model_copy(update={"corpus": found[name]}) if found[name] else task
        for name, task in tasks.items()
    }


_READ = 200
"""Lost answers of a task that are read for their content."""
_SOME, _SHARE, _ROTATIONS = 3, 0.2, 3
"""The number and the share of lost answers from which on their form explains a drop."""
_READABLE: frozenset[Status] = frozenset({"wrong", "no_answer", "format_error"})
_SHOWN = 80


def with_other_forms(tasks: Mapping[str, ComparedTask], pairing: Pairing) -> dict[str, ComparedTask]:
    """Return the records of compared tasks, with what the form of tuned's answers explains of a drop.

    Stored answers are read again for tasks that lost only. Score files have none.
    """
    if pairing.tuned.manifest is None:
        return dict(tasks)
    reasoning, run = Reasoning.from_record(pairing.tuned.manifest.reasoning), StoredRun(pairing.tuned.path)
    found = {}
    for name, task in tasks.items():
        form = None
        if task.difference is not None and task.difference < 0 and task.likelihood is None:
            form = _other_form(run.task(name), reasoning.split, *pairing.tasks[name])
        found[name] = task if form is None else task.model_copy(update={"other_form": form})
    return found


def _other_form(stored: StoredTask, split: Split, base: SideTask, tuned: SideTask) -> OtherForm | None:
    """Return what the form of the lost answers explains, or None if that is nothing.

    A text that answers give as often for other problems as for their own is there by chance.
    """
    lost = _lost(base, tuned)
    if len(lost) < _SOME:
        return None
    answers = _answers(stored, split, lost[:: max(1, len(lost) // _READ)][:_READ])
    if len(answers) < _SOME:
        return None
    # Its word lists take 0.5 s to compile, and most comparisons need none.
    from genbench.verifiers.text.short_answer import ContentReader  # noqa: PLC0415

    reader = ContentReader((item.text, item.wanted) for item in answers)
    same = [item for item in answers if reader.gives(item.text, item.wanted)]
    chance = [
        reader.gives(item.text, other.wanted)
        for shift in range(1, _ROTATIONS + 1)
        for item, other in zip(answers, answers[shift:] + answers[:shift], strict=True)
        if other.wanted != item.wanted
    ]
    share, by_chance = len(same) / len(answers), sum(chance) / max(1, len(chance))
    if len(same) < _SOME or share < max(_SHARE, 4 * by_chance):
        return None
    return OtherForm(
        lost=len(lost),
        read=len(answers),
        same=len(same),
        problem_id=same[0].problem_id,
        example=one_line(same[0].text.strip(), _SHOWN),
    )


def _lost(base: SideTask, tuned: SideTask) -> list[tuple[str, int]]:
    """Return problem and index of the samples that base got right and tuned got wrong."""
    if tuned.statuses is None:
        return []
    return [
        (problem, index)
        for problem, before, after, statuses in zip(
            base.problem_ids, base.scores, tuned.scores, tuned.statuses, strict=True
        )
        for index, (old, new, status) in enumerate(zip(before, after, statuses, strict=False))
        if old == 1 and new == 0 and status in _READABLE
    ]


@dataclass(frozen=True, slots=True)
class _LostAnswer:
    """An answer that lost its credit, with what it should give."""

    problem_id: str
    text: str
    wanted: Wanted


def _answers(stored: StoredTask, split: Split, lost: Sequence[tuple[str, int]]) -> list[_LostAnswer]:
    """Return the last answers of the lost samples whose reference is a text, a number or an option."""
    from genbench.verifiers.text.short_answer import Wanted  # noqa: PLC0415

    wanted, found = set(lost), dict[tuple[str, int], Completion]()
    for item in stored.all_completions():
        key = (item.sample.problem_id, item.sample.sample_index)
        if key in wanted and (key not in found or item.turn > found[key].turn):
            found[key] = item
    answers = []
    with stored.asks() as asks:
        for key in lost:
            ask = asks.of_sample(*key) if key in found else None
            goal = None if ask is None else Wanted.of(_reference(ask.get("reference")))
            text = "" if goal is None else split(found[key]).text
            if goal is not None and text.strip():
                answers.append(_LostAnswer(key[0], text, goal))
    return answers


def _reference(text: Any) -> Any:
    """Return a reference as its line in asks.jsonl has it: other JSON than a text is written as JSON."""
    if isinstance(text, str) and text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def with_readings(
    tasks: Mapping[str, ComparedTask], pairs: Mapping[str, ReadPair]
) -> dict[str, ComparedTask]:
    """Return the records of compared tasks, with how the answers of both sides were read."""
    return {
        name: task.model_copy(update={"read_by": pairs[name]}) if name in pairs else task
        for name, task in tasks.items()
    }


def with_reviews(tasks: Mapping[str, ComparedTask], pairing: Pairing) -> dict[str, ComparedTask]:
    """Return the tasks with the differences that labels of people correct, where there are labels."""
    reviews = reviews_next_to(pairing.base.path, pairing.tuned.path)
    if reviews is None:
        return dict(tasks)
    found = {name: reviews.pair(pairing.base, pairing.tuned, name) for name in tasks}
    return {
        name: task if (own := found[name]) is None else task.model_copy(update={"reviewed": own})
        for name, task in tasks.items()
    }
