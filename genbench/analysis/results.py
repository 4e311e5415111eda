"""The results of a run, made from its verdicts and tokens on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from genbench.analysis.accounting import costs, degenerate_words, totals
from genbench.analysis.judged import drift_words, judged_record, too_many_unscored
from genbench.analysis.measures import part_records
from genbench.analysis.problemsums import problem_sums
from genbench.analysis.records import EstimateRecord, estimate_fields
from genbench.analysis.results_record import Results, TaskResults, TaskSeal
from genbench.analysis.table import VerdictTable, estimate_seed, estimates, strata_records, tokens_record
from genbench.store.folder import FORMAT, RunFolder
from genbench.store.manifest_record import Manifest
from genbench.store.storedrun import StoredTask
from genbench.store.sums import RunSums, TaskSums, write_sums
from genbench.suite.config import SuiteConfig
from genbench.tasks.loaded import VerifiedTask
from genbench.types import STATUSES, Verdict


@dataclass(frozen=True, slots=True)
class BuiltResults:
    """The results of a run, and the sums of each problem that they were made from."""

    results: Results
    sums: RunSums

    def write(self, folder: RunFolder) -> Results:
        """Write sums.json, then results.json, which has its digest. Return the results."""
        write_sums(folder.path, self.sums)
        folder.write_results(self.results)
        return self.results


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
    made = {name: _task(stored[name], item, manifest) for name, item in tasks.items()}
    found = {name: results for name, (results, _) in made.items()}
    sums = RunSums(format=1, tasks={name: own for name, (_, own) in made.items()})
    for name, cost in costs(config.price, found, manifest.attempts).items():
        found[name] = found[name].model_copy(update={"cost": cost})
    failed = _too_many_excluded(found, config.max_excluded_share)
    results = Results(
        format=FORMAT,
        run_id=manifest.run_id,
        suite=manifest.suite.name,
        model=manifest.model.name,
        model_path=manifest.model.path,
        model_identity=manifest.model_identity,
        run_seed=manifest.run_seed,
        shard=manifest.origin.shard,
        tasks=found,
        totals=totals(manifest, found, config.price),
        warnings=(*manifest.warnings, *drift_words(found), *degenerate_words(stored)),
        trust_remote_code=manifest.model.trust_remote_code,
        test_uses=manifest.test_uses,
        max_excluded_share=config.max_excluded_share,
        sums=sums.digest,
        failed=(*_lacking(found), *failed, *too_many_unscored(found, config.judge.max_unscored_share)),
    )
    return BuiltResults(results, sums)


def _task(stored: StoredTask, item: VerifiedTask, manifest: Manifest) -> tuple[TaskResults, TaskSums]:
    described = manifest.tasks[stored.name]
    headline = item.task.task.info.headline
    table, judged = _verdicts(stored, item, described.judge is not None)
    seed = estimate_seed(manifest.run_id, stored.name)
    found = estimates(table, item.task.metrics, seed, item.task.folder)
    lead = found[table.label(headline)]
    samples = sum(table.statuses.values())
    extra = part_records(table, seed, item.version, judged=described.judge is not None)
    if table.forgeable:
        extra["forgeable"] = table.forgeable
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
        strata=strata_records(table, headline, seed),
        of=described.of,
        role=described.role,
        chance=described.chance,
        published=described.published,
        verifier=described.verifier,
        seal=TaskSeal(completions=stored.completions_seal, verdicts=table.seal.record),
        **extra,
    )
    return results, problem_sums(table, stored)


def _verdicts(stored: StoredTask, item: VerifiedTask, keep: bool) -> tuple[VerdictTable, list[Verdict]]:
    """Return the table of the current verifier's verdicts. With `keep` also return those verdicts.

    A verdict whose completion was lost does not count, so that a metric is missing if a sample is.
    """
    table, kept = VerdictTable(item.task.problems, item.task.k), list[Verdict]()
    on_disk = stored.on_disk
    for verdict in stored.verdicts():
        sample = verdict.sample
        # Verdicts of another verifier are made again later by their judge.
        if verdict.verifier != item.verifier or not on_disk.has(sample.problem_id, sample.sample_index, 0):
            continue
        if table.add(verdict) and keep:
            kept.append(verdict)  # This includes the judge's output. Other tasks may have a million verdicts.
    return table, kept


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
        excluded = task.excluded - task.status_counts.get("unscored", 0)
        if task.samples and excluded > share * task.samples:
            found.append(
                f"{name}: {excluded} of {task.samples} samples are excluded (defects of ours), more than "
                f"the {share:.1%} that the suite allows"
            )
    return found
