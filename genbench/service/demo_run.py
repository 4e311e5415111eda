"""The folder of a simulated run: manifest, results and sums, without any completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.records import estimate_fields
from genbench.analysis.results_record import (
    Results,
    TaskResults,
    TaskSeal,
    TokenSums,
    TotalsRecord,
    TotalTokens,
)
from genbench.stats.estimates import estimate
from genbench.stats.scores import Floats
from genbench.store.folder import RunFolder
from genbench.store.manifest_record import (
    AttemptRecord,
    Manifest,
    ModelRecord,
    OriginRecord,
    ReasoningRecord,
    SuiteRecord,
    TaskRecord,
    VerifierRecord,
)
from genbench.store.seal import Seal
from genbench.store.sums import RunSums, TaskSums, asked_digests, questions_digest, write_sums
from genbench.store.track_record import TrackRecord

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
        write_sums(folder, sums)
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
    samples = sum(scores.size for scores in run.scores.values())
    return Results(
        format=1,
        run_id=manifest.run_id,
        suite=run.suite,
        model=run.model,
        model_path="simulated",
        model_identity=manifest.model_identity,
        run_seed=0,
        tasks={name: _task_results(manifest.tasks[name], scores) for name, scores in run.scores.items()},
        totals=TotalsRecord(
            samples=samples,
            drawn=samples,
            drawn_now=samples,
            reused_now=0,
            attempts=1,
            generation_s=1500.0,
            seconds=1800.0,
            tokens_per_s=None,
            tokens=TotalTokens(prompt=100 * samples, trace=None, answer=None, completion=_TOKENS * samples),
        ),
        warnings=("simulated scores",),
        trust_remote_code=False,
        test_uses=0,
        max_excluded_share=0.01,
        sums=sums.digest,
        failed=(),
    )


def _task_results(task: TaskRecord, scores: Floats) -> TaskResults:
    n, k = scores.shape
    seal = TaskSeal(completions=Seal().record, verdicts=Seal().record)
    correct = int(scores.sum())
    completion = _TOKENS * scores.size
    return TaskResults(
        **estimate_fields(estimate(f"avg@{k}", scores, seed=0, k=k, resamples=500)),
        metrics={},
        samples=scores.size,
        lacking=0,
        status_counts={"correct": correct, "wrong": scores.size - correct},
        trace_counts={},
        truncated_share=0.0,
        clamped=0,
        tokens=TokenSums(
            prompt=100 * scores.size, completion=completion, trace=None, answer=None, per_correct=None
        ),
        strata={},
        of=n,
        role="validation",
        chance=None,
        verifier=task.verifier,
        seal=seal,
    )
