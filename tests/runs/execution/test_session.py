"""A job from start to end with a real engine: what is drawn, recorded, continued and stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.draw.draw_queue import missing_draws
from genbench.engines.placement import EngineKeeper, EngineLease, engine_makers
from genbench.engines.vllm.kind import VllmSettings
from genbench.errors import InterruptedRunError
from genbench.judges.session import JudgeSession
from genbench.runs.event_loop import StopSwitch, run_coroutine
from genbench.runs.execution.drawing import Drawing, open_conversations
from genbench.runs.execution.job import Job, RunContext
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.execution.prompt_records import SpooledPrompts
from genbench.runs.execution.run_manifest import RunManifest
from genbench.runs.execution.scoring import readers_of, verifier_pool, verifier_specs
from genbench.runs.execution.session import Attempt, open_run, run_job
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.store.folder import RunFolder
from genbench.types import Completion, SampleId
from genbench.verifiers.pool.pool import VerifierPool
from tests.manifests import manifest

SUITE = """\
models: {m: {path: any}}
engine: {kind: "tests.engines.rule_engine:RuleEngine", concurrency: 2}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""
MakeJob = Callable[..., Job]


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    """A job of four sums for an engine that adds."""

    def made(limit: int | None = None) -> Job:
        (tmp_path / "suite.yaml").write_text(SUITE)
        rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(4)]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = RunOptions(str(tmp_path / "suite.yaml"), run_dir=tmp_path / "runs", limit=limit, quiet=True)
        suite, chosen = open_suite(options)
        (found,) = make_jobs(suite, chosen, options)
        return found

    return made


def ran(job: Job, switch: StopSwitch | None = None) -> dict[str, Any]:
    async def work() -> dict[str, Any]:
        async with verifier_pool(job.suite.config.verify) as pool:
            return (await run_job(job, switch or StopSwitch(), EngineKeeper(), pool)).to_json()

    return run_coroutine(work())


@pytest.mark.slow
def test_a_run_is_drawn_verified_and_recorded_and_continued(job: MakeJob) -> None:
    half = ran(job(limit=2))
    assert half["tasks"]["sums"]["status_counts"] == {"correct": 4}
    whole = ran(job())
    assert whole["tasks"]["sums"]["status_counts"] == {"correct": 8}
    folder = RunFolder(job().path)
    attempts = folder.require_manifest().attempts
    assert [(item.reused, item.drawn) for item in attempts] == [(0, 4), (4, 4)]
    assert all(item.generation_s > 0 for item in attempts)
    again = ran(job())
    assert again["tasks"] == whole["tasks"] and len(list(folder.completions("sums"))) == 8
    assert not folder.drawn("sums").add("q0", 0, 0)


def test_a_run_that_is_stopped_at_once_draws_nothing_and_can_be_continued(job: MakeJob) -> None:
    switch = StopSwitch()
    switch.stop("SIGTERM")
    with pytest.raises(InterruptedRunError, match="SIGTERM"):
        ran(job(), switch)
    (attempt,) = RunFolder(job().path).require_manifest().attempts
    assert attempt.interrupted == "SIGTERM" and attempt.drawn == 0
    assert ran(job())["tasks"]["sums"]["status_counts"] == {"correct": 8}


def test_a_job_says_what_it_is(job: MakeJob) -> None:
    one = job()
    assert not one.deferred and one.run_id == job().run_id and len(one.run_id) == 12
    assert one.model.settings.log == one.path / "engine.log"
    other = replace(one, model=replace(one.model, found=replace(one.model.found, identity="another")))
    assert other.run_id != one.run_id


def test_opening_a_run_loads_verifiers_and_packs_prompts(job: MakeJob) -> None:
    async def work() -> None:
        with RunFolder.writer(job().path) as folder, SpooledPrompts(job().path) as asked:
            judges = JudgeSession(job().suite, job().tasks, folder.path)
            context = RunContext(job(), folder, StopSwitch(), EngineKeeper(), judges)
            async with VerifierPool(workers=1) as pool:
                specs = verifier_specs(context.job.tasks, judges)
                opened = await open_run(context, pool, specs, asked)
            assert list(opened.verified) == ["sums"] and opened.verified["sums"].version
            assert asked.tasks == ["sums"] and asked.size > 0 and len(opened.draws) == 8
            assert Drawing(context).seconds == 0.0
            tasks, record = context.job.tasks, RunManifest(folder, manifest())
            readers = readers_of(folder, tasks)
            attempt = Attempt(context, record, readers, opened.verified, opened.draws, started=0.0)
            assert attempt._on_disk() == {"sums": 0}

    asyncio.run(work())


def test_engines_that_share_are_leased_and_others_are_made(job: MakeJob) -> None:
    keeper = EngineKeeper()
    (make,) = engine_makers(job().model.settings, keeper, "m").values()
    assert make() is not make() and not isinstance(make(), EngineLease)
    shared = VllmSettings(
        Path("m"), Path("m"), None, "bfloat16", False, 8, 64, {}, max_model_len=64, share=True, replicas=2
    )
    made = engine_makers(shared, keeper, "m")
    assert list(made) == ["replica 0", "replica 1"]
    assert all(isinstance(make(), EngineLease) for make in made.values())


def test_turns_on_disk_of_incomplete_conversations_are_found_in_order(tmp_path: Path, job: MakeJob) -> None:
    task = job().tasks[0]
    long = replace(task.problems[0], turns=3)
    draws = missing_draws(
        [replace(task, problems=(long, task.problems[1]))],
        {"sums": RunFolder(tmp_path / "none").drawn("sums")},
        None,
    )
    with RunFolder.writer(tmp_path / "run") as folder:
        for turn in (1, 0):
            sample = SampleId("sums", long.problem_id, 0)
            folder.append_completion(
                Completion(sample, turn, 1, "", f"turn {turn}", "stop", 1, 1, 0, 9, 1, None)
            )
        found = open_conversations(folder, draws)
    assert [item.text for item in found[SampleId("sums", long.problem_id, 0)]] == ["turn 0", "turn 1"]
    assert len(found) == 1
