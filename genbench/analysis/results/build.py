"""The results of a run, made from its verdicts and tokens on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from genbench.analysis.adaptive.results import adaptive_results
from genbench.analysis.corpus_metrics import corpus_records
from genbench.analysis.instruction_accuracy import has_instructions, instruction_record
from genbench.analysis.likelihood import likelihood_record, scored_texts
from genbench.analysis.reading import read_counts
from genbench.analysis.records import Bounded
from genbench.analysis.results.accounting import costs, degenerate_words, totals
from genbench.analysis.results.alarms import reason_words
from genbench.analysis.results.judge_figures import (
    judged_record,
)
from genbench.analysis.results.means import (
    GroupRecord,
    MacroRecord,
    ProblemValues,
    group_records,
    macro_record,
    problem_values,
)
from genbench.analysis.results.record import (
    OpenTracesRecord,
    ReportedRecord,
    Results,
    RolloutsRecord,
    TaskResults,
    TaskSeal,
    TokenSums,
)
from genbench.analysis.results.table import VerdictTable, estimate_seed, estimates, strata_records
from genbench.analysis.stopping import stopping_record
from genbench.protocols import ReportedScale
from genbench.stats.estimates import EstimateRecord
from genbench.stats.intervals import problem_interval
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest, ModelRecord
from genbench.store.stored_run import StoredTask, TokenCount
from genbench.store.sums import (
    EncodedSums,
    TaskSums,
    asked_digests,
    clusters_of,
    questions_digest,
    write_sums,
)
from genbench.suite.block import is_headline
from genbench.suite.config import SuiteConfig, TaskEntry
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.tasks.published import group_page, references
from genbench.types import OURS, STATUSES, UNRATED, Verdict


@dataclass(frozen=True, slots=True)
class BuiltResults:
    """The results of a run, and the sums of each problem that they were made from."""

    results: Results
    sums: EncodedSums
    manifest: Manifest

    def write(self, folder: RunFolder) -> Results:
        """Write manifest.json with the seals of the completions, sums.json, and results.json.

        Returns:
            The results as they are on disk.
        """
        folder.write_manifest(self.manifest)
        write_sums(folder.path, self.sums)
        results = self.results.model_copy(update={"files": folder.file_seals(self.results.tasks)})
        return results.model_copy(update=folder.write_results(results))


def build_results(
    tasks: Mapping[str, VerifiedTask],
    stored: Mapping[str, StoredTask],
    manifest: Manifest,
    config: SuiteConfig,
) -> BuiltResults:
    """Return the results of `tasks`, with the excluded samples and whether they are too many.

    Args:
        stored: the reader of each task, with the problems of `tasks`.
        config: the suite's settings: the shares that may be excluded and unscored, and the price.
    """
    grouped = {entry.label for entry in config.tasks if entry.group is not None}
    built = build_tasks(tasks, stored, manifest, grouped)
    found, sums = built.results, built.sums
    groups = run_groups(config, manifest.model, built.values)
    for name, cost in costs(config.price, found, manifest.attempts).items():
        found[name] = found[name].model_copy(update={"cost": cost})
    failed = _too_many_excluded(found, config.max_excluded_share)
    extra: dict[str, Any] = {}
    if manifest.adaptive is not None:
        drawn = {name: task.samples for name, task in found.items()}
        extra["adaptive"] = adaptive_results(manifest.adaptive, drawn)
    results = Results(
        format=manifest.format,
        run_id=manifest.run_id,
        suite=manifest.suite.name,
        model=manifest.model.name,
        model_path=manifest.model.path,
        model_identity=manifest.model_identity,
        run_seed=manifest.run_seed,
        shard=manifest.origin.shard,
        tasks=found,
        totals=totals(manifest, found, config.price),
        warnings=(
            *manifest.warnings,
            *map(str, manifest.edited),
            *drift_words(found),
            *degenerate_words({name: task for name, task in stored.items() if is_headline(name)}),
        ),
        trust_remote_code=manifest.model.trust_remote_code,
        test_uses=manifest.test_uses,
        max_excluded_share=config.max_excluded_share,
        sums=sums.digest,
        **({"groups": groups} if groups else {}),
        failed=(*_lacking(found), *failed, *too_many_unscored(found, config.judge.max_unscored_share)),
        **extra,
    )
    seals = {
        name: task.seal.completions
        for name, task in found.items()
        if task.seal is not None and is_headline(name)
    }
    kept = manifest.model_copy(update={"drawn": {**manifest.drawn, **seals}})
    return BuiltResults(results, sums, kept)


def _lacking(tasks: Mapping[str, TaskResults]) -> list[str]:
    """Return one line for each task without all of its samples. Its metrics are missing."""
    return [
        f"{name}: {task.lacking:,} of {task.samples + task.lacking:,} samples have no completion or no "
        "verdict, so its metrics are missing; the command of the run draws them"
        for name, task in tasks.items()
        if task.lacking
    ]


def _too_many_excluded(tasks: Mapping[str, TaskResults], share: float) -> list[str]:
    """Return one line for each task whose numbers must not be used."""
    found: list[str] = []
    for name, task in tasks.items():
        excluded = task.excluded - task.status_counts.get("unscored", 0) - (task.unanswered or 0)
        if task.samples and excluded > share * task.samples:
            found.append(
                f"{name}: {excluded} of {task.samples} samples are excluded, more than the {share:.1%} that "
                f"the suite allows{reason_words(task, OURS) or ' (defects of ours)'}"
            )
    return found


def too_many_unscored(tasks: Mapping[str, TaskResults], share: float) -> list[str]:
    """Return one line for each task whose judge left too many samples without a verdict."""
    found: list[str] = []
    for name, task in tasks.items():
        unscored = task.status_counts.get("unscored", 0)
        if unscored > share * task.samples:
            found.append(
                f"{name}: {unscored} of {task.samples} samples are unscored (no verdict), more than "
                f"the {share:.1%} that judge.max_unscored_share allows; {_next_step(task)}"
            )
    return found


def _next_step(task: TaskResults) -> str:
    """Return what to do about samples without a verdict."""
    limit = task.judge.ceiling if task.judge else None
    if limit is None:
        return "run again to judge only these"
    return f"{limit} was reached: raise it and run again to judge only these"


def drift_words(tasks: Mapping[str, TaskResults]) -> list[str]:
    """Return one line for each task whose judge's canary labels differ from the pinned ones."""
    found: list[str] = []
    for name, task in tasks.items():
        canary = task.judge.canary if task.judge else None
        if canary is not None and canary.drifted:
            found.append(
                f"{name}: the judge drifted: {len(canary.drifted)} canary cases have other labels than when "
                f"it was pinned ({', '.join(canary.drifted)})"
            )
    return found


