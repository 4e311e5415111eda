"""A sandbox for one caller, which takes one program at a time and returns its grade."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from genbench.sandbox.cage import Cage
from genbench.sandbox.grading import Accept, Checks, grade
from genbench.sandbox.programs import Check, Grade, Limits, Program, Returned
from genbench.sandbox.selftest import TierWish, open_cage
from genbench.sandbox.turns import Turns
from genbench.sandbox.worker import SandboxError, Worker

_TRIES = 3
"""Cages that may die under one program. One death is not enough, because cages also die at random."""
_HONEST, _HONEST_CHECKS = Program("print(input())"), (Check("7\n", "7\n"),)


class Sandbox:
    """One worker, which is replaced when it dies.

    Args:
        cage: a cage that passed its self-test (see opening.open_cage). Its first worker may be given too.
    """

    def __init__(self, cage: Cage, worker: Worker | None = None) -> None:
        self.cage = cage
        self.replaced = 0
        self._worker = worker
        self._turns = Turns()

    @classmethod
    def open(cls, tier: TierWish = None, *, unsafe_local_exec: bool = False) -> Self:
        """Return the best sandbox of this machine.

        Raises:
            UnavailableError: there is no sandbox.
        """
        return cls(*open_cage(tier, unsafe_local_exec=unsafe_local_exec))

    @property
    def interpreter(self) -> str:
        """Return the interpreter that runs the programs, with the versions that can decide a verdict."""
        if self._worker is None:
            self._worker = Worker(self.cage)
        return str(self._worker.facts["interpreter"])

    def grade(self, program: Program, checks: Checks | Sequence[Check], limits: Limits) -> Grade:
        """Return the grade of one program. `Checks` can be used again and are not closed.

        Raises:
            DataError: An expected output cannot be read.
            SandboxError: No program runs here any more, not even a harmless one.
        """
        if isinstance(checks, Checks):
            return self._grade(program, checks, limits)
        own = Checks(checks)
        try:
            return self._grade(program, own, limits)
        finally:
            own.close()

    def call(self, text: str, function: str, argument: Any, limits: Limits) -> Returned:
        """Return what a function of a program returns for an argument, in a process of its own.

        Args:
            text: the program, which defines the function.
            argument: JSON. The result must be JSON too, see inside/calls.py for other values.

        Raises:
            SandboxError: No program runs here any more, not even a harmless one.
        """
        answers: list[bytes] = []

        def keep(answer: bytes) -> bool:
            answers.append(answer)
            return True

        checks = Checks([Check(json.dumps(argument), "null")])
        try:
            grade = self._grade(Program(text, "functional", function), checks, limits, keep)
        finally:
            checks.close()
        if grade.verdict != "pass":
            return Returned(failure=grade.verdict, why=grade.why)
        try:
            return Returned(json.loads(answers[-1]))
        except (ValueError, RecursionError, MemoryError) as error:
            return Returned(failure="runtime_error", why=f"what it returned is not JSON: {error}")

    def _grade(self, program: Program, checks: Checks, limits: Limits, accept: Accept | None = None) -> Grade:
        """Run and check a program.

        If its cage breaks, repeat in a fresh one in a sole turn, so that it harms no other.
        """
        why = ""
        for attempt in range(_TRIES):
            try:
                return self._try(program, checks, limits, alone=attempt > 0, accept=accept)
            except SandboxError as error:
                self.replaced += 1
                why = str(error)
        # A broken cage is the program's own failure, as long as a harmless program runs here.
        honest = self.grade_once(_HONEST, _HONEST_CHECKS)
        if honest.verdict != "pass":
            raise SandboxError(f"an honest program fails here ({honest.verdict}), after: {why}")
        return Grade("runtime_error", test=0, why=f"it broke its sandbox {_TRIES} times: {why}")

    def grade_once(self, program: Program, checks: Sequence[Check]) -> Grade:
        """Run and check a program without a second try.

        Raises:
            SandboxError: The cage failed.
        """
        own = Checks(checks)
        try:
            return self._try(program, own, Limits(), alone=False)
        finally:
            own.close()

    def _try(
        self,
        program: Program,
        checks: Checks,
        limits: Limits,
        *,
        alone: bool,
        accept: Accept | None = None,
    ) -> Grade:
        if self._worker is None:
            self._worker = Worker(self.cage)
        try:
            return grade(self._worker, program, checks, limits, self._turns, alone=alone, accept=accept)
        except BaseException:
            # Its zygote may still send a reply that the next program would take for its own.
            self._worker.close()
            self._worker = None
            raise

    def close(self) -> None:
        """End the worker, and with it every process in the cage."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        self._turns.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.close()
