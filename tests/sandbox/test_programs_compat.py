"""Mode lcb-compat: the quirks of LiveCodeBench's own evaluator, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.programs import Check, Grade, Limits, Mode, Program

Run = Callable[..., Grade]
TEXT = "1\n5\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("print(input())\nprint(input())", "pass"),
        ("import sys\nprint(sys.stdin.read())", "pass"),
        ("import sys\nsys.stdin.readline()\nprint(sys.stdin.read())", "pass"),  # read always gives everything
        (
            "from sys import stdin\nprint(stdin.readline() + '\\n' + stdin.readline())",
            "pass",
        ),  # without its end
        ("import sys\nprint(*sys.stdin.readlines(), sep='\\n')", "pass"),
        ("import sys\nassert sys.stdin.readlines() == ['1', '5', '']\nprint('1\\n5')", "pass"),
        (
            "import sys\nr = sys.stdin.buffer.readline\nprint(r().decode() + r().decode())",
            "wrong",
        ),  # always the first
        ("import sys\nfor line in sys.stdin: print(line)", "runtime_error"),
        ("print(open(0).read())", "wrong"),
        ("import os\nos.write(1, b'1\\n5\\n')", "wrong"),
        ("import sys\nsys.stdout.buffer.write(b'1\\n5')", "runtime_error"),
        ("from sys import stdout\nstdout.write('1\\n5')", "wrong"),
        ("print('1\\n5')\nquit()", "runtime_error"),
        ("print('1\\n5')\nexit()", "pass"),
        ("print('1\\n5')\nimport sys\nsys.exit(3)", "pass"),
        ("print('1\\n5')\nreturn\nprint('x')", "pass"),
        ("n = 0\ndef f():\n    global n\n    n += 1\nf()\nprint('1\\n5')", "runtime_error"),
        ("try:\n    from math import *\nexcept ImportError: pass\nprint('1\\n5')", "runtime_error"),
        ("def main(): print('1\\n5')\nif __name__ == '__main__': main()", "pass"),
        ("def main(): print('1\\n5')\nif '__main__' == __name__: main()", "wrong"),
        ("def main(): print('1\\n5')\nif __name__ == '__main__': main()\npass", "wrong"),
        ("from __future__ import annotations\nprint('1\\n5')", "runtime_error"),
        ("import os\nos.getcwd()", "runtime_error"),
        ("import resource", "runtime_error"),
        ("import os\nprint('1\\n5', flush=True)\nos._exit(0)", "runtime_error"),
        ("import threading\nthreading.Thread(target=lambda: print('1\\n5')).start()", "pass"),
        ("", "runtime_error"),
        ("# nothing", "runtime_error"),
        ("while True: pass", "timeout"),
        ("class Solution: pass\nprint('1\\n5')", "runtime_error"),
    ],
)
def test_a_program_that_reads_and_prints(text: str, verdict: str, run: Run) -> None:
    graded = run(text, (TEXT, "1\n5\n"), mode="lcb-compat", limits=Limits(wall_s=1))
    assert (graded.verdict, graded.why if graded.verdict != verdict else "") == (verdict, "")


def test_the_module_lives_on_from_test_to_test_and_locals_do_not(run: Run) -> None:
    text = "import math\nn = 1\nmath.n = getattr(math, 'n', 0) + 1\nprint(n, math.n)"
    assert run(text, ("", "1 1"), ("", "1 2"), mode="lcb-compat").verdict == "pass"


def test_one_solution_object_answers_all_calls(run: Run) -> None:
    text = "class Solution:\n    n = 0\n    def f(self, x):\n        self.n += 1\n        return self.n"
    calls = {"kind": "functional", "fn_name": "f", "mode": "lcb-compat"}
    assert run(text, ("0", "1"), ("0", "2"), **calls).verdict == "pass"
    assert run(text, ("0", "1"), ("0", "1"), **calls).test == 1


def test_each_line_of_input_is_one_argument(run: Run) -> None:
    text = "def f(a, b): return [b, a]"
    calls = {"kind": "functional", "fn_name": "f", "mode": "lcb-compat"}
    assert run(text, ('[1]\n"x"', '["x", [1]]'), **calls).verdict == "pass"
    assert run(text, ("[1]", "[1]"), **calls).verdict == "runtime_error"


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.parametrize(("mode", "key"), [("real", "verdict"), ("lcb-compat", "lcb_official_verdict")])
def test_the_corpus_of_ordinary_programs_is_graded_as_written_down(
    mode: Mode, key: str, box: Sandbox, gold: Callable[[str], list[dict[str, Any]]]
) -> None:
    wrong = {}
    for row in gold("sandbox_programs"):
        checks = [Check(test["input"], test["output"]) for test in row["tests"]]
        program = Program(row["program"], row["kind"], row["fn_name"], mode)
        # Those that are over their time never end, so they need not have all of it.
        limits = Limits(**{**row["limits"], **({"wall_s": 0.5} if row[key] == "timeout" else {})})
        graded = box.grade(program, checks, limits)
        if graded.verdict != row[key]:
            wrong[row["id"]] = (row[key], graded.verdict, graded.why)
    assert not wrong, json.dumps(wrong)
