"""Tasks that run programs: each row's own solution passes its tests, and that of the next row does not."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.data.packed_tests import unpack
from genbench.protocols import Row
from genbench.types import Answer, Case, SampleId
from tests.tasks.test_code_benchmarks import HUMANEVAL, LCB, MBPP, PLUS, STARTED

HALF = {
    "task_id": "HumanEval/1",
    "prompt": "\ndef half(x):\n    '''Half of x.'''\n",
    "entry_point": "half",
    "test": "def check(candidate):\n    assert candidate(2) == 1\n",
}
PLUS_TEST = PLUS.format(head="def check(candidate):\n    ", pad="    ", name="candidate")
MBPP_PLUS = {"task_id": 2, "prompt": "Double.", "test_imports": [], "test_list": ["assert twice(2) == 4"]}
TWICE, HALVE = "def twice(x):\n    return 2 * x\n", "def half(x):\n    return x / 2\n"
SUM, PRODUCT = (
    "a, b = map(int, input().split())\nprint(a + b)\n",
    "a, b = map(int, input().split())\nprint(a * b)\n",
)
PRODUCTS = LCB | {
    "question_id": "abc1_b",
    "public_test_cases": '[{"input": "2 3\\n", "output": "6\\n", "testtype": "stdin"}]',
    "private_test_cases": '[{"input": "3 4\\n", "output": "12\\n", "testtype": "stdin"}]',
}
DOUBLED = {"code": "def f(x):\n    return x + x"}
METHOD = "class Solution:\n    def f(self, x):\n        return x + 1\n"


def cpp_row(number: int, name: str, more: int) -> Row:
    """Return a row of MultiPL-E whose function adds a number."""
    return {
        "name": f"HumanEval_{number}_{name}",
        "language": "cpp",
        "prompt": f"#include<assert.h>\n// Add {more}.\nlong {name}(long a) {{\n",
        "tests": f"}}\nint main() {{\n    auto candidate = {name};\n"
        f"    assert(candidate(1) == {1 + more});\n}}\n",
        "stop_tokens": ["\n}"],
    }


def unittest_row(name: str, wanted: int) -> Row:
    """Return a row of BigCodeBench whose function changes a 4."""
    prompt = f"import numpy\ndef {name}(x):\n"
    return {
        "task_id": f"BigCodeBench/{name}",
        "complete_prompt": f'{prompt}    """Change x."""\n',
        "instruct_prompt": f"Change x. Start with:\n```\n{prompt}```",
        "canonical_solution": "    return x\n",
        "code_prompt": prompt,
        "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test_it(self):\n"
        f"        self.assertEqual({name}(4), {wanted})\n",
        "entry_point": name,
        "libs": "['numpy']",
    }


OPTIONS: dict[str, dict[str, Any]] = {"bigcodebench": {"environment": {"python": sys.prefix}}}
"""Options of verifiers that a suite has to give."""
ROWS: dict[str, list[tuple[Row, str]]] = {
    "bigcodebench": [
        # Without the import of the prompt, which stands before each program.
        (unittest_row("twice", 8), "def twice(x):\n    return int(numpy.multiply(2, x))\n"),
        (unittest_row("half", 2), HALVE),
    ],
    "humaneval": [(HUMANEVAL, TWICE), (HALF, HALVE)],
    "humaneval_plus": [
        (HUMANEVAL | {"test": PLUS_TEST}, TWICE),
        (HALF | {"test": PLUS_TEST.replace("[4, 6]", "[1, 1.5]")}, HALVE),
    ],
    "mbpp": [
        (MBPP | {"test_setup_code": "made = twice(1)"}, TWICE),
        (MBPP | {"task_id": 12, "test_list": ["assert half(2) == 1"]}, HALVE),
    ],
    "mbpp_plus": [
        (MBPP_PLUS | {"test": PLUS.format(head="", pad="", name="twice")}, TWICE),
        (
            MBPP_PLUS
            | {"task_id": 3, "test": PLUS.format(head="", pad="", name="half").replace("[4, 6]", "[1, 1.5]")},
            HALVE,
        ),
    ],
    "livecodebench": [(LCB, SUM), (PRODUCTS, PRODUCT), (STARTED, METHOD)],
    "cruxeval_o": [
        ({"id": "sample_0", **DOUBLED, "input": "2", "output": "4"}, "assert f(2) == 4"),
        ({"id": "sample_1", **DOUBLED, "input": "'a'", "output": "'aa'"}, 'assert f("a") == "aa"'),
    ],
    "cruxeval_i": [
        ({"id": "sample_0", **DOUBLED, "input": "2", "output": "4"}, "assert f(1 + 1) == 4"),
        ({"id": "sample_1", **DOUBLED, "input": "'a'", "output": "'aa'"}, "f('a')"),
    ],
    "multipl_e": [
        (cpp_row(0, "one", 1), "long one(long a) {\n    return a + 1;\n}\n"),
        (cpp_row(1, "two", 2), "long two(long a) {\n    return a + 2;\n}\n"),
    ],
}
NAMES = frozenset(ROWS)


def scores(task: Any, rows: Sequence[Row], programs: Sequence[str]) -> list[float]:
    """Return the score of each row's program. Rows keep their order."""
    options = task.info.verifier_options | OPTIONS.get(task.info.name, {})
    verifier = registry.load("verifier", task.info.verifier)(**options)
    found = []
    try:
        for problem, program in zip(task.problems(rows), programs, strict=True):
            ask = task.ask(problem, 0, ())
            answer = Answer(f"```python\n{program}\n```", "absent", "", False)
            case = Case(SampleId("t", problem.problem_id, 0), (answer,), ask.reference)
            found.append(verifier.verify(case).score)
    finally:
        verifier.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.toolchain if name == "multipl_e" else ()) for name in sorted(ROWS)],
)
def test_a_solution_is_right_for_its_own_row_alone(name: str) -> None:
    task = registry.load("task", name)()
    rows, programs = (list(column) for column in zip(*ROWS[name], strict=True))
    assert scores(task, rows, programs) == [1.0] * len(rows)
    assert scores(task, rows, programs[1:] + programs[:1]) == [0.0] * len(rows)


