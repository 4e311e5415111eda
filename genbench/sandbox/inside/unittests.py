"""Runs the tests of a unittest class on a program, and signs what came out of them.

It runs in the cage, in the interpreter of the environment that the tests need: Python 3.10 or newer, with the
standard library only. The program, its tests and the functions of unittest share a process, so a program
can reach everything here. Therefore unittest, the built-ins and the test class must be the same objects
before and after each test, and only a report that is signed after the last test counts.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import json
import os
import re
import sys
import traceback
import unittest
import unittest.async_case
import unittest.mock
from types import FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# A program that replaces a built-in does not change what the functions of this file mean by it.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]

ORDER, REPORT = "order.json", "report"
MODULE = "__test__"
"""The name of the module in which a program and its tests run, as in the benchmark's own evaluator."""
PROGRAM_FILE, TESTS_FILE = "program.py", "tests.py"
_FOLDERS = ("home", "tmp", "run")
_WHY = 1500
_TRUSTED = (
    "unittest",
    "unittest.case",
    "unittest.loader",
    "unittest.mock",
    "unittest.result",
    "unittest.suite",
    "unittest.util",
    "unittest.async_case",
    "difflib",
)
_COMPARING = ("numpy.testing", "pandas.testing", "pandas._testing", "pandas._testing.asserters")
"""Modules with assertions that tests use. They are imported before the program, which could change them."""
_REPLACEABLE = frozenset({"open", "input", "print", "_", "exit", "quit", "help", "copyright", "credits"})
"""Built-ins that tests replace, and some leave replaced. None of them decides a comparison."""
_OF_MODULES = 2
"""The parts of a place in a module: its name, and one in it. Modules may get new names, as mock_open does it.
A class that gets a method does something else."""
_MISSING = object()


def main() -> None:
    """Follow the order of the working folder, write the report there, and end."""
    with open(ORDER, "rb") as file:  # noqa: PTH123  pathlib takes as long as all of this
        order = json.load(file)
    os.unlink(ORDER)  # noqa: PTH108
    sign = signer(bytes.fromhex(order.pop("key")))
    # Nothing of this file is found by its name, neither by a program nor by what imports in its folder.
    del sys.path[0]
    sys.modules["__main__"] = ModuleType("__main__")
    report_to = os.open(REPORT, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    for name in _FOLDERS:
        os.makedirs(name)  # noqa: PTH103
    for name, place in order["warm"]:
        os.renames(name, place)
    os.chdir("run")
    # Functions of C, which no program can change. Another one that is put into their place is not called.
    write, end = os.write, os._exit
    write(report_to, sign(_report(order["program"], order["tests"], order["names"])))
    end(0)


def signer(key: bytes) -> Callable[[bytes], bytes]:
    """Return what puts a signature before a text: one that only a holder of the key can make."""
    inner, make = hashlib.sha256(key), hashlib.sha256

    def sign(text: bytes) -> bytes:
        own = inner.copy()
        own.update(text)
        return make(key + own.digest()).hexdigest().encode() + b"\n" + text

    return sign


def _told(step: str, outcomes: dict[str, str], interfered: str | None, why: str) -> bytes:
    """Return a report: how far it came, what was interfered with, each test with its outcome, and why.

    It is made without a module, because programs can change those.
    """
    lines = [step, (interfered or "").replace("\n", " "), str(len(outcomes))]
    lines += [f"{outcome} {name}".replace("\n", " ") for name, outcome in outcomes.items()]
    return "\n".join([*lines, why]).encode("utf-8", "backslashreplace")


def _report(program: str, tests: str, names: list[str]) -> bytes:
    """Run the tests and return the report."""
    for name in _COMPARING:
        if name.rpartition(".")[2] in tests and name.partition(".")[0] in tests + program:
            _import(name)
    module = ModuleType(MODULE)
    space = vars(module)
    space.update(__builtins__=builtins, __file__=PROGRAM_FILE, __package__=None, sys=sys, os=os)
    sys.modules[MODULE] = module
    sys.argv = [PROGRAM_FILE]
    intact = _Intact()
    watch = _Watch(intact, defines_equality="__eq__" in program)
    try:
        exec(compile(program, PROGRAM_FILE, "exec", dont_inherit=True), space)  # noqa: S102 - inside the cage
    except BaseException as error:
        return _told("program", {}, None, _trace(error))
    if (found := intact.broken() or _misleads(program, space, tests)) is not None:
        return _told("program", {}, found, "")
    try:
        exec(compile(tests, TESTS_FILE, "exec", dont_inherit=True), space)  # noqa: S102
        suite = unittest.TestSuite([space["TestCases"](name) for name in names])
    except BaseException as error:
        return _told("tests", {}, None, _trace(error))
    if (found := intact.broken()) is not None:
        return _told("tests", {}, found, "")
    intact.add_tests(space)
    try:
        suite.run(watch)
    except BaseException as error:
        return _told("tests", {}, None, _trace(error))
    watch.look()
    return _told("done", watch.outcomes, watch.interfered, watch.why)


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:  # the tests say so, if they need it
        return


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-_WHY:]
    except BaseException:  # an exception whose own methods fail
        return type(error).__name__


def _misleads(program: str, space: dict[str, Any], tests: str) -> str | None:
    """Return what the program defines so that comparisons of the tests are true, or None."""
    if re.search(r"\bmock\b", program) and re.search(r"\bANY\b", program):
        return "the program uses mock.ANY, which is equal to everything"
    used = {node.id for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Name)}
    for name, value in list(space.items()):
        own = isinstance(value, (FunctionType, type)) and getattr(value, "__module__", None) == MODULE
        if own and name in used and name in vars(builtins) and name not in _REPLACEABLE:
            return f"the program defines the built-in {name}, which the tests use"
    return None


