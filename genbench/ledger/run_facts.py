"""The facts about a run that the ledger keeps, read from its folder. A folder may come from anyone.

The key of a task says what must be equal so that the scores of two nights belong to one epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from genbench.analysis.results.record import Results, TaskResults
from genbench.errors import InputError, RunFolderError
from genbench.ledger.vectors import Vector
from genbench.store.contract import digest
from genbench.store.folder import RunFolder, check_files, check_names, hint_on
from genbench.store.json_files import json_object, read_bytes
from genbench.store.lock import writer_of
from genbench.store.manifest import Manifest, TrackRecord, ids_in_force
from genbench.store.sums import RunSums, TaskSums, asked_digests, questions_digest, read_sums

_JUDGE_LEFT_OUT = frozenset({"engine", "canary", "baseline"})
"""Parts of a judge's record that may differ from night to night without another verdict."""


def key_record(manifest: Manifest, task: str, questions: str) -> dict[str, Any]:
    """Return everything that shapes the score of a task: data, prompts, terms, trace format, verifier.

    k is not part of it. More samples of a problem have the same mean.

    Args:
        manifest: the run.
        task: the task's name.
        questions: the digest of its problems, prompts and references (see store.sums).
    """
    described = manifest.tasks[task]
    terms = dict(manifest.terms)
    decoding = terms.pop("decoding", {})
    judge = None if described.judge is None else described.judge.to_json()
    return {
        "task": task,
        "version": described.version,
        "data": described.data_digest,
        "questions": questions,
        "decoding": decoding.get(task) if isinstance(decoding, dict) else None,
        "fields": described.decoding,
        "terms": terms,
        "reasoning": manifest.reasoning.to_json(),
        "verifier": described.verifier.digest,
        "judge": judge and {key: value for key, value in judge.items() if key not in _JUDGE_LEFT_OUT},
    }


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task of a finished run. Scores are fractions of 1."""

    key: Mapping[str, Any]
    problem_ids: tuple[str, ...]
    groups: tuple[str | None, ...] | None
    vector: Vector
    k: int
    gating: bool
    value: float | None
    ci: tuple[float, float] | None
    rerun_ci: tuple[float, float] | None
    excluded: int
    truncated: float | None
    tokens: float | None
    cost: float | None
    chance: float | None
    asked: tuple[str, ...] | None = None
    """Digests of each problem's prompts and references. Runs of older versions have none."""


@dataclass(frozen=True, slots=True)
class RunHead:
    """What a run folder and the ledger both say about a run. `path` is a folder that contains it."""

    uid: str
    model: str
    identity: str
    created: str
    state: str
    failed: tuple[str, ...]
    terms_digest: str
    circumstances_digest: str
    packages: Mapping[str, str]
    path: str | None


@dataclass(frozen=True, slots=True)
class RunFacts(RunHead):
    """One run as its folder describes it. `tasks` is empty unless `state` is finished or failed."""

    path: str
    run_id: str
    track: TrackRecord | None
    suite: str
    suite_digest: str
    run_seed: int
    seconds: float | None
    tokens: int | None
    cost: float | None
    currency: str | None
    version: str | None
    git: str | None
    sealed_lines: int
    seal_digest: str
    source_digest: str
    alarms_per_year: float
    tasks: Mapping[str, TaskFacts]


def sums_from_verdicts(path: Path, manifest: Manifest, results: Results) -> RunSums:
    """Return the sums of every task in results.json, from problems.jsonl and verdicts.jsonl.

    Raises:
        RunFolderError: a line is damaged, the files were deleted, or the folder has links or pipes.
    """
    check_files(path)
    folder = RunFolder(path)
    tasks = {name: _task_sums(folder, name, manifest, results) for name in results.tasks}
    return RunSums(format=1, tasks=tasks)


