"""Verifies programs in other languages than Python, which their tests decide by the exit status."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import ConfigError, DataError, nearest
from genbench.sandbox.languages.language import Language, language, languages, toolchain
from genbench.sandbox.languages.runner import Runner
from genbench.sandbox.selftest import TierWish
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.code_blocks import code_blocks

_KEYS = ("language", "prompt", "tests", "stop")
_NAME = re.compile(r"(\w+)\s*(?:\(|=|<-)")
_SLACK_S = 60.0


class ProgramVerifier(BaseVerifier):
    """Tells whether the program in an answer passes its tests in the sandbox.

    Args:
        languages: the languages of the task, whose toolchains are part of the version.
        tier: "a" or "b" insists on a tier of the sandbox. None takes the best that works.
        unsafe_local_exec: Run without a sandbox. It runs any code that a model wrote.

    A reference is ``{language, prompt, tests, stop}``: the beginning of the program, which the model
    was shown, the tests behind it, and texts that end an answer without a code block. The detail has
    `forgeable`, because tests run in the program's own process.

    Raises:
        ConfigError: There is no such language or tier.
    """

    name = "program"
    rules = "2"

    def __init__(
        self, languages: Sequence[str] | str = (), *, tier: TierWish = None, unsafe_local_exec: bool = False
    ) -> None:
        self._languages = (languages,) if isinstance(languages, str) else tuple(languages)
        if not self._languages:
            raise ConfigError("program verifier: languages is empty; name those of the task")
        for name in self._languages:
            language(name)
        if tier not in ("a", "b", None):
            raise ConfigError(f"program verifier: tier is '{tier}'; valid: a, b")
        self._tier: TierWish = tier
        self._unsafe = unsafe_local_exec
        self._runner: Runner | None = None

    @property
    def version(self) -> str:
        """Open the sandbox: its tier and the toolchains are part of what decides.

        Raises:
            UnavailableError: There is no sandbox, or no toolchain, on this machine.
        """
        tools = ", ".join(dict.fromkeys(map(toolchain, self._languages)))
        return f"program {self.rules}, tier {self._open().cage.tier}, {tools}"

    def time_limit_s(self, case: Case) -> float:
        """Return the limits of both steps, and some seconds to start the sandbox."""
        wanted = language(case.reference["language"])
        compile_s = 0.0 if wanted.compile is None else wanted.compile.wall_s
        return 3 * (compile_s + wanted.run.wall_s) + _SLACK_S

    def check(self, reference: Any) -> None:
        """Raise DataError if a reference cannot be used. It is called before anything is drawn."""
        if not isinstance(reference, Mapping):
            raise DataError(
                f"program reference {reference!r:.200}: want a mapping with 'language' and 'tests'"
            )
        for key in reference:
            if key not in _KEYS:
                raise DataError(f"program reference has no '{key}'{nearest(str(key), _KEYS)}")
        for key in _KEYS[:3]:
            if not isinstance(reference.get(key), str):
                raise DataError(f"program reference: {key} is {reference.get(key)!r:.200}, want text")
        if reference["language"] not in languages():
            known = nearest(reference["language"], languages())
            raise DataError(f"program reference: language is '{reference['language']}'{known}")
        if reference["language"] not in self._languages:
            raise DataError(
                f"program reference: language is '{reference['language']}', which the verifier's option"
                " `languages` does not name"
            )
        language(reference["language"]).check(reference["tests"])

    def verify(self, case: Case) -> Finding:
        """Compile and run the answer's program with the tests of the reference."""
        reference = case.reference
        wanted = language(reference["language"])
        facts: dict[str, Any] = {
            "language": wanted.name,
            "tier": self._open().cage.tier,
            "forgeable": True,
        }
        program = program_of(case.answer.text, reference, wanted, truncated=case.answer.truncated)
        if program is None:
            return Finding(0.0, "no_code", detail=facts)
        outcome = self._open().run(wanted.name, program, reference["tests"])
        facts |= {"step": outcome.step, "cpu_s": outcome.cpu_s, "wall_s": round(outcome.grade.wall_s, 3)}
        if outcome.grade.verdict == "pass":
            return Finding(1.0, extracted=program, detail=facts)
        facts |= {"why": outcome.grade.why, "actual": outcome.grade.actual}
        return Finding(0.0, outcome.grade.verdict, extracted=program, detail=facts)

    def close(self) -> None:
        """Forget what was compiled."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _open(self) -> Runner:
        if self._runner is None:
            self._runner = Runner.open(self._tier, unsafe_local_exec=self._unsafe)
        return self._runner


def program_of(
    text: str, reference: Mapping[str, Any], wanted: Language, *, truncated: bool = False
) -> str | None:
    """Return the program of an answer, without its tests, or None if there is none.

    A code block that defines the prompt's function is the whole program, with the prompt's imports. Other
    blocks, and an answer without a block, continue the prompt up to a stop text.
    """
    prompt, tests = reference["prompt"], reference["tests"]
    name = _function(prompt)
    blocks = [block.rstrip() for block in code_blocks(text, truncated=truncated)]
    whole = [block for block in blocks if _signature(name, prompt).search(block)]
    if whole:
        return _completed(whole[-1], prompt, tests, name, wanted)
    continued = blocks[-1] if blocks else text
    if not continued.strip():
        return None
    for stop in reference.get("stop") or ():
        continued = continued.split(stop, 1)[0] if continued.find(stop) > 0 else continued
    return f"{prompt}{continued}"


def _function(prompt: str) -> str:
    """Return the name of the function whose signature is the prompt's last line."""
    last = [line for line in prompt.splitlines() if line.strip()][-1]
    found = _NAME.search(last)
    return found[1] if found else last.strip()


def _signature(name: str, prompt: str) -> re.Pattern[str]:
    """Return the expression of a definition: what stands before the name in the prompt, then the name."""
    last = [line for line in prompt.splitlines() if line.strip()][-1]
    before = last.split(name)[0].split()
    keyword = rf"\b{re.escape(before[-1])}\s+[&*]*" if before and before[-1].isalpha() else r"[\w>\]&*]?\s*"
    if "{" in last and not (before and before[-1] in ("function", "fn", "func", "sub", "def")):
        return re.compile(rf"\b{re.escape(name)}\s*\([^;{{]*\)?[^;{{]*\{{", re.S)
    return re.compile(rf"{keyword}{re.escape(name)}\b", re.S)


def _completed(block: str, prompt: str, tests: str, name: str, wanted: Language) -> str:
    """Return a block that is the whole program, in the form that the tests continue."""
    if wanted.main:
        # Its own main function comes after the function, and the tests have another one.
        own = re.search(wanted.main, block, re.M)
        function = block.find(name)
        if own is not None and 0 <= function < own.start():
            block = block[: own.start()].rstrip()
    found = wanted.whole(block, prompt)
    if tests.lstrip().startswith("}"):
        depth = prompt.count("{") - prompt.count("}")
        while found.endswith("}") and found.count("{") - found.count("}") < depth:
            found = found[:-1].rstrip()
    return found