class _Intact:
    """What a verdict rests on, as it was before the program: unittest, the built-ins, later the tests."""

    def __init__(self) -> None:
        names = [name for name in (*_TRUSTED, *_COMPARING) if name in sys.modules]
        self._modules = {name: sys.modules[name] for name in names}
        self._was: dict[tuple[str, ...], Any] = {}
        self._tests: dict[str, Any] = {}
        self._space: dict[str, Any] = {}
        self._was = dict(self._state())

    def add_tests(self, space: dict[str, Any]) -> None:
        """Add what the tests define: functions, and the methods of classes."""
        self._space = space
        self._tests = {
            name: value for name, value in space.items() if getattr(value, "__module__", None) == MODULE
            and _is_of_tests(value)
        }  # fmt: skip
        self._was = dict(self._state())

    def broken(self) -> str | None:
        """Return what is not as it was, or None."""
        now = dict(self._state())
        for place, value in self._was.items():
            if now.get(place, _MISSING) is not value:
                return f"{'.'.join(place)} was replaced"
        for place in now.keys() - self._was.keys():
            if place[0] in _TRUSTED and len(place) > _OF_MODULES and place[:_OF_MODULES] in self._was:
                return f"{'.'.join(place)} was added"
        return None

    def _state(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, value in vars(builtins).items():
            if name not in _REPLACEABLE:
                yield ("builtins", name), value
        for name, module in self._modules.items():
            yield (name,), sys.modules.get(name)
            for key, value in list(vars(module).items()):
                if isinstance(value, (FunctionType, type)):
                    yield (name, key), value
                    yield from _parts((name, key), value, name.partition(".")[0])
        for name, value in self._tests.items():
            yield (TESTS_FILE, name), self._space.get(name)
            yield from _parts((TESTS_FILE, name), value, MODULE)
        yield from _parts(("watch",), _Watch, _Watch.__module__)


def _is_of_tests(value: Any) -> bool:
    """Return whether the tests define a function, or a class with a method."""
    if isinstance(value, FunctionType):
        return value.__code__.co_filename == TESTS_FILE
    return isinstance(value, type) and any(map(_is_of_tests, vars(value).values()))


def _parts(place: tuple[str, ...], value: Any, owner: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what makes a function or a class do what it does."""
    if isinstance(value, FunctionType):
        yield (*place, "__code__"), value.__code__
        yield (*place, "__defaults__"), value.__defaults__
        yield (*place, "__kwdefaults__"), value.__kwdefaults__
    elif isinstance(value, type) and value.__module__.partition(".")[0] == owner:
        yield (*place, "__bases__"), value.__bases__
        for name, inner in list(vars(value).items()):
            if isinstance(inner, (FunctionType, classmethod, staticmethod, property)):
                yield (*place, name), inner
                yield from _parts((*place, name), getattr(inner, "__func__", inner), owner)


class _Watch(unittest.TestResult):
    """Keeps the outcome of each test by name, and looks for interference after each."""

    def __init__(self, intact: _Intact, defines_equality: bool) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self.why = ""
        self.interfered: str | None = None
        self._defines_equality = defines_equality
        self._intact = intact

    def look(self) -> None:
        """Note what is not as it was."""
        self.interfered = self.interfered or self._intact.broken()
        if self._defines_equality:
            self.interfered = self.interfered or _equal_to_all()

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802  unittest's name
        self.look()
        self.interfered = self.interfered or _own_methods(test)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._keep(test, "passed")

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self._keep(test, "error", err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self._keep(test, "failed", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        if err is not None:
            self._keep(test, "failed" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        # The tests' own decorator skips a test whatever the program is. One that is skipped while it runs
        # may be skipped by the program.
        method = getattr(type(test), getattr(test, "_testMethodName", ""), None)
        decorated = any(getattr(thing, "__unittest_skip__", False) for thing in (type(test), method))
        self._keep(test, "left_out" if decorated else "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self._keep(test, "passed")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._keep(test, "failed")

    def _keep(self, test: Any, outcome: str, err: Any = None) -> None:
        # A failed setUpClass is reported for an object that is not a test.
        name = getattr(test, "_testMethodName", None) or str(test)
        if self.outcomes.get(name, "passed") == "passed":
            self.outcomes[name] = outcome
        if err is not None and not self.why:
            self.why = f"{name}: {_trace(err[1])}"


def _own_methods(test: unittest.TestCase) -> str | None:
    """Return a method that one test object has of its own. Its class's is the one that must run."""
    for name in vars(test):
        if isinstance(getattr(type(test), name, None), FunctionType):
            return f"{name} of a test was replaced"
    return None


def _equal_to_all() -> str | None:
    """Return a class of the program whose objects are equal to whatever they are compared with, or None."""
    seen: set[type] = set()
    left = [object]
    while left:
        for found in type.__subclasses__(left.pop()):
            if found in seen:
                continue
            seen.add(found)
            left.append(found)
            equals: Any = vars(found).get("__eq__")
            own = isinstance(equals, FunctionType) and equals.__code__.co_filename == PROGRAM_FILE
            if own and _is_equal(found, equals):
                return f"objects of {found.__name__} are equal to everything"
    return None


def _is_equal(kind: Any, equals: Callable[[Any, Any], Any]) -> bool:
    try:
        return equals(kind.__new__(kind), object()) is True
    except Exception:  # it needs what its __init__ gives it, so it looks at what it compares
        return False


if __name__ == "__main__":
    main()
