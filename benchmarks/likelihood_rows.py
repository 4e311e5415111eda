"""Rows of tasks and texts at boundaries against lm-eval: the part `rows` of `likelihood.py`."""
# ruff: noqa: PLC0415  the tokenizer's packages take seconds to import

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.likelihood_sides import ROOT, Side, max_difference
from benchmarks.likelihood_tasks import own_rows
from benchmarks.likelihood_texts import PAIRS, reference_tokens


def rows(arguments: argparse.Namespace) -> None:
    """Print how many rows of PIQA, of five subjects of MMLU and at boundaries are equal on both sides."""
    model = Path(arguments.model or ROOT / "genbench" / "_shipped" / "checkpoints" / "tiny-base")
    if arguments.task != "boundaries":
        task_rows(arguments, model)
    if not arguments.task or arguments.task == "boundaries":
        boundaries(arguments.lm_eval, model)


def task_rows(arguments: argparse.Namespace, model: Path) -> None:
    """Print how many rows of tasks are equal on both sides."""
    made = subprocess.run(
        [
            arguments.lm_eval,
            str(ROOT / "benchmarks" / "likelihood_tasks.py"),
            arguments.data,
            str(arguments.limit or 0),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HF_DATASETS_OFFLINE": "1"},
    )
    line = next((line for line in made.stdout.splitlines() if line.startswith("REPLY ")), None)
    if line is None:
        raise SystemExit(made.stderr[-3000:])
    theirs = {
        name: found
        for name, found in json.loads(line.removeprefix("REPLY ")).items()
        if not arguments.task or name.startswith(arguments.task)
    }
    ours = {name: own_rows(name, arguments.data, arguments.limit) for name in theirs}
    for name, found in theirs.items():
        same = sum(one["pairs"] == other["pairs"] for one, other in zip(found, ours[name], strict=True))
        print(
            f"{name}: {same} of {len(found)} rows have the contexts and continuations of lm-eval", flush=True
        )
    scored = {}
    for label, python, kind in (
        ("lm-eval", arguments.lm_eval, "lm-eval-side"),
        ("genbench", sys.executable, "genbench-side"),
    ):
        side = Side(python, kind, model, "float32")
        for name, found in theirs.items():
            seconds, scored[label, name] = side.score([row["pairs"] for row in found])
            print(f"{label} {name}: {seconds:.1f} s", flush=True)
        side.close()
    for name, found in theirs.items():
        left, right = scored["lm-eval", name], scored["genbench", name]
        verdicts = [
            accuracies(row, a) == accuracies(row, b) for row, a, b in zip(found, left, right, strict=True)
        ]
        print(
            f"{name}: acc and acc_norm equal in {sum(verdicts)} of {len(found)} rows, largest difference "
            f"{max_difference(left, right):.2g} nats",
            flush=True,
        )


def boundaries(python: str, model: Path) -> None:
    """Print how many texts at boundaries both sides score alike.

    A token with characters of context and continuation is counted differently. At a context of white space
    lm-eval ends: it has no token after the white space has moved, and its first row is None.
    """
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(str(model), None, False)
    kept = [pair for pair in PAIRS if not pair[0].isspace()]
    found = []
    for command, kind in ((python, "lm-eval-side"), (sys.executable, "genbench-side")):
        side = Side(command, kind, model, "float32")
        found.append(side.score([[list(pair)] for pair in kept])[1])
        side.close()
    merged = [reference_tokens(tokenizer, *pair)[2] for pair in kept]
    apart = [abs(left[0][0] - right[0][0]) for left, right in zip(*found, strict=True)]
    same = [left[0][1] == right[0][1] for left, right in zip(*found, strict=True)]
    plain = [place for place in range(len(kept)) if not merged[place]]
    equal = sum(apart[place] < 1e-3 and same[place] for place in plain)
    largest = max(apart[place] for place in plain)
    print(
        f"texts at boundaries: {equal} of {len(plain)} equal within 1e-3 nats and in greedy, largest "
        f"difference {largest:.2g} nats; {sum(merged)} more have a token over the boundary, which lm-eval "
        f"leaves in the context; {len(PAIRS) - len(kept)} have a context of white space only, at which "
        "lm-eval ends with an error",
        flush=True,
    )


def accuracies(row: dict[str, Any], found: Sequence[Sequence[Any]]) -> tuple[bool, bool]:
    """Return acc and acc_norm of a row, as lm-eval computes them."""
    sums = [pair[0] for pair in found]
    normed = [value / max(1, size) for value, size in zip(sums, row["sizes"], strict=True)]
    return sums.index(max(sums)) == row["gold"], normed.index(max(normed)) == row["gold"]
