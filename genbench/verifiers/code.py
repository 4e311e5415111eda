"""Verifies programs by running them on tests in a sandbox. What is expected never enters it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.sandbox.box import Sandbox
from genbench.sandbox.grading import Checks
from genbench.sandbox.opening import TierWish
from genbench.sandbox.programs import Check, Grade, Limits, Mode, Program
from genbench.types import Case, Finding
from genbench.verifiers import code_reference
from genbench.verifiers.code_reference import is_positive, kind_of, limits_of, read_tests
from genbench.verifiers.forgeable import is_forgeable

_VERSION = "5"
_PROBLEMS_HELD = 2
"""Problems whose tests stay unpacked: samples of one problem tend to come one after another."""
_CUT = 2000
"""Characters of a test's input and output that a finding shows."""
_FENCE = "```"
_SLACK_S = 120.0
"""Seconds beyond twice a program's own time: for the start of a cage and the wait for an exclusive turn."""


class CodeVerifier:
    """Tells whether the program in an answer passes its tests.

    Args:
        mode: `lcb-compat` runs programs as LiveCodeBench's own evaluator does, quirks included (for numbers
            next to its leaderboard's); `real` as real processes.
        tier: "a" or "b" insists on a tier of the sandbox. None takes the best that works.
        wall_s: seconds of wall clock for a test, instead of the reference's own.
        memory_mib: MiB of memory for a test, instead of the reference's own.
        unsafe_local_exec: Run without a sandbox. It runs any code that a model wrote.

    A reference is ``{tests, kind, fn_name, limits, before, after, fences, forgeable}``. `tests` is a list of
    {input, output, tolerance} or of Python asserts, or LiveCodeBench's two columns as they are,
    {public, private}, which stay packed on their way. `kind` is as in sandbox.programs; without it, it is
    `assert` for asserts, `functional` with an `fn_name`, else `stdio`. `before` and `after` are put around
    the program. With fences `optional` an answer without any code block is taken whole. `forgeable` says that
    some tests run inside, where a hostile program could fake them.

    The detail of a finding has `forgeable` if a test runs inside or its wanted value is known to the program
    (`assert f(x)`), and `threads_left` if a program of mode `lcb-compat` left threads running: there the
    official evaluator reads what was printed at once, and this verifier waits for them within the limits.

    Raises:
        ConfigError: There is no such mode or tier, or a limit is not a positive number.
    """

    def __init__(
        self,
        mode: Mode = "real",
        *,
        tier: TierWish = None,
        wall_s: float | None = None,
        memory_mib: int | None = None,
        unsafe_local_exec: bool = False,
    ) -> None:
        if mode not in get_args(Mode):
            raise ConfigError(f"code verifier: mode is '{mode}'{nearest(str(mode), get_args(Mode))}")
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
        return f"code {_VERSION}, {self._mode}, tier {box.cage.tier}, {box.interpreter}"

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
        code = extract(case.answer.text, fences=reference.get("fences", "required"))
        facts: dict[str, Any] = {"mode": self._mode, "tier": self._sandbox().cage.tier}
        kind, checks = kind_of(reference), self._checks_of(reference["tests"])
        if reference.get("forgeable") or is_forgeable(kind, checks.all):
            facts["forgeable"] = True
        if not code.strip():
            return Finding(0.0, "no_code", extracted=code, detail=facts)
        text = reference.get("before", "") + code + reference.get("after", "")
        program = Program(text, kind, reference.get("fn_name"), self._mode)
        grade = self._sandbox().grade(program, checks, self._limits_of(reference))
        return _finding(grade, code, checks, facts)

    def check(self, reference: Any) -> None:
        """Raise DataError if a reference cannot be used. It is called before anything is drawn."""
        code_reference.check_reference(reference)

    def close(self) -> None:
        """End the sandbox and free the tests in memory."""
        if self._box is not None:
            self._box.close()
            self._box = None
        while self._checks:
            self._checks.popitem()[1].close()

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
            while len(self._checks) >= _PROBLEMS_HELD:
                self._checks.popitem(last=False)[1].close()
            self._checks[key] = Checks(_required(read_tests(tests)))
        self._checks.move_to_end(key)
        return self._checks[key]


def extract(text: str, *, fences: str = "required") -> str:
    """Return the program: the lines between the last two fences (LiveCodeBench, extraction_utils.py:4-17).

    With fewer than two fences there is none. With `fences` optional a text without any fence is the program.
    """
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if _FENCE in line]
    if len(places) >= 2:
        return "\n".join(lines[places[-2] + 1 : places[-1]])
    return text if fences == "optional" and not places else ""


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
            "input": _cut(check.input),
            "expected": _cut(check.output),
            "actual": _cut(grade.actual),
            "why": grade.why,
        }
    return Finding(0.0, grade.verdict, extracted=code, detail=detail)


def _required(checks: list[Check]) -> list[Check]:
    """Return the checks. Without any, every program would pass."""
    if not checks:
        raise DataError("code reference: there are no tests")
    return checks


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[:_CUT]}… ({len(text)} characters)"