def _task_sums(folder: RunFolder, name: str, manifest: Manifest, results: Results) -> TaskSums:
    lines = folder.problems(name)
    if not lines:
        raise RunFolderError(f"{folder.file(name, 'problems')}: has no problem; restore the file")
    ids = ids_in_force(name, list(lines), manifest)
    scores: dict[str, dict[int, float]] = {problem: {} for problem in ids}
    verifier, k = results.tasks[name].verifier.digest, manifest.tasks[name].k
    for verdict in folder.verdicts(name):
        own = scores.get(verdict.sample.problem_id)
        index = verdict.sample.sample_index
        if own is not None and index < k and verdict.verifier == verifier and verdict.score is not None:
            own.setdefault(index, verdict.score)
    rows = [list(own.values()) for own in scores.values()]
    optional: dict[str, Any] = {}
    if any(score not in (0.0, 1.0) for row in rows for score in row):
        optional["squares"] = tuple(sum(score * score for score in row) for row in rows)
    if any(lines[problem]["group"] for problem in ids):
        optional["groups"] = tuple(lines[problem]["group"] for problem in ids)
    return TaskSums(
        k=k,
        problem_ids=tuple(ids),
        sums=tuple(sum(row) for row in rows),
        counts=tuple(len(row) for row in rows),
        questions=questions_digest({problem: lines[problem] for problem in ids}),
        asked=asked_digests([lines[problem] for problem in ids]),
        **optional,
    )


_FORMAT = 1
"""The format of run folders that is read, see store.folder."""
MOST_BYTES = 128 << 20
"""The largest manifest.json or results.json that is read."""

_DEVICES = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})


def read_facts(path: Path) -> RunFacts:
    """Read the facts about a run from manifest.json, results.json and sums.json.

    Runs of older versions have no sums.json. Their sums are made of their verdicts.

    Raises:
        RunFolderError: a file is damaged, too large, a link, or does not fit the others.
    """
    raw, manifest = _manifest(path)
    results_path = path / "results.json"
    raw_results = read_bytes(results_path, MOST_BYTES)
    results = None
    if raw_results is not None:
        with _folder_errors():
            results = Results.from_json(json_object(raw_results, results_path), str(results_path))
    state = _state(path, manifest, results)
    source = hashlib.sha256(raw)
    source.update(raw_results or b"")
    sums = RunSums(format=1, tasks={})
    if results is not None and state in ("finished", "failed"):
        _check_fits(path, manifest, results)
        sums = read_sums(path, results.sums) if results.sums else sums_from_verdicts(path, manifest, results)
    return _facts(path, manifest, results, sums, state=state, source=source.hexdigest())


def read_manifest(path: Path) -> Manifest:
    """Read only manifest.json.

    Raises:
        RunFolderError: the file is missing, damaged, too large or a link.
    """
    return _manifest(path)[1]


def _manifest(path: Path) -> tuple[bytes, Manifest]:
    """Return manifest.json of a folder as bytes and as a record."""
    file = path / "manifest.json"
    raw = read_bytes(file, MOST_BYTES)
    if raw is None:
        raise RunFolderError(f"{path}: not a run folder (no manifest.json); {hint_on(path)}")
    record = json_object(raw, file)
    if record.get("format") != _FORMAT:
        raise RunFolderError(f"{file}: written by another version of genbench, or by another program")
    with _folder_errors():
        manifest = Manifest.from_json(record, str(file))
    check_names(manifest, file)
    return raw, manifest


@contextmanager
def _folder_errors() -> Iterator[None]:
    """Turn errors of a record into those of the run folder that it is in."""
    try:
        yield
    except InputError as error:
        raise RunFolderError(str(error)) from error


def _state(path: Path, manifest: Manifest, results: Results | None) -> str:
    """Return what the run is: being written, a shard, unfinished, failed or finished."""
    writer = writer_of(path)
    if writer is not None and writer.alive is not False:
        return "being written"
    if manifest.origin.shard is not None:
        return "shard"
    if results is None or not manifest.attempts:
        return "unfinished"
    return "failed" if results.failed else "finished"


def _check_fits(path: Path, manifest: Manifest, results: Results) -> None:
    """Check that results.json is of the run in manifest.json.

    Raises:
        RunFolderError: it is of another run, or has a task that the manifest lacks.
    """
    for key in ("run_id", "model_identity"):
        found, wanted = getattr(results, key), getattr(manifest, key)
        if found != wanted:
            raise RunFolderError(
                f"{path}/results.json: '{key}' is {found[:60]!r}, manifest.json has {wanted[:60]!r}; "
                f"write the results again with: genbench score {path}"
            )
    unknown = [name for name in results.tasks if name not in manifest.tasks]
    if unknown:
        raise RunFolderError(f"{path}/results.json: has task {unknown[0][:60]!r}, which manifest.json lacks")


