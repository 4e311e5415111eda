"""Merging of the parts of a run into one run folder.

Parts are the shards of a job array, or folders of its tasks.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.results_record import Results
from genbench.data.shard import Shard
from genbench.errors import InputError, InterruptedRunError, RunFolderError
from genbench.runs.mergedlines import merge_lines, merged_looks
from genbench.runs.rereading import Trusted, check_allowed, keep_seal, stored_tasks
from genbench.runs.rescore import score_folder
from genbench.runs.signals import StopSwitch, stop_on_signals
from genbench.store.contract import differences
from genbench.store.folder import RunFolder
from genbench.store.lock import writer_of
from genbench.store.manifest import binding_differences, now
from genbench.store.manifest_record import AttemptRecord, Manifest, MergedRecord, TaskRecord

_SHARDS = "shard-*-of-*"
_TASK_KEYS = ("k", "headline", "metrics", "of", "role")
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Part:
    """A run folder that is one part of a run."""

    folder: RunFolder
    manifest: Manifest

    @property
    def path(self) -> Path:
        """Return the part's folder."""
        return self.folder.path

    @property
    def shard(self) -> str | None:
        """Return I/N if the part is a shard."""
        return self.manifest.origin.shard


def merge(
    runs: Sequence[Path],
    into: Path | None = None,
    data_dir: Path | None = None,
    quiet: bool = False,
    *,
    trusted: Trusted = (),
) -> dict[Path, Results]:
    """Make one run folder of each model from its parts, verify what lacks a verdict, write results.

    Args:
        runs: run folders, folders of runs, or folders that contain `shard-I-of-N` folders.
        into: the folder of the merged runs. None means the folder that contains the shards.
        trusted: what the user allows the stored suites to do (see trust).

    Returns:
        The merged folder of each model, and its results.

    Raises:
        InputError: no parts of one run (the differences are listed), a part that is still being written, two
            different texts for one sample, or a run that is there already. Nothing is written then.
    """
    parts = [_part(path) for run in runs for path in run_folders(run)]
    target = into or _common_folder(runs)
    models: defaultdict[str, list[Part]] = defaultdict(list)
    for part in parts:
        models[part.manifest.model.name].append(part)
    for name, own in models.items():
        _check_parts(own)
        for part in own:
            check_allowed(part.folder, part.manifest, data_dir, trusted)
        if (target / name).exists():
            raise RunFolderError(f"{target / name}: is there already; move it away, or give another --into")
    switch = StopSwitch()
    with stop_on_signals(switch.stop):
        return {
            target / name: _merge_model(own, target / name, data_dir, quiet, switch, trusted=trusted)
            for name, own in models.items()
        }


def run_folders(path: Path) -> list[Path]:
    """Return the run folders at or below `path`: itself, its shards' models, or its models.

    Raises:
        RunFolderError: there is no run folder.
    """
    if (path / "manifest.json").is_file():
        return [path]
    for pattern in (f"{_SHARDS}/*/manifest.json", "*/manifest.json"):
        found = sorted(manifest.parent for manifest in path.glob(pattern))
        if found:
            return found
    RunFolder(path).require_manifest()
    raise AssertionError("a folder without manifest.json is refused")


def _common_folder(runs: Sequence[Path]) -> Path:
    if len(runs) == 1 and any(runs[0].glob(_SHARDS)):
        return runs[0]
    raise InputError("say where the merged run goes: --into DIR (one folder per model is made in it)")


def _part(path: Path) -> Part:
    folder = RunFolder(path)
    manifest = folder.require_manifest()
    writer = writer_of(path)
    if writer is not None and writer.alive is not False:
        raise RunFolderError(f"{path}: is being written ({writer}); merge when that run has ended")
    return Part(folder, manifest)


def _check_parts(parts: Sequence[Part]) -> None:
    """Check that all parts are of one run.

    Raises:
        RunFolderError: two are of different runs. The message lists what differs.
    """
    first = parts[0]
    for other in parts[1:]:
        lines = [
            *binding_differences(first.manifest.binding, other.manifest.binding),
            *differences(first.manifest.run_id, other.manifest.run_id, "run_id"),
            *differences(first.manifest.origin.limit, other.manifest.origin.limit, "origin.limit"),
        ]
        plans = [part.manifest.adaptive and part.manifest.adaptive.plan.to_json() for part in (first, other)]
        lines += differences(plans[0], plans[1], "adaptive")
        for name, task in other.manifest.tasks.items():
            stored = first.manifest.tasks.get(name, task)
            for key in _TASK_KEYS:
                lines += differences(getattr(stored, key), getattr(task, key), f"tasks.{name}.{key}")
        if lines:
            shown = "\n".join(f"  {line}" for line in lines[:_SHOWN])
            raise RunFolderError(f"{first.path} and {other.path} are no parts of one run:\n{shown}")


