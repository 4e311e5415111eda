"""BigCodeBench's own solutions in an environment: verdicts, mutants, CPU and memory.

    python benchmarks/unittests.py ENVIRONMENT ROWS.jsonl [--every 3] [--runs 3] [--tier a]

ENVIRONMENT is the folder of `make bigcodebench`, and ROWS a mirrored file. Each row's own solution is run
with its tests, several times. Then three programs that are wrong: a body of `return None`, another constant,
and the solution of another row. CPU is that of all processes, next to the CPU of a plain process that runs
the same program and tests with `unittest.main()`.
"""

from __future__ import annotations

import argparse
import ast
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


class _OtherConstant(ast.NodeTransformer):
    """Changes the first number or text in the body of a function."""

    done = False

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if self.done or isinstance(node.value, bool | bytes | type(None) | type(...)):
            return node
        self.done = True
        value = f"{node.value}x" if isinstance(node.value, str) else node.value + 17
        return ast.copy_location(ast.Constant(value), node)


def other_constant(row: Row) -> str | None:
    """Return the solution with another constant in its last statement that has one, or None."""
    tree = ast.parse(solution(row))
    own = [
        item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == row["entry_point"]
    ]
    for statement in reversed(own[-1].body if own else []):
        change = _OtherConstant()
        changed = change.visit(statement)
        if change.done:
            own[-1].body[own[-1].body.index(statement)] = changed
            return ast.unparse(ast.fix_missing_locations(tree))
    return None


def plain_cpu_s(runner: UnittestRunner, row: Row) -> float:
    """Return the CPU of a process that does nothing but run a program and its tests."""
    text = f"{solution(row)}\n{row['test']}\nunittest.main(argv=['x'], exit=False)\n"
    return runner.start(_BARE, ("main.py",), {"main.py": (text.encode(), 0o644)}).cpu_s


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
            "another constant": other_constant(row),
            "another row's": solution(passed[place - 1]),
        }
        for name, program in wrong.items():
            if program is None:
                continue
            credited[f"{name}, tried"] += 1
            if runner.run(program, row["test"], limits).grade.verdict == "pass":
                credited[name] += 1
                print(f"{row['task_id']}: passes with {name}")
    print(dict(credited))


if __name__ == "__main__":
    main()
