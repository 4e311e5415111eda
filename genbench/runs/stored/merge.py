"""Merging of the parts of a run into one run folder, with every sample once."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import state_of
from genbench.data.subset import Shard
from genbench.draw.progress import ProgressLine
from genbench.errors import InputError, InterruptedRunError, RunFolderError
from genbench.runs.event_loop import StopSwitch, stop_on_signals
from genbench.runs.execution.prompt_records import merged_asks
from genbench.runs.stored.load import Trusted, check_allowed, keep_seal, stored_tasks
from genbench.runs.stored.rescore import score_folder
from genbench.store.continuation import binding_differences, now
from genbench.store.contract import differences
from genbench.store.folder import RunFolder
from genbench.store.json_files import Appender, read_lines
from genbench.store.lines import renumbered
from genbench.store.lock import writer_of
from genbench.store.manifest import (
    AdaptiveRecord,
    AttemptRecord,
    EditRecord,
    Manifest,
    MergedRecord,
    TaskRecord,
    ids_in_force,
)
from genbench.store.seal import completion_words
from genbench.suite.block import is_headline
from genbench.types import Completion

Source = tuple[RunFolder, Manifest]
"""A folder and its manifest."""
_Key = tuple[str, int, int]


def merge_lines(
    sources: Sequence[Source], target: RunFolder, label: str = "", quiet: bool = True
) -> dict[str, int]:
    """Write problems, asks, completions, verdicts and judgments of all sources into `target`.

    Attempts are numbered consecutively, source by source. Verdicts of one verifier are copied.
    Others are made again when the target is scored.

    Args:
        label: the model's name, for the progress line.
        quiet: show no progress.

    Returns:
        The number of problems in force of each task. An earlier, larger limit leaves more on disk.

    Raises:
        RunFolderError: a problem was asked in two ways, or a sample has two texts. The message names both
            locations.
    """
    tasks = list(dict.fromkeys(task for _, manifest in sources for task in manifest.tasks))
    progress = ProgressLine(label, 0, 0, quiet)
    progress.step("merging")
    counts = {task: _merge_task(task, sources, target, progress.copied) for task in tasks}
    progress.close()
    return counts


def merged_looks(sources: Sequence[Source]) -> AdaptiveRecord | None:
    """Return the looks of an adaptive run, or None for another run.

    Each part has them, but one may have ended before the last.

    Raises:
        RunFolderError: no part has the last look.
    """
    found = [manifest.adaptive for _, manifest in sources if manifest.adaptive is not None]
    if not found:
        return None
    last = max(found, key=lambda record: (len(record.state.looks), len(record.state.confirmations)))
    if not last.state.is_over or last.state.confirming:
        raise RunFolderError(
            f"{sources[0][0].path}: the adaptive run is not over; run the command of each shard again, "
            "then merge"
        )
    return last


def _merge_task(task: str, sources: Sequence[Source], target: RunFolder, copied: Callable[[], None]) -> int:
    own = [(folder, manifest) for folder, manifest in sources if task in manifest.tasks]
    problems = _problems(task, own)
    target.write_problems(task, list(problems.values()))
    asks: dict[str, list[dict[str, Any]]] = {}
    for folder, _ in own:
        flat = [ask for found in folder.asks(task).values() for ask in found]
        merged = merged_asks(asks, flat)
        asks = {}
        for ask in merged:
            asks.setdefault(str(ask["problem_id"]), []).append(ask)
    target.write_asks(task, [ask for found in asks.values() for ask in found])
    shared = _shared(task, own)
    if is_headline(task):
        _completions(task, sources, shared, target, copied)
    _verdicts(task, own, target)
    _judgments(task, own, target)
    return len({name for source in own for name in _in_force(task, *source)})


def _in_force(task: str, folder: RunFolder, manifest: Manifest) -> list[str]:
    return ids_in_force(task, list(folder.problems(task)), manifest)


def _problems(task: str, sources: Sequence[Source]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    first: dict[str, RunFolder] = {}
    for folder, _ in sources:
        for name, record in folder.problems(task).items():
            old = found.setdefault(name, record)
            first.setdefault(name, folder)
            for key in ("prompt_digest", "reference_digest", "max_tokens"):
                if old.get(key) != record.get(key):
                    raise RunFolderError(
                        f"{first[name].path} and {folder.path} are not parts of one run: task {task}, "
                        f"problem {name}: {key} {old.get(key)} -> {record.get(key)}"
                    )
    return found


def _shared(task: str, sources: Sequence[Source]) -> set[str]:
    """Return the problems that are in several folders. Shards have no common problems."""
    counts = Counter(name for folder, _ in sources for name in folder.problems(task))
    return {name for name, count in counts.items() if count > 1}


def _completions(
    task: str, sources: Sequence[Source], shared: set[str], target: RunFolder, copied: Callable[[], None]
) -> None:
    seen: dict[_Key, tuple[bytes, RunFolder]] = {}
    before = 0
    for folder, manifest in sources:
        for item in folder.completions(task) if task in manifest.tasks else ():
            if item.sample.problem_id not in shared or _is_new(item, folder, seen):
                target.append_completion(renumbered(item, before))
                copied()
        before += len(manifest.attempts)


def _is_new(item: Completion, folder: RunFolder, seen: dict[_Key, tuple[bytes, RunFolder]]) -> bool:
    """Return whether the sample's turn is the first with its identity. An equal second one is left out."""
    sample = item.sample
    text = completion_words(item).encode("utf-8", "surrogatepass")
    found = hashlib.blake2b(text + f"\0{item.finish_reason}\0{item.seed}".encode(), digest_size=16).digest()
    kept, where = seen.setdefault((sample.problem_id, sample.sample_index, item.turn), (found, folder))
    if kept != found:
        first, second = (at.file(sample.task, "completions") for at in (where, folder))
        raise RunFolderError(
            f"{first} and {second} have two texts for problem {sample.problem_id}, sample "
            f"{sample.sample_index}, turn {item.turn}; merge only one of the folders, or delete one line"
        )
    return where is folder


