"""The answers of one process of a program, test by test, and their comparison with the expected ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genbench.sandbox.compare import same_json, same_literal, same_text, shown
from genbench.sandbox.inside import board as statuses
from genbench.sandbox.inside.board import Board
from genbench.sandbox.programs import Check, Grade, Limits, Program, Result
from genbench.sandbox.worker import Ended, Files

CUT = 2000
"""Characters of an answer or a reason that a grade keeps."""
Accept = Callable[[bytes], bool]
"""A function that gets the answer to one test and tells whether it is right."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The output of a program for one test: its record and its text, copied once and final.

    `is_long` means more output than the test may have. `answer` is then the beginning of it.
    """

    status: int
    answer: bytes
    end: int
    is_long: bool


class View:
    """A reader of the board and the output of a process that runs `checks`. It compares them.

    Each test's record is read once and copied with its output. A rejection is final, so that a
    program that changes its answer does not get a second guess.

    Args:
        accept: called with each answer instead of the comparison.
    """

    def __init__(
        self,
        board: Board,
        program: Program,
        checks: Sequence[Check],
        limits: Limits,
        files: Files,
        *,
        accept: Accept | None = None,
    ) -> None:
        self._accept = accept
        self._board, self._program, self._checks, self._limits = board, program, checks, limits
        self._output, self._errors = files.output, files.errors
        self._passed, self._read = 0, 0
        self._failed: Shown | None = None
        self.threads_left = False

    def has_failed(self) -> bool:
        """Return whether a finished test has failed. This may be called while the process runs."""
        self._advance()
        return self._failed is not None

    def conclude(self, ended: Ended, file_bytes: int) -> tuple[int, Grade | None]:
        """Return how many tests passed in a row and the failure of the next, once the process has ended.

        None means no failure: all passed, or the process ended between two tests.
        """
        self._advance()
        if self._failed is None and self._left_in_a_test(ended):
            self._take(statuses.OK, 0)
            self._advance()
        if self._failed is None and (self._passed == len(self._checks) or self._ended_between_tests(ended)):
            return self._passed, None
        found = self._failed or self._shown(0, 0)
        verdict = self._by_record(found.status) if found.status else self._by_end(ended)
        if verdict in ("runtime_error", "wrong") and (found.is_long or self._is_full(file_bytes)):
            verdict = "output_limit"
        why = self._why(verdict, found.status, ended)
        return self._passed, Grade(verdict, actual=self._actual(found), why=why)

    def _advance(self) -> None:
        """Take the records of finished tests in order, up to the first failure."""
        while self._failed is None and self._passed < len(self._checks):
            status, end = self._board.record(self._passed)
            if status == 0:
                return
            self._take(status, end)

    def _take(self, status: int, end: int) -> None:
        """Accept or reject one test. The decision is final."""
        found = self._shown(status, end)
        self.threads_left = self.threads_left or bool(status & statuses.THREADS_LEFT)
        if statuses.kind_of(status) == statuses.OK and not found.is_long and self._accepts(found.answer):
            self._read, self._passed = found.end, self._passed + 1
        else:
            self._failed = found

    def _shown(self, status: int, end: int) -> Shown:
        """Return a copy of what the current test has written. An end of 0 means the end of the file."""
        size = os.fstat(self._output).st_size
        end = min(max(end or size, self._read), size)
        # The cap is added to the expected length, which counts twice for other spellings.
        cap = self._limits.output_bytes + 2 * len(self._checks[self._passed].output)
        is_long = end - self._read > cap
        return Shown(
            status, os.pread(self._output, CUT if is_long else end - self._read, self._read), end, is_long
        )

    def _accepts(self, answer: bytes) -> bool:
        """Return whether an answer is the expected one. An answer that cannot be compared is wrong."""
        check = self._checks[self._passed]
        if self._accept is not None:
            return self._accept(answer)
        try:
            if self._program.kind == "stdio":
                return same_text(answer, check.output)
            if self._program.kind == "functional":
                return same_json(answer, check.output)
            return not check.output or same_literal(answer, check.output, check.tolerance)
        except (ArithmeticError, ValueError, TypeError, RecursionError, MemoryError):
            # The expected value was checked before (compare.check_expected), so the answer is at fault.
            return False

    def _left_in_a_test(self, ended: Ended) -> bool:
        """Return whether the process ended quietly within a test. This is normal only in mode `real`."""
        quiet = self._program.kind == "stdio" and self._program.mode == "real"
        if not quiet or ended.how != "ended" or ended.status != 0 or self._passed == len(self._checks):
            return False
        return self._board.started[0] > self._passed or self._passed == 0

    def _ended_between_tests(self, ended: Ended) -> bool:
        if self._passed == 0:
            return False
        begun = self._board.started[0] > self._passed
        return ended.how == "stopped" or (ended.how == "ended" and not begun)

    def _is_full(self, file_bytes: int) -> bool:
        return any(os.fstat(fd).st_size >= file_bytes for fd in (self._output, self._errors))

    def _by_record(self, status: int) -> Result:
        if statuses.kind_of(status) == statuses.OK:
            return "wrong"
        return "memory" if statuses.kind_of(status) == statuses.MEMORY else "runtime_error"

    def _by_end(self, ended: Ended) -> Result:
        """Return the verdict of a process that ended, or was ended, within a test."""
        if ended.how == "timeout" or ended.status == -signal.SIGXCPU:
            return "timeout"
        if ended.status == -signal.SIGXFSZ:
            return "output_limit"
        if ended.status == -signal.SIGKILL and ended.how == "ended":
            # The kernel killed it: its CPU limit is the whole program's, else the machine lacked memory.
            total_s = self._limits.total(len(self._checks))
            return "timeout" if ended.cpu_s >= total_s else "memory"
        return "runtime_error"

    def _actual(self, found: Shown) -> str:
        if self._program.kind == "stdio":
            return found.answer[:CUT].decode(errors="backslashreplace")
        return shown(found.answer)[:CUT] if found.answer else ""

    def _why(self, verdict: Result, status: int, ended: Ended) -> str:
        """Return the end of the error output for an error, and the process's end if that says more."""
        if verdict == "timeout":
            return f"over its time: {ended.wall_s:.2f} s of wall clock, {ended.cpu_s:.2f} s of CPU"
        if verdict != "runtime_error":
            return ""
        size = os.fstat(self._errors).st_size
        said = os.pread(self._errors, CUT, max(0, size - CUT)).decode(errors="backslashreplace").strip()
        if ended.how == "ended" and ended.status < 0:
            return f"{said}\nended by {signal_name(-ended.status)}".strip()
        if statuses.kind_of(status) == statuses.EXIT:
            return f"{said}\nended with status {statuses.exit_code(status)}".strip()
        return said or f"ended with status {ended.status}"


def signal_name(number: int) -> str:
    """Return a signal's name. Real-time signals have no name in Python."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
