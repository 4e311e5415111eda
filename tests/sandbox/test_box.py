"""One caller's sandbox: what breaks a cage, what an unreadable test does, and who suffers by it."""

from __future__ import annotations

import threading
import time

import pytest

from genbench.errors import DataError
from genbench.sandbox.box import Sandbox
from genbench.sandbox.programs import Check, Grade, Limits, Program
from genbench.sandbox.service import Pool, Work
from genbench.sandbox.worker import SandboxError
from tests.table import each_row

ADD = Program("a, b = map(int, input().split())\nprint(a + b)")
ADD_CHECKS = [Check("3 4\n", "7\n")]
LIMITS = Limits(wall_s=5.0, memory_mib=256)


@pytest.mark.slow
def test_an_unreadable_test_is_an_error_and_harms_no_neighbour() -> None:
    called = Program("def f(x): return [x]", "functional", "f")
    with Sandbox.open() as box:
        for output in ("['010']", "True", "{", ""):
            with pytest.raises(DataError, match="test 1: the expected output"):
                box.grade(called, [Check("1", output)], LIMITS)
            assert box.grade(called, [Check("1", "[1]")], LIMITS).verdict == "pass"
            assert box.grade(ADD, ADD_CHECKS, LIMITS).verdict == "pass"


PROCESS_ID = Program("import os\nprint(os.getpid())")
YES_NO = Program("a, b = map(int, input().split())\nprint('YES' if a < b else 'NO')")
PARITY = Program("def f(a):\n    return a % 2", "functional", "f")
LEAVES = Program(f"import os\n{YES_NO.text}")


def sums(count: int) -> list[Check]:
    """Tests whose outputs cannot be guessed."""
    return [
        Check(f"{number} {12_345 * number + 678_901}\n", f"{12_346 * number + 678_901}\n")
        for number in range(count)
    ]


def yes_no(count: int) -> list[Check]:
    """Tests whose outputs can be guessed."""
    return [Check(f"{number} 5\n", "YES\n" if number < 5 else "NO\n") for number in range(count)]


@pytest.mark.slow
@each_row(
    "program, checks, most",
    [
        (ADD, sums(1), 1),
        (ADD, sums(3), 1),
        (ADD, sums(20), 1),
        (YES_NO, yes_no(20), 1),
        (PARITY, [Check(str(number), str(number % 2)) for number in range(20)], 1),
        (LEAVES, yes_no(3), 4),
        (LEAVES, yes_no(20), 21),
    ],
)
def test_a_program_starts_one_process_or_one_for_each_test_that_can_be_guessed_and_one_that_forks_them(
    program: Program, checks: list[Check], most: int
) -> None:
    """A cage numbers its processes one after the other. The numbers before and after tell how many came."""
    with Sandbox.open("a") as box:

        def number() -> int:
            return int(box.grade(PROCESS_ID, [Check("", "unknown\n")], LIMITS).actual)

        before = number()
        assert box.grade(program, checks, LIMITS).verdict == "pass"
        assert 1 <= number() - before - 1 <= most


@pytest.mark.slow
def test_a_program_whose_cage_always_dies_fails_by_itself() -> None:
    with Sandbox.open() as box:
        assert box.grade(ADD, ADD_CHECKS, LIMITS).verdict == "pass"

        def kill() -> None:
            while box.replaced < 3:
                worker = box._worker
                if worker is not None:
                    worker._process.kill()
                time.sleep(0.05)

        killer = threading.Thread(target=kill)
        killer.start()
        graded = box.grade(Program("import time\ntime.sleep(4)"), ADD_CHECKS, LIMITS)
        killer.join()
        assert graded.verdict == "runtime_error" and "broke its sandbox" in graded.why
        assert box.grade(ADD, ADD_CHECKS, LIMITS).verdict == "pass"


@pytest.mark.slow
def test_a_reply_to_another_order_is_refused() -> None:
    with Sandbox.open() as box:
        assert box.grade(ADD, ADD_CHECKS, LIMITS).verdict == "pass"
        worker = box._worker
        assert worker is not None
        for reply in (b"{}", b"[]", b"nonsense", b'{"number": 99, "how": "ended"}', b'{"number": 5}'):
            with pytest.raises(SandboxError, match="not to the order"):
                worker._ended(reply, 5)


@each_row(
    "program",
    [
        "import signal\nsignal.raise_signal(40)",
        "import signal\nsignal.raise_signal(64)",
        "import os\nos.abort()",
        "import sys\nsys.exit(1 << 80)",
        "raise SystemExit(object())",
        "import sys\nsys.stdout.close()\nsys.stderr.close()",
        "class C:\n    def __str__(s): raise SystemExit(s)\n    __int__ = __str__\nraise SystemExit(C())",
        "e = ValueError()\nfor _ in range(5000): e = ExceptionGroup('g', [e])\nraise e",
        "import os, signal\nsignal.setitimer(signal.ITIMER_PROF, 0.01)\nwhile True: pass",
    ],
)
@pytest.mark.slow
def test_whatever_a_program_does_is_its_own_failure(program: str) -> None:
    with Sandbox.open() as box:
        assert box.grade(Program(program), ADD_CHECKS, LIMITS).verdict in ("runtime_error", "wrong")
        assert box.grade(ADD, ADD_CHECKS, LIMITS).verdict == "pass"
        assert box.replaced == 0


@pytest.mark.parametrize(
    "body",
    [
        "math.factorial(300)",
        "10 ** 400",
        "-(10 ** 400)",
        "float('inf')",
        "float('nan')",
        "1e308 * 10",
        "[10 ** 400]",
    ],
)
@pytest.mark.slow
def test_a_huge_number_for_a_float_is_wrong(body: str) -> None:
    program = Program(f"import math\ndef f(x): return {body}", "assert")
    with Sandbox.open() as box:
        assert box.grade(program, [Check("f(1)", "0.5", 1e-6)], LIMITS).verdict == "wrong"
        assert box.grade(program, [Check("f(1)", "[0.5]", 1e-6)], LIMITS).verdict == "wrong"


@pytest.mark.slow
def test_a_pool_judges_many_programs_and_tells_exceptions() -> None:
    told: dict[int, Grade | Exception] = {}

    def done(number: int, answer: Grade | Exception) -> None:
        told[number] = answer

    with Pool(workers=2) as pool:
        for number in range(6):
            checks = [Check("1", "{")] if number == 3 else [Check("1", "[1]")]
            program = Program("def f(x): return [x]", "functional", "f")
            pool.submit(Work(program, checks, LIMITS, lambda answer, n=number: done(n, answer)))  # type: ignore[misc]
    assert sorted(told) == list(range(6))
    assert isinstance(told[3], DataError)
    assert all(isinstance(found, Grade) and found.verdict == "pass" for n, found in told.items() if n != 3)
