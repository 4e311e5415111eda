"""What genbench and its settings cost on a GPU, with models of real sizes and dummy weights.

    python benchmarks/gpu.py                   # every part; about 20 minutes on one GPU with 80 GiB
    python benchmarks/gpu.py --small           # the same in small, also on the CPU build: does it work
    python benchmarks/gpu.py --part ratio --shape 8b

Parts, each in a process of its own so that one that fails does not end the others:

    ratio      `genbench run` against the bare engine, alternating rounds of the same requests
    sampling   tokens/s with seeds, without seeds, and without detokenization, one engine, rounds in turn
    invariant  tokens/s with VLLM_BATCH_INVARIANT=1, and the share of texts that stay equal in another batch
    plain      the same without it
    watermark  preemptions and wall time in a tight KV cache, watermark 0 and 0.05
    start      seconds to the first token: compile cache empty, then filled
    reload     other weights into a running engine: seconds against a fresh engine, and if texts are equal
    continued  whether a half-written text goes on to the same end: prompt and first half, same seed

Prints one Markdown table. Figures go into RESULTS.md with machine, versions and date.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.gpu_engine import Place, Scale  # noqa: E402  found through the line above
from benchmarks.gpu_parts import PART_FUNCTIONS, first_token  # noqa: E402

PARTS = ("ratio", "sampling", "plain", "invariant", "watermark", "start", "reload", "continued")
RESULT = "@@result "


LARGE = Scale(
    "1.7b", 1024, 512, 3, 512, 4, 2, {"arithmetic": 1024, "choice": 256, "code": 512, "instructions": 512}
)
SMALL = Scale("tiny", 24, 16, 1, 8, 1, 1, {"arithmetic": 12, "choice": 4, "code": 8, "instructions": 8})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--shape", choices=("tiny", "1.7b", "8b"), help="size of the model; 1.7b unless told")
    parser.add_argument("--small", action="store_true", help="a few requests to a tiny model")
    parser.add_argument("--rounds", type=int, help="how often each arm is measured, where time is short")
    parser.add_argument("--out", type=Path, help="a file that gets every row as JSON")
    parser.add_argument("--engine", action="append", default=[], metavar="KEY=JSON", help="argument of vLLM")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one part may take")
    parser.add_argument("--here", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        rows = measure(options)
        print(RESULT + json.dumps(rows), flush=True)
        return
    rows = []
    for part in options.part or PARTS:
        rows += run_part(part, options)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))
    print(table(rows))
    if any(row["value"] is None for row in rows):
        sys.exit(1)


def run_part(part: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One part in a process of its own; a part that fails gives one row that says so."""
    print(f"== {part}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, *forwarded(options), "--here", part]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=options.timeout,
            env=environment(part),
        )
        said = done.stdout
    except subprocess.TimeoutExpired as end:
        said = end.stdout.decode() if isinstance(end.stdout, bytes) else end.stdout or ""
    lines = [line for line in said.splitlines() if line.startswith(RESULT)]
    print(f"   {part}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if not lines:
        print("\n".join(said.splitlines()[-40:]), file=sys.stderr)  # vLLM's own log goes to standard output
        return [{"part": part, "what": "did not finish; its messages are above", "value": None, "unit": ""}]
    found: list[dict[str, Any]] = json.loads(lines[-1].removeprefix(RESULT))
    for row in found:
        print(f"   {row['what']}: {row['value']} {row['unit']}", file=sys.stderr, flush=True)
    return found


def forwarded(options: argparse.Namespace) -> list[str]:
    given = ["--small"] if options.small else []
    given += ["--shape", options.shape] if options.shape else []
    given += ["--rounds", str(options.rounds)] if options.rounds else []
    return given + [word for item in options.engine for word in ("--engine", item)]


def environment(part: str) -> dict[str, str]:
    """Variables of one part's process."""
    mine = {"VLLM_BATCH_INVARIANT": "1"} if part == "invariant" else {}
    return {**os.environ, **mine, "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING")}


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    scale = SMALL if options.small else LARGE
    if options.rounds:
        scale = replace(scale, rounds=options.rounds, pairs=options.rounds)
    shape = options.shape or scale.shape
    extra = {key: json.loads(value) for key, _, value in (item.partition("=") for item in options.engine)}
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), shape, scale, extra)
        found = PART_FUNCTIONS[options.here](place)
    return [{"part": options.here, "shape": shape, **row} for row in found]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown, under a line that says where they were measured."""
    lines = [where(), "", "| part | model | what | value |", "|---|---|---|---|"]
    for item in rows:
        value = "failed" if item["value"] is None else f"{item['value']} {item['unit']}".strip()
        lines.append(f"| {item['part']} | {item.get('shape', '')} | {item['what']} | {value} |")
    return "\n".join(lines)


def where() -> str:
    import torch  # noqa: PLC0415
    import vllm  # noqa: PLC0415

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return (
        f"{device}, {os.cpu_count()} cores, {platform.system()}; vLLM {vllm.__version__}, "
        f"torch {torch.__version__}, transformers {version('transformers')}; {time.strftime('%Y-%m-%d')}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here-first-token"]:
        asyncio.run(first_token(json.loads(sys.argv[2])))
    else:
        main()
