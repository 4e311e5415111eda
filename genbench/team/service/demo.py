"""A ledger to look at: a simulated quarter of nights, a simulated training run, and a job for the tiny pair.

The samples are real: the tiny pair of checkpoints drew them once, and verifiers gave their verdicts. Each
simulated night is put together from them, with a share of the early checkpoint's samples that makes it worse.
`python -m genbench.team.service.demo RUN_DIR` packs the samples of a finished run of quickstart again.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from genbench.analysis.results.record import (
    Results,
    TaskResults,
    TaskSeal,
    TokenSums,
    TotalsRecord,
    TotalTokens,
)
from genbench.errors import InputError
from genbench.nights.ledger.changes import annotate, pin_base
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.trend.detect import detect_changes
from genbench.stats.estimates import estimate
from genbench.stats.scores import Floats
from genbench.store.clock import wall_utc
from genbench.store.folder import RunFolder
from genbench.store.json_files import encode
from genbench.store.lines import completion_from_record, verdict_from_record
from genbench.store.manifest import (
    AttemptRecord,
    Manifest,
    ModelRecord,
    OriginRecord,
    SuiteRecord,
    TaskRecord,
    TrackRecord,
    night_position,
)
from genbench.store.seal import Seal
from genbench.store.sums import RunSums, TaskSums, asked_digests, questions_digest, write_sums
from genbench.suite.shipped import folder as shipped_folder
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import submit
from genbench.team.queue.spec import JobSpec, absolute_spec, checked_spec
from genbench.types import Completion, Verdict

Line = dict[str, Any]
_POOL = Path("demo") / "samples.json.gz"
_PROBLEMS, _DRAWN, _K = 60, 8, 2
"""Problems of a task, samples of each that were drawn, and those that a simulated run has of them."""
_MODELS = ("base", "tuned")


@dataclass(frozen=True, slots=True)
class TaskPool:
    """The samples of one task from which simulated runs are put together.

    `samples` has for each model (base, tuned) and problem the lines of its completions and verdicts.
    """

    record: TaskRecord
    problems: Sequence[Line]
    asks: Sequence[Line]
    samples: Sequence[Sequence[Sequence[tuple[Line, Line]]]]
    _ready: dict[tuple[int, int, int], _Sample] = field(default_factory=dict, repr=False)

    def sample(self, row: int, number: int, index: int) -> _Sample:
        """Return a sample as the one with this index of its problem. Most are in many simulated runs."""
        key = row, number, index
        if key not in self._ready:
            model, drawn = divmod(number, _DRAWN)
            completion, verdict = (
                {**line, "sample_index": index} for line in self.samples[model][row][drawn]
            )
            self._ready[key] = _Sample(
                completion_from_record(completion),
                verdict_from_record(verdict),
                encode(completion),
                encode(verdict),
            )
        return self._ready[key]


@dataclass(frozen=True, slots=True)
class _Sample:
    """A completion and its verdict, with the lines that run folders have of them."""

    completion: Completion
    verdict: Verdict
    text: bytes
    judged: bytes


@dataclass(frozen=True, slots=True)
class Pool:
    """What ships for the demo: the samples by task, how they were drawn, and the format of their traces."""

    terms: Line
    reasoning: Line
    tasks: Mapping[str, TaskPool]


def read_pool() -> Pool:
    """Return the samples that ship."""
    with gzip.open(shipped_folder("data") / _POOL, "rt", encoding="utf-8") as file:
        stored = json.load(file)
    tasks = {
        name: TaskPool(
            TaskRecord.from_json(own["record"], name), own["problems"], own["asks"], own["samples"]
        )
        for name, own in stored["tasks"].items()
    }
    return Pool(stored["terms"], stored["reasoning"], tasks)


def pack_pool(run_dir: Path, target: Path) -> None:
    """Write the samples of a finished run of the suite quickstart, of its first problems, to a file."""
    manifest = json.loads((run_dir / "tuned" / "manifest.json").read_text(encoding="utf-8"))
    tasks = {name: _packed(run_dir, name, record) for name, record in manifest["tasks"].items()}
    kept = {name: manifest[name] for name in ("terms", "reasoning")}
    text = json.dumps({**kept, "tasks": tasks}, ensure_ascii=False)
    # Without a time in its header, the same samples make the same file.
    target.write_bytes(gzip.compress(text.encode(), mtime=0))


def _packed(run_dir: Path, task: str, record: Line) -> Line:
    problems = _lines(run_dir / "tuned" / task / "problems.jsonl")[:_PROBLEMS]
    ids = [line["problem_id"] for line in problems]
    record["data"]["path"] = f"shipped:data/quickstart/{task}.jsonl"
    return {
        "record": {**record, "n": len(ids), "of": len(ids), "k": _K},
        "problems": problems,
        "asks": [
            {**line, "samples": list(range(_K))}
            for line in _lines(run_dir / "tuned" / task / "asks.jsonl")
            if line["problem_id"] in ids
        ],
        "samples": [_packed_samples(run_dir / model / task, ids) for model in _MODELS],
    }


def _packed_samples(folder: Path, ids: Sequence[str]) -> list[list[tuple[Line, Line]]]:
    completions, verdicts = (
        {(line["problem_id"], line["sample_index"]): line for line in _lines(folder / f"{kind}.jsonl")}
        for kind in ("completions", "verdicts")
    )
    return [[(completions[name, index], verdicts[name, index]) for index in range(_DRAWN)] for name in ids]


def _lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """A run that is put together: for each task and problem, which samples it has.

    `chosen` has (problems, k) numbers for each task: those of the base's samples come before the tuned's.
    """

    uid: str
    place: TrackRecord
    created: str
    chosen: Mapping[str, np.ndarray[Any, Any]]


def write_run(folder: Path, run: SimulatedRun, pool: Pool, asked: Path | None) -> str:
    """Write the folder of a simulated run, which is named after its model. Return its uid.

    Args:
        asked: a folder of another run, from which the files that all have are linked. None writes them.
    """
    manifest = _manifest(run, pool, folder.name)
    with RunFolder.writer(folder) as writer:
        writer.write_manifest(manifest)
        found = {
            name: _write_task(writer, name, own, run.chosen[name], asked) for name, own in pool.tasks.items()
        }
        sums = RunSums(format=1, tasks={name: task.sums for name, task in found.items()})
        write_sums(folder, sums.encoded)
        writer.write_results(
            results_of(
                manifest,
                {name: task.results for name, task in found.items()},
                sums.digest,
                generation_s=40.0,
                seconds=60.0,
                warnings=("simulated: put together from samples that were drawn once",),
            )
        )
    (folder / "lock").unlink(missing_ok=True)
    return run.uid


@dataclass(frozen=True, slots=True)
class _WrittenTask:
    sums: TaskSums
    results: TaskResults


def _write_task(
    writer: RunFolder, name: str, pool: TaskPool, chosen: np.ndarray[Any, Any], asked: Path | None
) -> _WrittenTask:
    """Write the lines of one task. Return its sums and results."""
    texts, judged, seals = list[bytes](), list[bytes](), (Seal(), Seal())
    scores = np.zeros(chosen.shape)
    counts, tokens, prompts = Counter[str](), 0, 0
    for row, numbers in enumerate(chosen):
        for index, number in enumerate(numbers):
            sample = pool.sample(row, int(number), index)
            seals[0].add_completion(sample.completion)
            seals[1].add_verdict(sample.verdict)
            texts.append(sample.text)
            judged.append(sample.judged)
            scores[row, index] = np.nan if sample.verdict.score is None else sample.verdict.score
            counts[sample.verdict.status] += 1
            tokens += sample.completion.completion_tokens or 0
            prompts += sample.completion.prompt_tokens or 0
    own = writer.file(name, "completions")
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(b"".join(texts))
    writer.file(name, "verdicts").write_bytes(b"".join(judged))
    for kind, lines in (("problems", pool.problems), ("asks", pool.asks)):
        _write_shared(
            writer.file(name, kind), lines, None if asked is None else asked / name / f"{kind}.jsonl"
        )
    return _WrittenTask(
        _sums(pool, scores),
        task_results(
            pool.record,
            dict(estimate(f"avg@{_K}", scores, seed=0, k=_K, resamples=500)),
            samples=scores.size,
            prompt=round(prompts / scores.size),
            completion=round(tokens / scores.size),
            seal=TaskSeal(completions=seals[0].record, verdicts=seals[1].record),
            statuses=dict(counts.most_common()),
        ),
    )


def _write_shared(path: Path, lines: Sequence[Line], other: Path | None) -> None:
    """Write lines that all simulated runs have. A quarter of copies would be several megabytes."""
    if other is None:
        path.write_bytes(b"".join(map(encode, lines)))
        return
    try:
        os.link(other, path)
    except OSError:
        shutil.copyfile(other, path)


def _sums(pool: TaskPool, scores: Floats) -> TaskSums:
    ids = tuple(str(line["problem_id"]) for line in pool.problems)
    return TaskSums(
        k=_K,
        problem_ids=ids,
        sums=tuple(float(value) for value in scores.sum(axis=1)),
        counts=(_K,) * len(ids),
        questions=questions_digest(dict(zip(ids, pool.problems, strict=True))),
        asked=asked_digests(pool.problems),
    )


def _manifest(run: SimulatedRun, pool: Pool, model: str) -> Manifest:
    circumstances = {"packages": {"genbench": "simulated"}}
    attempt = AttemptRecord(attempt=1, started=run.created, circumstances=circumstances, ended=run.created)
    config: dict[str, Any] = {"models": {model: {}}}
    return Manifest(
        format=1,
        run_id=run.uid[:12],
        uid=run.uid,
        suite=SuiteRecord(name=_SUITE, path="simulated", overrides=(), digest="s", git=None, config=config),
        origin=OriginRecord(),
        model=ModelRecord(name=model, path="simulated", trust_remote_code=False),
        model_identity=f"simulated:{model}",
        run_seed=0,
        terms=pool.terms,
        reasoning=pool.reasoning,
        tasks={name: own.record for name, own in pool.tasks.items()},
        created=run.created,
        attempts=(attempt,),
        track=run.place,
    )


def results_of(
    manifest: Manifest,
    tasks: Mapping[str, TaskResults],
    sums: str | None,
    *,
    generation_s: float,
    seconds: float,
    warnings: Sequence[str] = (),
    failed: Sequence[str] = (),
) -> Results:
    """Return the results of a simulated run. Its totals are the sums over its tasks.

    Args:
        sums: digest of the file of the sums.
        generation_s: seconds that the engine is said to have worked.
        seconds: seconds that the run is said to have taken.
    """
    samples = sum(task.samples for task in tasks.values())
    prompt = sum(task.tokens.prompt or 0 for task in tasks.values())
    completion = sum(task.tokens.completion or 0 for task in tasks.values())
    return Results(
        format=1,
        run_id=manifest.run_id,
        suite=manifest.suite.name,
        model=manifest.model.name,
        model_path=manifest.model.path,
        model_identity=manifest.model_identity,
        run_seed=0,
        tasks=dict(tasks),
        totals=TotalsRecord(
            samples=samples,
            drawn=samples,
            drawn_now=samples,
            reused_now=0,
            attempts=1,
            generation_s=generation_s,
            seconds=seconds,
            tokens_per_s=None,
            tokens=TotalTokens(prompt=prompt, trace=None, answer=None, completion=completion),
        ),
        warnings=tuple(warnings),
        trust_remote_code=False,
        test_uses=0,
        max_excluded_share=0.01,
        sums=sums,
        failed=tuple(failed),
    )


def task_results(
    task: TaskRecord,
    estimated: Mapping[str, Any],
    *,
    samples: int,
    prompt: int,
    completion: int,
    seal: TaskSeal,
    statuses: Mapping[str, int] = MappingProxyType({}),
) -> TaskResults:
    """Return the results of one simulated task.

    Args:
        estimated: the fields of its estimate.
        prompt: prompt tokens of each sample.
        completion: completion tokens of each sample.
        statuses: samples by status.
    """
    return TaskResults(
        **estimated,
        metrics={},
        samples=samples,
        lacking=0,
        status_counts=dict(statuses),
        trace_counts={},
        truncated_share=0.0,
        clamped=0,
        tokens=TokenSums(
            prompt=prompt * samples,
            completion=completion * samples,
            trace=None,
            answer=None,
            per_correct=None,
        ),
        strata={},
        of=task.of,
        role=task.role,
        chance=None,
        verifier=task.verifier,
        seal=seal,
    )


_SUITE = "simulated"
NIGHTLY, TRAINING = "simulated-nightly", "simulated-training"
NIGHTS, STEPS = 91, 14
_MISSING = 47
"""The night without a run."""
_USUAL = 0.12
"""Share of the base's samples in a night on which nothing happened."""


