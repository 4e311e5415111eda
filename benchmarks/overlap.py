"""Speed, memory and finds of `genbench contamination text` on training files that this script makes.

    python benchmarks/overlap.py [--megabytes 300] [--data-dir MIRROR]

The files contain made-up text with known copies of MATH-500 problems (as they are, in other case and spacing,
only the second half, one word in twelve changed). They are searched as JSON Lines, gzip, Zstandard and
Parquet. The anchor is `cat FILE | wc`, in the same run. MATH-500 is read from the mirror (default:
$GENBENCH_GOLD/data/hub).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.runs.training_overlap import overlap

WAYS = ("as it is", "other case and spaces", "second half", "a word in 12 changed")


def problems(mirror: Path) -> list[str]:
    path = mirror / "HuggingFaceH4/MATH-500/default/test.jsonl"
    return [json.loads(line)["problem"] for line in path.read_text().splitlines()]


def changed(text: str, way: str, rng: random.Random) -> str:
    words = text.split()
    if way == "other case and spaces":
        return "  ".join(words).upper()
    if way == "second half":
        return " ".join(words[len(words) // 2 :])
    if way == "a word in 12 changed":
        return " ".join(
            rng.choice(("red", "blue")) if at % 12 == 11 else word for at, word in enumerate(words)
        )
    return text


def documents(megabytes: float, known: list[str], seed: int) -> Iterator[tuple[str, str | None]]:
    """Yield made-up texts, and which way one of the problems is in it."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 10))) for _ in range(50_000)]
    blocks = [" ".join(rng.choices(vocabulary, k=120)) for _ in range(4000)]
    written, copies = 0, [(way, text) for way in WAYS for text in known[:50]]
    rng.shuffle(copies)
    every = int(megabytes * 1e6 / (len(copies) + 1))
    while written < megabytes * 1e6:
        text = "\n".join(rng.choices(blocks, k=rng.randint(1, 6)))
        way = None
        if copies and written > every * (201 - len(copies)):
            way, problem = copies.pop()
            text = f"{text}\n{changed(problem, way, rng)}\n{rng.choice(blocks)}"
        written += len(text)
        yield text, way


def write(folder: Path, megabytes: float, known: list[str]) -> list[Path]:
    plain = folder / "corpus.jsonl"
    with plain.open("w") as file:
        for number, (text, _) in enumerate(documents(megabytes, known, 1)):
            file.write(json.dumps({"id": number, "messages": [{"role": "user", "content": text}]}) + "\n")
    packed = folder / "packed.jsonl.gz"
    with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        while part := source.read(1 << 20):
            target.write(part)
    zstd = folder / "zstd.jsonl.zst"
    with plain.open("rb") as source, pa.output_stream(str(zstd), compression="zstd") as target:
        while part := source.read(1 << 20):
            target.write(part)
    rows = [text for text, _ in documents(megabytes, known, 1)]
    pq.write_table(pa.table({"text": rows}), folder / "table.parquet", row_group_size=2000)
    return [plain, packed, zstd, folder / "table.parquet"]


def anchor(path: Path) -> float:
    start = time.perf_counter()
    subprocess.run(["sh", "-c", f"cat {path} | wc"], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument(
        "--data-dir", type=Path, default=Path(os.environ.get("GENBENCH_GOLD", ".")) / "data/hub"
    )
    options = parser.parse_args()
    known = problems(options.data_dir)
    with tempfile.TemporaryDirectory() as name:
        files = write(Path(name), options.megabytes, known)
        size = files[0].stat().st_size
        print(f"{size / 1e6:.0f} MB of JSON Lines; cat | wc: {anchor(files[0]):.1f} s\n", flush=True)
        print("| file | MB on disk | s | CPU s | GB of text a minute | problems found | peak MB |")
        print("|---|---|---|---|---|---|---|")
        for path in files:
            start, cpu = time.perf_counter(), time.process_time()
            found = overlap(["math500"], [path], mirror=options.data_dir, quiet=False)
            seconds, used = time.perf_counter() - start, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(
                f"| {path.suffix} | {path.stat().st_size / 1e6:.0f} | {seconds:.1f} | {used:.1f} | "
                f"{60 * size / seconds / 1e9:.2f} ({60 * size / used / 1e9:.2f} a CPU minute) | "
                f"{found.tasks['math500'].found} | {peak:.0f} |",
                flush=True,
            )
        _finds(options.data_dir, known, Path(name))


def _finds(mirror: Path, known: list[str], folder: Path) -> None:
    """Print how many of 50 problems are found in each kind of copy."""
    print("\n| copy | found of 50 | half of the n-grams or more |\n|---|---|---|")
    for way in WAYS:
        path = folder / f"{way}.jsonl"
        rng = random.Random(2)
        path.write_text("".join(json.dumps({"text": changed(text, way, rng)}) + "\n" for text in known[:50]))
        found = overlap(["math500"], [path], mirror=mirror).tasks["math500"]
        print(f"| {way} | {found.found} | {found.mostly} |", flush=True)


if __name__ == "__main__":
    main()
