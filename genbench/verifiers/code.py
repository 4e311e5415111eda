"""Verifies programs by running them on tests in a sandbox. What is expected never enters it.

The references of code tasks are read and refused here before a run draws. Tests that a hostile program could
fake are told from the others, because the program's own process shows it the value that is wanted.
"""

from __future__ import annotations

import ast
import builtins
import math
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, get_args

from genbench.data.asserts import split
from genbench.data.packed_tests import unpack
from genbench.errors import ConfigError, DataError, nearest
from genbench.sandbox.box import Sandbox
from genbench.sandbox.compare import check_tests
from genbench.sandbox.grading import Checks
from genbench.sandbox.programs import Check, Grade, Kind, Limits, Mode, Program
from genbench.sandbox.selftest import TierWish
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.code_blocks import code_blocks, dedented

_KEYS = ("tests", "kind", "fn_name", "limits", "before", "begins", "after", "fences", "forgeable")
_FENCES = ("required", "optional")
_SHOWN = 200


def kind_of(reference: Mapping[str, Any]) -> Kind:
    """Return how a reference's programs are run. Without `kind` its tests tell."""
    if reference.get("kind") is not None:
        kind: Kind = reference["kind"]
        return kind
    tests = reference["tests"]
    if isinstance(tests, list | tuple) and all(isinstance(test, str) for test in tests):
        return "assert"
    return "functional" if reference.get("fn_name") else "stdio"


def read_tests(tests: Any) -> list[Check]:
    """Return the checks of a reference's `tests`.

    Raises:
        DataError: They cannot be read.
    """
    if isinstance(tests, Mapping):
        return [Check(given, wanted) for given, wanted in unpack(tests["public"], tests["private"])]
    return [check for test in tests for check in _checks(test)]


def limits_of(given: Mapping[str, Any]) -> Limits:
    """Return the limits of a reference.

    Raises:
        DataError: There is no such limit, or its value is not a positive number.
    """
    known = [field.name for field in fields(Limits)]
    for name, value in given.items():
        if name not in known:
            raise DataError(f"code reference: limits has no '{name}'{nearest(str(name), known)}")
        if name == "isolation":
            if value not in ("program", "test"):
                raise DataError(f"code reference: limits.isolation is {value!r}; valid: program, test")
        elif not (name == "total_s" and value is None) and not is_positive(value):
            raise DataError(f"code reference: limits.{name} is {value!r}, want a positive number")
    return Limits(**given)


