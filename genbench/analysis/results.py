"""The results of a run, made from its verdicts and tokens on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from genbench.analysis.accounting import costs, degenerate_words, totals
from genbench.analysis.adaptiveresults import adaptive_results
from genbench.analysis.groups import run_groups
from genbench.analysis.judged import drift_words, too_many_unscored
from genbench.analysis.results_record import Results, TaskResults
from genbench.analysis.taskresults import build_tasks
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.store.stored_run import StoredTask
from genbench.store.sums import EncodedSums, write_sums
from genbench.suite.config import SuiteConfig
from genbench.tasks.loaded_task import VerifiedTask


@dataclass(frozen=True, slots=True)
class BuiltResults:
    """The results of a run, and the sums of each problem that they were made from."""

    results: Results
    sums: EncodedSums

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
        warnings=(*manifest.warnings, *drift_words(found), *degenerate_words(stored)),
        trust_remote_code=manifest.model.trust_remote_code,
        test_uses=manifest.test_uses,
        max_excluded_share=config.max_excluded_share,
        sums=sums.digest,
        **({"groups": groups} if groups else {}),
        failed=(*_lacking(found), *failed, *too_many_unscored(found, config.judge.max_unscored_share)),
        **extra,
    )
    return BuiltResults(results, sums)


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