def own_solution(name: str, row: Row) -> str:
    """Return the solution that a public row has."""
    return str(row["prompt"] + row["canonical_solution"] if name == "humaneval" else row["code"])


SLOW = {"humaneval": set[str](), "mbpp": {"123"}}
"""Rows whose own solution needs about the three seconds that a program has."""


@pytest.mark.gold
@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("humaneval", 164), ("mbpp", 500)])
def test_every_public_solution_is_right_for_its_own_row_alone(name: str, count: int, shared: Path) -> None:
    task = registry.load("task", name)()
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    programs = [own_solution(name, row) for row in rows]
    ids = [problem.problem_id for problem in task.problems(rows)]
    own = dict(zip(ids, scores(task, rows, programs), strict=True))
    shifted = dict(zip(ids, scores(task, rows, programs[1:] + programs[:1]), strict=True))
    assert len(own) == count
    assert {problem for problem, score in own.items() if score != 1} <= SLOW[name]
    assert [problem for problem, score in shifted.items() if score != 0] == []


TABLE = """import json, sys
table = json.loads({table!r})
print(table.get(sys.stdin.read(), "?"))
"""
METHOD_TABLE = """import json
class Solution:
    def {name}(self, *given):
        return json.loads(json.loads({table!r}).get(json.dumps(given), '"?"'))
"""


def looked_up(row: Row) -> str:
    """Return a program that knows the tests of a row of LiveCodeBench by heart."""
    tests = unpack(str(row["public_test_cases"]), str(row["private_test_cases"]))
    name = json.loads(str(row["metadata"])).get("func_name")
    if name is None:
        return TABLE.format(table=json.dumps(dict(tests)))
    table = {
        json.dumps([json.loads(line) for line in given.split("\n")]): json.dumps(json.loads(wanted))
        for given, wanted in tests
    }
    return METHOD_TABLE.format(name=name, table=json.dumps(table))


@pytest.mark.gold
@pytest.mark.slow
def test_programs_that_know_their_tests_by_heart_pass_no_others(shared: Path) -> None:
    place = shared / "data/hub/livecodebench/code_generation_lite/v4_v5_small/test.jsonl"
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").split("\n") if line]
    task = registry.load("task", "livecodebench")(config="v4_v5_small")
    programs = [looked_up(row) for row in rows]
    assert len(rows) == 313
    assert scores(task, rows, programs) == [1.0] * len(rows)
    assert scores(task, rows, programs[1:] + programs[:1]) == [0.0] * len(rows)
