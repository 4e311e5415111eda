"""Verifies programs by running their unittest class, in an environment of libraries that the tests need."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import ConfigError, DataError, UnavailableError, nearest
from genbench.sandbox.environment import open_environment
from genbench.sandbox.programs import Limits
from genbench.sandbox.selftest import TierWish
from genbench.sandbox.unittests import DEFAULT_LIMITS, UnittestRunner, names_of_tests, third_party
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.code import is_positive
from genbench.verifiers.code_blocks import code_blocks

_KEYS = ("tests", "entry_point", "before", "libraries", "solution")
_SLACK_S = 120.0
_TRIES = 3
_PASS = "\n    pass\n"
_WHY = 300


class UnittestVerifier(BaseVerifier):
    """Tells whether the program in an answer passes the tests of a class `TestCases`.

    Args:
        environment: ``{python: folder of a virtual environment, lock: file with pins, or a digest}``. Its
            interpreter runs programs and tests. Its Python and its distributions are part of the version.
        calibrated: whether `before` and a body of `pass` stand before each program, so that a program has
            the imports of the prompt.
        libraries: modules that the environment must have, besides those that the rows name.
        own_solutions: how often each row's own solution is run before a run draws. Rows whose solution does
            not pass each time are left out and counted.
        tier: "a" or "b" insists on a tier of the sandbox. None takes the best that works.
        wall_s: seconds of wall clock for all tests of a program.
        memory_mib: MiB of memory of a program with its processes.
        unsafe_local_exec: Run without a sandbox. It runs any code that a model wrote.

    A reference is ``{tests, entry_point, before, libraries, solution}``, of which only `tests` is needed. The
    detail of a finding has `forgeable`, because tests run in the program's own process.

    Raises:
        ConfigError: an option has a wrong value.
    """

    name = "unittest"
    rules = "2"

    def __init__(
        self,
        environment: Mapping[str, Any] | None = None,
        *,
        calibrated: bool = False,
        libraries: Sequence[str] = (),
        own_solutions: int = 0,
        tier: TierWish = None,
        wall_s: float = DEFAULT_LIMITS.wall_s,
        memory_mib: int = DEFAULT_LIMITS.memory_mib,
        unsafe_local_exec: bool = False,
    ) -> None:
        if environment is None:
            raise ConfigError(
                "unittest verifier: environment is missing: the tests need libraries. Give the task "
                "verifier: {environment: {python: the folder of a virtual environment}}; "
                "docs/benchmarks.md (Programs with libraries) says how to make one"
            )
        if tier not in ("a", "b", None):
            raise ConfigError(f"unittest verifier: tier is '{tier}'; valid: a, b")
        for name, value in {"wall_s": wall_s, "memory_mib": memory_mib}.items():
            if not is_positive(value):
                raise ConfigError(f"unittest verifier: {name} is {value!r}, want a positive number")
        for name, flag in {"calibrated": calibrated, "unsafe_local_exec": unsafe_local_exec}.items():
            if not isinstance(flag, bool):
                raise ConfigError(f"unittest verifier: {name} is {flag!r}, want true or false")
        if isinstance(own_solutions, bool) or not isinstance(own_solutions, int) or own_solutions < 0:
            raise ConfigError(f"unittest verifier: own_solutions is {own_solutions!r}, want a number from 0")
        self._given = environment
        self._calibrated = calibrated
        self._libraries = third_party(libraries)
        self._own_solutions = own_solutions
        self._tier: TierWish = tier
        self._unsafe = unsafe_local_exec
        self._limits = Limits(wall_s=wall_s, memory_mib=memory_mib, output_mib=DEFAULT_LIMITS.output_mib)
        self._runner: UnittestRunner | None = None
        self._lacking: dict[str, str] = {}
        self._known: set[str] = set()

    @property
    def version(self) -> str:
        """Open the sandbox: its tier and the environment are part of what decides.

        Raises:
            UnavailableError: There is no sandbox, or no environment, on this machine.
            ConfigError: The environment is not that of its lock.
        """
        runner = self._open()
        seen = "with /proc, " if runner.has_processes else ""
        form = "calibrated, " if self._calibrated else ""
        own = runner.environment
        return (
            f"unittest {self.rules}, {form}tier {runner.cage.tier}, {seen}python {own.version}, "
            f"{len(own.installed)} distributions {own.digest[:16]}"
        )

    def time_limit_s(self, case: Case) -> float:
        """Return the limit of a program in three cages, and some seconds to start the sandbox."""
        return _TRIES * self._limits.wall_s + _SLACK_S

    def check(self, reference: Any) -> None:
        """Look at a reference before anything is drawn: its tests, its libraries, its own solution.

        Raises:
            DataError: it cannot be used, or the environment lacks a library.
            UnavailableError: its own solution does not pass its tests here.
        """
        if not isinstance(reference, Mapping) or not isinstance(reference.get("tests"), str):
            raise DataError(f"unittest reference {reference!r:.200}: want a mapping with the text 'tests'")
        for key in reference:
            if key not in _KEYS:
                raise DataError(f"unittest reference has no '{key}'{nearest(str(key), _KEYS)}")
        for key in ("entry_point", "before", "solution"):
            if not isinstance(reference.get(key, ""), str):
                raise DataError(f"unittest reference: {key} is {reference[key]!r:.200}, want text")
        names_of_tests(reference["tests"])
        self._require(third_party(reference.get("libraries") or ()))
        if self._own_solutions and reference.get("solution"):
            self._try_solution(reference)

    def verify(self, case: Case) -> Finding:
        """Run the tests of the reference on the answer's program."""
        reference = case.reference
        runner = self._open()
        facts: dict[str, Any] = {"tier": runner.cage.tier, "forgeable": True}
        program = program_of(case.answer.text, reference.get("entry_point"), truncated=case.answer.truncated)
        if program is None:
            return Finding(0.0, "no_code", detail=facts)
        outcome = runner.run(self._whole(program, reference), reference["tests"], self._limits)
        facts |= {
            "tests": len(names_of_tests(reference["tests"])),
            "cpu_s": outcome.cpu_s,
            "peak_mib": outcome.peak_mib,
            "wall_s": round(outcome.grade.wall_s, 3),
        }
        if outcome.grade.verdict == "pass":
            return Finding(1.0, extracted=program, detail=facts)
        facts |= {"why": outcome.grade.why, "test": outcome.grade.test}
        return Finding(0.0, outcome.grade.verdict, extracted=program, detail=facts)

    def _whole(self, program: str, reference: Mapping[str, Any]) -> str:
        before = reference.get("before") or ""
        return f"{before}{_PASS}{program}" if self._calibrated and before else program

    def _require(self, libraries: Sequence[str]) -> None:
        """Import libraries in the environment, each once. Raise DataError that names all that lack."""
        runner = self._open()
        new = [name for name in (*self._libraries, *libraries) if name not in self._known]
        if new:
            self._known.update(new)
            self._lacking |= runner.missing(new)
        if lacking := [name for name in (*self._libraries, *libraries) if name in self._lacking]:
            first = self._lacking[lacking[0]]
            raise DataError(
                f"the environment {runner.environment.folder} lacks {', '.join(dict.fromkeys(lacking))} "
                f"({first}); install what requirements/bigcodebench.txt says, or what the tests need"
            )

    def _try_solution(self, reference: Mapping[str, Any]) -> None:
        for _ in range(self._own_solutions):
            program = self._whole(reference["solution"], reference)
            grade = self._open().run(program, reference["tests"], self._limits).grade
            if grade.verdict != "pass":
                last = grade.why.strip().splitlines()[-1:] or [grade.verdict]
                raise UnavailableError(f"its own solution does not pass its tests here: {last[0][:_WHY]}")

    def close(self) -> None:
        """Forget the environment."""
        self._runner = None

    def _open(self) -> UnittestRunner:
        if self._runner is None:
            environment = open_environment(self._given)
            self._runner = UnittestRunner.open(environment, self._tier, unsafe_local_exec=self._unsafe)
        return self._runner


def program_of(text: str, entry_point: str | None, *, truncated: bool = False) -> str | None:
    """Return the program of an answer, or None if there is none.

    It is the last code block that defines the function, else the last block. An answer without a block is
    the program if it is Python that defines the function.
    """
    blocks = [block for block in code_blocks(text, truncated=truncated) if block.strip()]
    if blocks:
        defining = [block for block in blocks if entry_point and _defines(block, entry_point)]
        return (defining or blocks)[-1]
    return text if text.strip() and entry_point and _defines(text, entry_point) else None


def _defines(source: str, name: str) -> bool:
    """Return whether a source is Python that binds a name at its top level to a function or a class."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return any(isinstance(item, kinds) and item.name == name for item in body)
