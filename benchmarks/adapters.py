"""A sweep of LoRA adapters on one engine: its wall over the samples alone, its samples against separate runs.

    python benchmarks/adapters.py [--adapters 16] [--before CHECKOUT] [--separate 16]

Each adapter has random weights of rank 8 on the query projections of the shipped tiny checkpoint, and draws
200 samples (50 problems x k 4). The anchor is one adapter that draws as many samples as all of them, in one
run of one model on the same kind of engine. Each wall is that of a whole command `genbench run`, with its
engine, verdicts, results and page. `after start` is from the first sample on: without the start of the
engine, which both need once.

`--before` runs the sweep with the package of another checkout as well, in which two models at a time share
the engine. `--separate` draws adapters again, each with a command and an engine of its own (without `share`),
and compares texts, counts of tokens, seeds, finish reasons and verdicts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
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
        weights[f"{name}.lora_A.weight"] = rng.normal(0, 0.15, (8, config["hidden_size"])).astype(np.float32)
        weights[f"{name}.lora_B.weight"] = rng.normal(0, 0.15, (width, 8)).astype(np.float32)
    folder.mkdir()
    save_file(weights, str(folder / "adapter_model.safetensors"))
    record = {"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(record))


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took in seconds: wall, wall from its first sample on, and CPU of all its processes."""

    wall: float
    after_start: float
    cpu: float


def run(place: Path, name: str, *options: str, package: Path = ROOT) -> Spent:
    output, before = place / name, resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "genbench", "run", *options, "--run-dir", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(package), "VLLM_CPU_KVCACHE_SPACE": "1"}
    started = time.monotonic()
    with (place / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=log)
        first = None
        while process.poll() is None:
            time.sleep(0.1)
            drawn = output.glob("**/arithmetic/completions.jsonl")
            if first is None and any(path.stat().st_size for path in drawn):
                first = time.monotonic()
    ended, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode or first is None:
        raise SystemExit((place / f"{name}.log").read_text()[-3000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(ended - started, ended - first, cpu)


def rows(folder: Path, kind: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what is stored of each sample, without what says when it was made."""
    lines = (folder / "arithmetic" / f"{kind}.jsonl").read_text().splitlines()
    found = [
        {key: value for key, value in json.loads(line).items() if key not in NOT_COMPARED} for line in lines
    ]
    return {(row["problem_id"], row["sample_index"]): row for row in found}


def samples(folder: Path) -> dict[tuple[str, int], tuple[Any, Any]]:
    """Return the completion and the verdict of each sample."""
    drawn, verdicts = rows(folder, "completions"), rows(folder, "verdicts")
    return {key: (drawn.get(key), verdicts.get(key)) for key in drawn.keys() | verdicts.keys()}


def differing(one: Path, other: Path) -> int:
    """Return how many samples differ in what was drawn or in any part of the verdict."""
    first, second = samples(one), samples(other)
    return sum(first.get(key) != second.get(key) for key in first.keys() | second.keys())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--adapters", type=int, default=16)
    parser.add_argument("--before", type=Path, help="checkout of the state before")
    parser.add_argument("--separate", type=int, default=0, help="adapters that are drawn separately as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for seed in range(options.adapters):
            make_adapter(place / f"checkpoint-{seed + 1}", seed)
        (place / "suite.yaml").write_text(SUITE.format(k=K))
        (place / "anchor.yaml").write_text(SUITE.format(k=K * options.adapters))
        every = ("suite.yaml", "--models-from", "checkpoint-*")
        print(f"load {os.getloadavg()[0]:.1f}")
        print("| what | wall s | after start s | CPU s | over the anchor: wall, after start, CPU |")
        print("|---|--:|--:|--:|---|", flush=True)
        anchor = told(run(place, "anchor", "anchor.yaml", "--models-from", "checkpoint-1"), "anchor", None)
        told(run(place, "sweep", *every), "sweep", anchor)
        if options.before is not None:
            told(run(place, "before", *every, package=options.before), "two at a time (before)", anchor)
        print(f"\nload {os.getloadavg()[0]:.1f}", flush=True)
        compared = 0
        for number in range(1, options.separate + 1):
            adapter = f"checkpoint-{number}"
            run(
                place,
                f"separate-{number}",
                "suite.yaml",
                "--models-from",
                adapter,
                "--set",
                "engine.share=false",
            )
            compared += differing(place / f"separate-{number}" / adapter, place / "sweep" / adapter)
        of = 50 * K * options.separate
        print(f"samples that differ from {options.separate} separate runs: {compared} of {of}")
        texts = {
            json.dumps(sorted(map(str, rows(folder, "completions").values())))
            for folder in (place / "sweep").glob("checkpoint-*")
        }
        print(f"adapters whose samples differ from all others': {len(texts)} of {options.adapters}")


def told(spent: Spent, what: str, anchor: Spent | None) -> Spent:
    """Print a line of the table."""
    of = anchor or spent
    ratios = f"{spent.wall / of.wall:.2f}, {spent.after_start / of.after_start:.2f}, {spent.cpu / of.cpu:.2f}"
    print(f"| {what} | {spent.wall:.0f} | {spent.after_start:.0f} | {spent.cpu:.0f} | {ratios} |", flush=True)
    return spent


if __name__ == "__main__":
    main()
