"""Agreement of a measured score with a published one, by the interval of their difference."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from genbench.analysis.likelihood import USUAL_TURNED, turned_share
from genbench.analysis.records import Interval
from genbench.analysis.results.means import GroupRecord
from genbench.analysis.results.record import Results, TaskResults
from genbench.json_record import Count, JsonRecord, Share
from genbench.protocols import MEANS, PublishedMean, PublishedScore
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.macro import MeanRecord
from genbench.store.contract import task_entry
from genbench.store.manifest import Manifest
from genbench.tasks.page.model import DEFAULT_PROTOCOL
from genbench.tasks.published import AskedModel, is_in_mode

_Z = normal_quantile(LEVEL)
_READY = "responses:"
State = Literal["agrees", "differs", "incomplete", "ready responses", "not yet run"]


class ParityRecord(JsonRecord):
    """One published score of a model, next to the measured one if there is one."""

    model: str = Field(description="the model's name in the suite")
    task: str = Field(description="the task, or the group of tasks")
    mean: PublishedMean | None = Field(default=None, description=MEANS)
    protocol: str = Field(description="whose words, exemplars and extraction are used")
    published: Share = Field(description="what the source reports")
    source: str = Field(description="source of the score")
    decoding: str = Field(description="how the source drew its samples")
    n: Count | None = Field(description="problems of the source; null if it does not say")
    problems: Count | None = Field(
        default=None, description="problems of the run; absent if nothing was run, and in older records"
    )
    of: Count | None = Field(
        default=None,
        description="problems of the task, of which those of the run are a part that was drawn by seed; "
        "absent if the run has all",
    )
    k: Count | None = Field(description="samples of each problem of the source; null if it does not say")
    judge: str | None = Field(
        default=None, description="who graded the answers of the run; absent if no LLM judges the task"
    )
    measured: Share | None = Field(description="score of the run; null if nothing was run")
    difference: float | None = Field(description="measured less published")
    ci: Interval | None = Field(description="95% interval of the difference")
    responses: str | None = Field(
        default=None,
        description="the ready responses that were graded, as `model@digest`; absent if the run was drawn",
    )
    state: State = Field(
        description="whether the interval of the difference contains zero; `incomplete` if it is of a part, "
        "and `ready responses` if the run was not drawn by the engine that the card is about"
    )

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from all other scores of a card. One source may have a score for each mode."""
        return self.model, self.label, self.source, self.decoding

    @property
    def label(self) -> str:
        """The task or group, with the name of the mean."""
        return f"{self.task} ({self.mean})" if self.mean else self.task


class ParityReport(JsonRecord):
    """Published scores next to measured ones."""

    scores: tuple[ParityRecord, ...] = Field(description="one entry for each published score")


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured score of a task or of a group, with its variances."""

    value: float
    n: int
    """Problems."""
    between: float | None
    """Variance of the score for new problems of this kind, draws included, or None if it is unknown."""
    draws: float
    """Variance of the score between re-runs."""
    draw: float
    """Variance between re-runs with one sample of each problem."""


def ready_responses(model_identity: str) -> str | None:
    """Return `model@digest` of the file that a run's responses were read from, or None if it was drawn."""
    return model_identity.removeprefix(_READY) if model_identity.startswith(_READY) else None


class RunModel(AskedModel, Protocol):
    """What a run's record says of its model."""

    @property
    def dtype(self) -> str:
        """Data type of the weights."""


