"""A million ready responses through `run --responses`, `score --again` and `report`: memory and speed.

    python benchmarks/replay_million.py [--samples N] [--shape both] [--different] [--folder DIR] [--only-run]

Two shapes: `wide` is 12,032 multiple-choice problems (MMLU-Pro's number) and `deep` 30 problems of integer
answers (AIME's); `both` has half of each in one suite. Wide tasks ask each problem k times until the number
of samples is reached, `--wide-k 1` makes more tasks of one sample a problem instead; deep tasks have k = 64.
Tasks of a kind share one file of rows, unless `--different` gives every task its own.
Every answer's verdict is known beforehand, so that the table can be checked, not only made.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

WIDE_N, DEEP_N, DEEP_K = 12_032, 30, 64
BAR_BYTES = 1 << 30
EVERY_S = 0.25
WORDS = (
    "add",
    "the",
    "terms",
    "and",
    "check",
    "that",
    "each",
    "side",
    "holds",
    "before",
    "we",
    "name",
    "what",
    "is",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """One task: so many problems, each sampled k times."""

    name: str
    kind: str
    n: int
    k: int


@dataclass(slots=True)
class Watched:
    """What one command cost: wall and CPU seconds, resident memory of its own process over time."""

    wall_s: float
    cpu_s: float
    tree_peak: int
    rss: list[tuple[float, int]]

    @property
    def peak(self) -> int:
        return max(size for _, size in self.rss)

    def at(self, share: float) -> int:
        """The largest resident memory of the run's first `share`."""
        return max(size for when, size in self.rss if when <= share * self.wall_s or when == self.rss[0][0])