def is_positive(value: object) -> bool:
    """Return whether a value is a finite number above zero (a bool is none)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value > 0


def check_reference(reference: Any) -> None:
    """Raise DataError if a reference cannot be used. The message names the key or test, and the reason."""
    if not isinstance(reference, Mapping) or "tests" not in reference:
        raise DataError(f"code reference {_shortened_repr(reference)}: want a mapping with 'tests'")
    for key in reference:
        if key not in _KEYS:
            raise DataError(f"code reference has no '{key}'{nearest(str(key), _KEYS)}")
    for key in ("before", "begins", "after"):
        if not isinstance(reference.get(key, ""), str):
            raise DataError(f"code reference: {key} is {_shortened_repr(reference[key])}, want text")
    if reference.get("fences", "required") not in _FENCES:
        raise DataError(f"code reference: fences is {reference['fences']!r}; valid: {', '.join(_FENCES)}")
    limits = reference.get("limits", {})
    if not isinstance(limits, Mapping):
        raise DataError(f"code reference: limits is {_shortened_repr(limits)}, want a mapping")
    limits_of(limits)
    _check_tests(reference["tests"])
    kind = kind_of(reference)
    if kind not in get_args(Kind):
        raise DataError(f"code reference: kind is {kind!r}; valid: {', '.join(get_args(Kind))}")
    fn_name = reference.get("fn_name")
    if kind == "functional" and not (isinstance(fn_name, str) and fn_name):
        raise DataError(f"code reference: fn_name is {fn_name!r}; kind functional wants the function's name")
    check_tests(kind, read_tests(reference["tests"]))


def _check_tests(tests: Any) -> None:
    """Raise DataError unless `tests` has one of the forms that are read."""
    if isinstance(tests, Mapping):
        if set(tests) != {"public", "private"} or not all(isinstance(text, str) for text in tests.values()):
            found = sorted(map(str, tests))
            raise DataError(f"code reference: tests has {found}, want the texts public and private")
        return
    if not isinstance(tests, list | tuple):
        raise DataError(f"code reference: tests is {_shortened_repr(tests)}, want a list")
    for number, test in enumerate(tests, start=1):
        if isinstance(test, str):
            _check_assert(test, number)
            continue
        texts = [test.get("input"), test.get("output")] if isinstance(test, Mapping) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise DataError(
                f"test {number} is {_shortened_repr(test)}: want the texts 'input' and 'output', or an assert"
            )
        tolerance = test.get("tolerance")
        if tolerance is not None and not (tolerance == 0 or is_positive(tolerance)):
            raise DataError(f"test {number}: tolerance is {tolerance!r}, want a number of 0 or more")


def _check_assert(source: str, number: int) -> None:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"test {number} is not Python: {_shortened_repr(source)}: {error}") from None
    if not source.strip():
        raise DataError(f"test {number} is empty")


def _checks(test: Any) -> list[Check]:
    """Return the checks of one test of a list. An assert that cannot be split is run as it is."""
    if not isinstance(test, str):
        return [Check(test["input"], test["output"], test.get("tolerance"))]
    found = split(test)
    if not found.complete or not found.lifted:
        return [Check(test, "")]
    return [Check(lifted.input, lifted.output, lifted.tolerance) for lifted in found.lifted]


def _shortened_repr(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_TRUTHS = ("True", "False")
_LIBRARIES = sys.stdlib_module_names | {"np", "numpy"}
_DECISIONS_HELD = 4
"""Of the last problems the answer is kept: samples of one problem follow one another."""
_DECISIONS = (ast.Compare, ast.BoolOp, ast.IfExp)


@lru_cache(_DECISIONS_HELD)
def is_forgeable(kind: Kind, checks: tuple[Check, ...]) -> bool:
    """Return whether a hostile program could fake a test because it knows the value that is wanted.

    It could for statements that run together with the program, for `assert f(x)`, which wants True, and for
    an expression that decides by itself, such as `(f(2) == 4) == True` or `isinstance(f(2), int) == True`.
    """
    return kind == "assert" and any(not check.output or _is_known(check) for check in checks)


def _is_known(check: Check) -> bool:
    """Return whether the expression of a test tells what it should be."""
    if check.output == "True" and check.input.startswith(("bool(", "not ")):
        return True
    try:
        tree = ast.parse(check.input, mode="eval")
        return any(_decides(node, check.output) for node in _outside(tree.body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that work on what the program's functions return, and those calls themselves."""
    yield node
    if isinstance(node, ast.Call) and not _is_library(node.func):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside(child)


def _decides(node: ast.AST, wanted: str) -> bool:
    """Return whether a node compares what the program returns, so that its result is known beforehand."""
    if isinstance(node, _DECISIONS) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return any(isinstance(inner, ast.Call) and not _is_library(inner.func) for inner in ast.walk(node))
    return isinstance(node, ast.Call) and wanted in _TRUTHS and _is_library(node.func)


def _is_library(function: ast.expr) -> bool:
    """Return whether a function is Python's own, such as `all` or `math.isclose`."""
    if isinstance(function, ast.Name):
        return hasattr(builtins, function.id)
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in _LIBRARIES


_CHECKS_HELD = 2
"""Problems whose tests stay unpacked: samples of one problem tend to come one after another."""
_CUT = 2000
"""Characters of a test's input and output that a finding shows."""
_FENCE = "```"
_SLACK_S = 120.0
"""Seconds beyond twice a program's own time: for the start of a cage and the wait for an exclusive turn."""


