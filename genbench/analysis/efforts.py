"""What a model gains by thinking more: its efforts task by task, and the least one that is enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.comparison.comparability import shaped_by_effort
from genbench.analysis.comparison.compare import CompareOptions, Comparison, compare_sides
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.parity import ready_responses
from genbench.analysis.records import Interval
from genbench.analysis.results.record import Results, TaskResults
from genbench.analysis.sides.side import Side
from genbench.errors import GenbenchError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.comparison.gate import GateVerdict
from genbench.stats.ratios import Bounds, mean_bounds
from genbench.store.contract import EFFORT, task_entry
from genbench.store.manifest import Manifest

TokensOf = Mapping[str, Mapping[str, Sequence[int]]]
"""The completion tokens of the samples of each task and problem, if they were counted."""


class NextEffort(JsonRecord):
    """The next greater effort of the same model in the same task, paired by problem."""

    effort: str = Field(description="name of the next effort")
    gain: SignedShare | None = Field(description="its score minus that of this effort; null if it is missing")
    ci: DifferenceInterval | None = Field(description="95% interval of `gain` for new questions")
    tokens: float | None = Field(description="its mean tokens of a sample minus those of this effort")
    tokens_ci: tuple[float, float] | None = Field(description="95% interval of `tokens`")
    verdict: GateVerdict = Field(description="what the gate says of this effort against the next one")


class EffortRow(JsonRecord):
    """One task of one run, with its score and what it takes."""

    run: str = Field(description="name of the run in the report")
    model: str = Field(description="name of the model, without its effort")
    effort: str | None = Field(description="name of the effort; null if the suite names none")
    tools: str = Field(description="`none`, or what the model may use before its last reply, as `python`")
    task: str = Field(description="the task")
    metric: str = Field(description="metric of the score")
    value: Share | None = Field(description="the score; null if it is missing")
    ci: Interval | None = Field(description="95% interval for new questions of this kind")
    n: Count = Field(description="problems")
    k: Count = Field(description="samples of each problem")
    tokens: float | None = Field(description="mean completion tokens of a sample; null if not counted")
    tokens_p95: float | None = Field(description="95th percentile of the same")
    tokens_per_right: float | None = Field(description="completion tokens for each right answer")
    cut_off: Share | None = Field(description="share of samples that were cut off")
    open_traces: Share | None = Field(description="share of samples whose reasoning trace never ended")
    next: NextEffort | None = Field(default=None, description="the next effort; absent for the greatest one")


class LeastEffort(JsonRecord):
    """The least effort of a model that is not worse than any greater one in a task."""

    model: str = Field(description="name of the model")
    task: str = Field(description="the task")
    effort: str | None = Field(description="the least effort that is shown to be enough; null if none is")
    margin: Share = Field(description="loss that counts as none")
    open: tuple[str, ...] = Field(description="efforts below the greatest that are neither enough nor worse")
    state: Literal["shown", "all worse", "open"] = Field(
        description="shown: `effort` is enough; all worse: each less effort loses; open: more problems tell"
    )


class Efforts(JsonRecord):
    """The table of efforts of a report."""

    rows: tuple[EffortRow, ...] = Field(description="one row for each run and task, with models together")
    least: tuple[LeastEffort, ...] = Field(description="by model and task")
    notes: tuple[str, ...] = Field(description="reasons to doubt the table")


@dataclass(frozen=True, slots=True)
class EffortRun:
    """A run with what the table needs of it.

    `tokens` has the tasks whose tokens were counted. `side` is None if there is no other run to compare with.
    """

    name: str
    manifest: Manifest
    results: Results
    tokens: TokensOf
    side: Side | None = None

    @property
    def effort(self) -> str | None:
        """Return the effort that the run was drawn at."""
        found: str | None = self.manifest.terms.get(EFFORT)
        return found

    @property
    def model(self) -> str:
        """Return the name of the model without its effort."""
        return self.results.model.removesuffix(f"-{self.effort}")

    @property
    def family(self) -> tuple[str, str]:
        """Return what the efforts of one model share: its name and its weights."""
        return self.model, _weights(self.manifest)


def effort_table(runs: Sequence[EffortRun]) -> Efforts:
    """Return the table of several runs. Runs without an effort have rows, and no next effort.

    The efforts of a model are in the order of its suite, from the least to the most.
    """
    families: dict[tuple[str, str], list[EffortRun]] = {}
    for run in runs:
        families.setdefault(run.family, []).append(run)
    rows: list[EffortRow] = []
    least: list[LeastEffort] = []
    notes: list[str] = []
    for members in families.values():
        efforts = _in_order([run for run in members if run.effort is not None])
        found = _Family(efforts, notes)
        rows += (found.row(run, name) for run in efforts for name in run.results.tasks)
        rows += (_row(run, name) for run in members if run.effort is None for name in run.results.tasks)
        least += found.least()
        notes += found.silent_switches()
    return Efforts(rows=tuple(rows), least=tuple(least), notes=tuple(notes))


def _in_order(runs: Sequence[EffortRun]) -> list[EffortRun]:
    """Return the efforts in the order of the suite, as the manifest has it. Others keep their place."""
    models = runs[0].manifest.suite.config.get("models", {}) if runs else {}
    order = {name: place for place, name in enumerate(models)}
    return sorted(runs, key=lambda run: order.get(run.results.model, len(order)))


class _Family:
    """The efforts of one model, each compared with every greater one.

    Args:
        notes: gets why two efforts cannot be compared.
    """

    def __init__(self, runs: Sequence[EffortRun], notes: list[str]) -> None:
        self._runs = runs
        self._compared: dict[tuple[str, str], Mapping[str, ComparedTask]] = {}
        for place, less in enumerate(runs):
            for more in runs[place + 1 :]:
                if less.side is None or more.side is None or not are_efforts(less.side, more.side):
                    continue
                try:
                    self._compared[less.name, more.name] = compare_efforts(more.side, less.side).tasks
                except GenbenchError as error:
                    notes.append(f"{less.name} and {more.name} cannot be compared: {error}")

    def row(self, run: EffortRun, name: str) -> EffortRow:
        """Return the row of one task, with the next effort at which it was drawn."""
        own = [other for other in self._runs if name in other.results.tasks]
        following = dict(pairwise(other.name for other in own)).get(run.name)
        found = self._compared.get((run.name, following or ""), {}).get(name)
        row = _row(run, name)
        if found is None:
            return row
        more = next(other for other in own if other.name == following)
        spent = _spent(run, more, name)
        step = NextEffort(
            effort=str(more.effort),
            gain=None if found.difference is None else -found.difference,
            ci=None if found.ci is None else (-found.ci[1], -found.ci[0]),
            tokens=None if spent is None else spent.value,
            tokens_ci=None if spent is None else spent.ci,
            verdict=found.verdict,
        )
        return row.model_copy(update={"next": step})

    def least(self) -> Iterator[LeastEffort]:
        """Yield the least effort that is enough, for each task that has several."""
        for name in dict.fromkeys(task for run in self._runs for task in run.results.tasks):
            own = [run for run in self._runs if name in run.results.tasks]
            verdicts = {
                run.name: self._verdicts(run, own[place + 1 :], name) for place, run in enumerate(own)
            }
            below = own[:-1]
            if not below or any(not verdicts[run.name] for run in below):
                continue
            enough = [run for run in below if all(_is_enough(item) for item in verdicts[run.name])]
            worse = [run for run in below if any(item.verdict == "REGRESSED" for item in verdicts[run.name])]
            left = [run for run in below if run not in enough and run not in worse]
            yield LeastEffort(
                model=own[0].model,
                task=name,
                effort=enough[0].effort if enough else None,
                margin=verdicts[below[0].name][0].margin,
                open=tuple(str(run.effort) for run in left),
                state="shown" if enough else "open" if left else "all worse",
            )

    def _verdicts(self, run: EffortRun, greater: Sequence[EffortRun], task: str) -> list[ComparedTask]:
        """Return a task at one effort compared with each greater one, or nothing if any is missing."""
        found = [self._compared.get((run.name, more.name), {}).get(task) for more in greater]
        known = [item for item in found if item is not None]
        return known if len(known) == len(found) else []

    def silent_switches(self) -> Iterator[str]:
        """Yield neighbours whose replies are as long as each other's. A server may drop the switch."""
        for less, more in pairwise(self._runs):
            for name in less.results.tasks:
                spent = _spent(less, more, name)
                if spent is not None and spent.ci is not None and spent.ci[0] <= 0 <= spent.ci[1]:
                    low, high = spent.ci
                    yield (
                        f"{name}: no difference is shown between the lengths of {less.name} and {more.name} "
                        f"({spent.value:+,.0f} tokens [{low:+,.0f}, {high:+,.0f}]): does the model, or its "
                        "server, obey the switch?"
                    )


