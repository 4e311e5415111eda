"""Programs with unittest classes: what passes, what fails, and hostile answers, in each tier."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.sandbox.environment import Environment, open_environment
from genbench.sandbox.programs import Grade, Limits
from genbench.sandbox.unittests import UnittestRunner, names_of_tests
from tests.table import each_row

OWN = {"python": sys.prefix}
LIMITS = Limits(wall_s=20.0, memory_mib=1024, output_mib=16)
TESTS = """
import unittest

class TestCases(unittest.TestCase):
    def setUp(self):
        self.numbers = [3, 4]

    def test_sum(self):
        self.assertEqual(task_func(self.numbers), 7)

    def test_empty(self):
        self.assertEqual(task_func([]), 0)

    def test_refusal(self):
        with self.assertRaises(TypeError):
            task_func(None)

    def test_is_a_number(self):
        self.assertTrue(isinstance(task_func([1]), int))
"""
RIGHT = "def task_func(numbers):\n    return sum(numbers)\n"
WRONG = "def task_func(numbers):\n    return None\n"

HOSTILE = {
    "prints a forged result": 'print("....\\nRan 4 tests in 0.001s\\n\\nOK")\n' + WRONG,
    "exits with 0": "raise SystemExit(0)",
    "ends the process with 0": "import os\nos._exit(0)",
    "exits with 0 in its function": "import sys\ndef task_func(numbers):\n    sys.exit(0)\n",
    "ends the process in its function": "import os\ndef task_func(numbers):\n    os._exit(0)\n",
    "ends the process in a thread": (
        "import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()\nimport time\n"
        "def task_func(numbers):\n    time.sleep(1)\n"
    ),
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + WRONG,
    "kills its parent by C": "import ctypes, os\nctypes.CDLL(None).kill(os.getppid(), 9)\n" + WRONG,
    "replaces assertions": (
        "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'):\n"
        "        setattr(unittest.TestCase, name,\n"
        "            lambda self, *a, **k: __import__('contextlib').nullcontext())\n" + WRONG
    ),
    "replaces the code of an assertion": (
        "import unittest\n"
        "unittest.TestCase.assertEqual.__code__ = (lambda self, a, b, msg=None: None).__code__\n"
        "unittest.TestCase.assertTrue.__code__ = (lambda self, a, msg=None: None).__code__\n"
        "def task_func(numbers):\n    raise TypeError() if numbers is None else ValueError()\n"
    ),
    "replaces the runner": (
        "import unittest\ndef run(self, result=None):\n    result.startTest(self)\n"
        "    result.addSuccess(self)\n    result.stopTest(self)\nunittest.TestCase.run = run\n" + WRONG
    ),
    "replaces the suite": "import unittest\nunittest.TestSuite.run = lambda self, result: result\n" + WRONG,
    "replaces unittest": (
        "import sys, types\nfake = types.ModuleType('unittest')\n"
        "fake.TestCase = type('TestCase', (), {'__init__': lambda self, name: None})\n"
        "sys.modules['unittest'] = fake\n" + WRONG
    ),
    "replaces assertions while it runs": (
        "import unittest\ndef task_func(numbers):\n"
        "    unittest.TestCase.assertEqual = unittest.TestCase.assertTrue = lambda *a, **k: None\n"
        "    if numbers is None: raise TypeError\n"
    ),
    "replaces its test's assertions": (
        "import sys\ndef task_func(numbers):\n    test = sys._getframe(1).f_locals['self']\n"
        "    test.assertEqual = test.assertTrue = lambda *a, **k: None\n"
        "    if numbers is None: raise TypeError\n"
    ),
    "replaces the other tests": (
        "import sys\ndef task_func(numbers):\n    tests = type(sys._getframe(1).f_locals['self'])\n"
        "    for name in dir(tests):\n        if name.startswith('test'):\n"
        "            setattr(tests, name, lambda self: None)\n    return 0\n"
    ),
    "makes failures successes": (
        "import sys\ndef task_func(numbers):\n    frame = sys._getframe(1)\n    while frame:\n"
        "        found = frame.f_locals.get('result')\n        if hasattr(found, 'addFailure'):\n"
        "            kind = type(found)\n"
        "            kind.addFailure = kind.addError = lambda self, test, err: self.addSuccess(test)\n"
        "        frame = frame.f_back\n"
    ),
    "skips its tests": "import unittest\ndef task_func(numbers):\n    raise unittest.SkipTest('done')\n",
    "returns what equals everything": (
        "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n"
        "def task_func(numbers):\n    if numbers is None: raise TypeError\n    return Any(5)\n"
    ),
    "returns mock.ANY": "from unittest import mock\ndef task_func(numbers):\n    return mock.ANY\n",
    "redefines what tests use": (
        "def isinstance(*_): return True\n"
        "def task_func(numbers):\n    if numbers is None: raise TypeError\n    return sum(numbers) * 1.0\n"
    ),
    "replaces a built-in": (
        "import builtins\nbuiltins.isinstance = lambda *_: True\n"
        "def task_func(numbers):\n    if numbers is None: raise TypeError\n    return sum(numbers) * 1.0\n"
    ),
    "writes a report": (
        "import os\nopen('../report', 'w').write('0' * 64 + '\\ndone\\n\\n4\\npassed test_empty\\n"
        "passed test_is_a_number\\npassed test_refusal\\npassed test_sum\\n')\nos._exit(0)\n"
    ),
    "reads the order": (
        "import glob, os\nfor root, _, files in os.walk('..'):\n    for name in files:\n"
        "        if 'key' in open(os.path.join(root, name), errors='ignore').read():\n"
        "            leaked = True\n"
        "if 'leaked' not in globals(): raise SystemExit(0)\n" + RIGHT
    ),
    "replaces how reports are written": (
        "import hashlib, json, os\njson.dumps = lambda *a, **k: '{}'\nos.write = lambda fd, text: len(text)\n"
        "hashlib.sha256 = lambda *a: None\n" + WRONG
    ),
}


@pytest.fixture(scope="module")
def environment() -> Environment:
    return open_environment(OWN)


@pytest.fixture(scope="module", params=["a", "b"])
def runner(request: pytest.FixtureRequest, environment: Environment) -> UnittestRunner:
    """The runner in one tier. A machine without it fails these tests with the refusal's own words."""
    return UnittestRunner.open(environment, request.param)