class CodeVerifier(BaseVerifier):
    """Tells whether the program in an answer passes its tests.

    Args:
        mode: `lcb-compat` runs programs as LiveCodeBench's own evaluator does, quirks included (for numbers
            next to its leaderboard's); `real` as real processes.
        tier: "a" or "b" insists on a tier of the sandbox. None takes the best that works.
        wall_s: seconds of wall clock for a test, instead of the reference's own.
        memory_mib: MiB of memory for a test, instead of the reference's own.
        unsafe_local_exec: Run without a sandbox. It runs any code that a model wrote.

    A reference is ``{tests, kind, fn_name, limits, before, begins, after, fences, forgeable}``. `tests` is a
    list of {input, output, tolerance} or of Python asserts, or LiveCodeBench's two columns as they are,
    {public, private}, which stay packed on their way. `kind` is as in sandbox.programs; without it, it is
    `assert` for asserts, `functional` with an `fn_name`, else `stdio`. `before` and `after` are put around
    the program, and `begins` before a program that does not begin with it. The program is the last code
    block. With fences `optional` an answer without any fence is taken whole. `forgeable` says that some tests
    run inside, where a hostile program could fake them.

    The detail of a finding has `forgeable` if a test runs inside or its wanted value is known to the program
    (`assert f(x)`), and `threads_left` if a program of mode `lcb-compat` left threads running: there the
    official evaluator reads what was printed at once, and this verifier waits for them within the limits.

    Raises:
        ConfigError: There is no such mode or tier, or a limit is not a positive number.
    """

    name = "code"
    rules = "7"

    def __init__(
        self,
        mode: Mode = "real",
        *,
        tier: TierWish = None,
        wall_s: float | None = None,
        memory_mib: int | None = None,
        unsafe_local_exec: bool = False,
    ) -> None:
        self.require_known("mode", mode, Mode)
        if tier not in ("a", "b", None):
            raise ConfigError(f"code verifier: tier is '{tier}'; valid: a, b")
        self._mode: Mode = mode
        self._tier: TierWish = tier
        self._unsafe = unsafe_local_exec
        given = {"wall_s": wall_s, "memory_mib": memory_mib}
        for name, value in given.items():
            if value is not None and not is_positive(value):
                raise ConfigError(f"code verifier: {name} is {value!r}, want a positive number")
        self._limits = {name: value for name, value in given.items() if value is not None}
        self._box: Sandbox | None = None
        self._checks: OrderedDict[tuple[str, ...], Checks] = OrderedDict()

    @property
    def version(self) -> str:
        """Open the sandbox: its tier and its interpreter are part of what decides.

        Raises:
            UnavailableError: There is no sandbox on this machine.
        """
        box = self._sandbox()
        return f"code {self.rules}, {self._mode}, tier {box.cage.tier}, {box.interpreter}"

    def time_limit_s(self, case: Case) -> float:
        """Return three times the limit of all tests of the problem, and some seconds to start the sandbox.

        Tests may run together, then each by itself, and some of them once more in a turn of their own.
        """
        checks = self._checks_of(case.reference["tests"])
        return 3 * self._limits_of(case.reference).total(len(checks.all)) + _SLACK_S

    def verify(self, case: Case) -> Finding:
        """Run the answer's program against the tests of the reference.

        Return 1 if every test passes. Otherwise the reason names the first failure.
        """
        reference = case.reference
        code = self._program_of(case)
        facts: dict[str, Any] = {"mode": self._mode, "tier": self._sandbox().cage.tier}
        kind, checks = kind_of(reference), self._checks_of(reference["tests"])
        if reference.get("forgeable") or is_forgeable(kind, checks.all):
            facts["forgeable"] = True
        if not code.strip():
            return Finding(0.0, "no_code", extracted=code, detail=facts)
        opening = reference.get("begins") or ""
        code = code if code.startswith(opening) else f"{opening}\n{code}"
        text = reference.get("before", "") + code + reference.get("after", "")
        program = Program(text, kind, reference.get("fn_name"), self._mode)
        grade = self._sandbox().grade(program, checks, self._limits_of(reference))
        return _finding(grade, code, checks, facts)

    def check(self, reference: Any) -> None:
        """Raise DataError if a reference cannot be used. It is called before anything is drawn."""
        check_reference(reference)

    def close(self) -> None:
        """End the sandbox and free the tests in memory."""
        if self._box is not None:
            self._box.close()
            self._box = None
        while self._checks:
            self._checks.popitem()[1].close()

    def _program_of(self, case: Case) -> str:
        text = case.answer.text
        if case.reference.get("fences") == "optional" and _FENCE not in text:
            return text
        if self._mode == "lcb-compat":
            return extract(text)
        return last_block(text, truncated=case.answer.truncated)

    def _sandbox(self) -> Sandbox:
        if self._box is None:
            self._box = Sandbox.open(self._tier, unsafe_local_exec=self._unsafe)
        return self._box

    def _limits_of(self, reference: Mapping[str, Any]) -> Limits:
        return limits_of(dict(reference.get("limits", {})) | self._limits)

    def _checks_of(self, tests: Any) -> Checks:
        """Return the checks of a reference, unpacked once for the samples that follow one another."""
        key = (tests["public"], tests["private"]) if isinstance(tests, Mapping) else tuple(map(str, tests))
        if key not in self._checks:
            while len(self._checks) >= _CHECKS_HELD:
                self._checks.popitem(last=False)[1].close()
            self._checks[key] = Checks(_required(read_tests(tests)))
        self._checks.move_to_end(key)
        return self._checks[key]


