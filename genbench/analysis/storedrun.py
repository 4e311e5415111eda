"""A run folder, or a score file, opened as one side of a comparison."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.analysis.followed import shares_by_kind
from genbench.analysis.noise_record import NoiseMeasurement
from genbench.analysis.scorefile import read_score_file
from genbench.analysis.sides import SampleKey, Side, SideTask, Traces
from genbench.data.subset import nested_subset
from genbench.errors import InputError, RunFolderError, nearest
from genbench.store.folder import RunFolder
from genbench.types import Completion, Status, Verdict


def open_side(path: Path, tasks: Sequence[str] = ()) -> Side:
    """The run or score file at `path`; `tasks` keeps those alone.

    Raises:
        InputError: nothing usable is there, or it has no such task.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; wanted RUN_DIR/<model> or a score file")
    side = read_run(path, tasks) if path.is_dir() else read_score_file(path)
    if not tasks:
        return side
    _check_tasks(path, tasks, side.tasks)
    kept = {name: task for name, task in side.tasks.items() if name in tasks}
    return replace(side, tasks=kept)


def read_run(path: Path, tasks: Sequence[str] = ()) -> Side:
    """A stored run with its verdicts, prompts, seeds and digests of texts.

    Raises:
        RunFolderError: no run folder, a damaged line, or verdicts of several verifiers.
    """
    folder = RunFolder(path)
    manifest = folder.require_manifest()
    _check_tasks(path, tasks, manifest["tasks"])
    results = folder.results() or {}
    found = {
        name: _task(folder, name, described, manifest)
        for name, described in manifest["tasks"].items()
        if not tasks or name in tasks
    }
    entries = results.get("tasks", {})
    found = {name: replace(task, judged=entries.get(name, {}).get("judge")) for name, task in found.items()}
    return Side(
        path=path,
        name=manifest["model"]["name"],
        run_id=manifest["run_id"],
        tasks=found,
        manifest=manifest,
        failed=tuple(results.get("failed", ())),
        noise=_noise(folder),
    )


def require_finished(side: Side) -> None:
    """Raises InputError where samples have no verdict; says which command makes them."""
    for name, task in side.tasks.items():
        if task.lacking:
            raise InputError(
                f"{side.path}: task {name}: {task.lacking} of {task.samples} samples have no verdict; "
                f"continue the run, or run: genbench score {side.path}"
            )


def _noise(folder: RunFolder) -> NoiseMeasurement | None:
    """Return the stored false-alarm band, or None if it was not measured."""
    found = folder.noise()
    return None if found is None else NoiseMeasurement.from_json(found, str(folder.path / "noise.json"))


def _check_tasks(path: Path, tasks: Sequence[str], known: Collection[str]) -> None:
    for name in tasks:
        if name not in known:
            raise InputError(f"{path}: no task '{name}'{nearest(name, known)}")


def _task(
    folder: RunFolder, name: str, described: Mapping[str, Any], manifest: Mapping[str, Any]
) -> SideTask:
    stored = folder.problems(name)
    ids = ids_in_force(name, list(stored), described["n"], manifest)
    if not ids:
        raise RunFolderError(f"{folder.path}: task {name} has no problems; continue the run")
    k = int(described["k"])
    verdicts = _verdicts(folder, name, set(ids), k, described["verifier"]["digest"])
    rows = [[verdicts.get((problem, index)) for index in range(k)] for problem in ids]
    lacking = sum(verdict is None for row in rows for verdict in row)
    groups = tuple(stored[problem]["group"] for problem in ids)
    columns = dict.fromkeys(column for problem in ids for column in stored[problem]["strata"])
    margin = described["margin"]
    return SideTask(
        name=name,
        problem_ids=tuple(ids),
        scores=tuple(tuple(v.score if v else None for v in row) for row in rows),
        metric=described["headline"],
        metrics=tuple(described["metrics"]),
        k=k,
        lacking=lacking,
        answers=tuple(tuple(v.extracted if v else None for v in row) for row in rows),
        statuses=tuple(tuple(_status(v) for v in row) for row in rows),
        groups=groups if any(groups) else None,
        strata={column: tuple(stored[p]["strata"].get(column) for p in ids) for column in columns},
        gating=bool(described["gating"]),
        margin=None if margin is None else margin / 100,
        described=described,
        followed=shares_by_kind(rows),
        traces=_traces(folder, name, {problem: stored[problem] for problem in ids}, k),
    )


def ids_in_force(name: str, ids: list[str], n: int, manifest: Mapping[str, Any]) -> list[str]:
    """The problems of the last command: problems.jsonl keeps those of a larger limit before it too."""
    chosen = (manifest["origin"].get("problems") or {}).get(name)
    if chosen is None:
        return nested_subset(ids, n)
    kept = set(chosen)
    return [problem for problem in ids if problem in kept]


def _status(verdict: Verdict | None) -> Status:
    return verdict.status if verdict else "unscored"


def _verdicts(folder: RunFolder, name: str, ids: set[str], k: int, verifier: str) -> dict[SampleKey, Verdict]:
    found: dict[SampleKey, Verdict] = {}
    for verdict in folder.verdicts(name):
        sample = verdict.sample
        if sample.problem_id not in ids or sample.sample_index >= k:
            continue
        if verdict.verifier != verifier:
            raise RunFolderError(
                f"{folder.path}: task {name} holds verdicts of another verifier than its manifest; "
                f"run: genbench score {folder.path}"
            )
        found.setdefault((sample.problem_id, sample.sample_index), verdict)
    return found


def _traces(folder: RunFolder, name: str, problems: Mapping[str, Mapping[str, Any]], k: int) -> Traces:
    prompts: dict[SampleKey, str] = {}
    seeds: dict[SampleKey, int] = {}
    turns: defaultdict[SampleKey, dict[int, str]] = defaultdict(dict)
    tokens: int | None = 0
    for item in folder.completions(name):
        sample = item.sample
        if sample.problem_id not in problems or sample.sample_index >= k:
            continue
        key = (sample.problem_id, sample.sample_index)
        turns[key][item.turn] = _digest(item)
        tokens = None if tokens is None or item.completion_tokens is None else tokens + item.completion_tokens
        if item.turn == 0:
            prompts[key] = item.prompt_digest or problems[sample.problem_id]["prompt_digest"]
            if item.seed is not None:
                seeds[key] = item.seed
    return Traces(
        prompts=prompts,
        seeds=seeds,
        texts={key: "".join(parts[turn] for turn in sorted(parts)) for key, parts in turns.items()},
        max_tokens={name: record["max_tokens"] for name, record in problems.items()},
        references={name: record["reference_digest"] for name, record in problems.items()},
        completion_tokens=tokens if turns else None,
    )


def _digest(item: Completion) -> str:
    return hashlib.blake2b(item.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