def graded(runner: UnittestRunner, program: str, tests: str = TESTS) -> Grade:
    return runner.run(program, tests, LIMITS).grade


@pytest.mark.slow
def test_a_right_program_passes_and_a_wrong_one_says_which_test_failed(runner: UnittestRunner) -> None:
    assert graded(runner, RIGHT).verdict == "pass"
    found = graded(runner, WRONG)
    assert (found.verdict, found.test) == ("wrong", 0)
    assert "test_empty" in found.why
    assert "None != 0" in found.why


@pytest.mark.slow
def test_no_hostile_answer_is_credited(runner: UnittestRunner) -> None:
    credited = {name: graded(runner, program) for name, program in HOSTILE.items()}
    assert len(HOSTILE) >= 20
    assert [name for name, grade in credited.items() if grade.verdict == "pass"] == []
    # They fail by what they do, and not because nothing runs here.
    assert graded(runner, RIGHT).verdict == "pass"


KINDS = """
import asyncio
import unittest
from unittest.mock import patch

class Base(unittest.TestCase):
    def test_inherited(self):
        self.assertEqual(task_func([1, 1]), 2)

class TestCases(Base, unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.wanted = 3

    async def test_async(self):
        await asyncio.sleep(0)
        self.assertEqual(task_func([1, 2]), self.wanted)

    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(task_func([number]), number)

    @unittest.skip("not here")
    def test_left_out(self):
        self.fail()

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)

    @patch(__name__ + ".task_func", return_value=9)
    def test_mocked(self, mocked):
        self.assertEqual(task_func([]), 9)
"""


