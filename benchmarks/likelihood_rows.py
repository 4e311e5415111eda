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

from benchmarks.likelihood_sides import ROOT, Pairs, Results, Side, max_difference
from benchmarks.likelihood_tasks import own_rows
from benchmarks.likelihood_texts import PAIRS, reference_tokens

_BOUNDARIES = "boundaries"
_KEPT = [pair for pair in PAIRS if not pair[0].isspace()]
"""At a context of white space lm-eval ends with an error. The white space moves into the continuation, so the
context has no token, and the first row of vLLM is None."""


def rows(arguments: argparse.Namespace) -> None:
    """Print how many rows of PIQA, of five subjects of MMLU and at boundaries are equal on both sides.

    Each side loads its engine once.
    """
    model = Path(arguments.model or ROOT / "genbench" / "_shipped" / "checkpoints" / "tiny-base")
    wanted = tuple(arguments.task or [""])
    theirs = {} if wanted == (_BOUNDARIES,) else lm_eval_rows(arguments, wanted)
    ours = {name: own_rows(name, arguments.data, arguments.limit) for name in theirs}
    for name, found in theirs.items():
        same = sum(one["pairs"] == other["pairs"] for one, other in zip(found, ours[name], strict=True))
        print(
            f"{name}: {same} of {len(found)} rows have the contexts and continuations of lm-eval", flush=True
        )
    asked = {name: [row["pairs"] for row in found] for name, found in theirs.items()}
    if _BOUNDARIES.startswith(wanted):
        asked[_BOUNDARIES] = [[list(pair)] for pair in _KEPT]
    scored = {label: _scored(label, arguments.lm_eval, model, asked) for label in ("lm-eval", "genbench")}
    for name, found in theirs.items():
        _print_rows(name, found, scored["lm-eval"][name], scored["genbench"][name])
    if _BOUNDARIES in asked:
        _print_boundaries(model, scored["lm-eval"][_BOUNDARIES], scored["genbench"][_BOUNDARIES])


def lm_eval_rows(arguments: argparse.Namespace, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the requests of lm-eval's tasks whose names begin with one of `wanted`."""
    script = str(ROOT / "benchmarks" / "likelihood_tasks.py")
    made = subprocess.run(
        [arguments.lm_eval, script, arguments.data, str(arguments.limit or 0)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HF_DATASETS_OFFLINE": "1"},
    )
    line = next((line for line in made.stdout.splitlines() if line.startswith("REPLY ")), None)
    if line is None:
        raise SystemExit(made.stderr[-3000:])
    found = json.loads(line.removeprefix("REPLY "))
    return {name: rows for name, rows in found.items() if name.startswith(wanted)}


def _scored(label: str, lm_eval: str, model: Path, asked: dict[str, Pairs]) -> dict[str, Results]:
    side = Side(lm_eval if label == "lm-eval" else sys.executable, f"{label}-side", model, "float32")
    found = {}
    for name, pairs in asked.items():
        seconds, found[name] = side.score(pairs)
        print(f"{label} {name}: {seconds:.1f} s", flush=True)
    side.close()
    return found


def _print_rows(name: str, rows_: Sequence[dict[str, Any]], left: Results, right: Results) -> None:
    equal = sum(
        accuracies(row, a) == accuracies(row, b) for row, a, b in zip(rows_, left, right, strict=True)
    )
    print(
        f"{name}: acc and acc_norm equal in {equal} of {len(rows_)} rows, largest difference "
        f"{max_difference(left, right):.2g} nats",
        flush=True,
    )


def _print_boundaries(model: Path, left: Results, right: Results) -> None:
    """Print how many texts both sides score alike.

    A token with characters of context and continuation is counted differently.
    """
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(str(model), None, False)
    merged = [reference_tokens(tokenizer, *pair)[2] for pair in _KEPT]
    apart = [abs(one[0][0] - other[0][0]) for one, other in zip(left, right, strict=True)]
    same = [one[0][1] == other[0][1] for one, other in zip(left, right, strict=True)]
    plain = [place for place in range(len(_KEPT)) if not merged[place]]
    equal = sum(apart[place] < 1e-3 and same[place] for place in plain)
    largest = max(apart[place] for place in plain)
    print(
        f"texts at boundaries: {equal} of {len(plain)} equal within 1e-3 nats and in greedy, largest "
        f"difference {largest:.2g} nats; {sum(merged)} more have a token over the boundary, which lm-eval "
        f"leaves in the context; {len(PAIRS) - len(_KEPT)} have a context of white space only, at which "
        "lm-eval ends with an error",
        flush=True,
    )


def accuracies(row: dict[str, Any], found: Sequence[Sequence[Any]]) -> tuple[bool, bool]:
    """Return acc and acc_norm of a row, as lm-eval computes them."""
    sums = [pair[0] for pair in found]
    normed = [value / max(1, size) for value, size in zip(sums, row["sizes"], strict=True)]
    return sums.index(max(sums)) == row["gold"], normed.index(max(normed)) == row["gold"]