def run_agreement(
    results: Results, protocols: Mapping[str, str], model: RunModel, left_out: Collection[str] = ()
) -> Iterator[ParityRecord]:
    """Yield the published scores of the model of a run, next to the measured ones.

    Scores of another model or of its other mode, which a report only shows for orientation, are left out.
    Ready responses neither agree nor differ: somebody else drew them, so that they only try the grading.

    Args:
        protocols: the protocol of each task.
        model: how the model was asked.
        left_out: the tasks of which problems were left out, other than by seed. Their scores neither agree
            nor differ.
    """

    ready = ready_responses(results.model_identity)
    turned = turned_share(model.dtype, None)

    def own(scores: Sequence[PublishedScore]) -> list[PublishedScore]:
        return [item for item in scores if item.of == "this model" and is_in_mode(item.decoding, model)]

    def stated(found: ParityRecord, is_part: bool) -> ParityRecord:
        found = found if ready is None else found.model_copy(update={"responses": ready})
        state: State = "incomplete" if is_part else "ready responses" if ready else found.state
        return found if found.measured is None else found.model_copy(update={"state": state})

    for name, task in results.tasks.items():
        protocol, judge = protocols.get(name, DEFAULT_PROTOCOL), judge_of([task])
        for score in own(task.published):
            measured = _MEASURED[score.mean](task, turned)
            found = agreement(results.model, name, protocol, measured, score, judge=judge, of=task.of)
            yield stated(found, name in left_out)
    for name, group in results.groups.items():
        tasks = [results.tasks[task] for task in group.tasks]
        used = ", ".join(dict.fromkeys(protocols.get(task, DEFAULT_PROTOCOL) for task in group.tasks))
        measured, judge = measured_group(group, tasks), judge_of(tasks)
        for score in own(group.published):
            found = agreement(results.model, name, used, measured, score, judge=judge)
            found = found.model_copy(update={"mean": group.mean})
            yield stated(found, not set(left_out).isdisjoint(group.tasks))


def problems_left_out(manifest: Manifest) -> dict[str, str]:
    """Return the tasks that left problems out, each with how much it has, such as `12 of 2500 rows`.

    A part that the suite's `subset` names is left to chance by its seed, so it is not among them.
    """
    found = {}
    for name, task in manifest.tasks.items():
        rows, pinned = task.data.get("rows"), task.data.get("pinned_rows")
        if task.n < task.of and not _is_drawn_part(manifest, name):
            found[name] = f"{task.n} of {task.of} problems"
        elif rows is not None and pinned is not None and rows < pinned:
            found[name] = f"{rows} of {pinned} rows of the dataset"
    return found


def _is_drawn_part(manifest: Manifest, name: str) -> bool:
    """Return whether the problems of a task are those of its subset file, and nothing else chose them."""
    entry, origin = task_entry(name, manifest.suite.config), manifest.origin
    others = (entry.get("limit"), origin.limit, origin.problems, origin.shard)
    return entry.get("subset") is not None and not any(others)


def agreement(
    model: str,
    name: str,
    protocol: str,
    measured: Measured | None,
    published: PublishedScore,
    *,
    judge: str | None = None,
    of: int | None = None,
) -> ParityRecord:
    """Return a published score next to the measured one of the same model.

    Both runs drew from one model. On the same problems they differ by the draws, so the variance of the
    difference is that of the measured score between re-runs, and as much of the source by its own number of
    draws. With other problems the variance between problems is added on both sides. If the run has a random
    part of the source's problems, the variance between problems is that of a draw without replacement. A
    source that does not say its k is taken to have drawn once.

    Args:
        measured: the score of the run. None if it is missing.
        judge: who graded the answers of the run.
        of: problems of the whole task, if it is a task.
    """
    known = {
        "model": model,
        "task": name,
        "protocol": protocol,
        "published": published.value,
        "source": published.source,
        "decoding": published.decoding,
        "n": published.n,
        "k": published.k,
        **({"mean": published.mean} if published.mean else {}),
        **({} if judge is None else {"judge": judge}),
    }
    if measured is None:
        return ParityRecord(**known, measured=None, difference=None, ci=None, state="not yet run")
    known["problems"] = measured.n
    if of is not None and measured.n < of:
        known["of"] = of
    difference = measured.value - published.value
    half = _Z * math.sqrt(_variance(measured, published.n or of or measured.n, published.k or 1, of))
    bounds = (difference - half, difference + half)
    state: State = "agrees" if bounds[0] <= 0 <= bounds[1] else "differs"
    return ParityRecord(**known, measured=measured.value, difference=difference, ci=bounds, state=state)


def measured_task(task: TaskResults, turned: float = USUAL_TURNED) -> Measured | None:
    """Return the score of a task with its variances, or None if it is missing.

    Args:
        turned: the share of scored choices that other arithmetic turns.
    """
    return None if task.value is None else _measured(task, task.value, task.se, turned)


