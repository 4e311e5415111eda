"""Verifies programs by running them on tests in a sandbox; what is expected never enters it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, get_args

from genbench.data.asserts import split
from genbench.data.packed_tests import unpack
from genbench.errors import ConfigError, nearest
from genbench.sandbox.box import Sandbox
from genbench.sandbox.judging import Checks
from genbench.sandbox.opening import TierWish
from genbench.sandbox.programs import Check, Judgement, Kind, Limits, Mode, Program
from genbench.types import Case, Finding

_VERSION = "1"
_PROBLEMS_HELD = 2
"""Problems whose tests stay unpacked: samples of one tend to come one after another, and tests are big."""
_CUT = 2000
"""Characters of a test's input and output that a finding shows."""
_FENCE = "```"
_SLACK_S = 120.0
"""Beyond a program's own time, twice told: start of a cage, and waiting for a turn alone."""


class CodeVerifier:
    """Whether the program in an answer passes its tests.

    Args:
        mode: `lcb-compat` runs programs as LiveCodeBench's own evaluator does, quirks included (for numbers
            beside its leaderboard's); `real` as real processes.
        tier: "a" or "b" insists on a tier of the sandbox; None takes the best that holds.
        wall_s, memory_mib: limits of a test, over the reference's own.
        unsafe_local_exec: without a sandbox. It runs whatever a model wrote.

    A reference is ``{tests, kind, fn_name, limits, before, after, fences, forgeable}``. `tests` is a list of
    {input, output, tolerance} or of Python asserts, or LiveCodeBench's two columns as they are,
    {public, private}, which stay packed on their way. `kind` is as in sandbox.programs; left out it is
    `assert` for asserts, `functional` with an `fn_name`, else `stdio`. `before` and `after` are put around
    the program; fences `optional` takes an answer without any code block whole; `forgeable` says that some
    tests run inside, where a hostile program could fake them.
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
        self._limits = {name: value for name, value in given.items() if value is not None}
        self._box: Sandbox | None = None
        self._checks: OrderedDict[tuple[str, ...], Checks] = OrderedDict()

    @property
    def version(self) -> str:
        """Opens the sandbox: its tier and its interpreter are part of what decides.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        box = self._sandbox()
        return f"code {_VERSION}, {self._mode}, tier {box.cage.tier}, {box.interpreter}"

    def time_limit_s(self, case: Case) -> float:
        checks = self._checks_of(case.reference["tests"])
        return 2 * self._limits_of(case.reference).total(len(checks.all)) + _SLACK_S

    def verify(self, case: Case) -> Finding:
        reference = case.reference
        code = extract(case.answer.text, fences=reference.get("fences", "required"))
        facts: dict[str, Any] = {"mode": self._mode, "tier": self._sandbox().cage.tier}
        if reference.get("forgeable"):
            facts["forgeable"] = True
        if not code.strip():
            return Finding(0.0, "no_code", extracted=code, detail=facts)
        text = reference.get("before", "") + code + reference.get("after", "")
        program = Program(text, _kind(reference), reference.get("fn_name"), self._mode)
        checks = self._checks_of(reference["tests"])
        judgement = self._sandbox().judge(program, checks, self._limits_of(reference))
        return _finding(judgement, code, checks, facts)

    def close(self) -> None:
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
        return Limits(**(reference.get("limits", {}) | self._limits))

    def _checks_of(self, tests: Any) -> Checks:
        """The checks of a reference, unpacked once for the samples that follow one another."""
        key = (tests["public"], tests["private"]) if isinstance(tests, Mapping) else tuple(map(str, tests))
        if key not in self._checks:
            while len(self._checks) >= _PROBLEMS_HELD:
                self._checks.popitem(last=False)[1].close()
            self._checks[key] = Checks(_read(tests))
        self._checks.move_to_end(key)
        return self._checks[key]


def _kind(reference: Mapping[str, Any]) -> Kind:
    if "kind" in reference:
        kind: Kind = reference["kind"]
        return kind
    tests = reference["tests"]
    if isinstance(tests, list) and all(isinstance(test, str) for test in tests):
        return "assert"
    return "functional" if reference.get("fn_name") else "stdio"


def extract(text: str, *, fences: str = "required") -> str:
    """The program: the lines between the last two fences (LiveCodeBench, extraction_utils.py:4-17).

    Fewer than two fences: nothing, or with `fences` optional the whole text where there is no fence at all.
    """
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if _FENCE in line]
    if len(places) >= 2:
        return "\n".join(lines[places[-2] + 1 : places[-1]])
    return text if fences == "optional" and not places else ""


def _read(tests: Any) -> list[Check]:
    if isinstance(tests, Mapping):
        return [Check(given, wanted) for given, wanted in unpack(tests["public"], tests["private"])]
    return [check for test in tests for check in _checks(test)]


def _checks(test: Any) -> list[Check]:
    """One test of a list; an assert that cannot be split is run as it is."""
    if not isinstance(test, str):
        return [Check(test["input"], test["output"], test.get("tolerance"))]
    found = split(test)
    if not found.complete:
        return [Check(test, "")]
    return [Check(lifted.input, lifted.output, lifted.tolerance) for lifted in found.lifted]


def _finding(judgement: Judgement, code: str, checks: Checks, facts: dict[str, Any]) -> Finding:
    """The judgement with the failing test side by side: its input, what was expected, what came."""
    detail = facts | {"tests": len(checks.all), "wall_s": round(judgement.wall_s, 3)}
    if judgement.verdict == "pass":
        return Finding(1.0, extracted=code, detail=detail)
    if judgement.test is not None:
        check = checks.all[judgement.test]
        detail |= {
            "test": judgement.test,
            "input": _cut(check.input),
            "expected": _cut(check.output),
            "actual": _cut(judgement.actual),
            "why": judgement.why,
        }
    return Finding(0.0, judgement.verdict, extracted=code, detail=detail)


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[:_CUT]}… ({len(text)} characters)"
