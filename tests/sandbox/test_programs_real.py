"""Mode real: a program behaves as `python program.py < input` would, many tests in one process or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.grading import Checks
from genbench.sandbox.programs import Check, Grade, Limits, Program
from genbench.sandbox.traceless import leaves_nothing
from tests.table import each_row

Run = Callable[..., Grade]
TWICE = (("1\n", "1\n"), ("2\n", "2\n"))

HONEST = {
    "input": "print(input())",
    "all of stdin": "import sys\nprint(sys.stdin.read().strip())",
    "lines of stdin": "import sys\nfor line in sys.stdin: print(line.strip())",
    "bytes of stdin": "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.readline())",
    "open(0)": "print(open(0).read().strip())",
    "descriptors": "import os\nos.write(1, os.read(0, 99))",
    "a stdin bound at the top": "from sys import stdin, stdout\nstdout.write(stdin.readline())",
    "a main guard": "def main():\n    print(input())\nif __name__ == '__main__':\n    main()",
    "exit": "print(input())\nexit()\nprint('no')",
    "sys.exit(0)": "import sys\nprint(input())\nsys.exit(0)",
    "os._exit": "import os\nprint(input(), flush=True)\nos._exit(0)",
    "atexit and a replaced stdout": (
        "import atexit, io, sys\nsys.stdout = io.StringIO()\n"
        "atexit.register(lambda: sys.__stdout__.write(sys.stdout.getvalue()))\nprint(input())"
    ),
    "a thread with a big stack": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 26)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
        "def main():\n    f(20000)\n    print(input())\nthreading.Thread(target=main).start()"
    ),
    "an executor that is not shut down": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor(2).submit(lambda: print(input()))"
    ),
    "a daemon that lives on": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
        "print(input())"
    ),
    "a file on descriptor 1": "w = open(1, 'w')\nw.write(input())",
    "a closed stdin": "import os\nprint(input())\nos.close(0)",
    "asyncio": "import asyncio\nasync def f(): print(input())\nasyncio.run(f())",
    "pickle of its own class": (
        "import pickle\nclass A: pass\nx = pickle.loads(pickle.dumps(A()))\nprint(input())"
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int'\nprint(A(input()).x)"
    ),
    "the prelude": "def f(x: List[int]) -> Optional[str]: return x\nprint(f(input()), end='')\nCounter()",
    "its own stack limit": (
        "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (1 << 26, -1))\nprint(input())"
    ),
    "streams of its own": (
        "import os, sys\nfrom io import BytesIO, IOBase\n"
        "class FastIO(IOBase):\n"
        "    def __init__(self, file):\n"
        "        self._fd, self.buffer = file.fileno(), BytesIO()\n"
        "        self.writable = 'x' in file.mode or 'r' not in file.mode\n"
        "        self.write = self.buffer.write if self.writable else None\n"
        "    def read(self):\n"
        "        self.buffer = BytesIO(os.read(self._fd, os.fstat(self._fd).st_size))\n"
        "        return self.buffer.read()\n"
        "    def flush(self):\n"
        "        if self.writable:\n"
        "            os.write(self._fd, self.buffer.getvalue())\n"
        "            self.buffer.truncate(0), self.buffer.seek(0)\n"
        "class Wrapper(IOBase):\n"
        "    def __init__(self, file):\n"
        "        self.buffer = FastIO(file)\n"
        "        self.flush, self.writable = self.buffer.flush, self.buffer.writable\n"
        "        self.write = lambda text: self.buffer.write(text.encode('ascii'))\n"
        "        self.read = lambda: self.buffer.read().decode('ascii')\n"
        "sys.stdin, sys.stdout = Wrapper(sys.stdin), Wrapper(sys.stdout)\n"
        "sys.stdout.write(sys.stdin.read())"
    ),
    "a stream without `closed`": (
        "import sys\n"
        "class Out:\n"
        "    parts = []\n"
        "    write = parts.append\n"
        "    def flush(self): sys.__stdout__.write(''.join(self.parts)); self.parts.clear()\n"
        "sys.stdout = Out()\nprint(input())"
    ),
    "a finalizer that prints": (
        "class Last:\n"
        "    def __init__(self, text): self.text = text\n"
        "    def __del__(self): print(mark + self.text)\n"
        "last = Last(input())\nmark = ''"
    ),
    "numpy": "import numpy as np\nprint(np.array([int(input())]).sum())",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST.keys())
def test_an_honest_program_passes_all_its_tests_with(text: str, run_tier: Run) -> None:
    graded = run_tier(text, *TWICE)
    assert (graded.verdict, graded.why) == ("pass", "")


@pytest.mark.parametrize(
    "text",
    [
        "seen = []\nseen.append(1)\nprint(len(seen))",
        "import builtins\nassert not hasattr(builtins, 'mine')\nbuiltins.mine = 1\nprint(1)",
        "import builtins\nprint(1)\nbuiltins.print = None",
        "import sys\nassert sys.getrecursionlimit() == 50000\nsys.setrecursionlimit(60000)\nprint(1)",
        "import math\nassert not hasattr(math, 'mine')\nmath.mine = 1\nprint(1)",
        "import random\nx = random.random()\nprint(1 if str(x) == '0.8444218515250481' else x)",
        "import sys\nassert 'decimal_mine' not in sys.modules\nsys.modules['decimal_mine'] = sys\nprint(1)",
    ],
)
def test_a_test_finds_nothing_of_the_one_before(text: str, run: Run) -> None:
    assert run(text, ("", "1"), ("", "1"), ("", "1")).verdict == "pass"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("print(6)\nraise ValueError", "runtime_error"),
        ("print(6)\nimport sys\nsys.exit(3)", "runtime_error"),
        ("print(6)\nimport sys\nsys.exit('sorry')", "runtime_error"),
        ("print(6)\nimport atexit\natexit.register(lambda: 1 / 0)", "pass"),
        ("print(6", "runtime_error"),
        ("print(6)\nimport os\nos._exit(1)", "runtime_error"),
        ("import ctypes\nctypes.string_at(0)", "runtime_error"),
        ("import os\nos.abort()", "runtime_error"),
        ("x = [0] * 10**9", "memory"),
        ("import time\ntime.sleep(9)", "timeout"),
        ("print('x' * (9 << 20))", "output_limit"),
        ("print(7)", "wrong"),
        ("", "wrong"),
        ("a\0b", "runtime_error"),
        ("print('\ud800')", "runtime_error"),
        ("import sys\nsys.stdout.close()", "wrong"),
    ],
)
def test_every_end_has_its_verdict(text: str, verdict: str, run: Run) -> None:
    graded = run(text, ("", "6"), limits=Limits(wall_s=1, memory_mib=512))
    assert (graded.verdict, graded.why[-300:] if graded.verdict != verdict else "") == (verdict, "")


def test_the_first_failing_test_is_named_with_its_answer(run: Run) -> None:
    graded = run("print(min(int(input()), 2))", *[(f"{n}\n", f"{n}\n") for n in (1, 2, 3, 4)])
    assert (graded.verdict, graded.test, graded.actual) == ("wrong", 2, "2\n")


def test_an_error_is_told_by_the_program_s_own_lines(run: Run) -> None:
    graded = run("def f():\n    return {}['key']\nf()", ("", ""))
    assert graded.why.startswith("Traceback") and "return {}['key']" in graded.why
    assert "inside/" not in graded.why


def test_a_failing_test_stops_the_program(run: Run) -> None:
    text = "import time\nn = int(input())\ntime.sleep(0.3 * (n > 0))\nprint(0)"
    graded = run(text, *[(f"{n}\n", "1") for n in range(40)])
    assert graded.test == 0 and graded.wall_s < 2


@pytest.mark.slow
def test_a_program_that_guesses_must_guess_all_tests_once_more(run: Run) -> None:
    """Failures after the first test are tried again in a new process, and then all tests are."""
    text = "import os\nprint(int(os.urandom(1)[0] < 205))"
    passed = sum(run(text, *[("", "1")] * 12).verdict == "pass" for _ in range(100))
    # Right with probability 0.8: 12 of 100 expected. 22 if only the failed test ran again, 51 if each did.
    assert passed < 25


def test_a_test_that_passed_by_what_earlier_ones_left_does_not_help_a_later_one(run: Run) -> None:
    text = "import math\nmath.n = getattr(math, 'n', 0) + 1\nprint('abx'[math.n - 1] * 40)"
    a, b = ("", "a" * 40), ("", "b" * 40)
    assert run(text, a, b).verdict == "pass"
    # The third passes by itself, and the second does not.
    graded = run(text, a, b, a)
    assert (graded.verdict, graded.test, graded.actual) == ("wrong", 1, "a" * 40 + "\n")


def test_no_test_is_asked_twice_if_outputs_are_easy_to_guess(run: Run) -> None:
    text = "import math\nmath.n = getattr(math, 'n', 0) + 1\nprint('YES' if math.n == 1 else 'NO')"
    graded = run(text, ("", "YES"), ("", "NO\n"), ("", "YES"), ("", "YES\n"), ("", "NO"), ("", "YES"))
    assert (graded.verdict, graded.test, graded.actual) == ("wrong", 1, "YES\n")


def test_a_wrong_answer_counts_at_once_if_tests_that_can_be_guessed_share_a_process(run: Run) -> None:
    """The text hides that it leaves something in a class. Asked by itself, the third test would pass."""
    text = (
        "from collections import Counter as K\nC = K\nC.n = C.n + 1 if hasattr(C, 'n') else 1\n"
        "print('YES' if C.n == 1 else 'NO')"
    )
    assert leaves_nothing(text)
    graded = run(text, ("", "YES"), ("", "NO\n"), ("", "YES"), ("", "NO"))
    assert (graded.verdict, graded.test, graded.actual) == ("wrong", 2, "NO\n")


def test_an_error_in_a_shared_process_is_tried_again_if_outputs_can_be_guessed(run: Run) -> None:
    """It gave no answer, so that nothing is asked twice."""
    text = (
        "from collections import Counter as K\nC = K\nC.n = C.n + 1 if hasattr(C, 'n') else 1\n"
        "assert C.n < 3\nprint('YES' if int(input()) else 'NO')"
    )
    tests = [(f"{n % 2}", "YES" if n % 2 else "NO") for n in range(5)]
    assert leaves_nothing(text) and run(text, *tests).verdict == "pass"


@each_row(
    "text, leaves",
    [
        ("n = int(input())\nprint('YES' if n % 2 else 'NO')", False),
        ("import sys\ninput = sys.stdin.readline\nprint(input().strip())", False),
        ("import sys\nsys.setrecursionlimit(10**6)\nd = sys.stdin.buffer.read().split()\nd[0] = 1", False),
        ("from collections import defaultdict as dd\nd = dd(list)\nd[1].append(2)\nprint(d)", False),
        ("from math import *\nimport heapq as h\nx = []\nh.heappush(x, gcd(2, 4))", False),
        ("class A:\n    def __init__(self):\n        self.x = 1\na = A()\na.x += 1\nprint(a.x)", False),
        ("array = [1]\nstring = input()\narray[0] = string[::-1]\nprint(array)", False),
        ("@lru_cache(None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(9))", False),
        ("import json\nK = {'1': '2'}\ndef f(x): return json.loads(K[json.dumps(x)])", False),
        ("import json\njson.JSONEncoder.item_separator = 1", True),
        ("import os", True),
        ("import math\nmath.n = 1", True),
        ("math.n = 1", True),
        ("import sys\nsys.stdin = None", True),
        ("sys.modules['x'] = 1", True),
        ("import sys as s\nt = s\nt.path.append('x')", True),
        ("from sys import path\npath.append('x')", True),
        ("path.append('x')", True),
        ("import copy\ncopy.dispatch_table.clear()", True),
        ("Counter.n = 1", True),
        ("from collections import Counter\nCounter.n = 1", True),
        ("setattr(Counter, 'n', 1)", True),
        ("exec('import os')", True),
        ("print(().__class__.__base__)", True),
        ("class A:\n    def __del__(self): print(1)", True),
        ("print(open(0).read())", True),
        ("import random\nprint(random.random())", True),
        ("print(randint(0, 1))", True),
        ("print(", True),
        ("(" * 5000, True),
        ("x = 1\n" * 10_000, True),
    ],
)
def test_a_program_leaves_nothing_only_if_its_text_shows_it(text: str, leaves: bool) -> None:
    assert leaves_nothing(text) is not leaves


@each_row(
    "outputs, guessable",
    [
        (["YES", "NO\n", "YES"], True),
        (["YES", "NO"], True),
        (["Alice", "Bob\n", "Draw"], True),
        (["aab", "cab", "ddc", "abc", "caa"], False),
        (["-1"] * 9 + [str(n) for n in range(10, 21)], True),
        (["-1"] * 4 + [str(n) for n in range(10, 24)], False),
        (["0", "1", "2"], True),
        (["3", "-1"], True),
        ([str(n) for n in range(10)], True),
        (["12", "7", "31"], False),
        (["12", "31", "12"], True),
        (["1 2", "2 3", "4 5 6"], False),
        (["true", "[1]", "[]"], True),
        ([f"{n} {n * n}" for n in range(20)], False),
        (["7\n", "7", " 7"], False),
        (["YES " * 9, "NO " * 12], False),
        (["YES"], False),
        ([], False),
    ],
)
def test_outputs_that_repeat_or_have_few_values_are_easy_to_guess(
    outputs: list[str], guessable: bool
) -> None:
    checks = Checks([Check("", output) for output in outputs])
    checks.close()
    assert checks.are_guessable is guessable


@each_row(
    "outputs, processes",
    [
        (["YES", "NO", "YES"], 3),
        (["0", "1", "2"], 3),
        (["12", "7", "31"], 1),
        ([f"{n % 2}" for n in range(20)], 20),
        ([f"{n} {n * n}" for n in range(20)], 1),
        ([f"{n % 2}" for n in range(45)], 45),
    ],
)
def test_processes_of_a_program_are_as_few_as_its_outputs_allow(
    any_box: Sandbox, outputs: list[str], processes: int
) -> None:
    """In tier a pids are counted in the cage, so none can be started unseen."""
    pids: list[int] = []

    def keep(answer: bytes) -> bool:
        pids.append(int(answer.split()[-1]))
        return True

    checks = Checks([Check("", output) for output in outputs])
    assert any_box._grade(Program("import os\nprint(os.getpid())"), checks, Limits(), keep).verdict == "pass"
    checks.close()
    assert len(pids) == len(outputs) and len(set(pids)) == processes
    if any_box.cage.tier == "a":  # a stem has at most 20 tests
        assert max(pids) - min(pids) == processes - 1 + (processes - 1) // 20


def test_a_test_with_a_process_of_its_own_has_no_page_pipe_or_file_of_another(run_tier: Run) -> None:
    """The stem's memory is copied: what a test writes into it, no other test reads."""
    text = (
        "import fcntl, os, sys\nn = int(input())\n"
        "seen = getattr(sys, 'seen', 0)\nsys.seen = n\n"
        "left = os.lseek(1, 0, 1), fcntl.fcntl(0, 3) & os.O_NONBLOCK, os.fstat(1).st_size\n"
        "for fd in range(3): fcntl.fcntl(fd, 4, os.O_NONBLOCK)\n"
        "fds = []\nfor fd in range(3, 64):\n"
        "    try: fds.append((fd, os.fstat(fd).st_mode >> 12))\n    except OSError: pass\n"
        "print('NO' if seen or any(left) or fds != [(63, 1)] else 'YES' if n % 2 else 'MAYBE')"
    )
    tests = [(f"{n}\n", "YES" if n % 2 else "MAYBE") for n in range(1, 9)]
    graded = run_tier(text, *tests)
    assert graded.verdict == "pass", graded


