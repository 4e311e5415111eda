"""Which names a program binds itself."""

from __future__ import annotations

import math
from typing import Any

import pytest

from genbench.sandbox.grading import Checks
from genbench.sandbox.inside.process import Bindings
from genbench.sandbox.programs import Grade
from tests.sandbox.conftest import Run
from tests.table import each_row

PRELUDE: dict[str, Any] = {"gcd": math.gcd, "factorial": math.factorial, "pow": pow}


def bindings(program: str) -> Bindings:
    namespace: dict[str, Any] = dict(PRELUDE)
    found = Bindings(namespace, PRELUDE)
    exec(program, namespace, found)  # noqa: S102
    return found


@each_row(
    "program",
    [
        "def gcd(a, b): return a",
        "gcd = lambda a, b: a",
        "from math import gcd",
        "from math import *",
        "import math\ngcd = math.gcd",
        "class gcd: pass",
        "for gcd in [1]: pass",
        "def bind():\n    global gcd\n    gcd = 3\nbind()",
        "globals()['gcd'] = 3",
        "if True:\n    def gcd(a, b): return a",
        "try:\n    from math import gcd\nexcept ImportError: pass",
        "exec('gcd = 3')",
    ],
)
def test_a_name_that_the_program_binds_is_its_own(program: str) -> None:
    assert bindings(program).is_own("gcd")


@pytest.mark.parametrize(
    "program",
    [
        "pass",
        "gcd(4, 6)",
        "x = gcd",
        "def f(gcd): return gcd",
        "if False:\n    from math import gcd",
        "gcd = 1\ndel gcd",
        "import math",
    ],
)
def test_a_name_of_the_prelude_is_not(program: str) -> None:
    found = bindings(program)
    found._namespace.setdefault("gcd", math.gcd)
    assert not found.is_own("gcd")
    with pytest.raises(NameError, match="'gcd'"):
        found.require("gcd")


def test_a_programs_names_can_be_read_listed_and_deleted() -> None:
    found = bindings("a = 1\nb = a + 1\ndel a\nc = [b for _ in range(2)]\nnames = dir()")
    assert found["b"] == 2 and "a" not in found
    assert {"b", "c", "gcd"} <= set(found) and len(found) > 3


@each_row(
    "source, holds",
    [
        ("f(1) == 2", True),
        ("gcd(4, 6)", False),
        ("math.isclose(gcd(4, 6), 2)", False),
        ("set(f(1))", True),
        ("len([1]) == 1", False),
        ("x == 3", True),  # calls nothing
        ("def check(g):\n    assert g(1) == 2\ncheck(f)", True),
        ("assert gcd(4, 6) == 2 and pow(2, 2) == 4", False),
    ],
)
def test_a_test_must_use_something_that_the_program_bound(source: str, holds: bool) -> None:
    found = bindings("def f(x): return x")
    if holds:
        found.require_one_of(source)
    else:
        with pytest.raises(NameError, match="does not define"):
            found.require_one_of(source)


def verdict(graded: Grade) -> str:
    return graded.verdict


@pytest.mark.parametrize(
    "name", ["gcd", "factorial", "mean", "isqrt", "permutations", "add", "sorted", "pow"]
)
def test_an_empty_program_does_not_pass_by_the_prelude(run: Run, name: str) -> None:
    argument = "[3, 1]" if name in ("mean", "permutations", "sorted") else "4"
    graded = run("pass", (argument, "24"), kind="functional", fn_name=name)
    assert graded.verdict == "runtime_error" and f"'{name}'" in graded.why
    graded = run("pass", (f"{name}({argument})", "24"), kind="assert")
    assert graded.verdict == "runtime_error" and f"'{name}'" in graded.why


@pytest.mark.parametrize(
    "program",
    ["def gcd(a, b):\n    return math.gcd(a, b)", "from math import gcd", "import math\ngcd = math.gcd"],
)
def test_a_program_that_binds_the_name_passes(run: Run, program: str) -> None:
    assert run(program, ("4\n6", "2"), kind="functional", fn_name="gcd").verdict == "pass"
    assert run(program, ("gcd(4, 6)", "2"), kind="assert").verdict == "pass"


def test_a_solution_class_needs_no_function(run: Run) -> None:
    program = "class Solution:\n    def gcd(self, a, b):\n        return gcd(a, b)"
    assert run(program, ("4\n6", "2"), kind="functional", fn_name="gcd").verdict == "pass"


def test_checks_are_read_once_for_each_kind() -> None:
    checks = Checks([])
    checks.require_readable("functional")
    checks.require_readable("functional")
    checks.close()