def _is_enough(found: ComparedTask) -> bool:
    return found.verdict in ("NON_INFERIOR", "IMPROVED")


def are_efforts(base: Side, tuned: Side) -> bool:
    """Return whether two runs are one model at two efforts, which may share some tasks only."""
    if base.manifest is None or tuned.manifest is None or not base.tasks.keys() & tuned.tasks.keys():
        return False
    efforts = {manifest.terms.get(EFFORT) for manifest in (base.manifest, tuned.manifest)}
    return None not in efforts and len(efforts) == 2 and _weights(base.manifest) == _weights(tuned.manifest)


def _weights(manifest: Manifest) -> str:
    """Return what is equal for equal weights. Those of ready responses are known by their path only."""
    is_read = ready_responses(manifest.model_identity) is not None
    return manifest.model.path if is_read else manifest.model_identity


def compare_efforts(base: Side, tuned: Side, allow: Sequence[str] = ()) -> Comparison:
    """Compare one model at two efforts, in the tasks of both.

    Args:
        allow: names of further differences to let through.

    Raises:
        NotComparableError: they differ in more than the effort.
    """
    shared = [name for name in base.tasks if name in tuned.tasks]
    left, right = (replace(side, tasks={name: side.tasks[name] for name in shared}) for side in (base, tuned))
    return compare_sides(left, right, CompareOptions(allow=(*allow, *shaped_by_effort(shared))))