def shapes(samples: int, which: str, wide_k: int | None) -> list[Shape]:
    """Tasks that together have at least `samples` samples."""
    half = samples // 2 if which == "both" else samples
    found: list[Shape] = []
    if which in ("wide", "both"):
        n = min(WIDE_N, half)
        k = wide_k or -(-half // n)
        found += [Shape(f"wide{i}", "choice", n, k) for i in range(-(-half // (n * k)))]
    if which in ("deep", "both"):
        found += [Shape(f"deep{i}", "math", DEEP_N, DEEP_K) for i in range(-(-half // (DEEP_N * DEEP_K)))]
    return found


def suite(tasks: Sequence[Shape], different: bool = False) -> dict[str, Any]:
    """A suite as JSON, which is YAML. With `different` every task has a file of its own."""
    fields = {
        "choice": {"id": "id", "question": "question", "options": "options", "reference": "answer"},
        "math": {"id": "id", "question": "question", "reference": "reference"},
    }
    return {
        "name": "replay",
        "models": {"m": {"path": "none"}},
        "engine": {"max_num_seqs": 64},
        "decoding": {"temperature": 0.6, "top_p": 0.95, "max_tokens": 1024, "seed": 0},
        "tasks": [
            {
                "name": task.name,
                "kind": task.kind,
                "data": {"path": file_of(task, different), "fields": fields[task.kind]},
                "prompt": "{question}",
                "k": task.k,
            }
            for task in tasks
        ],
    }


def file_of(task: Shape, different: bool) -> str:
    """The name of the task's file."""
    return f"{task.name if different else task.kind}.jsonl"


def rows(kind: str, count: int, title: str = "Problem") -> Iterator[dict[str, Any]]:
    """Problems of about 120 characters."""
    for i in range(count):
        question = f"{title} {i}: what is {i} plus {3 * i + 1}, " + " ".join(WORDS[: 6 + i % 10]) + "?"
        if kind == "math":
            yield {"id": f"p{i}", "question": question, "reference": str(4 * i + 1)}
        else:
            options = [f"it is {4 * i + 1 + shift}" for shift in range(4)]
            yield {"id": f"p{i}", "question": question, "options": options, "answer": 0}


def responses(tasks: Sequence[Shape], right: dict[str, int]) -> Iterator[dict[str, Any]]:
    """All samples, a third of them wrong at random; counts the right ones of each task in `right`."""
    rng = random.Random(7)
    for task in tasks:
        right[task.name] = 0
        for index in range(task.k):
            for i in range(task.n):
                good = rng.random() < 2 / 3
                right[task.name] += good
                thought = " ".join(rng.choices(WORDS, k=12))
                answer = f"\\boxed{{{4 * i + 1 + (not good)}}}" if task.kind == "math" else "BA"[good]
                text = f"<think>{thought}</think>{thought}. The answer is {answer}"
                yield {
                    "task": task.name,
                    "problem_id": f"p{i}",
                    "sample_index": index,
                    "text": text if task.kind == "math" else f"{text}.",
                    "finish_reason": "stop",
                    "completion_tokens": 30,
                    "prompt_tokens": 40,
                }


def write(folder: Path, tasks: Sequence[Shape], different: bool = False) -> dict[str, int]:
    """Suite, data and responses; returns how many answers of each task are right."""
    right: dict[str, int] = {}
    (folder / "suite.yaml").write_text(json.dumps(suite(tasks, different)))
    for name in {file_of(task, different) for task in tasks}:
        of_file = [task for task in tasks if file_of(task, different) == name]
        title = f"{of_file[0].name}, problem" if different else "Problem"
        found = rows(of_file[0].kind, max(task.n for task in of_file), title)
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found))
    with (folder / "responses.jsonl").open("w") as file:
        for record in responses(tasks, right):
            file.write(json.dumps(record) + "\n")
    return right


def watched(folder: Path, *arguments: str) -> Watched:
    """Runs one command of genbench to its end and samples its memory."""
    started = time.monotonic()
    process = psutil.Popen(
        [sys.executable, "-m", "genbench", *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    found = Watched(0.0, 0.0, 0, [])
    cpu: dict[int, float] = {}
    while process.poll() is None:
        try:
            family = [process, *process.children(recursive=True)]
            sizes = [member.memory_info().rss for member in family]
            found.rss.append((time.monotonic() - started, sizes[0]))
            found.tree_peak = max(found.tree_peak, sum(sizes))
            for member in family:
                times = member.cpu_times()
                cpu[member.pid] = times.user + times.system
        except psutil.NoSuchProcess:
            pass  # a worker that ended between two looks
        time.sleep(EVERY_S)
    if process.returncode != 0:
        sys.exit(f"genbench {arguments[0]} ended with {process.returncode}")
    found.wall_s, found.cpu_s = time.monotonic() - started, sum(cpu.values())
    return found


def check(folder: Path, tasks: Sequence[Shape], right: dict[str, int]) -> int:
    """The table against what was written: every sample there once, every mean exact; samples in all."""
    run = folder / "run" / "m"
    results = json.loads((run / "results.json").read_text())
    for task in tasks:
        record = results["tasks"][task.name]
        samples = task.n * task.k
        assert record["samples"] == samples and record["excluded"] == 0, record
        assert record["status_counts"] == {"correct": right[task.name], "wrong": samples - right[task.name]}
        assert abs(record["value"] - right[task.name] / samples) < 1e-12
        low, high = record["ci"]
        assert low < record["value"] < high
    total = sum(task.n * task.k for task in tasks)
    assert pq.read_metadata(run / "samples.parquet").num_rows == total
    return total


def line(what: str, samples: int, found: Watched) -> str:
    mib = 1 << 20
    quarters = ", ".join(f"{found.at(share) / mib:.0f}" for share in (0.25, 0.5, 0.75, 1.0))
    return (
        f"{what:14s} {found.wall_s:8.1f} s {samples / found.wall_s:9,.0f} samples/s "
        f"{1e6 * found.cpu_s / samples:7.0f} CPU us/sample  peak {found.peak / mib:6.0f} MiB "
        f"(by quarter of the time: {quarters}), with workers {found.tree_peak / mib:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--shape", choices=("wide", "deep", "both"), default="both")
    parser.add_argument("--wide-k", type=int, help="samples of a problem in a wide task; 1 makes many tasks")
    parser.add_argument("--different", action="store_true", help="every task has rows of its own")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder by default")
    parser.add_argument("--only-run", action="store_true", help="leave out score and report")
    arguments = parser.parse_args()
    tasks = shapes(arguments.samples, arguments.shape, arguments.wide_k)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        right = write(folder, tasks, arguments.different)
        options = ("suite.yaml", "--responses", "responses.jsonl", "--run-dir", "run")
        costs = {"run": watched(folder, "run", *options)}
        total = check(folder, tasks, right)
        if not arguments.only_run:
            costs["score --again"] = watched(folder, "score", "run/m", "--again")
            check(folder, tasks, right)
            costs["report"] = watched(folder, "report", "run/m")
            check(folder, tasks, right)
    print(f"{total:,} samples in {len(tasks)} tasks; every mean and every status count is exact")
    for what, found in costs.items():
        print(line(what, total, found))
    worst = max(found.peak for found in costs.values())
    print(f"largest resident memory {worst / (1 << 20):.0f} MiB; the bar is 1,024 MiB")
    sys.exit(worst >= BAR_BYTES)


if __name__ == "__main__":
    main()
