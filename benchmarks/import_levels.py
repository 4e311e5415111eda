"""Count of task definitions by level and kind of output, next to the count of lm-evaluation-harness 4e7e0d47.

    python benchmarks/import_levels.py DEFINITIONS

DEFINITIONS is lm_eval/tasks. Nothing of it is executed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from genbench.interop.tasks.harness.levels import level_report

KNOWN = {
    "1": (3720, 1641, 2078),
    "1c": (811, 741, 29),
    "2": (6239, 1265, 4964),
    "2c": (143, 126, 1),
    "3": (1975, 705, 1259),
    "4": (43, 43, 0),
    "out": (100, 70, 0),
}
"""By level: tasks, those that generate, those with choices. Commit of 2026-08-21, 13,031 tasks in all."""
STEPS = {
    "without foreign code (1, 1c)": ("1", "1c"),
    "rows and prompts by code (to 2c)": ("2", "2c"),
    "scores by code too (to 3)": ("3",),
    "datasets by code too (to 4)": ("4",),
}
BEFORE = dict(zip(STEPS, ("34.8 %", "83.7 %", "98.9 %", "99.2 %"), strict=True))
"""Shares of the same commit."""


def main() -> None:
    """Print the table, and how many tasks are of another level than counted for that commit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("definitions", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    report = level_report(options.definitions, tell)
    seconds = time.monotonic() - began
    print("| level | tasks | before | generate_until | before | multiple_choice | before |")
    print("|---|---|---|---|---|---|---|")
    moved = 0
    for level, known in KNOWN.items():
        outputs = report.levels.get(level, {})
        found = (sum(outputs.values()), outputs.get("generate_until", 0), outputs.get("multiple_choice", 0))
        moved += abs(found[0] - known[0])
        cells = [f"{own:,} | {before:,}" for own, before in zip(found, known, strict=True)]
        print(f"| {level} | {' | '.join(cells)} |")
    families = len(report.families)
    print(f"\n{report.tasks:,} tasks, {report.groups:,} groups, {families} families; {seconds:.0f} s")
    print(f"sum of the differences by level: {moved:,} ({moved / 13031:.1%} of 13,031)")
    counts = {level: sum(outputs.values()) for level, outputs in report.levels.items()}
    total = 0
    for words, levels in STEPS.items():
        total += sum(counts.get(level, 0) for level in levels)
        before = BEFORE[words]
        print(f"{words}: {total:,} ({total / report.tasks:.1%}; before {before})")
    print(f"imported by a door of genbench: {1 - sum(report.refused.values()) / report.tasks:.1%}")
    for reason, count in report.refused.items():
        print(f"  {count:,} tasks: {reason}")


def tell(done: int, of: int) -> None:
    """Show how many files were read."""
    if done == of or done % 500 == 0:
        print(f"\r{done:,} of {of:,} files", end="\n" if done == of else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