def _facts(
    path: Path, manifest: Manifest, results: Results | None, sums: RunSums, *, state: str, source: str
) -> RunFacts:
    tasks: dict[str, TaskFacts] = {}
    for name, own in sums.tasks.items():
        if results is None or name not in results.tasks:
            raise RunFolderError(f"{path}: sums.json has task {name[:60]!r}, which results.json lacks")
        tasks[name] = _task_facts(manifest, name, results.tasks[name], own)
    totals = results.totals if results is not None else None
    circumstances = manifest.attempts[-1].circumstances if manifest.attempts else {}
    lines, seal = _seals(results)
    return RunFacts(
        path=str(path.resolve()),
        uid=manifest.run_uid,
        run_id=manifest.run_id,
        track=manifest.track,
        model=manifest.model.name,
        identity=manifest.model_identity,
        suite=manifest.suite.name,
        suite_digest=manifest.suite.digest,
        run_seed=manifest.run_seed,
        terms_digest=digest(manifest.terms),
        circumstances_digest=digest(_lasting(circumstances)),
        packages=_packages(circumstances),
        state=state,
        failed=results.failed if results is not None else (),
        created=manifest.created or "",
        seconds=totals.seconds if totals else None,
        tokens=totals.tokens.completion if totals and totals.tokens else None,
        cost=totals.cost if totals else None,
        currency=totals.currency if totals else None,
        version=_packages(circumstances).get("genbench"),
        git=manifest.suite.git,
        sealed_lines=lines,
        seal_digest=seal,
        source_digest=source,
        alarms_per_year=_alarms(manifest),
        tasks=tasks if state in ("finished", "failed") else {},
    )


def _lasting(circumstances: Mapping[str, Any]) -> dict[str, Any]:
    """Return circumstances without what differs between two draws on equal machines.

    These are the name of the host, the numbers of its devices, and the context of the engine, which follows
    from the longest request that was left.
    """
    found = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in circumstances.items()
    }
    for block, key in (("machine", "host"), ("engine", "max_model_len")):
        if isinstance(found.get(block), dict):
            found[block].pop(key, None)
    machine = found.get("machine")
    if isinstance(machine, dict) and isinstance(machine.get("environment"), Mapping):
        environment = machine["environment"].items()
        machine["environment"] = {name: value for name, value in environment if name not in _DEVICES}
    return found


def _task_facts(manifest: Manifest, name: str, results: TaskResults, sums: TaskSums) -> TaskFacts:
    described = manifest.tasks[name]
    completion = results.tokens.completion
    vector = Vector(
        np.array(sums.sums, dtype=np.float64),
        np.array(sums.counts, dtype=np.int64),
        None if sums.squares is None else np.array(sums.squares, dtype=np.float64),
    )
    return TaskFacts(
        key=key_record(manifest, name, sums.questions),
        problem_ids=sums.problem_ids,
        groups=sums.groups,
        vector=vector,
        k=sums.k,
        gating=described.gating,
        value=results.value,
        ci=results.ci,
        rerun_ci=results.rerun_ci,
        excluded=results.excluded,
        truncated=results.truncated_share,
        tokens=completion / results.samples if completion is not None and results.samples else None,
        cost=results.cost,
        chance=results.chance,
        asked=sums.asked,
    )


def _seals(results: Results | None) -> tuple[int, str]:
    """Return the number of sealed lines of all tasks, and one digest over all of their seals."""
    tasks = {} if results is None else results.tasks
    seals = {name: task.seal.to_json() for name, task in sorted(tasks.items()) if task.seal is not None}
    lines = sum(seal[kind]["lines"] for seal in seals.values() for kind in ("completions", "verdicts"))
    return lines, digest(seals)


def _packages(circumstances: Mapping[str, Any]) -> dict[str, str]:
    found = circumstances.get("packages")
    if not isinstance(found, dict):
        return {}
    return {str(name): str(version) for name, version in sorted(found.items())}


def _alarms(manifest: Manifest) -> float:
    """Return the budget of false alarms that the suite declares, 1 a year by default."""
    declared = manifest.suite.config.get("track")
    value = declared.get("alarms_per_year") if isinstance(declared, dict) else None
    return float(value) if isinstance(value, int | float) and 0 < value <= 365 else 1.0
