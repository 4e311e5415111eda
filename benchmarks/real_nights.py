"""Twenty real nights on the CPU engine with a planted drop: what `genbench trend` says after each.

    python benchmarks/real_nights.py FOLDER [--draw-only]

Every night has a checkpoint of its own, mixed from the weights of the tiny pair: nearly all of `tuned`, a
little more or less each night. In the nights DROP the mix is poorer, and after them it is mended. Three tasks
of the quickstart suite are drawn with the real engine, one process a night. Each run is then added to a
ledger, and the trend is asked for, as a cron line would. A minute or two of CPU a night. A stopped command
continues.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from genbench.suite.shipped import folder as shipped_folder

NIGHTS = 20
DROP = range(11, 15)
TASKS = ("arithmetic", "choice", "instructions")
FIRST = date(2026, 11, 2)
POORER = 0.55
"""The weight of `tuned` in the nights of the drop."""


def mixes() -> list[float]:
    """Return the weight of `tuned` in each night's checkpoint."""
    rng = np.random.default_rng(7)
    usual = rng.uniform(0.94, 1.0, size=NIGHTS)
    return [POORER if night in DROP else float(usual[night]) for night in range(NIGHTS)]


def make_checkpoint(folder: Path, weight: float) -> None:
    """Write a checkpoint whose weights are `weight` tuned + (1 - weight) base."""
    pair = shipped_folder("checkpoints")
    shutil.copytree(pair / "tiny-tuned", folder, dirs_exist_ok=True)
    tuned = load_file(pair / "tiny-tuned" / "model.safetensors")
    base = load_file(pair / "tiny-base" / "model.safetensors")
    mixed = {
        name: torch.lerp(base[name].float(), tensor.float(), weight).to(tensor.dtype).contiguous()
        for name, tensor in tuned.items()
    }
    save_file(mixed, folder / "model.safetensors", metadata={"format": "pt"})


def genbench(*arguments: str) -> str:
    """Run one command of genbench. Return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "genbench.cli", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"genbench {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def draw(name: str, model: str, folder: Path) -> None:
    """Draw one run. A finished one draws nothing."""
    tasks = [text for task in TASKS for text in ("--task", task)]
    k = [text for task in TASKS for text in ("--set", f"tasks.{task}.k=4")]
    genbench("run", "quickstart", "--model", model, *tasks, *k, "--run-dir", str(folder / name))


def draw_all(folder: Path) -> None:
    """Draw the base and every night."""
    draw("base", "base", folder)
    for night, weight in enumerate(mixes()):
        checkpoint = folder / "checkpoints" / f"night-{night:02}"
        if not checkpoint.exists():
            make_checkpoint(checkpoint, weight)
        draw(f"night-{night:02}", f"tuned={checkpoint}", folder)
        print(f"night {night + 1} of {NIGHTS} drawn (tuned {weight:.3f})", file=sys.stderr, flush=True)


def read_all(folder: Path) -> None:
    """Add night after night to a ledger, ask for the trend after each, and print what it said."""
    ledger = folder / "ledger.sqlite3"
    for old in folder.glob("ledger.sqlite3*"):
        old.unlink()
    (folder / "notes.jsonl").unlink(missing_ok=True)
    where = ("--ledger", str(ledger))
    print("| night | tuned | " + " | ".join(TASKS) + " | open changes | sentence |")
    print("|---|---|" + "---|" * len(TASKS) + "---|---|")
    for night, weight in enumerate(mixes()):
        label = (FIRST + timedelta(days=night)).isoformat()
        genbench(
            "ledger", "add", str(folder / f"night-{night:02}"), "--track", "tiny", "--night-of", label, *where
        )
        record = json.loads(genbench("trend", "tiny", "--json", *where))
        scores = {task["task"]: task["points"]["value"][-1] for task in record["tasks"]}
        opened = [
            f"{change['task'] or 'pooled'} {100 * change['size']:+.1f} since {change['first']['label']}"
            for change in record["changes"]
            if change["state"] == "open"
        ]
        cells = " | ".join(f"{100 * scores[task]:.1f}" for task in TASKS)
        print(
            f"| {label} | {weight:.3f} | {cells} | {'; '.join(opened)} | {record['sentence']} |", flush=True
        )
    genbench("trend", "tiny", "--html", str(folder / "trend.html"), *where)
    print(f"\npage: {folder / 'trend.html'}")


def main() -> None:
    """Draw, then read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draw-only", action="store_true", help="draw the nights, and add none to a ledger")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    args.folder.mkdir(parents=True, exist_ok=True)
    draw_all(args.folder)
    if not args.draw_only:
        read_all(args.folder)


if __name__ == "__main__":
    main()
