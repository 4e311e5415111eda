"""Suites for the simulated engines: how many samples they have, how long the answers are, and the bound."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.simulated_engine import (
    BANDWIDTH,
    KV_BYTES,
    KV_TOKENS,
    PREFILL,
    PROMPT_TOKENS,
    STEP_S,
    WEIGHTS,
)
from genbench.draw.draw_queue import Draw, missing_draws
from genbench.store.sample_index import DrawnSamples
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task
from genbench.types import SampleId

CAP = 32_768


@dataclass(frozen=True, slots=True)
class Work:
    """A benchmark: problems, samples of each, median length, spread over problems and within one."""

    name: str
    problems: int
    k: int
    median: float
    over: float = 0.6
    within: float = 0.35


SUITES = {
    "aime": [Work("aime", 30, 64, 14_000)],
    "gpqa": [Work("gpqa", 198, 8, 7_000)],
    "reasoning": [
        Work("aime", 30, 64, 14_000),
        Work("lcb", 268, 16, 11_000),
        Work("gpqa", 198, 8, 7_000),
        Work("math500", 500, 4, 4_000),
        Work("ifeval", 541, 1, 1_500),
    ],
    "short": [Work("short", 20_000, 1, 550, 0.4, 0.2)],
}


def suite(works: Sequence[Work], folder: Path) -> list[Draw]:
    """Return the draws of a suite in genbench's order."""
    entries = ""
    for work in works:
        rows = folder / f"{work.name}.jsonl"
        with rows.open("w", encoding="utf-8") as out:
            for index in range(work.problems):
                print(json.dumps({"id": f"p{index}", "question": f"{index}?", "answer": "1"}), file=out)
        fields = "{id: id, question: question, reference: answer}"
        entries += (
            f"  - {{name: {work.name}, kind: math, k: {work.k}, data: {{path: {rows}, fields: {fields}}}}}\n"
        )
    path = folder / "suite.yaml"
    path.write_text(f"models: {{m: {{path: nowhere}}}}\ntasks:\n{entries}", encoding="utf-8")
    read = read_suite(path)
    tasks = [load_task(read, entry, None, None) for entry in read.config.tasks]
    return missing_draws(tasks, {task.name: DrawnSamples() for task in tasks})


MOVED = 0.1
"""Standard deviation by which the logarithm of a problem's median length moves from a night to the next."""


def lengths_of(works: Sequence[Work], seed: int = 7, *, last_night: bool = False) -> dict[SampleId, int]:
    """Return the tokens of each sample: lognormal over problems and within one, at most CAP.

    Args:
        last_night: those of the night before, whose problems had nearly the same medians.
    """
    rng, before = random.Random(seed), random.Random(f"{seed} before")
    lengths: dict[SampleId, int] = {}
    for work in works:
        for index in range(work.problems):
            centre = math.log(work.median) + rng.gauss(0, work.over)
            centre += before.gauss(0, MOVED) if last_night else 0.0
            for sample in range(work.k):
                own = rng.gauss(0, work.within)
                length = int(math.exp(centre + (before.gauss(0, work.within) if last_night else own)))
                lengths[SampleId(work.name, f"p{index}", sample)] = max(16, min(CAP, length))
    return lengths


def bound(lengths: Mapping[SampleId, int], lanes: int, slots: int) -> float:
    """Return the least seconds: full engines and every prompt once, or the longest answer with no other.

    Nothing is added for the end of a night, at which fewer and fewer samples run.
    """
    total, longest = sum(lengths.values()), max(lengths.values())
    seen = sum(length * length for length in lengths.values()) / (2 * total)
    together = min(slots, KV_TOKENS / seen, len(lengths) / lanes)
    step = STEP_S + (WEIGHTS + KV_BYTES * seen * together) / BANDWIDTH
    prompts = len(lengths) * PROMPT_TOKENS / PREFILL
    return max((total / together * step + prompts) / lanes, longest * (STEP_S + WEIGHTS / BANDWIDTH))


def drained(lengths: Mapping[SampleId, int], lanes: int) -> float:
    """Return the seconds of a night in which all samples run from the start, dealt evenly by length.

    No dealing is faster if all fit at once. The engines work less and less full until the longest ends.
    """
    ordered = sorted(lengths.values())
    seconds, before, count = len(ordered) * PROMPT_TOKENS / PREFILL / lanes, 0, len(ordered)
    for length in ordered:
        steps, running = length - before, count / lanes
        used = running * (before + (steps + 1) / 2)
        seconds += steps * (STEP_S + (WEIGHTS + KV_BYTES * used) / BANDWIDTH)
        before, count = length, count - 1
    return seconds