@dataclass(frozen=True, slots=True)
class _Drop:
    """A planted drop: the task, its nights, and the further share of the base's samples."""

    task: str
    nights: range
    share: float


_DROPS = (_Drop("code", range(30, 39), 0.7), _Drop("arithmetic", range(NIGHTS - 4, NIGHTS), 0.25))


def fill(ledger: Ledger, queue: Queue, folder: Path, *, by: str, say: Callable[[str], None]) -> None:
    """Fill an empty ledger below a folder. One that has the tracks already stays as it is.

    Args:
        folder: run folders are made below `folder/runs`.
        say: called with a line for each step.

    Raises:
        InputError: the folder has other runs, or cannot be written.
    """
    runs = folder / "runs"
    if (runs / NIGHTLY).is_dir():
        say(f"{folder}: is there already; delete it to begin anew")
    else:
        say(f"{folder}: writing {NIGHTS - 1} simulated nights and {STEPS} simulated checkpoints")
        try:
            base = _write(runs)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
        add(ledger, [runs])
        pin_base(ledger, NIGHTLY, base, "the first night", by="demo")
        note = "a new driver on the machine (simulated)"
        annotate(ledger, NIGHTLY, _first_night() + 60, "engine", note, by="demo")
        say("looking for changes")
    for track in (NIGHTLY, TRAINING):
        detect_changes(ledger, track)
    spec = absolute_spec(JobSpec(suite="quickstart"), Path.cwd())
    job, _ = submit(queue, checked_spec(spec), runs, by=by)
    say(f"job {job.id} waits: it draws the tiny pair of checkpoints with a real engine")


