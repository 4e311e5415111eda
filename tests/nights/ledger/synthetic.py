"""Small run folders with given scores, written by the store without any model or verifier."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genbench.analysis.results.record import Results, TaskResults, TaskSeal
from genbench.stats.estimates import estimate
from genbench.store.folder import RunFolder, sealed_results
from genbench.store.json_files import encode, replace
from genbench.store.lines import verdict_to_record
from genbench.store.manifest import AttemptRecord, Manifest, TrackRecord
from genbench.store.seal import Seal
from genbench.store.sums import RunSums, TaskSums, asked_digests, questions_digest, write_sums
from genbench.team.service import demo
from genbench.types import SampleId, Status, Verdict
from tests.manifests import manifest, task_record
from tests.store.stored import problem_line

Rows = Sequence[Sequence[float | None]]
"""Scores of one task: problems by samples. None is an excluded sample."""


def flat(n: int = 20, k: int = 2, value: float = 0.5, seed: int = 0) -> list[list[float]]:
    """Return scores of 0 and 1 for n problems with k samples, about `value` on average."""
    draws = np.random.default_rng(seed).random((n, k)) < value
    return [[float(score) for score in row] for row in draws]


def make_run(
    folder: Path,
    scores: Mapping[str, Rows],
    *,
    track: str | None = "nightly",
    position: int = 20_000,
    kind: Any = "night",
    role: Any = "point",
    model: str = "tuned",
    identity: str | None = None,
    created: str | None = None,
    verifier: str = "d",
    verdicts: bool = False,
    gating: bool = True,
    failed: Sequence[str] = (),
    uid: str | None = None,
    measures: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
    **changes: Any,
) -> Path:
    """Write a finished run of the given scores. Return its folder.

    Args:
        verdicts: also write problems.jsonl and verdicts.jsonl, which most tests do not need.
        measures: by task, those of each problem next to its score. None: as a run of an older version.
        changes: of the manifest.
    """
    tasks = {
        name: task_record(
            k=len(rows[0]),
            n=len(rows),
            of=len(rows),
            gating=gating,
            verifier="exact",
        ).model_copy(update={"verifier": task_record().verifier.model_copy(update={"digest": verifier})})
        for name, rows in scores.items()
    }
    described = _manifest(tasks, model, identity, created or f"2026-01-01T00:00:{position % 60:02}+0000")
    update: dict[str, Any] = {"uid": uid or str(uuid.uuid5(uuid.NAMESPACE_OID, str(folder)))}
    if track is not None:
        update["track"] = TrackRecord(name=track, kind=kind, position=position, role=role)
    described = described.model_copy(update={**update, **changes})
    with RunFolder.writer(folder) as writer:
        writer.write_manifest(described)
        own = {name: task_sums(rows) for name, rows in scores.items()}
        for name, values in (measures or {}).items():
            own[name] = TaskSums.from_object(own[name], measures={key: tuple(v) for key, v in values.items()})
        sums = RunSums(format=1, tasks=own)
        seals = {name: _write_lines(writer, name, rows, verifier, verdicts) for name, rows in scores.items()}
        write_sums(folder, sums.encoded)
        writer.write_results(results_of(described, scores, sums, seals, failed))
    (folder / "lock").unlink(missing_ok=True)
    return folder


def _manifest(tasks: Mapping[str, Any], model: str, identity: str | None, created: str) -> Manifest:
    base = manifest()
    attempt = AttemptRecord(
        attempt=1, started=created, circumstances={"packages": {"genbench": "0.2.0"}}, ended=created
    )
    return base.model_copy(
        update={
            "model": base.model.model_copy(update={"name": model}),
            "model_identity": identity or model,
            "suite": base.suite.model_copy(update={"config": {"models": {model: {}}}}),
            "tasks": dict(tasks),
            "created": created,
            "attempts": (attempt,),
        }
    )


def task_sums(rows: Rows) -> TaskSums:
    """Return the sums of a task's scores."""
    scored = [[score for score in row if score is not None] for row in rows]
    ids = [f"p{number}" for number in range(len(rows))]
    more: dict[str, Any] = {}
    if any(score not in (0.0, 1.0) for row in scored for score in row):
        more["squares"] = tuple(sum(score * score for score in row) for row in scored)
    return TaskSums(
        k=len(rows[0]),
        problem_ids=tuple(ids),
        sums=tuple(sum(row) for row in scored),
        counts=tuple(len(row) for row in scored),
        questions=questions_digest({name: problem_line(name) for name in ids}),
        asked=asked_digests([problem_line(name) for name in ids]),
        **more,
    )


def _write_lines(writer: RunFolder, name: str, rows: Rows, verifier: str, wanted: bool) -> TaskSeal:
    """Write problems and verdicts of a task if they are wanted. Return the task's seal."""
    completions, seal, lines = Seal(), Seal(), list[bytes]()
    if wanted:
        writer.write_problems(name, [problem_line(f"p{number}") for number in range(len(rows))])
        for number, row in enumerate(rows):
            for index, score in enumerate(row):
                verdict = _verdict(name, number, index, score, verifier)
                seal.add_verdict(verdict)
                lines.append(encode(verdict_to_record(verdict)))
        replace(writer.file(name, "verdicts"), b"".join(lines))
    return TaskSeal(completions=completions.record, verdicts=seal.record)


def _verdict(name: str, number: int, index: int, score: float | None, verifier: str) -> Verdict:
    sample = SampleId(name, f"p{number}", index)
    return Verdict(sample, score, _status(score), "2", {}, {}, verifier, "absent", False)


def results_of(
    described: Manifest,
    scores: Mapping[str, Rows],
    sums: RunSums,
    seals: Mapping[str, TaskSeal],
    failed: Sequence[str] = (),
) -> Results:
    """Return the results of a run of the given scores, without bounds by resampling."""
    tasks = {name: _task_results(described, name, rows, seals[name]) for name, rows in scores.items()}
    return demo.results_of(described, tasks, sums.digest, generation_s=1.0, seconds=2.0, failed=failed)


Edit = Callable[[dict[str, Any]], object]


def rewrite(
    folder: Path, *, manifest: Edit | None = None, results: Edit | None = None, is_older: bool = False
) -> None:
    """Change the JSON of a run's files in place, as a command that writes them would.

    Args:
        is_older: leave out the digests of the files and what was drawn, which runs of older versions lack.
    """
    described = json.loads((folder / "manifest.json").read_text())
    record = json.loads((folder / "results.json").read_text())
    if manifest is not None:
        manifest(described)
    if results is not None:
        results(record)
    if is_older:
        described.pop("drawn", None)
    data = json.dumps(described).encode()
    (folder / "manifest.json").write_bytes(data)
    plain = {key: value for key, value in record.items() if key not in ("manifest", "digest")}
    found = json.dumps(plain).encode() if is_older else sealed_results(plain, data)
    (folder / "results.json").write_bytes(found)


def _task_results(described: Manifest, name: str, rows: Rows, seal: TaskSeal) -> TaskResults:
    task = described.tasks[name]
    found = dict(estimate("acc", rows, seed=0, k=task.k))
    excluded = sum(score is None for row in rows for score in row)
    samples = sum(len(row) for row in rows)
    given = {**found, "excluded": excluded}
    statuses: Counter[str] = Counter(_status(score) for row in rows for score in row)
    return demo.task_results(
        task, given, samples=samples, prompt=1, completion=10, seal=seal, statuses=statuses
    )


def _status(score: float | None) -> Status:
    if score is None:
        return "verifier_error"
    return "correct" if score == 1 else "partial" if score > 0 else "wrong"