def _row(run: EffortRun, name: str) -> EffortRow:
    task = run.results.tasks[name]
    counted = [tokens for samples in run.tokens.get(name, {}).values() for tokens in samples]
    return EffortRow(
        run=run.name,
        model=run.model,
        effort=run.effort,
        tools=_tools(run, name),
        task=name,
        metric=task.metric,
        value=task.value,
        ci=task.ci,
        n=task.n,
        k=task.k,
        tokens=float(np.mean(counted)) if counted else None,
        tokens_p95=float(np.percentile(counted, 95)) if counted else None,
        tokens_per_right=task.tokens.per_correct,
        cut_off=task.truncated_share,
        open_traces=_open_traces(task),
    )


def _open_traces(task: TaskResults) -> float | None:
    if task.likelihood is not None or not task.samples:
        return None
    return task.trace_counts.get("unclosed", 0) / task.samples


def _tools(run: EffortRun, name: str) -> str:
    options = task_entry(name, run.manifest.suite.config).get("options") or {}
    return str(options.get("tools") or "none")


def _spent(less: EffortRun, more: EffortRun, name: str) -> Bounds | None:
    """Return the mean tokens of the greater effort minus those of the other, paired by problem."""
    left, right = (run.tokens.get(name, {}) for run in (less, more))
    shared = [problem for problem in left if left[problem] and right.get(problem)]
    if not shared:
        return None
    own = None if less.side is None else less.side.tasks.get(name)
    groups = {} if own is None or own.groups is None else dict(zip(own.problem_ids, own.groups, strict=True))
    longer = np.array([np.mean(right[problem]) - np.mean(left[problem]) for problem in shared])
    return mean_bounds(longer, [groups.get(problem) for problem in shared])