def _first_night() -> int:
    return night_position((wall_utc() - timedelta(days=NIGHTS)).date())


def _write(runs: Path) -> str:
    """Write all run folders. Return the uid of the first night."""
    rng, pool = np.random.default_rng(20), read_pool()
    first: tuple[str, Path] | None = None
    for place, run in (*_nights(pool, rng), *_steps(pool, rng)):
        folder = runs / place
        uid = write_run(folder, run, pool, None if first is None else first[1])
        first = first or (uid, folder)
    assert first is not None
    return first[0]


def _nights(pool: Pool, rng: np.random.Generator) -> Iterator[tuple[Path, SimulatedRun]]:
    """Yield a quarter of nights. Each night's model is a new one of about equal ability."""
    first, start = _first_night(), wall_utc() - timedelta(days=NIGHTS)
    for night in range(NIGHTS):
        shares = dict.fromkeys(pool.tasks, _USUAL)
        for drop in _DROPS:
            if night in drop.nights:
                shares[drop.task] += drop.share
        if night == _MISSING:
            continue
        place = TrackRecord(name=NIGHTLY, kind="night", position=first + night)
        folder = Path(NIGHTLY) / f"night-{night:03}" / f"simulated-{night:03}"
        yield folder, _run(pool, shares, rng, place, start + timedelta(days=night))


