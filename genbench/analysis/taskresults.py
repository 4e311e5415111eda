"""The results of one task of a run, made from its verdicts and tokens on disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from genbench.analysis.judged import judged_record
from genbench.analysis.means import ProblemValues, macro_record, problem_values
from genbench.analysis.measures import part_records
from genbench.analysis.problemsums import problem_sums
from genbench.analysis.records import EstimateRecord, estimate_fields
from genbench.analysis.results_record import TaskResults, TaskSeal
from genbench.analysis.table import VerdictTable, estimate_seed, estimates, strata_records, tokens_record
from genbench.store.manifest import Manifest
from genbench.store.stored_run import StoredTask
from genbench.store.sums import EncodedSums, TaskSums
from genbench.tasks.loaded_task import VerifiedTask
from genbench.types import STATUSES, Verdict


@dataclass(frozen=True, slots=True)
class BuiltTasks:
    """The tasks of a run by name: results, sums of problems, and the values of tasks that have a group."""

    results: dict[str, TaskResults] = field(default_factory=dict)
    sums: EncodedSums = field(default_factory=EncodedSums)
    values: dict[str, ProblemValues | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuiltTask:
    """One task: its results, the sums of its problems, and the headline metric of each problem."""

    results: TaskResults
    sums: TaskSums
    values: ProblemValues | None


def build_tasks(
    tasks: Mapping[str, VerifiedTask],
    stored: Mapping[str, StoredTask],
    manifest: Manifest,
    grouped: Collection[str],
) -> BuiltTasks:
    """Return the results of several tasks. They keep what a million problems need, and no more.

    Args:
        stored: the reader of each task, with the problems of `tasks`.
        grouped: tasks whose values the mean of a group needs.
    """
    found = BuiltTasks()
    for name, item in tasks.items():
        built = build_task(stored[name], item, manifest)
        found.results[name] = built.results
        found.sums.add(name, built.sums)
        if name in grouped:
            found.values[name] = built.values
    return found


def build_task(stored: StoredTask, item: VerifiedTask, manifest: Manifest) -> BuiltTask:
    """Return the results of a task.

    Args:
        stored: the reader of the task, with the problems of `item`.
    """
    described = manifest.tasks[stored.name]
    headline = item.task.task.info.headline
    table, judged = _verdicts(stored, item, described.judge is not None)
    seed, level = estimate_seed(manifest.run_id, stored.name), manifest.interval_level(stored.name)
    found = estimates(table, item.task.metrics, seed, item.task.folder, level=level)
    lead = found[table.label(headline)]
    samples = sum(table.statuses.values())
    extra = part_records(table, seed, item.version, judged=described.judge is not None)
    if table.forgeable:
        extra["forgeable"] = table.forgeable
    info = item.task.task.info
    values = problem_values(table, headline, stored.name, info.macro, info.weights)
    macro = macro_record(table, values, info.macro)
    if macro is not None:
        extra["macro"] = macro
    if described.judge is not None:
        extra["judge"] = judged_record(described.judge, lead, table, judged, seed)
    results = TaskResults(
        **{**estimate_fields(lead), "excluded": table.excluded},
        metrics={name: EstimateRecord.from_estimate(estimate) for name, estimate in found.items()},
        samples=samples,
        lacking=table.lacking,
        status_counts={status: table.statuses[status] for status in STATUSES if table.statuses[status]},
        trace_counts=dict(table.traces),
        truncated_share=table.truncated / samples if samples else None,
        clamped=stored.tokens.clamped,
        tokens=tokens_record(stored.tokens, table.correct),
        strata=strata_records(table, headline, seed, level=level),
        of=described.of,
        role=described.role,
        chance=described.chance,
        published=described.published,
        verifier=described.verifier,
        seal=TaskSeal(completions=stored.completions_seal, verdicts=table.seal.record),
        **extra,
    )
    built = BuiltTask(results, problem_sums(table, stored), values)
    stored.forget()  # the next task may have as many problems
    return built


def _verdicts(stored: StoredTask, item: VerifiedTask, keep: bool) -> tuple[VerdictTable, list[Verdict]]:
    """Return the table of the current verifier's verdicts. With `keep` also return those verdicts.

    A verdict whose completion was lost does not count, so that a metric is missing if a sample is.
    """
    problems = [problem for problem in item.task.problems if stored.has(problem.problem_id, 0)]
    table, kept = VerdictTable(problems, item.task.k, stored.counts), list[Verdict]()
    on_disk = stored.on_disk
    for verdict in stored.verdicts():
        sample = verdict.sample
        # Verdicts of another verifier are made again later by their judge.
        if verdict.verifier != item.verifier or not on_disk.has(sample.problem_id, sample.sample_index, 0):
            continue
        if table.add(verdict) and keep:
            kept.append(verdict)  # This includes the judge's output. Other tasks may have a million verdicts.
    return table, kept
