"""A sweep of LoRA adapters on one engine: its wall against the samples alone, its samples against separate runs.

    python benchmarks/adapters.py [--adapters 16] [--before CHECKOUT] [--separate 16]

Each adapter has random weights of rank 8 on the query projections of the shipped tiny checkpoint, and draws 200 samples
(50 problems x k 4). The anchor is one adapter that draws as many samples as all of them (k is times the adapters).
It opens one run, so a sweep has more to do. All walls are those of the command `genbench run`, with its engine, verdicts,
results and page. `after start` leaves out the time until the first sample of the command was drawn.
`--before` runs the sweep with the package of another checkout too, where two models at a time share the engine.
`--separate` draws adapters again, each with a command and an engine of its own, and compares samples and verdicts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "genbench/_shipped/checkpoints/tiny-tuned/config.json"

SUITE = """\
name: sweep
models:
  lora: {{path: "shipped:checkpoints/tiny-tuned", dtype: float32}}
engine: {{share: true}}
decoding: {{temperature: 0.8, top_p: 0.95, max_tokens: 64, seed: 3}}
tasks:
  - name: arithmetic
    kind: math
    data: {{path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {{id: id, question: question, reference: reference}}}}
    prompt: "{{question}}"
    k: {k}
    limit: 50
"""
K = 4
NOT_COMPARED = ("attempt", "seconds")
"""Keys of a completion that say when it was drawn."""


def make_adapter(folder: Path, seed: int) -> None:
    config = json.loads(CONFIG.read_text())
    rng, weights = np.random.default_rng(seed), {}
    width = config["num_attention_heads"] * config["head_dim"]
    for layer in range(config["num_hidden_layers"]):
        name = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"] = rng.normal(0, 0.13, (8, config["hidden_size"])).astype(np.float32)
        weights[f"{name}.lora_B.weight"] = rng.normal(0, 0.13, (width, 8)).astype(np.float32)
    folder.mkdir()
    save_file(weights, str(folder / "adapter_model.safetensors"))
    record = {"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(record))


def run(place: Path, name: str, *options: str, package: Path = ROOT) -> tuple[float, float]:
    """Run a command. Return its wall, and the part of it after the first sample, in seconds."""
    output, started = place / name, time.time()
    command = [sys.executable, "-m", "genbench", "run", *options, "--run-dir", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(package), "VLLM_CPU_KVCACHE_SPACE": "1"}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    ended = time.time()
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-3000:]}")
    # A completion is written as soon as it is drawn, and the file is made with the first of them.
    first = min(
        path.stat().st_ctime - longest(path) for path in output.glob("*/arithmetic/completions.jsonl")
    )
    return ended - started, ended - first


def rows(folder: Path, kind: str) -> dict[tuple[str, int], dict[str, Any]]:
    lines = (folder / "arithmetic" / f"{kind}.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return {(row["problem_id"], row["sample_index"]): row for row in found}