def _steps(pool: Pool, rng: np.random.Generator) -> Iterator[tuple[Path, SimulatedRun]]:
    """Yield the checkpoints of a training run that learns, and falls back a little at its end."""
    start = wall_utc() - timedelta(days=2)
    for number in range(STEPS):
        share = float(np.exp(-number / 4)) + (0.25 if number > STEPS - 3 else 0.0)
        place = TrackRecord(name=TRAINING, kind="step", position=500 * (number + 1))
        shares = dict.fromkeys(pool.tasks, min(1.0, share))
        folder = Path(TRAINING) / f"checkpoint-{place.position}"
        yield folder, _run(pool, shares, rng, place, start + timedelta(hours=number))


def _run(
    pool: Pool, shares: Mapping[str, float], rng: np.random.Generator, place: TrackRecord, created: datetime
) -> SimulatedRun:
    """Return a run that has, of each task, the base's samples with some probability, else the tuned's."""
    chosen = {}
    for name, own in pool.tasks.items():
        drawn = np.stack([rng.permutation(_DRAWN)[:_K] for _ in own.problems])
        of_base = rng.random(drawn.shape) < shares[name]
        chosen[name] = np.where(of_base, drawn, drawn + _DRAWN)
    return SimulatedRun(
        uid=str(uuid.UUID(bytes=rng.bytes(16), version=4)),
        place=place,
        created=created.strftime("%Y-%m-%dT%H:%M:%S+0000"),
        chosen=chosen,
    )


if __name__ == "__main__":
    place = shipped_folder("data") / _POOL
    place.parent.mkdir(exist_ok=True)
    pack_pool(Path(sys.argv[1]), place)
    print(f"wrote {place}: {place.stat().st_size} bytes")
