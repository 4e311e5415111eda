"""Seconds to import genbench.pipeline and to print `genbench --help`, before and after, in alternating pairs.

    python benchmarks/imports.py CHECKOUT_BEFORE CHECKOUT_AFTER [--pairs 20]

Each measurement is a new process of this interpreter with one of the checkouts in front of its path. The
first pair fills the caches of compiled modules and is not counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

CODES = {
    "import genbench.pipeline": "import genbench.pipeline",
    "genbench --help": "import sys; sys.argv = ['genbench', '--help']; from genbench.cli import main; main()",
}


def seconds(checkout: Path, code: str) -> float:
    """Return the wall seconds of one new process that runs `code` on a checkout."""
    variables = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code], env=variables, stdout=subprocess.DEVNULL, check=True, cwd=checkout
    )
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    arms = {"before": options.before, "after": options.after}
    print("| what | before, s | after, s | ratio of pairs |", "|---|---|---|---|", sep="\n")
    for what, code in CODES.items():
        found: dict[str, list[float]] = {name: [] for name in arms}
        for number in range(options.pairs + 1):
            for name in arms if number % 2 else reversed(arms):
                took = seconds(arms[name], code)
                if number:
                    found[name].append(took)
        ratios = [after / before for before, after in zip(found["before"], found["after"], strict=True)]
        cells = [f"{statistics.median(found[name]):.2f} (least {min(found[name]):.2f})" for name in arms]
        print(f"| {what} | {cells[0]} | {cells[1]} | {statistics.median(ratios):.2f} |")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"\n{options.pairs} pairs in turn, medians; load {load} on {os.cpu_count()} cores; "
        f"Python {platform.python_version()}, numpy {version('numpy')}, scipy {version('scipy')}, "
        f"pydantic {version('pydantic')}; {time.strftime('%Y-%m-%d')}"
    )


if __name__ == "__main__":
    main()