def _verdicts(task: str, sources: Sequence[Source], target: RunFolder) -> None:
    verifier = sources[0][1].tasks[task].verifier.digest
    seen: set[tuple[str, int]] = set()
    for folder, _ in sources:
        for item in folder.verdicts(task):
            key = (item.sample.problem_id, item.sample.sample_index)
            if item.verifier == verifier and key not in seen:
                seen.add(key)
                target.append_verdict(item)


def _judgments(task: str, sources: Sequence[Source], target: RunFolder) -> None:
    """Write the judges' replies, once each, so that nothing is asked again."""
    found = {
        str(record.get("key")): record
        for folder, _ in sources
        for _, record in read_lines(folder.file(task, "judgments"))
    }
    if found:
        with Appender(target.file(task, "judgments")) as appender:
            for record in found.values():
                appender.append(record)


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
            raise RunFolderError(f"{first.path} and {other.path} are not parts of one run:\n{shown}")


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
            "drawn": {},
            "edited": tuple(edit for part in parts for edit in _edits(part)),
            **({} if adaptive is None else {"adaptive": adaptive}),
        }
    )


def _edits(part: Part) -> list[EditRecord]:
    """Return what was changed by hand in a part, found earlier or now."""
    found = state_of(part.path).sources
    return [*part.manifest.edited, *(EditRecord(file=file, found=now()) for file in found)]


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
    """Return `1,3/8` for the first and the third of eight, or None if a part is not a shard."""
    named = [Shard.read(part.shard) for part in parts if part.shard and "," not in part.shard]
    if not named or len({shard.of for shard in named}) > 1:
        return next((part.shard for part in parts if part.shard), None)
    return f"{','.join(str(index) for index in sorted({s.index for s in named}))}/{named[0].of}"