def _merge_model(
    parts: Sequence[Part],
    target: Path,
    data_dir: Path | None,
    quiet: bool,
    switch: StopSwitch,
    *,
    trusted: Trusted,
) -> Results:
    """Write the merged run next to the target, and rename it to the target when it is complete."""
    half = target.with_name(f".{target.name}.merge-{os.getpid()}")
    half.mkdir(parents=True)  # a folder of that name that is there already is not ours to remove
    try:
        with RunFolder.writer(half) as folder:
            counts = merge_lines([(part.folder, part.manifest) for part in parts], folder, target.name, quiet)
            manifest = _manifest(parts, counts)
            for task in stored_tasks(folder, manifest, data_dir):
                rows = folder.problems(task.name)
                folder.write_problems(task.name, [rows[problem.problem_id] for problem in task.problems])
            folder.write_manifest(manifest)
            keep_seal(parts[0].folder, parts[0].manifest, folder)
            _gather_logs(parts, half)
        results = score_folder(half, data_dir, False, quiet, switch, trusted=trusted)
        half.rename(target)
    except BaseException as error:
        shutil.rmtree(half, ignore_errors=True)
        if isinstance(error, InterruptedRunError):
            raise InterruptedRunError(
                f"stopped by {switch.reason}; nothing was merged, run the same command again"
            ) from None
        raise
    return results


def _gather_logs(parts: Sequence[Part], target: Path) -> None:
    """Write the engines' logs one after the other, each under the path that it came from."""
    logs = [log for part in parts if (log := part.path / "engine.log").is_file()]
    if not logs:
        return
    with (target / "engine.log").open("wb") as whole:
        for log in logs:
            whole.write(f"==> {log} <==\n".encode())
            with log.open("rb") as own:
                shutil.copyfileobj(own, whole)


def _manifest(parts: Sequence[Part], counts: Mapping[str, int]) -> Manifest:
    """Return the manifest of the whole: tasks with their problems counted again, all attempts in a row."""
    first = parts[0].manifest
    tasks: dict[str, TaskRecord] = {}
    attempts: list[AttemptRecord] = []
    terms = dict(first.terms)
    for part in parts:
        tasks |= {
            name: task.model_copy(update={"n": counts[name]}) for name, task in part.manifest.tasks.items()
        }
        terms["decoding"] = {**terms.get("decoding", {}), **part.manifest.terms.get("decoding", {})}
        for attempt in part.manifest.attempts:
            attempts.append(attempt.model_copy(update={"attempt": len(attempts) + 1}))
    ordered = {name: tasks[name] for name in first.origin.whole or tasks if name in tasks}
    adaptive = merged_looks([(part.folder, part.manifest) for part in parts])
    merged = MergedRecord(from_=tuple(str(part.path) for part in parts), attempts=len(attempts))
    return first.model_copy(
        update={
            "uid": str(uuid.uuid4()),
            "created": now(),
            "tasks": {**ordered, **tasks},
            "terms": terms,
            "attempts": tuple(attempts),
            "test_uses": max(part.manifest.test_uses for part in parts),
            "warnings": tuple(dict.fromkeys(line for part in parts for line in part.manifest.warnings)),
            "origin": first.origin.model_copy(update=_origin(parts, tasks, counts)),
            "merged": merged,
            **({} if adaptive is None else {"adaptive": adaptive}),
        }
    )


def _origin(
    parts: Sequence[Part], tasks: Mapping[str, TaskRecord], counts: Mapping[str, int]
) -> dict[str, Any]:
    origins = [part.manifest.origin for part in parts]
    problems: dict[str, tuple[str, ...]] = {}
    for origin in origins:
        for name, ids in (origin.problems or {}).items():
            problems[name] = tuple(dict.fromkeys([*problems.get(name, ()), *ids]))
    whole = {name: n for origin in origins for name, n in origin.whole.items()}
    partial = any(counts.get(name, 0) < n for name, n in whole.items())
    return {
        "tasks": tuple(tasks),
        "problems": problems or None,
        "shard": _shards(parts) if partial else None,
        "whole": whole,
    }


def _shards(parts: Sequence[Part]) -> str | None:
    """Return `1,3/8` for the first and the third of eight, or None if a part is no shard."""
    named = [Shard.read(part.shard) for part in parts if part.shard and "," not in part.shard]
    if not named or len({shard.of for shard in named}) > 1:
        return next((part.shard for part in parts if part.shard), None)
    return f"{','.join(str(index) for index in sorted({s.index for s in named}))}/{named[0].of}"