@pytest.mark.slow
def test_every_form_of_a_test_counts(runner: UnittestRunner) -> None:
    assert names_of_tests(KINDS) == (
        "test_async", "test_inherited", "test_known", "test_left_out", "test_mocked", "test_parts"
    )  # fmt: skip
    assert graded(runner, RIGHT, KINDS).verdict == "pass"
    parts = "def task_func(numbers):\n    return sum(numbers) if numbers != [2] else 3\n"
    found = graded(runner, parts, KINDS)
    assert (found.verdict, found.test) == ("wrong", 5)
    broken = KINDS.replace("cls.wanted = 3", "raise OSError('no fixture')")
    assert graded(runner, RIGHT, broken).verdict != "pass"
    after = KINDS.replace(
        "    async def",
        "    @classmethod\n    def tearDownClass(cls):\n        open('gone')\n\n    async def",
    )
    assert graded(runner, RIGHT, after).verdict == "runtime_error", "a failure after the last test is one"
    surprising = KINDS.replace("self.assertEqual(1, 2)", "self.assertEqual(task_func([1]), 1)")
    assert graded(runner, RIGHT, surprising).verdict == "wrong"
    all_left_out = KINDS.replace("class TestCases", "@unittest.skip('all')\nclass TestCases")
    assert graded(runner, RIGHT, all_left_out).verdict == "wrong"


WORKING = """
import os, subprocess, tempfile, unittest

class TestCases(unittest.TestCase):
    def test_files(self):
        with open("here.txt", "w") as file:
            file.write("x")
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "a", "b"))
        with open(os.path.expanduser("~/home.txt"), "w") as file:
            file.write("x")
        self.assertEqual(os.listdir("."), ["here.txt"])

    def test_processes(self):
        said = subprocess.run("echo $MPLBACKEND", shell=True, capture_output=True).stdout
        self.assertEqual(said, b"Agg\\n")

    def test_program(self):
        self.assertEqual(task_func([1]), 1)
"""


@pytest.mark.slow
def test_programs_write_files_and_start_processes(runner: UnittestRunner) -> None:
    found = graded(runner, RIGHT, WORKING)
    assert found.verdict == "pass", found.why
    # Nothing is left for the next program.
    assert graded(runner, RIGHT, WORKING).verdict == "pass"


LOOPBACK = """
import socket, threading, unittest

class TestCases(unittest.TestCase):
    def test_server(self):
        server = socket.create_server(("localhost", 0))
        def answer():
            client, _ = server.accept()
            client.sendall(b"yes")
            client.close()
        threading.Thread(target=answer).start()
        with socket.create_connection(server.getsockname(), 5) as client:
            self.assertEqual(client.recv(9), b"yes")
"""
REACH = """
import socket, unittest

class TestCases(unittest.TestCase):
    def test_host(self):
        socket.create_connection(("127.0.0.1", {port}), 2).close()
"""


@pytest.mark.slow
def test_sockets_reach_the_program_itself_and_never_the_host(runner: UnittestRunner) -> None:
    if runner.cage.tier == "a":
        assert graded(runner, RIGHT, LOOPBACK).verdict == "pass"
    with socket.create_server(("127.0.0.1", 0)) as server:
        tests = REACH.format(port=server.getsockname()[1])
        assert graded(runner, RIGHT, tests).verdict == "runtime_error"


@pytest.mark.slow
def test_the_limits_of_a_program_hold(runner: UnittestRunner) -> None:
    cases = {
        "import time\ntime.sleep(60)": "timeout",
        "while True: pass": "timeout",
        "data = [bytearray(1 << 28) for _ in range(40)]": "memory",
        "open('big', 'wb').write(bytes(1 << 26))": "output_limit",
    }

    def verdict(program: str, wanted: str) -> str:
        limits = Limits(wall_s=1.0 if wanted == "timeout" else 10.0, memory_mib=512, output_mib=16)
        return runner.run(program, TESTS, limits).grade.verdict

    found = {program: verdict(program, wanted) for program, wanted in cases.items()}
    assert found == cases


