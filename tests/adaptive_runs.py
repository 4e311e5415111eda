"""Adaptive runs without an engine: a base of 64 ready responses to each problem, and tuned models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genbench.pipeline import RunOptions, RunReport
from tests.ready_runs import run_bare

SUITE = """\
models:
  base: {path: ./model}
  tuned: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: sums.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 4
  - name: singles
    kind: math
    data: {path: singles.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 1
"""
N = {"sums": 104, "singles": 24}
K = {"sums": 4, "singles": 1}
RIGHT, WRONG = "\\boxed{2}", "\\boxed{3}"


def rates(task: str) -> Sequence[float]:
    """Return the true rate of each problem: most are certain, some are not."""
    rng = np.random.default_rng(len(task))
    return [float(p) for p in np.where(rng.random(N[task]) < 0.7, 1.0, rng.beta(2, 2, N[task]))]


def write_suite(place: Path) -> Path:
    """Write the suite with its rows into a folder. Return the suite file."""
    for task, n in N.items():
        rows = [
            {"id": f"p{i:03}", "problem": f"{i}+2-{i}?", "answer": "2", "level": "easy" if i % 2 else "hard"}
            for i in range(n)
        ]
        (place / f"{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "suite.yaml").write_text(SUITE)
    return place / "suite.yaml"


def write_responses(
    path: Path, model: str, k: Mapping[str, int], lost: Mapping[str, float] | None = None, seed: int = 1
) -> Path:
    """Write ready responses of a model. It always fails on the share `lost` of a task's problems."""
    rng = np.random.default_rng(seed)
    lines: list[dict[str, Any]] = []
    for task, samples in k.items():
        gone = int((lost or {}).get(task, 0.0) * N[task])
        for i, rate in enumerate(rates(task)):
            for j, drawn in enumerate(rng.random(samples)):
                text = RIGHT if drawn < rate and i >= gone else WRONG
                lines.append(
                    {
                        "model": model,
                        "task": task,
                        "problem_id": f"p{i:03}",
                        "sample_index": j,
                        "text": text,
                        "completion_tokens": 10,
                    }
                )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def draw_base(place: Path) -> Path:
    """Write the suite, and run its base with 64 samples of each problem. Return its run folder."""
    suite = write_suite(place)
    answers = write_responses(place / "base.jsonl", "base", dict.fromkeys(N, 64))
    sizes = tuple(f"tasks.{name}.k=64" for name in N)
    options = RunOptions(
        suite, models=("base",), run_dir=place / "stored", responses=answers, overrides=sizes, quiet=True
    )
    return run_bare(options).folders["base"]


def adaptive_options(
    place: Path, base: Path, answers: Path, out: str = "night", **changes: Any
) -> RunOptions:
    """Return the options of an adaptive run of ready responses."""
    return RunOptions(
        **{
            "suite": place / "suite.yaml",
            "models": ("tuned",),
            "run_dir": place / out,
            "responses": answers,
            "against": base,
            "adaptive": True,
            "quiet": True,
            **changes,
        }
    )


def run_adaptive(place: Path, base: Path, answers: Path, out: str = "night", **changes: Any) -> RunReport:
    """Run ready responses adaptively."""
    return run_bare(adaptive_options(place, base, answers, out, **changes))
