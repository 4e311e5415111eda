"""The facts about a run that the ledger keeps, read from its folder. A folder may come from anyone.

The key of a task says what must be equal so that the scores of two nights belong to one epoch.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from genbench.analysis.results.record import Results, TaskResults
from genbench.analysis.results.run_state import run_state
from genbench.analysis.results.table import estimate_seed
from genbench.errors import InputError, RunFolderError
from genbench.nights.ledger.vectors import Vector
from genbench.stats.estimates import NO_RERUN, EstimateRecord, estimate
from genbench.stats.metrics import parse_metric
from genbench.stats.scores import scores_of_sums
from genbench.store.contract import digest, shaping
from genbench.store.folder import RunFolder, check_files, check_names, digest_of_results, hint_on
from genbench.store.json_files import json_object, read_bytes
from genbench.store.lock import writer_of
from genbench.store.manifest import AboutRecord, Manifest, TrackRecord, ids_in_force
from genbench.store.state import SealWord
from genbench.store.stored_run import StoredRun
from genbench.store.sums import (
    RunSums,
    TaskSums,
    asked_digests,
    clusters_of,
    named_groups,
    questions_digest,
    read_sums,
)
from genbench.suite.block import is_headline
from genbench.tasks.metrics import is_built_in
from genbench.types import OURS

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
    terms = shaping(manifest.terms)
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
    loops: float | None
    empty: float | None
    measures: Mapping[str, Sequence[float | None]] | None
    tokens: float | None
    cost: float | None
    chance: float | None
    parts: Mapping[str, float | None] | None = None
    """Means of the named parts of the score."""
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
    about: AboutRecord
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
    seal: SealWord = "unsealed"
    remarks: tuple[str, ...] = ()
    """Files that were changed or deleted, and that no number comes from."""


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
    if groups := clusters_of([lines[problem] for problem in ids]):
        optional["groups"] = groups
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


def read_facts(path: Path, *, lines: bool = False) -> RunFacts:
    """Read the facts about a run from manifest.json, results.json and sums.json.

    The files have digests of each other. What the results say about scores is computed again from the sums.
    Runs of older versions have no digests, and no sums.json: their sums are made of their verdicts.

    Args:
        lines: also read the files of each task, and compare them with their seals.

    Raises:
        RunFolderError: a file is damaged, too large, a link, was changed, or does not fit the others.
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
        check_results(path, manifest, results, sums)
    if raw_results is not None and results is not None and state != "being written":
        _check_digests(path, results, raw_results, raw)
    facts = _facts(path, manifest, results, sums, state=state, source=source.hexdigest())
    if state not in ("finished", "failed"):
        return facts
    found = run_state(StoredRun(path), results, lines=lines)
    for edit in found.edits:
        raise RunFolderError(f"{path}/{edit}; restore the folder from a copy, or draw the run again")
    return replace(facts, seal=found.word, remarks=found.warnings())


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


def _check_digests(path: Path, results: Results, raw_results: bytes, raw_manifest: bytes) -> None:
    """Check that manifest.json and results.json are as genbench wrote them. Older runs have no digests.

    Raises:
        RunFolderError: one of them was changed.
    """
    if results.manifest is None and results.digest is None:
        return
    found = hashlib.sha256(raw_manifest).hexdigest()
    if results.manifest != found:
        raise RunFolderError(
            f"{path}/manifest.json: has digest {found[:12]}…, results.json wants {_start(results.manifest)}; "
            "it was changed after results.json was written: restore it. If the run was continued and did "
            f"not end, continue it, or write the results again with: genbench score {path}"
        )
    found = digest_of_results(raw_results, results.digest or "")
    if results.digest != found:
        raise RunFolderError(
            f"{path}/results.json: has digest {found[:12]}…, 'digest' wants {_start(results.digest)}; "
            f"it was changed after it was written: restore it, or write it again with: genbench score {path}"
        )


def _start(digest: str | None) -> str:
    return "one, and has none" if digest is None else f"{digest[:12]}…"


_CHECK_RESAMPLES = (200, 1000)
"""Least and most resamples of a check. Tasks of many problems get fewer, which saves time."""
_CHECK_DRAWS = 500_000
_QUANTILE_ERROR = 2.7
"""The standard error of a bound from R resamples is about so many standard errors of the mean / sqrt(R)."""
_FAR = 6.0
"""Bounds of two bootstraps differ if they are so many of their standard errors apart."""
_RESAMPLES = re.compile(r"([\d,]+) resamples")


