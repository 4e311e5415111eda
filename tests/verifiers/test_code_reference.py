"""References of code tasks: what is refused before a run, and what is marked."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from genbench.errors import ConfigError, DataError
from genbench.sandbox.programs import Limits
from genbench.tasks.python.livecodebench import livecodebench
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.code import CodeVerifier, check_reference, is_positive, kind_of, limits_of
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec
from tests.table import each_row

STDIO = [{"input": "1 2\n", "output": "3\n"}]
CALLED = [{"input": "1", "output": "[1]"}]


@pytest.fixture(scope="module")
def verifier() -> Iterator[CodeVerifier]:
    found = CodeVerifier()
    yield found
    found.close()


def verify(verifier: CodeVerifier, code: str, reference: Any) -> Finding:
    answer = Answer(f"```python\n{code}\n```", "absent", "", False)
    return verifier.verify(Case(SampleId("t", "p", 0), (answer,), reference))


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(value)))).decode()


@each_row(
    "reference",
    [
        {"tests": STDIO},
        {"tests": CALLED, "fn_name": "f"},
        {"tests": ["assert f(1) == 2", "assert is_ok(1)"], "fn_name": "f"},
        {"tests": [{"input": "f(1)", "output": "2", "tolerance": 1e-6}], "kind": "assert"},
        {"tests": [{"input": "f(1)", "output": "2", "tolerance": 0}], "kind": "assert"},
        {"tests": {"public": json.dumps(STDIO), "private": packed(STDIO)}},
        {"tests": {"public": json.dumps(CALLED), "private": packed(CALLED)}, "fn_name": "f"},
        {"tests": STDIO, "limits": {"wall_s": 2, "memory_mib": 256.5, "isolation": "test", "total_s": None}},
        {"tests": STDIO, "before": "import os", "after": "", "fences": "optional", "forgeable": True},
    ],
)
def test_references_that_can_be_judged_by_are_taken(reference: Any) -> None:
    check_reference(reference)


@each_row(
    "reference, what",
    [
        (None, "want a mapping"),
        ([], "want a mapping"),
        ({"test": STDIO}, "want a mapping with 'tests'"),
        ({"tests": []}, "no tests"),
        ({"tests": None}, "want a list"),
        ({"tests": "assert f(1) == 2"}, "want a list"),
        ({"tests": {"public": "[]"}}, "public and private"),
        ({"tests": {"public": "[]", "private": "[]"}}, "no tests"),
        ({"tests": {"public": "{", "private": "[]"}}, "public_test_cases"),
        ({"tests": {"public": "[]", "private": "AAAA"}}, "private_test_cases"),
        ({"tests": {"public": '[{"input": 1, "output": "2"}]', "private": "[]"}}, "not a text"),
        ({"tests": ["assert f(1) =="]}, "test 1 is not Python"),
        ({"tests": ["assert f(1) == 1", ""]}, "test 2 is empty"),
        ({"tests": [{"input": "1"}]}, "test 1"),
        ({"tests": [{"input": "1", "output": 2}]}, "test 1"),
        ({"tests": [*STDIO, 7]}, "test 2"),
        ({"tests": [{"input": "1", "output": "2", "tolerance": -1}]}, "tolerance"),
        ({"tests": [{"input": "1", "output": "2", "tolerance": "1e-6"}]}, "tolerance"),
        (
            {"tests": [*CALLED, {"input": "1", "output": "['010']"}], "fn_name": "f"},
            "test 2: the expected output",
        ),
        ({"tests": [{"input": "1", "output": "True"}], "fn_name": "f"}, "test 1: the expected output"),
        ({"tests": [{"input": "x", "output": "1"}], "fn_name": "f"}, "test 1: the input"),
        ({"tests": CALLED, "kind": "functional"}, "fn_name is None"),
        ({"tests": STDIO, "kind": "magic"}, "kind is 'magic'"),
        ({"tests": STDIO, "limits": {"wall_s": -1}}, "limits.wall_s is -1"),
        ({"tests": STDIO, "limits": {"wall_s": "6"}}, "limits.wall_s is '6'"),
        ({"tests": STDIO, "limits": {"memory_mib": 0}}, "limits.memory_mib is 0"),
        ({"tests": STDIO, "limits": {"memory_mib": True}}, "limits.memory_mib is True"),
        ({"tests": STDIO, "limits": {"wall_s": float("nan")}}, "limits.wall_s is nan"),
        ({"tests": STDIO, "limits": {"wall": 6}}, "limits has no 'wall'"),
        ({"tests": STDIO, "limits": {"isolation": "none"}}, "isolation"),
        ({"tests": STDIO, "limits": [6]}, "limits is"),
        ({"tests": STDIO, "before": 3}, "before is 3"),
        ({"tests": STDIO, "fences": "never"}, "fences is 'never'"),
        ({"tests": STDIO, "fn": "f"}, "has no 'fn'"),
    ],
)
def test_references_that_cannot_are_refused_with_the_reason(reference: Any, what: str) -> None:
    with pytest.raises(DataError, match=what.replace("(", r"\(")):
        check_reference(reference)


@pytest.mark.parametrize(
    "options", [{"wall_s": -1}, {"wall_s": "6"}, {"wall_s": 0}, {"memory_mib": -5}, {"memory_mib": True}]
)
def test_limits_of_the_verifier_are_positive_numbers(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="want a positive number"):
        CodeVerifier(**options)


@pytest.mark.slow
def test_the_pool_refuses_a_reference_by_its_problem_before_a_run() -> None:
    async def opened() -> None:
        references = [("good", {"tests": STDIO}), ("empty", {"tests": []})]
        async with VerifierPool(workers=1) as pool:
            await pool.open(VerifierSpec("code", {}), references)

    with pytest.raises(ConfigError, match="problem empty: there are no tests"):
        asyncio.run(opened())


class KillingReferences:
    """References of which the first pass kills the worker that reads them."""

    def __init__(self) -> None:
        self.passes = 0

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        self.passes += 1
        if self.passes == 1:
            for child in psutil.Process().children():
                if "genbench.verifiers.pool.worker" in child.cmdline():
                    child.kill()
        yield "empty", {"tests": []}


@pytest.mark.slow
@pytest.mark.usefixtures("cold_workers")  # it kills a child of this process
def test_references_are_read_again_if_the_worker_is_killed_meanwhile() -> None:
    references = KillingReferences()

    async def opened() -> None:
        async with VerifierPool(workers=1) as pool:
            await pool.open(VerifierSpec("code", {}), references)

    with pytest.raises(ConfigError, match="problem empty: there are no tests"):
        asyncio.run(opened())
    assert references.passes == 2


def row(output: str) -> dict[str, Any]:
    return {
        "question_title": "t",
        "question_content": "q",
        "platform": "leetcode",
        "question_id": "id7",
        "contest_date": "2024-09-01T00:00:00",
        "starter_code": "class Solution:",
        "difficulty": "easy",
        "public_test_cases": json.dumps(CALLED),
        "private_test_cases": packed([{"input": "1", "output": output}]),
        "metadata": '{"func_name": "f"}',
    }


def test_a_livecodebench_row_with_an_unreadable_value_is_refused_when_it_is_loaded() -> None:
    task = livecodebench()
    assert len(task.problems([row("[1]")])) == 1
    for output in ("['010']", "True", ""):
        with pytest.raises(DataError, match="problem id7: test 2: the expected output"):
            task.problems([row(output)])


@pytest.mark.slow
def test_a_forged_assert_is_marked_in_the_detail(verifier: CodeVerifier) -> None:
    forged = "bool = lambda x: True\nclass B:\n    def __bool__(s): return False\ndef is_ok(x): return B()"
    found = verify(verifier, forged, {"tests": ["assert is_ok(1)", "assert not is_ok(2)"]})
    assert found.detail["forgeable"] is True
    honest = verify(verifier, "def f(x): return x", {"tests": ["assert f(1) == 1"]})
    assert (honest.score, "forgeable" in honest.detail) == (1, False)


def test_the_kind_is_read_off_the_tests() -> None:
    assert kind_of({"tests": ["assert f(1) == 1"], "fn_name": "f"}) == "assert"
    assert kind_of({"tests": CALLED, "fn_name": "f"}) == "functional"
    assert kind_of({"tests": STDIO}) == "stdio"
    assert kind_of({"tests": STDIO, "kind": "assert"}) == "assert"


def test_limits_are_read_with_their_defaults() -> None:
    assert limits_of({}) == Limits()
    assert limits_of({"wall_s": 2}).wall_s == 2


@each_row(
    "value, positive",
    [
        (1, True),
        (0.5, True),
        (0, False),
        (-1, False),
        (True, False),
        ("1", False),
        (None, False),
        (float("inf"), False),
    ],
)
def test_positive_numbers_are_told(value: Any, positive: bool) -> None:
    assert is_positive(value) is positive


def test_an_answer_that_defines_nothing_does_not_pass_by_the_prelude(verifier: CodeVerifier) -> None:
    tests = ["assert gcd(1, 2) == 1", "assert gcd(4, 6) == 2"]
    assert verify(verifier, "pass", {"tests": tests}).reason == "runtime_error"
    assert verify(verifier, "from math import gcd", {"tests": tests}).score == 1


def test_an_exit_status_is_told(verifier: CodeVerifier) -> None:
    found = verify(verifier, "import sys\nsys.exit(1)", {"tests": STDIO})
    assert (found.reason, found.detail["why"]) == ("runtime_error", "ended with status 1")


@pytest.mark.slow
def test_threads_that_nobody_joins_are_waited_for_and_marked() -> None:
    code = "import threading, time\ndef late():\n    time.sleep(0.2)\n    print(3)\n"
    code += "threading.Thread(target=late).start()"
    compat = CodeVerifier("lcb-compat")
    try:
        found = verify(compat, code, {"tests": STDIO})
        assert (found.score, found.detail["threads_left"]) == (1, True)
        joined = verify(compat, code + "\nfor t in threading.enumerate()[1:]: t.join()", {"tests": STDIO})
        assert (joined.score, "threads_left" in joined.detail) == (1, False)
    finally:
        compat.close()


def test_a_program_that_makes_the_judge_stumble_harms_no_neighbour(verifier: CodeVerifier) -> None:
    tests = {"tests": ["assert abs(f(1) - 1.5) < 1e-6", "assert abs(f(2) - 2.5) < 1e-6"]}
    for bad in (
        "import signal\nsignal.raise_signal(40)",
        "import math\ndef f(x): return math.factorial(300 + x)",
    ):
        assert verify(verifier, bad, tests).reason in ("runtime_error", "wrong")
        assert verify(verifier, "def f(x): return x + 0.5", tests).score == 1
