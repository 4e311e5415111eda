"""Real nights on the CPU engine with a planted drop: what `genbench trend` says after each.

    python benchmarks/real_nights.py FOLDER [--nights 20]

Every night has a checkpoint of its own, mixed from the weights of the tiny pair: most of `tuned`, a little
more or less each night. In the nights DROP the mix is poorer, and after them it is mended. One vLLM engine
answers the requests of `genbench prompts` for each checkpoint, after a reload of its weights, so that
the engine starts once. Then each night is scored, added to a ledger, and the trend is asked for, as a cron
line would. A stopped command continues.

One task gates, so there is one series with a budget of one alarm a year: its threshold is 3.11. With 100
problems, a drop of about 9 points in one night reaches it. Prints a table, and whether there was one change,
on the right night, recovered when mended, and no alarm before. Exits with 1 if not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # the engine is in this process
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.pages.page import write_trend_page
from genbench.nights.trend.compose import trend
from genbench.nights.trend.record import Trend
from genbench.pipeline import RunOptions, prompts, run
from genbench.suite.shipped import folder as shipped_folder

DROP = range(10, 13)
SIZES = {
    "arithmetic": ("limit=100", "k=2", "gating=true"),
    "choice": ("limit=40", "k=2", "gating=false"),
}
"""The tasks. Only one gates. The other one is on the watch list."""
FIRST = date(2026, 11, 2)
POORER = 0.3
"""The weight of `tuned` in the nights of the drop. At 0.55, the drop is 5 points, too small for one night."""


def mixes(nights: int) -> list[float]:
    """Return the weight of `tuned` in each night's checkpoint."""
    usual = np.random.default_rng(7).uniform(0.7, 1.0, size=nights)
    return [POORER if night in DROP else float(usual[night]) for night in range(nights)]


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


def run_options(model: str, **more: Any) -> RunOptions:
    """Return the options of the quickstart suite that every step shares."""
    sizes = tuple(f"tasks.{task}.{size}" for task, own in SIZES.items() for size in own)
    return RunOptions("quickstart", (model,), tasks=tuple(SIZES), overrides=sizes, quiet=True, **more)


def draw_all(folder: Path, checkpoints: dict[str, Path]) -> None:
    """Draw the responses of every checkpoint that has none yet, with one engine."""
    wanted = {name: path for name, path in checkpoints.items() if not (folder / f"{name}.jsonl").exists()}
    if not wanted:
        return
    requests = [record.to_json() for record in prompts(run_options("tuned"))]
    from vllm import LLM, SamplingParams  # noqa: PLC0415  not needed if all is drawn

    engine = LLM(model=str(next(iter(wanted.values()))), max_num_seqs=128, max_model_len=512)
    params = [
        SamplingParams(temperature=0.6, top_p=0.95, max_tokens=128, seed=request["seed"])
        for request in requests
    ]
    inputs = [{"prompt_token_ids": request["prompt_token_ids"]} for request in requests]
    for name, path in wanted.items():
        began = time.monotonic()
        engine.collective_rpc("reload_weights", kwargs={"weights_path": str(path)})
        engine.reset_prefix_cache()
        drawn: Sequence[Any] = engine.generate(inputs, params, use_tqdm=False)
        write_responses(folder / f"{name}.jsonl", requests, drawn)
        spent = time.monotonic() - began
        print(f"{name}: {len(drawn)} responses in {spent:.0f} s", file=sys.stderr, flush=True)


def write_responses(path: Path, requests: Sequence[Mapping[str, Any]], drawn: Sequence[Any]) -> None:
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


def read_all(folder: Path, nights: int) -> bool:
    """Add night after night to a ledger, and look for changes. Return whether all was as planted."""
    shutil.rmtree(folder / "ledger", ignore_errors=True)
    (folder / "ledger").mkdir()
    print("| night | tuned | " + " | ".join(SIZES) + " | open changes | sentence |")
    print("|---|---|" + "---|" * len(SIZES) + "---|---|")
    early = 0
    with open_ledger(folder / "ledger" / "ledger.sqlite3") as ledger:
        add(ledger, [scored(folder, "base", "base", FIRST)])
        for number, weight in enumerate(mixes(nights)):
            night = FIRST + timedelta(days=number)
            add(ledger, [scored(folder, f"night-{number:02}", "tuned", night)])
            record = trend(ledger, "tiny")
            values = {task.task: task.points.value[-1] or 0.0 for task in record.tasks}
            opened = [
                f"{change.task or 'all'} {100 * change.size:+.1f} since {change.first.label}"
                for change in record.changes
                if change.state == "open"
            ]
            early += number < DROP.start and len(record.changes)
            cells = " | ".join(f"{100 * values[task]:.1f}" for task in SIZES)
            found = "; ".join(opened) or "-"
            print(f"| {night} | {weight:.2f} | {cells} | {found} | {record.sentence} |", flush=True)
        write_trend_page(record, folder / "trend.html")
    print(f"\npage: {folder / 'trend.html'}")
    return as_planted(record, early)


def as_planted(record: Trend, early: int) -> bool:
    """Print what was found next to what was planted. Return whether they agree."""
    worse, mended = (str(FIRST + timedelta(days=night)) for night in (DROP.start, DROP.stop))
    print(f"planted: worse from {worse}, mended from {mended}; changes before it: {early}")
    for change in record.changes:
        closed = change.closed.label if change.closed else "never"
        print(
            f"found: {change.task or 'all'} {change.direction} {100 * change.size:+.1f} points "
            f"[{100 * change.ci[0]:+.1f}, {100 * change.ci[1]:+.1f}] since {change.first.label}, found on "
            f"{change.found.label} (z {change.z:.1f}, threshold {change.threshold:.2f}), {change.state}, "
            f"closed {closed}"
        )
    only = record.changes[0] if len(record.changes) == 1 else None
    met = (
        not early
        and only is not None
        and (only.task, only.direction, only.first.label) == ("arithmetic", "drop", worse)
        and only.state == "recovered"
        and only.closed is not None
        and only.closed.label == mended
    )
    print("met" if met else "NOT met", "one change, on the right night, recovered when mended", sep=": ")
    return met


def scored(folder: Path, name: str, model: str, night: date) -> Path:
    """Score the responses of one night. Return its run folder. A scored one stays."""
    options = run_options(
        model,
        responses=folder / f"{name}.jsonl",
        run_dir=folder / "runs" / name,
        track="tiny",
        night_of=night.isoformat(),
    )
    return run(options).folders[model]


def main() -> None:
    """Draw, then read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nights", type=int, default=20)
    args = parser.parse_args()
    folder: Path = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checkpoints = {"base": shipped_folder("checkpoints") / "tiny-base"} | {
        f"night-{night:02}": make_checkpoint(folder / "checkpoints" / f"night-{night:02}", weight)
        for night, weight in enumerate(mixes(args.nights))
    }
    draw_all(folder, checkpoints)
    raise SystemExit(0 if read_all(folder, args.nights) else 1)


if __name__ == "__main__":
    main()
