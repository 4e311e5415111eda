"""results.json of a run: estimates, counts, tokens and seconds, made from the files on disk alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.analysis.accounting import costs, totals
from genbench.analysis.instructions import has_instructions, instruction_record
from genbench.analysis.judged import drift_words, judged_record, too_many_unscored
from genbench.analysis.table import (
    TokenCount,
    VerdictTable,
    estimate_seed,
    estimates,
    strata_records,
    task_record,
)
from genbench.store.folder import FORMAT, RunFolder
from genbench.suite.config import JudgeConfig
from genbench.tasks.loaded import VerifiedTask
from genbench.types import Verdict


def build_results(
    folder: RunFolder,
    judged: Mapping[str, VerifiedTask],
    manifest: Mapping[str, Any],
    max_excluded_share: float,
) -> dict[str, Any]:
    """The results of the tasks in `judged`, with what was excluded and whether that is too much."""
    tasks = {name: _task(folder, item, manifest) for name, item in judged.items()}
    attempts = [attempt for attempt in manifest["attempts"] if "ended" in attempt]
    for name, cost in costs(manifest["suite"]["config"].get("price"), tasks, attempts).items():
        tasks[name]["cost"] = cost
    judge = manifest["suite"]["config"].get("judge") or JudgeConfig().model_dump()
    unscored_share = float(judge["max_unscored_share"])
    return {
        "format": FORMAT,
        "run_id": manifest["run_id"],
        "suite": manifest["suite"]["name"],
        "model": manifest["model"]["name"],
        "model_path": manifest["model"]["path"],
        "model_identity": manifest["model_identity"],
        "run_seed": manifest["run_seed"],
        "shard": manifest["origin"].get("shard"),
        "tasks": tasks,
        "totals": totals(manifest, tasks),
        "warnings": [*manifest["warnings"], *drift_words(tasks)],
        "trust_remote_code": manifest["model"]["trust_remote_code"],
        "test_uses": manifest["test_uses"],
        "max_excluded_share": max_excluded_share,
        "failed": _too_many_excluded(tasks, max_excluded_share) + too_many_unscored(tasks, unscored_share),
    }


def _task(folder: RunFolder, item: VerifiedTask, manifest: Mapping[str, Any]) -> dict[str, Any]:
    task, described = item.task, manifest["tasks"][item.task.name]
    table, counted = VerdictTable(task.problems, task.k), list[Verdict]()
    for verdict in folder.verdicts(task.name):
        # Those of another verifier wait for their judge to be made again.
        if verdict.verifier == item.verifier and table.add(verdict) and "judge" in described:
            counted.append(verdict)  # whole, with what the judge said; other tasks may have a million
    tokens = TokenCount()
    for completion in folder.completions(task.name):
        if completion.sample.problem_id in item.problems and completion.sample.sample_index < task.k:
            tokens.add(completion, task.decoding.max_tokens)
    seed = estimate_seed(manifest["run_id"], task.name)
    found = estimates(table, task.metrics, seed, task.folder)
    record = task_record(table, found, task.task.info.headline, tokens)
    record["strata"] = strata_records(table, task.task.info.headline, seed)
    if any(has_instructions(parts) for samples in table.parts for parts in samples[:1]):
        record["instructions"] = instruction_record(table.parts, seed, "(official" in item.version)
    if "judge" in described:
        judge = described["judge"]
        record["judge"] = judge | judged_record(judge, record, table, counted, seed)
    return record | {
        "of": described["of"],
        "role": described["role"],
        "chance": described["chance"],
        "published": described.get("published", []),
        "verifier": described["verifier"],
    }


def _too_many_excluded(tasks: Mapping[str, Mapping[str, Any]], share: float) -> list[str]:
    """One line for each task whose numbers must not be used."""
    found: list[str] = []
    for name, task in tasks.items():
        excluded = task["excluded"] - task["status_counts"].get("unscored", 0)
        if task["samples"] and excluded > share * task["samples"]:
            found.append(
                f"{name}: {excluded} of {task['samples']} samples are excluded (defects of ours), more than "
                f"the {share:.1%} that the suite allows"
            )
    return found