def check_results(path: Path, manifest: Manifest, results: Results, sums: RunSums) -> None:
    """Compute again what results.json says about scores: values, n, k, intervals and counts.

    Of metrics that the sums do not give (majorities, those of plug-ins) only the counts are compared. Bounds
    by resampling are resampled anew, and may differ by their error.

    Raises:
        RunFolderError: a number contradicts sums.json. Names the file, the key, both numbers, and what to do.
    """
    if results.tasks.keys() != sums.tasks.keys():
        name = sorted(results.tasks.keys() ^ sums.tasks.keys())[0]
        has, lacks = ("results", "sums") if name in results.tasks else ("sums", "results")
        raise RunFolderError(f"{path}: {has}.json has task {name[:60]!r}, which {lacks}.json lacks")
    found = [
        (f"tasks.{name}.{key}", stored, wanted)
        for name, own in results.tasks.items()
        for key, stored, wanted in _contradictions(manifest, name, own, sums.tasks[name])
    ]
    samples = sum(own.samples for name, own in results.tasks.items() if is_headline(name))
    if results.totals.samples != samples:
        found.append(("totals.samples", results.totals.samples, samples))
    for key, stored, wanted in found:
        raise RunFolderError(
            f"{path}/results.json: '{key}' is {stored}, wanted {wanted} by the sums of scores in sums.json; "
            f"restore the file, or write it again with: genbench score {path}"
        )


def _contradictions(
    manifest: Manifest, name: str, own: TaskResults, sums: TaskSums
) -> Iterator[tuple[str, object, object]]:
    """Yield each key of a task's results that contradicts its sums, with the number found and that wanted."""
    planned = _planned(manifest, name, sums)
    scored, samples = sum(sums.counts), sum(own.status_counts.values())
    ours = sum(count for status, count in own.status_counts.items() if status in OURS)
    counts = (
        ("n", own.n, len(sums.problem_ids)),
        ("k", own.k, own.k if own.k in (min(planned, default=0), sums.k) else sums.k),
        ("samples", own.samples + own.lacking, sum(planned)),
        ("status_counts", samples, own.samples),
        ("excluded", own.excluded, own.samples - scored),
        ("status_counts", ours, own.excluded - (own.unanswered or 0)),
    )
    yield from ((key, found, wanted) for key, found, wanted in counts if found != wanted)
    described = manifest.tasks[name]
    yield from (
        (key, getattr(own, key), getattr(described, key))
        for key in ("of", "role")
        if getattr(own, key) != getattr(described, key)
    )
    if own.truncated_share is not None:
        cut = own.truncated_share * own.samples
        if abs(cut - round(cut)) > _ROUNDING * max(1, own.samples):
            yield "truncated_share", own.truncated_share, f"{round(cut)} of {own.samples} samples"
    if own.seal is not None and own.clamped > own.seal.completions.lines:
        yield "clamped", own.clamped, f"at most the {own.seal.completions.lines} completions"
    right, partial = own.status_counts.get("correct", 0), own.status_counts.get("partial", 0)
    total = math.fsum(sums.sums)
    if not right - _ROUNDING <= total <= right + partial + _ROUNDING:
        yield "status_counts.correct", right, f"{total:g}"
    lead = own.metrics.get(own.metric)
    for key in ("value", "n", "k", "ci", "rerun_ci") if lead is not None else ():
        if getattr(lead, key) != getattr(own, key):
            yield f"metrics.{own.metric}.{key}", getattr(lead, key), getattr(own, key)
    again = _estimated_again(manifest, name, own, sums, planned)
    if again is not None:
        yield from _different_estimates(own, again)


_ROUNDING = 1e-6


def _planned(manifest: Manifest, name: str, sums: TaskSums) -> list[int]:
    """Return the samples that were planned of each problem."""
    if manifest.adaptive is None or not _is_adaptive(manifest, name):
        return [manifest.tasks[name].k] * len(sums.problem_ids)
    groups = named_groups(sums.groups or (None,) * len(sums.problem_ids))
    lines = {one: {"group": group} for one, group in zip(sums.problem_ids, groups, strict=True)}
    counts = manifest.adaptive.counts(name, lines) or {}
    return [counts.get(one, 0) for one in sums.problem_ids]


def _is_adaptive(manifest: Manifest, name: str) -> bool:
    return manifest.adaptive is not None and name in manifest.adaptive.plan.tasks


