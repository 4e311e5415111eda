"""CPU a sample of each verifier and of the host process, next to the last row of RESULTS.md.

    make bench-quick        # under three minutes

Verifiers get the rows of the shipped tasks, half of them with a right answer, through the pool of a run. The
host process draws short answers from a stand-in for the engine's core (host.py), so no model is loaded. The
last line is a row for RESULTS.md. A figure that is half as large again as the last row's is marked.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.throughput import KINDS, suite, verifier_cpu_s, write_byte_code
from genbench.runs.execution.scoring import case_of
from genbench.suite.suitefile import read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task
from genbench.types import Answer, Case, Problem
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADING = "## Quick figures (`make bench-quick`)"
MARKED = 1.5


def right(kind: str, reference: Any) -> str:
    """Return an answer that should pass, except that of instructions, which is some text."""
    match kind:
        case "math":
            return f"First the sum is taken step by step. The answer is \\boxed{{{reference}}}."
        case "choice":
            return f"The other options do not fit, so the answer is ({reference})."
        case "code":
            known = {json.dumps(json.loads(test["input"])): test["output"] for test in reference["tests"]}
            return (
                f"```python\nimport json\n\nKNOWN = {known!r}\n\n\ndef {reference['fn_name']}(value):\n"
                "    return json.loads(KNOWN[json.dumps(value)])\n```"
            )
        case _:
            return "This is a reply of two sentences. It ends here, and it names nothing.\n\n* one\n* two"


def wrong(kind: str, reference: Any) -> str:
    """Return an answer of the same form that fails."""
    match kind:
        case "math":
            return "First the sum is taken step by step. The answer is \\boxed{-987654}."
        case "choice":
            return "None of the options fits, so there is no answer."
        case "code":
            return f"```python\ndef {reference['fn_name']}(value):\n    return [value, value]\n```"
        case _:
            return "no"


def cases(task: LoadedTask, kind: str) -> list[Case]:
    """Return a case of each problem, right and wrong in turn."""

    def case(place: int, problem: Problem) -> Case:
        text = (wrong if place % 2 else right)(kind, task.reference(problem, 0))
        return case_of(task, problem, 0, [Answer(text, "absent", "", False)])

    return [case(place, problem) for place, problem in enumerate(task.problems)]


async def verification(task: LoadedTask, kind: str) -> tuple[float, float]:
    """Return CPU seconds of loading, and milliseconds a sample. The first sample counts as loading."""
    spec, work = VerifierSpec(task.verifier, task.verifier_options, task.folder), cases(task, kind)
    async with VerifierPool(1) as pool:
        await pool.open(spec)
        await pool.verify(spec, work[0])
        loaded = verifier_cpu_s()
        await asyncio.gather(*(pool.verify(spec, case) for case in work))
        return loaded, 1000 * (verifier_cpu_s() - loaded) / len(work)


def figures() -> dict[str, float]:
    """Return what is measured, by the name of its column."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        read = read_suite(suite(Path(name), 1, 64, 96))
        loading = 0.0
        for config, (kind, _) in zip(read.config.tasks, KINDS.values(), strict=True):
            loaded, found[f"{kind}, ms"] = asyncio.run(
                verification(load_task(read, config, None, None), kind)
            )
            loading += loaded
    found["all loaded, CPU s"] = loading
    from benchmarks import host  # noqa: PLC0415  vLLM's front end takes 10 s to import

    clocks = host.measured(2, 2, 40, 64, 100)
    us = host.sample_us(clocks, 800)
    found["host beyond bare, ms"] = (us["genbench"] - min(us["bare"], us["bare, no texts"])) / 1000
    return found


def last_row() -> Mapping[str, str]:
    """Return the last row of the table in RESULTS.md, by column. It is empty if there is no table."""
    lines = RESULTS.read_text(encoding="utf-8").partition(HEADING)[2].splitlines()
    table: list[list[str]] = []
    for line in lines:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split("|")])
        elif table:
            break
    return dict(zip(table[0], table[-1], strict=True)) if len(table) > 2 else {}


def main() -> None:
    write_byte_code()
    began = time.monotonic()
    found, last = figures(), last_row()
    print(f"| figure | now | {next(iter(last.values()), 'no row yet')} |\n|---|---|---|")
    for name, value in found.items():
        before = last.get(name, "-")
        mark = " (more)" if before != "-" and value > MARKED * float(before) else ""
        print(f"| {name} | {value:.2f}{mark} | {before} |")
    print(f"{time.monotonic() - began:.0f} s. A row for RESULTS.md:")
    print(
        f"| {datetime.now(UTC):%Y-%m-%d} | " + " | ".join(f"{value:.2f}" for value in found.values()) + " |"
    )


if __name__ == "__main__":
    main()
