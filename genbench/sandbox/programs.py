"""Inputs and outputs of a sandbox: programs, tests, limits, grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["stdio", "functional", "assert"]
Mode = Literal["real", "lcb-compat"]
Result = Literal["pass", "wrong", "timeout", "runtime_error", "memory", "output_limit", "no_code"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test, and (`total_s`) of all of them.

    Times are wall seconds, memory is MiB beyond the interpreter's own.
    """

    wall_s: float = 6.0
    memory_mib: int = 1024
    output_mib: int = 8
    total_s: float | None = None
    isolation: Literal["program", "test"] = "program"
    """Whether tests share a process, which takes a sixth of the CPU. A test that fails after others is
    tried in its own process. Tests whose expected outputs are easy to guess have a process each, unless the
    program's text shows that it leaves nothing behind."""

    @property
    def output_bytes(self) -> int:
        """Return the cap on one test's output in bytes."""
        return self.output_mib << 20

    def total(self, tests: int) -> float:
        """Return the wall seconds of a program.

        The default is the limit and a second for each test, and 5.
        """
        return self.total_s if self.total_s is not None else (self.wall_s + 1) * tests + 5


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the way to run it.

    A program of kind `stdio` reads standard input and prints. `functional` has a function (or a method of a
    class Solution) `fn_name` that is called with JSON arguments. `assert` is tested by Python expressions.
    """

    text: str
    kind: Kind = "stdio"
    fn_name: str | None = None
    mode: Mode = "real"


@dataclass(frozen=True, slots=True)
class Check:
    """One test of a program. The meaning of `output` depends on the kind.

    For `stdio` it is text that is compared line by line, and for `functional` it is JSON. For `assert` it is
    a Python literal, which is compared with the value of the expression `input` (numbers within `tolerance`,
    if there is one). It is "" if `input` is statements that must end without an exception. The program's own
    process then decides.
    """

    input: str
    output: str
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """What a function returned in the sandbox, or why there is nothing.

    `failure` is None if it returned. `why` is the reason of a failure.
    """

    value: Any = None
    failure: Result | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """The result of a program.

    `test` is the failing test's index, and `actual` is its answer there (cut). `why` is the end of its error
    output, or the reason. `wall_s` are the seconds of the run that decided.
    """

    verdict: Result
    test: int | None = None
    actual: str = ""
    why: str = ""
    wall_s: float = 0.0
    threads_left: bool = False
    """Whether the program left threads running in mode lcb-compat. The official evaluator may have read
    less."""