def _estimated_again(
    manifest: Manifest, name: str, own: TaskResults, sums: TaskSums, planned: Sequence[int]
) -> EstimateRecord | None:
    """Return the headline metric computed from the sums, or None if they do not give it."""
    if own.lacking or manifest.tasks[name].is_unrated or not is_built_in(own.metric):
        return None
    metric = parse_metric(own.metric)
    if metric.kind == "maj@" or not (metric.is_mean or sums.squares is None):
        return None
    least, most = _CHECK_RESAMPLES
    try:
        return estimate(
            own.metric,
            scores_of_sums(sums.sums, sums.counts, sums.squares, planned),
            seed=estimate_seed(manifest.run_id, name),
            groups=sums.groups,
            k=None if _is_adaptive(manifest, name) else manifest.tasks[name].k,
            level=manifest.interval_level(name),
            resamples=max(least, min(most, _CHECK_DRAWS // max(own.n, 1))),
            may_be_silent=own.unanswered is not None,
        )
    except InputError as error:
        return EstimateRecord.without_value(own.metric, own.n, own.k, str(error))


def _different_estimates(own: TaskResults, again: EstimateRecord) -> Iterator[tuple[str, object, object]]:
    """Yield the value, standard error and bounds of an estimate that are not those computed again.

    Intervals by another method, as an earlier version may have made them, must only contain the value.
    """
    for key in ("value", "se"):
        found, wanted = getattr(own, key), getattr(again, key)
        if (found is None) != (wanted is None) or (found is not None and abs(found - wanted) > _ROUNDING):
            yield key, found, wanted
    methods = [own.ci_method, again.ci_method]
    far = _ROUNDING
    resamples = [int(found[1].replace(",", "")) for text in methods if (found := _RESAMPLES.search(text))]
    if len(resamples) == 2 and own.se is not None:
        far += _FAR * _QUANTILE_ERROR * own.se * math.sqrt(sum(1 / max(number, 1) for number in resamples))
        methods = [_RESAMPLES.sub("", text) for text in methods]
    compared = [("ci", far, methods[0] == methods[1])]
    if own.rerun_ci_method != NO_RERUN:
        compared.append(("rerun_ci", _ROUNDING, own.rerun_ci_method == again.rerun_ci_method))
    compared.append(("bounds", _ROUNDING, True))
    for key, most, is_same in compared:
        found, wanted = getattr(own, key), getattr(again, key)
        if is_same and not _are_near(found, wanted, most):
            yield key, found, wanted
        elif found is not None and own.value is not None and not _contains(found, own.value):
            yield key, found, f"an interval that contains {own.value}"


def _are_near(one: tuple[float, float] | None, other: tuple[float, float] | None, most: float) -> bool:
    if one is None or other is None:
        return one is other
    return all(abs(left - right) <= most for left, right in zip(one, other, strict=True))


def _contains(bounds: tuple[float, float], value: float) -> bool:
    return bounds[0] - _ROUNDING <= value <= bounds[1] + _ROUNDING


def _facts(
    path: Path, manifest: Manifest, results: Results | None, sums: RunSums, *, state: str, source: str
) -> RunFacts:
    tasks: dict[str, TaskFacts] = {}
    for name, own in sums.tasks.items():
        assert results is not None
        if manifest.tasks[name].is_unrated:
            continue  # without scores there is no series
        tasks[name] = _task_facts(manifest, name, results.tasks[name], own)
    totals = results.totals if results is not None else None
    circumstances = manifest.attempts[-1].circumstances if manifest.attempts else {}
    lines, seal = _seals(results)
    return RunFacts(
        path=str(path.resolve()),
        uid=manifest.run_uid,
        run_id=manifest.run_id,
        track=manifest.track,
        about=manifest.about,
        model=manifest.model.name,
        identity=manifest.model_identity,
        suite=manifest.suite.name,
        suite_digest=manifest.suite.digest,
        run_seed=manifest.run_seed,
        terms_digest=digest(shaping(manifest.terms)),
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
        loops=None if results.stopping is None else results.stopping.share("loops"),
        empty=None if results.stopping is None else results.stopping.share("empty"),
        measures=sums.measures,
        tokens=completion / results.samples if completion is not None and results.samples else None,
        cost=results.cost,
        chance=results.chance,
        parts={name: part.value for name, part in results.parts.items()} if results.parts else None,
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