SHARED_PAGES = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
call.restype = ctypes.c_long
def number(x86_64, aarch64): return ctypes.c_long({"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine])
MSYNC, MREMAP, MPROTECT, FUTEX = number(26, 227), number(25, 216), number(10, 226), number(202, 98)
def long(value): return ctypes.c_long(value)
def is_mapped(at): return call(MSYNC, at, PAGE, ASYNC) == 0
def is_shared(at):
    # A mapping can be copied from its length 0 if it is shared, and only then.
    return call(MREMAP, at, long(0), PAGE, long(1)) > 0
PAGE, ASYNC, SIZE = long(4096), long(1), 1 << 28
libraries = ctypes.cast(libc.strlen, ctypes.c_void_p).value & ~4095
found = []
for at in range(libraries - SIZE, libraries + (SIZE >> 2), 4096):
    if is_mapped(long(at)) and is_shared(long(at)): found.append(at)
n, left = int(input()), []
for at in found:
    if call(MPROTECT, long(at), PAGE, long(3)) == 0:
        left.append((ctypes.c_char * 4096).from_address(at))
crossed = any(page[:8] == b"CROSSED!" for page in left)
for page in left: page[:8] = b"CROSSED!"
file = os.open(os.__file__, os.O_RDONLY)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
word = libc.mmap(0, 4096, 1, 1, file, 0)
value = ctypes.c_uint32.from_address(word).value
soon = (ctypes.c_long * 2)(0, 5_000_000)
ctypes.set_errno(0)
waited = call(FUTEX, long(word), long(0), long(value), ctypes.byref(soon), long(0), long(0))
waited = waited, ctypes.get_errno()
woke = call(FUTEX, long(word), long(1), long(100), long(0), long(0), long(0))
for clearing in (number(218, 96), number(273, 99)): call(clearing, long(word), long(24))
print("NO" if crossed or waited != (-1, 11) or woke or value != ctypes.c_uint32.from_address(word).value
      else "YES" if n % 2 else "MAYBE")
"""


@pytest.mark.slow
def test_a_test_with_a_process_of_its_own_shares_no_mapping_and_no_futex_with_another(run_tier: Run) -> None:
    """Each test looks for pages that are shared and writes them. At its end the kernel wakes a file."""
    tests = [(f"{n}\n", "YES" if n % 2 else "MAYBE") for n in range(1, 7)]
    graded = run_tier(SHARED_PAGES, *tests)
    assert graded.verdict == "pass", graded


def test_locks_of_files_seem_to_work(run_tier: Run) -> None:
    text = (
        "import fcntl, os, sqlite3\nfd = os.open(os.__file__, os.O_RDONLY)\n"
        "for how in (fcntl.LOCK_SH, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN): fcntl.flock(fd, how)\n"
        "fcntl.lockf(fd, fcntl.LOCK_SH)\n"
        "db = sqlite3.connect(':memory:')\ndb.execute('create table t (n)')\n"
        "with db: db.executemany('insert into t values (?)', [(n,) for n in range(5)])\n"
        "print(db.execute('select sum(n) from t').fetchone()[0])"
    )
    assert run_tier(text, ("", "10")).verdict == "pass"


def test_what_earlier_tests_left_does_not_fail_a_later_one(run: Run) -> None:
    text = "import math\nmath.n = getattr(math, 'n', 0) + 1\nprint(int(input()) + (math.n == 3))"
    graded = run(text, *[(f"{n}\n", f"{n}\n") for n in range(20, 26)])
    assert (graded.verdict, graded.why) == ("pass", "")


def test_tests_can_have_a_process_each(run: Run) -> None:
    text = "import math\nmath.n = getattr(math, 'n', 19) + 1\nprint(math.n)"
    tests = [("", str(n)) for n in range(20, 26)]
    assert run(text, *tests).verdict == "pass"
    assert run(text, *tests, limits=Limits(isolation="test")).verdict == "wrong"


def test_a_big_input_reaches_the_program_whole(run: Run) -> None:
    numbers = "\n".join(map(str, range(300_000)))
    text = "import sys\nprint(sum(map(int, sys.stdin)))"
    assert run(text, (numbers, str(sum(range(300_000)))), ("1\n2\n", "3")).verdict == "pass"


def test_many_outputs_may_add_up_to_more_than_the_cap(run: Run) -> None:
    text = "print('x' * int(input()))"
    tests = [(f"{1 << 20}\n", "x" * (1 << 20))] * 6
    assert run(text, *tests, limits=Limits(output_mib=1, memory_mib=256)).verdict == "pass"


@pytest.mark.slow
def test_a_time_out_of_a_busy_program_is_not_tried_again(run: Run) -> None:
    graded = run("while True: pass", ("", ""), limits=Limits(wall_s=0.4))
    assert graded.verdict == "timeout" and "CPU" in graded.why


def test_a_functional_program_starts_anew_for_every_test(run: Run) -> None:
    text = "seen = []\nclass Solution:\n    def f(self, n):\n        seen.append(n)\n        return len(seen)"
    assert run(text, ("2", "1"), ("3", "1"), kind="functional", fn_name="f").verdict == "pass"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("return (1, 2)", "pass"),
        ("return [1, 2.0]", "pass"),
        ("return [True, 2]", "pass"),
        ("import numpy as np\n    return list(np.array([1, 2]))", "pass"),
        ("import numpy as np\n    return np.array([1, 2])", "wrong"),
        ("return {1, 2}", "wrong"),
        ("return ([1, 2],)", "wrong"),
        ("return None", "wrong"),
        ("import sys\n    sys.exit(0)", "runtime_error"),
        ("import os\n    os._exit(0)", "runtime_error"),
        ("print([1, 2])", "wrong"),
        ("r = []\n    for _ in range(10**5): r = [r]\n    return r", "wrong"),
        ("return 10**6000", "wrong"),
        ("return '\ud800'", "runtime_error"),
        ("class L(list):\n        __eq__ = lambda s, o: True\n    return L([3])", "wrong"),
        ("import os\n    os.write(3, b'[1, 2]')\n    os._exit(0)", "runtime_error"),
        ("import os\n    os.write(3, b'[1, 2]')\n    return 5", "wrong"),
        ("return iter([1, 2])", "wrong"),
        ("from fractions import Fraction\n    return [Fraction(1), Fraction(4, 2)]", "pass"),
        ("from decimal import Decimal\n    return [Decimal('1.0'), Decimal(2)]", "pass"),
        ("return [1 + 0j, 2 + 0j]", "pass"),
        ("from decimal import Decimal\n    return Decimal('1e999999')", "wrong"),
        ("from fractions import Fraction\n    return Fraction(3**90000, 2)", "wrong"),
    ],
)
def test_returned_values_are_compared_as_data(body: str, verdict: str, run: Run) -> None:
    graded = run(f"def f(x):\n    {body}", ("0", "[1, 2]"), kind="functional", fn_name="f")
    assert (graded.verdict, graded.why if graded.verdict != verdict else "") == (verdict, "")


def test_expressions_are_asked_of_one_run_of_the_program(run: Run) -> None:
    text = "seen = []\ndef f(x):\n    seen.append(x)\n    return {'n': len(seen), (1, 2): {3}}"
    first, second = ("f(0)", "{'n': 1, (1, 2): {3}}"), ("f(0)['n']", "2")
    assert run(text, first, second, ("assert seen == [0, 0]", ""), kind="assert").verdict == "pass"
    assert run(text, ("assert f(0) == 1", ""), kind="assert").verdict == "runtime_error"
    assert run(text, first, ("f(0)['n']", "3"), kind="assert").test == 1
