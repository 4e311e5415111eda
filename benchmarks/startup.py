"""From the command to the first token, and where the time goes.

    python benchmarks/startup.py [SUITE] [--model NAME[=PATH]] [--rounds 3]

Each round is a process of its own: `genbench run` into a fresh folder, one token a sample, so that the
first completion is the first token. After each a bare engine is timed, with the same arguments and variables:
a new process imports AsyncLLM and asks it for one token. Steps are told in the order in which they end; steps
that overlap (verifiers, the import of the engine's code) are counted in full, so the last lines are what
matters. On a GPU machine, where the GPU build is installed, the same script measures that build.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest.mock import patch

STARTED = "GENBENCH_STARTUP_BEGAN"
BAR_S = 12.0
VARIABLES = (
    "VLLM_WORKER_MULTIPROC_METHOD",
    "VLLM_ENABLE_V1_MULTIPROCESSING",
    "VLLM_CPU_KVCACHE_SPACE",
    "VLLM_NO_USAGE_STATS",
    "OMP_NUM_THREADS",
    "TORCH_COMPILE_DISABLE",
)
"""What genbench sets for its engine. The bare engine gets it too."""
STEPS = {
    "suite": ("genbench.pipeline.open_suite", "call"),
    "data": ("genbench.runs.execution.job_preparation.load_tasks", "call"),
    "tokenizer, template": ("genbench.runs.execution.job_preparation.prepare_model", "call"),
    "verifiers": ("genbench.runs.execution.session.load_verifiers", "await"),
    "prompts": ("genbench.runs.execution.session.prompt_records", "call"),
}
LOG = (
    ("model built", re.compile(r"Initializing model took ([\d.]+) seconds")),
    ("weights", re.compile(r"Loading weights took ([\d.]+) seconds")),
    ("profile, cache, warm-up", re.compile(r"init engine .*? took ([\d.]+) s")),
)
"""What the engine's own log says of its start (vLLM 0.32)."""


