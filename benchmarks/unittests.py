"""BigCodeBench's own solutions in an environment: verdicts, mutants, CPU and memory.

    python benchmarks/unittests.py ENVIRONMENT ROWS.jsonl [--every 3] [--runs 3] [--tier a]

ENVIRONMENT is the folder of `make bigcodebench`, and ROWS a mirrored file. Each row's own solution is run
with its tests, several times. Then three programs that are wrong: a body of `return None`, a result in
a list, and the solution of another row. CPU is that of all processes, next to the CPU of a plain process
that runs the same program and tests with `unittest.main()`.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.sandbox.environment import open_environment
from genbench.sandbox.languages.language import Step
from genbench.sandbox.unittests import DEFAULT_LIMITS, UnittestRunner

_BARE = Step(
    ("",), wall_s=DEFAULT_LIMITS.wall_s, memory_mib=DEFAULT_LIMITS.memory_mib, file_mib=64, processes=256
)
Row = dict[str, Any]


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def solution(row: Row) -> str:
    """Return a row's own solution as a whole program."""
    return str(row["complete_prompt"] + row["canonical_solution"])


def returns_none(row: Row) -> str:
    """Return a program whose function returns None."""
    return f"{row['code_prompt']}\n    return None\n"


def in_a_list(row: Row) -> str:
    """Return the solution with a function that returns its result in a list."""
    name = row["entry_point"]
    again = f"def {name}(*args, **kwargs):\n    return [_own(*args, **kwargs)]\n"
    return f"{solution(row)}\n\n_own = {name}\n{again}"


def plain_cpu_s(runner: UnittestRunner, row: Row) -> float:
    """Return the CPU of a process that does nothing but run a program and its tests."""
    fonts = "import os\nos.environ['MPLCONFIGDIR'] = os.getcwd()\n"  # an ordinary home has the list of fonts
    text = f"{fonts}{solution(row)}\n{row['test']}\nunittest.main(argv=['x'], exit=False)\n"
    files = {**runner.font_list(), "main.py": (text.encode(), 0o644)}
    return runner.start(_BARE, ("main.py",), files).cpu_s


def main() -> None:
    """Print a line for each row, and the sums."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environment")
    parser.add_argument("rows", type=Path)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tier", choices=("a", "b"), default=None)
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").split("\n") if line]
    rows = rows[:: given.every]
    runner = UnittestRunner.open(open_environment({"python": given.environment}), given.tier)
    passed, unstable, credited = list[Row](), list[str](), Counter[str]()
    ours, plain, peak = 0.0, 0.0, list[int]()
    for row in rows:
        started = _cpu_s()
        outcomes = [runner.run(solution(row), row["test"]) for _ in range(given.runs)]
        spent = (_cpu_s() - started) / given.runs
        verdicts = {outcome.grade.verdict for outcome in outcomes}
        last = outcomes[-1].grade.why.strip().splitlines()[-1:]
        print(
            f"{row['task_id']}: {'/'.join(sorted(verdicts))} {spent:.2f} s {''.join(last)[:200]}", flush=True
        )
        unstable += [row["task_id"]] if len(verdicts) > 1 else []
        if verdicts == {"pass"}:
            passed.append(row)
            ours, plain = ours + spent, plain + plain_cpu_s(runner, row)
            peak.append(max(outcome.peak_mib for outcome in outcomes))
    print(f"{len(passed)} of {len(rows)} pass in {given.runs} runs; different verdicts: {unstable}")
    print(f"CPU {ours:.1f} s, plain {plain:.1f} s: {ours / plain:.2f} x; most memory {sorted(peak)[-3:]} MiB")
    limits = replace(DEFAULT_LIMITS, wall_s=60.0)
    for place, row in enumerate(passed):
        wrong = {
            "returns None": returns_none(row),
            "its result in a list": in_a_list(row),
            "another row's": solution(passed[place - 1]),
        }
        for name, program in wrong.items():
            credited[f"{name}, tried"] += 1
            if runner.run(program, row["test"], limits).grade.verdict == "pass":
                credited[name] += 1
                print(f"{row['task_id']}: passes with {name}")
    print(dict(credited))


if __name__ == "__main__":
    main()