def run_groups(
    config: SuiteConfig, model: ModelRecord, values: Mapping[str, ProblemValues | None]
) -> dict[str, GroupRecord]:
    """Return the means of each group of the suite, with the scores that others report for the model.

    Args:
        config: the suite's settings. Only tasks with results belong to a group.
        model: the model under test.
        values: the values of each task with results. None if its metric is missing.
    """
    entries: dict[str, list[TaskEntry]] = {}
    for entry in config.tasks:
        if entry.group is not None and entry.label in values:
            entries.setdefault(entry.group, []).append(entry)
    labels = {name: [entry.label for entry in tasks] for name, tasks in entries.items()}
    found = group_records(labels, values)
    return {name: _with_published(name, found[name], tasks, model) for name, tasks in entries.items()}


def _with_published(
    name: str, group: GroupRecord, entries: list[TaskEntry], model: ModelRecord
) -> GroupRecord:
    """Return the group with what others report for it, if there is anything."""
    page = group_page(name, entries)
    scores = references(page.scores, model, None) if page else []
    if page is None or not scores:
        return group
    return group.model_copy(update={"mean": page.mean, "published": tuple(scores)})


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
    graded = described.judge is not None and not described.judge.reads
    extra = part_records(table, seed, item.version, judged=graded)
    if table.replies:
        extra["replies"] = dict(table.replies.most_common())
    is_drawn = item.task.is_drawn  # tokens and endings are told once of what several verifiers score
    if table.left_open and is_drawn:
        extra["open_traces"] = open_traces_record(table.left_open, item.task, manifest.terms)
    if table.forgeable:
        extra["forgeable"] = table.forgeable
    if (reading := read_counts(table.readings.elements())) is not None:
        extra["read_by"] = reading
    info = item.task.task.info
    lists = info.macro_lists
    values = problem_values(table, headline, stored.name, info.macro, info.weights, lists=lists)
    macro = macro_record(
        table, values, info.macro, lists=lists, mean=info.macro_mean, spread=info.macro_spread, seed=seed
    )
    if macro is not None:
        extra["macro"] = macro
    if described.reported is not None:
        extra["reported"] = reported_record(described.reported, lead, macro)
    if item.task.excludes_unanswered or described.is_unrated:
        extra["unanswered"] = table.unanswered
    stopping = stopping_record(stored.stopping, stored.tokens.all_completion) if is_drawn else None
    if stopping is not None:
        extra["stopping"] = stopping
    if table.refused and is_drawn:
        extra["refused"] = dict(table.refused)
    if table.whys:
        extra["reasons"] = table.reasons
    if table.rollouts:
        extra["rollouts"] = rollouts_record(table.rollouts)
    if described.judge is not None:
        extra["judge"] = judged_record(
            described.judge, lead, table, judged, seed=seed, model=manifest.model_identity
        )
    results = TaskResults.from_object(
        lead,
        excluded=table.excluded,
        metrics=found,
        samples=samples,
        lacking=table.lacking,
        status_counts={status: table.statuses[status] for status in STATUSES if table.statuses[status]},
        trace_counts=dict(table.traces),
        truncated_share=table.truncated / samples if samples and is_drawn else None,
        clamped=stored.tokens.clamped if is_drawn else 0,
        tokens=tokens_record(stored.tokens if is_drawn else TokenCount(), table.correct),
        strata=strata_records(table, headline, seed, level=level, lists=info.macro if lists else None),
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


def open_traces_record(samples: int, task: LoadedTask, terms: Mapping[str, Any]) -> OpenTracesRecord:
    """Return the record of replies that ended in an open trace, with what may have ended them."""
    stop = tuple(dict.fromkeys((*task.decoding.stop, *task.answer_stops)))
    is_parsed = terms["engine"].get("prompts") == "chat"
    cause: Literal["stop", "parser", "model"] = "stop" if stop else "parser" if is_parsed else "model"
    return OpenTracesRecord(samples=samples, cause=cause, stop=stop)


def _verdicts(stored: StoredTask, item: VerifiedTask, keep: bool) -> tuple[VerdictTable, list[Verdict]]:
    """Return the table of the current verifier's verdicts. With `keep` also return those verdicts.

    A verdict whose completion was lost does not count, so that a metric is missing if a sample is.
    """
    problems = [problem for problem in item.task.problems if stored.has(problem.problem_id, 0)]
    if groups := clusters_of([stored.problems[problem.problem_id] for problem in problems]):
        problems = [replace(problem, group=group) for problem, group in zip(problems, groups, strict=True)]
    excludes = item.task.excludes_unanswered
    table, kept = VerdictTable(problems, item.task.k, stored.counts, excludes), list[Verdict]()
    table.is_unrated = item.task.verifier == UNRATED
    on_disk = stored.on_disk
    for verdict in stored.verdicts():
        sample = verdict.sample
        # Verdicts of another verifier are made again later by their judge.
        if verdict.verifier != item.verifier or not on_disk.has(sample.problem_id, sample.sample_index, 0):
            continue
        if table.add(verdict) and keep:
            kept.append(verdict)  # This includes the judge's output. Other tasks may have a million verdicts.
    return table, kept


def tokens_record(tokens: TokenCount, correct: float) -> TokenSums:
    """Return the sums, and completion tokens per correct answer. All are None if tokens were not counted."""
    if not tokens.counted:
        return TokenSums(prompt=None, completion=None, trace=None, answer=None, per_correct=None)
    split = tokens.traced == tokens.counted
    return TokenSums(
        prompt=tokens.prompt,
        completion=tokens.completion,
        trace=tokens.trace if split else None,
        answer=tokens.completion - tokens.trace if split else None,
        per_correct=tokens.completion / correct if correct else None,
    )


def reported_record(scale: ReportedScale, lead: EstimateRecord, macro: MacroRecord | None) -> ReportedRecord:
    """Return the figure that the benchmark reports, from the macro mean if the task has one."""
    value, ci = (lead.value, lead.ci) if macro is None else (macro.value, macro.ci)
    bounds = lead.bounds if macro is None else None
    return ReportedRecord(
        name=scale.name,
        better=scale.better,
        value=None if value is None else scale.of(value),
        ci=None if ci is None else scale.bounds(ci),
        bounds=None if bounds is None else scale.bounds(bounds),
    )


def rollouts_record(rollouts: Sequence[Mapping[str, Any]]) -> RolloutsRecord:
    """Return the means and counts of the rollouts of one task."""

    def mean(key: str) -> float:
        return sum(float(item.get(key) or 0) for item in rollouts) / len(rollouts)

    limits = Counter(item["ended_by"] for item in rollouts if item.get("ended_by"))
    return RolloutsRecord(
        count=len(rollouts),
        turns=mean("turns"),
        new_tokens=mean("new_tokens"),
        engine_s=mean("engine_s"),
        tools_s=mean("tools_s"),
        ended_by=dict(sorted(limits.items())),
        touched=sum(item.get("touched", 0) > 0 for item in rollouts),
        deciding=sum(bool(item.get("deciding")) for item in rollouts),
        at_limits=sum(bool(item.get("limits_hit")) for item in rollouts),
        begun_again=sum(item.get("tries", 1) > 1 for item in rollouts),
        replayed=sum(item.get("replayed", 0) for item in rollouts),
        diverged=sum(item.get("diverged_at") is not None for item in rollouts),
    )


_MOST = 6
"""With more parts than this a verifier lists the single items of an answer, which are not measures."""


def part_records(table: VerdictTable, seed: int, version: str, *, judged: bool) -> dict[str, Any]:
    """Return the fields of a task's results that the parts of its verdicts give.

    Args:
        seed: the seed of the resampling.
        version: the version of the verifier. It says whether instructions were checked as officially.
        judged: whether an LLM judge grades the task. Its forms have tables of their own.
    """
    if any(has_instructions(parts) for own in table.parts for parts in own[:1]):
        return {"instructions": instruction_record(table.parts, seed, "(official" in version)}
    texts = scored_texts([problem.problem_id for problem in table.problems], table.details, table.groups)
    if texts is not None:
        return {} if table.lacking else {"likelihood": likelihood_record(texts, seed)}
    found: dict[str, Any] = {}
    if measures := {} if judged else measure_records(table, seed):
        found["parts"] = measures
    if corpus := corpus_records(table, seed):
        found["corpus"] = corpus
    return found


def measure_records(table: VerdictTable, seed: int) -> dict[str, Bounded]:
    """Return the mean of each measure over the problems, with the interval over new problems.

    A measure is a part that every verdict with parts has. The mean of a problem is over its scored samples.
    One without parts, such as a sample whose trace never ended, counts as 0.

    Args:
        seed: the seed of the resampling, which draws whole clusters.
    """
    given = [parts for row in table.parts for parts in row]
    names = [name for name in (given[0] if given else ()) if all(name in parts for parts in given)]
    if table.lacking or not 0 < len(names) <= _MOST:
        return {}
    scored = [sum(score is not None for score in row) for row in table.scores]
    kept = [row for row, count in enumerate(scored) if count]
    groups = table.groups
    clusters = None if groups is None else [groups[row] for row in kept]
    found: dict[str, Bounded] = {}
    for name in names:
        means = np.array([sum(part[name] for part in table.parts[row]) / scored[row] for row in kept])
        bounds = problem_interval(means, seed=seed, groups=clusters).bounds if len(kept) > 1 else None
        found[name] = Bounded(value=float(means.mean()), ci=bounds)
    return found


def problem_sums(table: VerdictTable, stored: StoredTask) -> TaskSums:
    """Return the sums and counts of the scored samples of each problem of a task.

    Args:
        table: the verdicts of the current verifier.
        stored: the reader of the task, whose problems have the digests of prompts and references.
    """
    scored = [[score for score in row if score is not None] for row in table.scores]
    optional: dict[str, Any] = {}
    if any(score not in (0.0, 1.0) for row in scored for score in row):
        optional["squares"] = tuple(sum(score * score for score in row) for row in scored)
    if table.groups is not None:
        optional["groups"] = tuple(table.groups)
    ids = tuple(problem.problem_id for problem in table.problems)
    if measures := _problem_measures(table, stored, ids):
        optional["measures"] = measures
    return TaskSums(
        k=table.k,
        problem_ids=ids,
        sums=tuple(sum(row) for row in scored),
        counts=tuple(len(row) for row in scored),
        questions=questions_digest(stored.problems),
        asked=asked_digests([stored.problems[name] for name in ids]),
        **optional,
    )


def _problem_measures(
    table: VerdictTable, stored: StoredTask, ids: Sequence[str]
) -> dict[str, tuple[float | None, ...]]:
    """Return the measures next to the score that a gate may ask for: endings of replies, or bits per byte."""
    texts = scored_texts(ids, table.details, table.groups)
    if texts is not None:
        if "bpb_gold" not in texts.names:
            return {}
        values = dict(zip(texts.problem_ids, texts.values("bpb_gold").tolist(), strict=True))
        return {"bpb_gold": tuple(values.get(name) for name in ids)}
    if not stored.stopping.samples:
        return {}
    found = stored.stopping.shares(ids)
    # Most tasks have no empty reply. A list of zeros for each of a million problems is left out.
    return {name: shares for name, shares in found.items() if name == "cut_off" or any(shares)}
