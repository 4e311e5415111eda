"""A ledger to look at: a simulated quarter of nights, a simulated training run, and a job for the tiny pair.

The folder of a simulated run has a manifest, results and sums, and no completion.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
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
from genbench.ledger.changes import annotate, pin_base
from genbench.ledger.database import Ledger
from genbench.ledger.ingest import add
from genbench.queue.database import Queue
from genbench.queue.jobs import submit
from genbench.queue.spec import JobSpec, absolute_spec, checked_spec
from genbench.stats.estimates import estimate
from genbench.stats.scores import Floats
from genbench.store.clock import wall_utc
from genbench.store.folder import RunFolder
from genbench.store.manifest import (
    AttemptRecord,
    Manifest,
    ModelRecord,
    OriginRecord,
    ReasoningRecord,
    SuiteRecord,
    TaskRecord,
    TrackRecord,
    VerifierRecord,
    night_position,
)
from genbench.store.seal import Seal
from genbench.store.sums import RunSums, TaskSums, asked_digests, questions_digest, write_sums
from genbench.trend.detect import detect_changes

_TOKENS = 900
"""Completion tokens of a simulated sample."""


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """A run whose scores were simulated: (n, k) zeros and ones of each task."""

    uid: str
    suite: str
    model: str
    place: TrackRecord
    created: str
    scores: Mapping[str, Floats]


def write_run(folder: Path, run: SimulatedRun) -> str:
    """Write the folder of a simulated run. Return its uid."""
    tasks = {name: _task(scores) for name, scores in run.scores.items()}
    manifest = _manifest(run, tasks)
    sums = RunSums(format=1, tasks={name: _sums(name, scores) for name, scores in run.scores.items()})
    with RunFolder.writer(folder) as writer:
        writer.write_manifest(manifest)
        write_sums(folder, sums.encoded)
        writer.write_results(_results(run, manifest, sums))
    return run.uid


def _task(scores: Floats) -> TaskRecord:
    n, k = scores.shape
    return TaskRecord(
        version="1",
        k=k,
        n=n,
        of=n,
        role="validation",
        gating=True,
        margin=None,
        headline="avg@k",
        metrics=("avg@k",),
        chance=None,
        decoding={"temperature": 0.6, "max_tokens": 4096},
        verifier=VerifierRecord(name="simulated", version="1", digest="simulated"),
        data_digest="simulated",
    )


def _manifest(run: SimulatedRun, tasks: Mapping[str, TaskRecord]) -> Manifest:
    circumstances = {"packages": {"genbench": "simulated"}}
    attempt = AttemptRecord(attempt=1, started=run.created, circumstances=circumstances, ended=run.created)
    config: dict[str, Any] = {"models": {run.model: {}}}
    return Manifest(
        format=1,
        run_id=run.uid[:12],
        uid=run.uid,
        suite=SuiteRecord(
            name=run.suite, path="simulated", overrides=(), digest="s", git=None, config=config
        ),
        origin=OriginRecord(),
        model=ModelRecord(name=run.model, path="simulated", trust_remote_code=False),
        model_identity=f"simulated:{run.model}",
        run_seed=0,
        terms={},
        reasoning=ReasoningRecord(format="none", open=(), close=(), end_tokens=()),
        tasks=dict(tasks),
        created=run.created,
        attempts=(attempt,),
        track=run.place,
    )


def _problem(name: str, number: int) -> dict[str, object]:
    digest = f"{name} {number}"
    return {"problem_id": f"p{number}", "prompt_digest": digest, "reference_digest": digest}


def _sums(name: str, scores: Floats) -> TaskSums:
    n, k = scores.shape
    problems = [_problem(name, number) for number in range(n)]
    return TaskSums(
        k=k,
        problem_ids=tuple(f"p{number}" for number in range(n)),
        sums=tuple(float(value) for value in scores.sum(axis=1)),
        counts=(k,) * n,
        questions=questions_digest({str(line["problem_id"]): line for line in problems}),
        asked=asked_digests(problems),
    )


def _results(run: SimulatedRun, manifest: Manifest, sums: RunSums) -> Results:
    tasks = {name: _task_results(manifest.tasks[name], scores) for name, scores in run.scores.items()}
    return results_of(
        manifest, tasks, sums.digest, generation_s=1500.0, seconds=1800.0, warnings=("simulated scores",)
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


def _task_results(task: TaskRecord, scores: Floats) -> TaskResults:
    k = scores.shape[1]
    correct = int(scores.sum())
    return task_results(
        task,
        dict(estimate(f"avg@{k}", scores, seed=0, k=k, resamples=500)),
        samples=scores.size,
        prompt=100,
        completion=_TOKENS,
        seal=TaskSeal(completions=Seal().record, verdicts=Seal().record),
        statuses={"correct": correct, "wrong": scores.size - correct},
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


NIGHTLY, TRAINING = "simulated-nightly", "simulated-training"
NIGHTS, STEPS = 91, 14
_SIZES: Mapping[str, tuple[int, int, float]] = {
    "sim-competition": (30, 8, 0.37),
    "sim-science": (120, 4, 0.42),
    "sim-code": (80, 4, 0.31),
    "sim-instructions": (150, 1, 0.71),
}
"""Problems, samples of each, and mean score of the simulated tasks."""
_MISSING = 47
"""The night without a run."""


@dataclass(frozen=True, slots=True)
class _Drop:
    """A planted drop: the task, its nights, and how far it falls."""

    task: str
    nights: range
    size: float


_DROPS = (_Drop("sim-code", range(30, 39), 0.08), _Drop("sim-science", range(NIGHTS - 4, NIGHTS), 0.07))


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
    rng = np.random.default_rng(20)
    abilities = {name: rng.normal(_logit(mean), 1.5, size=n) for name, (n, _, mean) in _SIZES.items()}
    base = ""
    for night, run in _nights(abilities, rng):
        written = write_run(runs / NIGHTLY / f"night-{night:03}" / run.model, run)
        base = base or written
    for run in _steps(abilities, rng):
        write_run(runs / TRAINING / run.model, run)
    return base


def _nights(abilities: Mapping[str, Floats], rng: np.random.Generator) -> Iterator[tuple[int, SimulatedRun]]:
    """Yield a quarter of nights. Each night's model is a new one of about equal ability."""
    first, start = _first_night(), wall_utc() - timedelta(days=NIGHTS)
    for night in range(NIGHTS):
        moved = {name: own + rng.normal(0, 0.2, size=len(own)) for name, own in abilities.items()}
        for drop in _DROPS:
            if night in drop.nights:
                moved[drop.task] = moved[drop.task] - 6 * drop.size
        if night == _MISSING:
            continue
        place = TrackRecord(name=NIGHTLY, kind="night", position=first + night)
        yield night, _run(moved, rng, place, f"simulated-{night:03}", start + timedelta(days=night))


