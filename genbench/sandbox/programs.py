"""What a sandbox is given and what it says: programs, tests, limits, judgements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["stdio", "functional", "assert"]
Mode = Literal["real", "lcb-compat"]
Result = Literal["pass", "wrong", "timeout", "runtime_error", "memory", "output_limit", "no_code"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one test may use, and (`total_s`) all of them; wall seconds, MiB beyond the interpreter's own."""

    wall_s: float = 6.0
    memory_mib: int = 1024
    output_mib: int = 8
    total_s: float | None = None
    isolation: Literal["program", "test"] = "program"
    """Whether tests share a process (a fifth of the CPU); what fails after others is tried in its own."""

    @property
    def output_bytes(self) -> int:
        return self.output_mib << 20

    def total(self, tests: int) -> float:
        """Return the wall seconds of a program: by default the limit and a second for each test, and 5."""
        return self.total_s if self.total_s is not None else (self.wall_s + 1) * tests + 5


@dataclass(frozen=True, slots=True)
class Program:
    """A program and how it is run.

    Kinds: `stdio` reads standard input and prints; `functional` has a function (or a method of a class
    Solution) `fn_name` that is called with JSON arguments; `assert` is asked Python expressions.
    """

    text: str
    kind: Kind = "stdio"
    fn_name: str | None = None
    mode: Mode = "real"


@dataclass(frozen=True, slots=True)
class Check:
    """One test of a program. What `output` means, by kind:

    stdio: text, compared line by line; functional: JSON; assert: a Python literal, compared with the value
    of the expression `input` (numbers within `tolerance`, where there is one), or "" where `input` is
    statements that must end without an exception: then the program judges itself.
    """

    input: str
    output: str
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a program.

    `test` is the failing test's index, `actual` what it answered there (cut), `why` the end of its error
    output or the reason; `wall_s` are the seconds of the run that decided.
    """

    verdict: Result
    test: int | None = None
    actual: str = ""
    why: str = ""
    wall_s: float = 0.0
    threads_left: bool = False
    """In mode lcb-compat the program left threads running: the official evaluator may have read less."""