def measured_instructions(task: TaskResults, turned: float = USUAL_TURNED) -> Measured | None:
    """Return the mean of the strict accuracies of prompts and of instructions, or None if one is missing.

    Both are of the same replies, so their errors are taken to move together.
    """
    first = task.instructions.turns[0] if task.instructions is not None else {}
    both = [first.get(name) for name in ("prompt_level_strict_acc", "inst_level_strict_acc")]
    values = [item.value for item in both if item is not None and item.value is not None]
    if len(values) < 2:
        return None
    widths = [item.ci[1] - item.ci[0] for item in both if item is not None and item.ci is not None]
    error = sum(widths) / (2 * _Z) / 2 if len(widths) == 2 else None
    return _measured(task, sum(values) / 2, error, turned)


def _measured(task: TaskResults, value: float, se: float | None, turned: float) -> Measured:
    between = None if se is None else se**2
    draws = _draws(task, value, turned)
    return Measured(value, task.n, between, draws, draws * task.k)


def _draws(task: TaskResults, value: float, turned: float) -> float:
    """Return the variance of a score between re-runs.

    Nothing is drawn if texts were scored, so two evaluations of the same rows differ by arithmetic only: if a
    share f of n choices turns, either way, the difference has the variance f/n, half of it on each side.

    With one sample of each problem, draws cannot be told from differences between problems. The variance is
    at most p(1-p)/n whatever the values in [0, 1] are (Bhatia and Davis 2000), and at most that of the score
    for new problems, which is much smaller for values that are no 0 or 1, such as F1. The lower bound is the
    square of one problem's weight.
    """
    if task.likelihood is not None:
        return turned / (2 * task.n)
    if task.rerun_ci is not None:
        return ((task.rerun_ci[1] - task.rerun_ci[0]) / (2 * _Z)) ** 2
    largest = value * (1 - value) / (task.n * task.k)
    spread = largest if task.se is None else min(largest, task.se**2)
    return max(spread, 1 / (task.n**2 * task.k))


def measured_macro(task: TaskResults, turned: float = USUAL_TURNED) -> Measured | None:
    """Return the mean over a task's categories with its variances, or None if it is missing."""
    return None if task.macro is None else _measured_mean(task.macro, task.k)


_MEASURED = {
    None: measured_task,
    "macro": measured_macro,
    "micro": measured_task,
    "instructions": measured_instructions,
}
"""By which mean of a task a published score is, how it is measured."""


def measured_group(group: GroupRecord, tasks: Sequence[TaskResults]) -> Measured | None:
    """Return the mean of a group that others report, with its variances, or None if it is missing."""
    return None if group.reported is None else _measured_mean(group.reported, max(task.k for task in tasks))


def _measured_mean(mean: MeanRecord, k: int) -> Measured | None:
    """Return a mean with its variances, or None if it has none: one cluster, in an older run.

    A run of an earlier version has no standard error between re-runs. That for new problems stands in for
    it, which is larger.

    Args:
        k: the samples of each problem.
    """
    error = mean.se if mean.rerun_se is None else mean.rerun_se
    if error is None:
        return None
    between = None if mean.se is None else mean.se**2
    return Measured(mean.value, mean.n, between, error**2, k * error**2)


def judge_of(tasks: Sequence[TaskResults]) -> str | None:
    """Return who graded the answers of some tasks, or None if no LLM judged any."""
    judges = [f"{task.judge.name} ({_engine(task.judge.engine)})" for task in tasks if task.judge is not None]
    return ", ".join(dict.fromkeys(judges)) or None


def _engine(engine: Mapping[str, object]) -> str:
    """Return the model of a judge's server, or the identity of its weights."""
    return str(engine.get("model") or engine.get("identity") or "unknown model")


def _variance(measured: Measured, n: int, k: int, of: int | None) -> float:
    """Return the variance of the difference between the measured score and one of n problems by k samples.

    The variance for new problems includes that of the draws, which must not count twice.

    Args:
        of: problems of the whole task. If the source has all of them, those of the run are a part of its own.
    """
    variance = measured.draws + measured.draw * measured.n / (n * k)
    if n != measured.n and measured.between is not None:
        share = measured.n / n
        spread = max(0.0, measured.between - measured.draws)
        variance += spread * (1 - share if n == of else 1 + share)
    return variance