def _steps(abilities: Mapping[str, Floats], rng: np.random.Generator) -> Iterator[SimulatedRun]:
    """Yield the checkpoints of a training run that learns, and falls back a little at its end."""
    start = wall_utc() - timedelta(days=2)
    for number in range(STEPS):
        gain = 1.2 * (1 - np.exp(-number / 4)) - (0.4 if number > STEPS - 3 else 0.0)
        moved = {
            name: own - 0.8 + gain + rng.normal(0, 0.2, size=len(own)) for name, own in abilities.items()
        }
        place = TrackRecord(name=TRAINING, kind="step", position=500 * (number + 1))
        yield _run(moved, rng, place, f"checkpoint-{place.position}", start + timedelta(hours=number))


def _run(
    abilities: Mapping[str, Floats], rng: np.random.Generator, place: TrackRecord, model: str, created: Any
) -> SimulatedRun:
    scores = {}
    for name, (n, k, _) in _SIZES.items():
        chance = 1 / (1 + np.exp(-abilities[name]))
        scores[name] = (rng.random((n, k)) < chance[:, None]).astype(float)
    return SimulatedRun(
        uid=str(uuid.UUID(bytes=rng.bytes(16), version=4)),
        suite="simulated",
        model=model,
        place=place,
        created=created.strftime("%Y-%m-%dT%H:%M:%S+0000"),
        scores=scores,
    )


def _logit(mean: float) -> float:
    """Return the mean ability at which a task of difficulties that spread by 1.5 has this mean score."""
    return float(1.35 * np.log(mean / (1 - mean)))