def extract(text: str) -> str:
    """Return the program: the lines between the last two fences (LiveCodeBench, extraction_utils.py:4-17).

    With fewer than two fences there is none.
    """
    lines = text.split("\n")
    places = _fences(lines)
    return "\n".join(lines[places[-2] + 1 : places[-1]]) if len(places) >= 2 else ""


def last_block(text: str, *, truncated: bool = False) -> str:
    """Return the program: the last code block, also one in a list, or one that the answer leaves open.

    An even number of fences is read as LiveCodeBench does.
    """
    lines = text.split("\n")
    places = _fences(lines)
    if len(places) % 2:
        return next(reversed(code_blocks(text, truncated=truncated)), "")
    if not places:
        return ""
    opening = lines[places[-2]]
    return "\n".join(dedented(lines[places[-2] + 1 : places[-1]], len(opening) - len(opening.lstrip(" \t"))))


def _fences(lines: list[str]) -> list[int]:
    return [place for place, line in enumerate(lines) if _FENCE in line]


def _finding(grade: Grade, code: str, checks: Checks, facts: dict[str, Any]) -> Finding:
    """Return the grade with the failing test: its input, what was expected, what came."""
    detail = facts | {"tests": len(checks.all), "wall_s": round(grade.wall_s, 3)}
    if grade.threads_left:
        detail["threads_left"] = True
    if grade.verdict == "pass":
        return Finding(1.0, extracted=code, detail=detail)
    if grade.test is not None:
        check = checks.all[grade.test]
        detail |= {
            "test": grade.test,
            "input": _shortened_output(check.input),
            "expected": _shortened_output(check.output),
            "actual": _shortened_output(grade.actual),
            "why": grade.why,
        }
    return Finding(0.0, grade.verdict, extracted=code, detail=detail)


def _required(checks: list[Check]) -> list[Check]:
    """Return the checks. Without any, every program would pass."""
    if not checks:
        raise DataError("code reference: there are no tests")
    return checks


def _shortened_output(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[:_CUT]}… ({len(text)} characters)"
