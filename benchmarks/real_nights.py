"""Twenty real nights on the CPU engine with a planted drop: what `genbench trend` says after each.

    python benchmarks/real_nights.py FOLDER

Every night has a checkpoint of its own, mixed from the weights of the tiny pair: nearly all of `tuned`, a
little more or less each night. In the nights DROP the mix is poorer, and after them it is mended. One vLLM
engine answers the requests of `genbench prompts` for each checkpoint, after a reload of its weights, so that
the engine starts once. Then each night is scored, added to a ledger, and the trend is asked for, by the
commands that a cron line would run. A stopped command continues.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # the engine is in this process
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from genbench.suite.shipped import folder as shipped_folder

NIGHTS = 20
DROP = range(11, 15)
TASKS = ("arithmetic", "choice")
PROBLEMS = 60
"""Problems of each task, with one sample each."""
FIRST = date(2026, 11, 2)
POORER = 0.55
"""The weight of `tuned` in the nights of the drop."""


def mixes() -> list[float]:
    """Return the weight of `tuned` in each night's checkpoint."""
    rng = np.random.default_rng(7)
    usual = rng.uniform(0.94, 1.0, size=NIGHTS)
    return [POORER if night in DROP else float(usual[night]) for night in range(NIGHTS)]


def make_checkpoint(folder: Path, weight: float) -> Path:
    """Write a checkpoint whose weights are `weight` tuned + (1 - weight) base. Return its folder."""
    pair = shipped_folder("checkpoints")
    if not (folder / "model.safetensors").exists():
        shutil.copytree(pair / "tiny-tuned", folder, dirs_exist_ok=True)
        tuned = load_file(pair / "tiny-tuned" / "model.safetensors")
        base = load_file(pair / "tiny-base" / "model.safetensors")
        mixed = {
            name: torch.lerp(base[name].float(), tensor.float(), weight).to(tensor.dtype).contiguous()
            for name, tensor in tuned.items()
        }
        save_file(mixed, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def genbench(*arguments: str) -> str:
    """Run one command of genbench. Return what it printed."""
    command = [sys.executable, "-m", "genbench.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"genbench {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def options() -> list[str]:
    """Return the options of the quickstart suite that every command shares."""
    tasks = [text for task in TASKS for text in ("--task", task)]
    return [
        *tasks,
        *(text for task in TASKS for text in ("--set", f"tasks.{task}.k=1")),
        "--limit",
        f"{PROBLEMS}",
    ]


def draw_all(folder: Path, checkpoints: dict[str, Path]) -> None:
    """Draw the responses of every checkpoint that has none yet, with one engine."""
    wanted = {name: path for name, path in checkpoints.items() if not (folder / f"{name}.jsonl").exists()}
    if not wanted:
        return
    requests = []
    for task in TASKS:
        sizes = ("--set", f"tasks.{task}.k=1", "--limit", f"{PROBLEMS}")
        lines = genbench("prompts", "quickstart", task, "--model", "tuned", "--json", *sizes).splitlines()
        requests += [json.loads(line) for line in lines]
    from vllm import LLM, SamplingParams  # noqa: PLC0415  not needed if all is drawn

    engine = LLM(model=str(next(iter(wanted.values()))), max_num_seqs=128, max_model_len=512)
    params = [
        SamplingParams(temperature=0.6, top_p=0.95, max_tokens=128, seed=request["seed"])
        for request in requests
    ]
    prompts = [{"prompt_token_ids": request["prompt_token_ids"]} for request in requests]
    for name, path in wanted.items():
        began = time.monotonic()
        engine.collective_rpc("reload_weights", kwargs={"weights_path": str(path)})
        engine.reset_prefix_cache()
        drawn: Sequence[Any] = engine.generate(prompts, params, use_tqdm=False)
        write_responses(folder / f"{name}.jsonl", requests, drawn)
        spent = time.monotonic() - began
        print(f"{name}: {len(drawn)} responses in {spent:.0f} s", file=sys.stderr, flush=True)


def write_responses(path: Path, requests: Sequence[dict[str, Any]], drawn: Sequence[Any]) -> None:
    """Write ready responses, one JSON object per line."""
    lines = [
        json.dumps(
            {
                **{key: request[key] for key in ("task", "problem_id", "sample_index")},
                "text": response.outputs[0].text,
                "finish_reason": response.outputs[0].finish_reason,
            }
        )
        for request, response in zip(requests, drawn, strict=True)
    ]
    part = path.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.rename(path)


def read_all(folder: Path) -> None:
    """Add night after night to a ledger, ask for the trend after each, and print what it said."""
    shutil.rmtree(folder / "ledger", ignore_errors=True)
    where = ("--ledger", str(folder / "ledger" / "ledger.sqlite3"))
    print("| night | tuned | " + " | ".join(TASKS) + " | open changes | sentence |")
    print("|---|---|" + "---|" * len(TASKS) + "---|---|")
    score(folder, "base", "base", FIRST.isoformat())
    genbench("ledger", "add", str(folder / "runs" / "base"), *where)
    for night, weight in enumerate(mixes()):
        label = (FIRST + timedelta(days=night)).isoformat()
        name = f"night-{night:02}"
        score(folder, name, "tuned", label)
        genbench("ledger", "add", str(folder / "runs" / name), *where)
        record = json.loads(genbench("trend", "tiny", "--json", *where))
        scores = {task["task"]: task["points"]["value"][-1] for task in record["tasks"]}
        opened = [
            f"{change['task'] or 'all'} {100 * change['size']:+.1f} since {change['first']['label']}"
            for change in record["changes"]
            if change["state"] == "open"
        ]
        cells = " | ".join(f"{100 * scores[task]:.1f}" for task in TASKS)
        print(
            f"| {label} | {weight:.2f} | {cells} | {'; '.join(opened) or '-'} | {record['sentence']} |",
            flush=True,
        )
    genbench("trend", "tiny", "--html", str(folder / "trend.html"), *where)
    print(f"\npage: {folder / 'trend.html'}")


def score(folder: Path, name: str, model: str, label: str) -> None:
    """Score the responses of one night. A scored one stays."""
    responses = ("--responses", str(folder / f"{name}.jsonl"), "--run-dir", str(folder / "runs" / name))
    genbench(
        "run", "quickstart", "--model", model, *responses, *options(), "--track", "tiny", "--night-of", label
    )


def main() -> None:
    """Draw, then read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checkpoints = {"base": shipped_folder("checkpoints") / "tiny-base"} | {
        f"night-{night:02}": make_checkpoint(folder / "checkpoints" / f"night-{night:02}", weight)
        for night, weight in enumerate(mixes())
    }
    draw_all(folder, checkpoints)
    read_all(folder)


if __name__ == "__main__":
    main()