class Laps:
    """Seconds of named steps, and the moment of each since the command was given."""

    def __init__(self) -> None:
        self.began = float(os.environ[STARTED])
        self.steps: list[tuple[str, float, float]] = []

    def now(self) -> float:
        return time.time() - self.began

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = self.now()
        yield
        self.steps.append((name, self.now() - start, self.now()))

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def told(*arguments: Any, **options: Any) -> Any:
            with self.step(name):
                return call(*arguments, **options)

        return told

    def awaited(self, name: str, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(call)
        async def told(*arguments: Any, **options: Any) -> Any:
            with self.step(name):
                return await call(*arguments, **options)

        return told


def bare(arguments: str) -> None:
    """Start AsyncLLM with arguments as JSON, ask for a token, and print the seconds since the command."""
    from vllm import AsyncEngineArgs, SamplingParams  # noqa: PLC0415  measured
    from vllm.v1.engine.async_llm import AsyncLLM  # noqa: PLC0415

    async def first() -> float:
        llm = AsyncLLM.from_engine_args(AsyncEngineArgs(**json.loads(arguments)))
        prompt = {"prompt_token_ids": list(range(5, 37))}
        async for _ in llm.generate(prompt, SamplingParams(max_tokens=1), "bare"):
            told = time.time() - float(os.environ[STARTED])
        llm.shutdown()
        return told

    print(json.dumps({"first": asyncio.run(first())}))


def child(arguments: list[str]) -> None:
    """One run with its steps timed; prints them as JSON and stops at the first completion."""
    laps = Laps()
    laps.steps.append(("interpreter", laps.now(), laps.now()))
    with laps.step("import genbench.pipeline"):
        from genbench import pipeline  # noqa: PLC0415  measured
        from genbench.engines.vllm.kind import VllmSettings  # noqa: PLC0415
        from genbench.errors import InterruptedRunError  # noqa: PLC0415
        from genbench.store.folder import RunFolder  # noqa: PLC0415
    told: list[float] = []
    append = RunFolder.append_completion

    def first(folder: RunFolder, item: Any) -> None:
        append(folder, item)
        if not told:
            told.append(laps.now())
            signal.raise_signal(signal.SIGINT)

    given: dict[str, Any] = {}
    load = VllmSettings.load

    def loaded(settings: VllmSettings) -> None:
        with laps.step("import of the engine"):
            load(settings)
        engine = importlib.import_module("genbench.engines.vllm.engine").VllmEngine
        if not hasattr(engine.start, "__wrapped__"):
            engine.start = laps.awaited("engine", engine.start)
            make = engine._arguments

            def arguments_of(self: Any) -> Any:
                made = make(self)
                plain = type(made)(model=made.model)
                given.update(
                    {
                        f.name: v
                        for f in fields(made)
                        if (v := getattr(made, f.name)) != getattr(plain, f.name)
                    },
                    model=made.model,
                )
                return made

            engine._arguments = arguments_of

    suite, run_dir, *models = arguments
    options = pipeline.RunOptions(
        suite, models=models, run_dir=Path(run_dir), overrides=("decoding.max_tokens=1",), quiet=True
    )
    with ExitStack() as patched:
        for name, (target, kind) in STEPS.items():
            module, _, attribute = target.rpartition(".")
            step = getattr(importlib.import_module(module), attribute)
            patched.enter_context(
                patch(target, (laps.awaited if kind == "await" else laps.timed)(name, step))
            )
        patched.enter_context(patch.object(VllmSettings, "load", loaded))
        patched.enter_context(patch.object(RunFolder, "append_completion", first))
        with suppress(InterruptedRunError):
            pipeline.run(options)
    variables = {name: value for name, value in os.environ.items() if name in VARIABLES}
    print(
        json.dumps(
            {"steps": laps.steps, "first": told[0], "engine": given, "variables": variables}, default=str
        )
    )


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds by step, to the first token, and of CPU in all, and the last two of a bare engine."""

    steps: dict[str, float]
    first: float
    bare: float
    cpu: float
    bare_cpu: float


def told_by(command: list[str], environment: dict[str, str]) -> tuple[dict[str, Any], float]:
    """Run a process, and return what its last line says, with the CPU seconds of it and its descendants."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = environment | {STARTED: str(time.time())}
    done = subprocess.run(command, capture_output=True, text=True, env=own, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout.strip().splitlines()[-1]), cpu


def measured(arguments: list[str], folder: Path) -> Start:
    """Start genbench, and then a bare engine with the same arguments and variables."""
    record, cpu = told_by([sys.executable, __file__, "--child", *arguments], dict(os.environ))
    steps: dict[str, float] = {}
    for name, seconds, _ in record["steps"]:
        steps[name] = steps.get(name, 0.0) + seconds
    log = next(folder.rglob("engine.log")).read_text(errors="replace")
    for name, pattern in LOG:
        if found := pattern.search(log):
            steps[f"engine: {name}"] = float(found[1])
    told = sum(seconds for name, seconds in steps.items() if name.startswith("engine: "))
    steps["engine: its processes and their imports"] = steps["engine"] - told
    command = [sys.executable, __file__, "--bare", json.dumps(record["engine"])]
    bare, bare_cpu = told_by(command, os.environ | record["variables"])
    return Start(steps, record["first"], bare["first"], cpu, bare_cpu)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", nargs="?", default="quickstart")
    parser.add_argument("--model", default="tuned")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rounds = []
    for _ in range(given.rounds):
        with tempfile.TemporaryDirectory() as name:
            rounds.append(measured([given.suite, name, given.model], Path(name)))
    build = next(name for name in ("vllm-cpu", "vllm") if _installed(name))
    print(f"{build} {metadata.version(build)}, {given.suite}, model {given.model}, median of {given.rounds}")
    for step in rounds[0].steps:
        print(f"  {step:40s} {statistics.median(item.steps.get(step, 0.0) for item in rounds):6.2f} s")
    firsts = sorted(item.first for item in rounds)
    print(f"first token after {statistics.median(firsts):.2f} s ({firsts[0]:.2f} to {firsts[-1]:.2f})")
    bares = sorted(item.bare for item in rounds)
    print(f"of a bare engine after {statistics.median(bares):.2f} s ({bares[0]:.2f} to {bares[-1]:.2f})")
    cpus = [
        statistics.median(cpus) for cpus in zip(*((item.cpu, item.bare_cpu) for item in rounds), strict=True)
    ]
    print(f"CPU of all processes, from start to end: {cpus[0]:.1f} s, bare {cpus[1]:.1f} s")
    more = statistics.median(item.first - item.bare for item in rounds)
    print(f"genbench beyond it: {more:.2f} s; at most {BAR_S:g}: {'met' if more <= BAR_S else 'MISSED'}")


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    elif sys.argv[1:2] == ["--bare"]:
        bare(sys.argv[2])
    else:
        main()