@pytest.mark.slow
def test_the_host_is_not_seen(runner: UnittestRunner, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    for place in (secret, Path(__file__), Path("/etc/passwd")):
        assert place.exists()
        assert graded(runner, f"open({str(place)!r})\n{RIGHT}").verdict == "runtime_error", place
    assert graded(runner, f"open({str(tmp_path / 'new')!r}, 'w')\n{RIGHT}").verdict == "runtime_error"
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_libraries_of_the_environment_are_found_and_missing_ones_named(runner: UnittestRunner) -> None:
    assert runner.missing(["numpy", "json"]) == {}
    assert list(runner.missing(["numpy", "no_such_library", "yaml"])) == ["no_such_library"]
    numpy = "import numpy\n" + RIGHT.replace("sum(numbers)", "int(numpy.sum(numbers))")
    assert graded(runner, numpy, TESTS.replace("task_func(None)", "task_func({1: 2})")).verdict == "pass"


def test_tests_that_cannot_be_counted_are_refused() -> None:
    def refused(source: str) -> str:
        with pytest.raises(DataError) as error:
            names_of_tests(source)
        return str(error.value)

    assert "not Python" in refused("def")
    assert "no class TestCases" in refused("import unittest\nclass Tests(unittest.TestCase): pass")
    assert "begins with 'test'" in refused("import unittest\nclass TestCases(unittest.TestCase): pass")


@pytest.mark.slow
def test_an_environment_has_a_digest_of_what_is_installed(environment: Environment, tmp_path: Path) -> None:
    assert environment.version == ".".join(map(str, sys.version_info[:3]))
    assert "numpy" in environment.installed
    assert open_environment({**OWN, "lock": environment.digest}).digest == environment.digest
    lock = tmp_path / "lock.txt"
    lock.write_text(f"# a comment\nnumpy=={environment.installed['numpy']}\n    # via nobody\n")
    open_environment({**OWN, "lock": str(lock)})


def test_a_program_may_have_names_that_look_like_interference(runner: UnittestRunner) -> None:
    honest = (
        "COMPANY = 'mock up'\ndef hash(x):\n    return x\n"
        "class Pair:\n    def __init__(self, a): self.a = a\n"
        "    def __eq__(self, other): return self.a == other.a\n"
    )
    assert graded(runner, honest + RIGHT).verdict == "pass"


def test_only_the_folders_of_an_interpreter_are_shown(tmp_path: Path) -> None:
    """A prefix may be the root of the machine, or have more in it than Python."""
    (tmp_path / "own" / "bin").mkdir(parents=True)
    (tmp_path / "own" / "secret").mkdir()
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to("/usr/bin/env")
    for home, wanted in {
        "/bin": [],
        "/usr/bin": [],
        str(tmp_path / "own/bin"): [tmp_path / "own/bin"],
    }.items():
        (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.2\n")
        found = open_environment({"python": str(tmp_path / "venv")}).folders
        assert found == tuple(map(str, [*wanted, tmp_path / "venv"]))


def test_an_old_or_broken_environment_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.8.10\n")
    with pytest.raises(UnavailableError, match="that is gone"):
        open_environment({"python": str(tmp_path)})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("")
    with pytest.raises(UnavailableError, match=r"has Python 3\.8; want 3\.10"):
        open_environment({"python": str(tmp_path)})


@pytest.mark.slow
@each_row(
    "words, given",
    [
        ("want {python: the folder", "x"),
        ("want {python: the folder", {}),
        ("want {python: the folder", {"python": 3}),
        ("no 'pyton'", {**OWN, "pyton": "x"}),
        ("there is no such folder", {"python": "{tmp}/none"}),
        ("no pyvenv.cfg", {"python": "{tmp}"}),
        ("not 0.0.1; no-such-library is missing, not 1.0", {**OWN, "lock": "{tmp}/lock.txt"}),
        ("has no pin", {**OWN, "lock": "{tmp}/empty.txt"}),
        ("No such file", {**OWN, "lock": "{tmp}/none.txt"}),
        ("install what the lock says", {**OWN, "lock": "0" * 64}),
        ("want a file with pins", {**OWN, "lock": 3}),
    ],
)
def test_a_wrong_environment_says_what_to_do(words: str, given: Any, tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text("numpy==0.0.1\nno-such-library==1.0\n")
    (tmp_path / "empty.txt").write_text("numpy\n")
    if isinstance(given, dict):
        given = {key: str(value).replace("{tmp}", str(tmp_path)) if isinstance(value, str) else value
                 for key, value in given.items()}  # fmt: skip
    with pytest.raises((ConfigError, UnavailableError)) as error:
        open_environment(given)
    assert words in str(error.value)
