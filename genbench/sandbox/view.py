"""The judge's look at one process of a program: test by test, what it answered and what that is worth."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from genbench.sandbox.compare import same_json, same_literal, same_text, shown
from genbench.sandbox.inside import board as statuses
from genbench.sandbox.inside.board import Board
from genbench.sandbox.programs import Check, Judgement, Limits, Program, Result
from genbench.sandbox.worker import Ended, Files

CUT = 2000
"""Characters of an answer or a reason that a judgement keeps."""


class View:
    """What a process that runs `checks` has answered: reads its board and its output, and compares."""

    def __init__(
        self, board: Board, program: Program, checks: Sequence[Check], limits: Limits, files: Files
    ) -> None:
        self._board, self._program, self._checks, self._limits = board, program, checks, limits
        self._output, self._errors = files.output, files.errors
        self._passed, self._read = 0, 0

    def has_failed(self) -> bool:
        """Whether a finished test has failed; may be asked while the process runs."""
        self._advance()
        return self._passed < len(self._checks) and self._board.record(self._passed)[0] != 0

    def conclude(self, ended: Ended, file_bytes: int) -> tuple[int, Judgement | None]:
        """How many tests passed in a row and what the next one failed by, once the process has ended.

        None: all passed, or the process ended between two tests.
        """
        self._advance()
        if self._left_in_a_test(ended):
            self._board.finish(self._passed, statuses.OK, 0)
            self._advance()
        if self._passed == len(self._checks):
            return self._passed, None
        status, _ = self._board.record(self._passed)
        begun = self._board.started[0] > self._passed
        if (
            status == 0
            and self._passed > 0
            and (ended.how == "stopped" or (ended.how == "ended" and not begun))
        ):
            return self._passed, None
        verdict = self._by_record(status) if status else self._by_end(ended)
        if verdict in ("runtime_error", "wrong") and self._is_full(file_bytes):
            verdict = "output_limit"
        return self._passed, Judgement(verdict, actual=self._actual(), why=self._why(verdict, ended))

    def _advance(self) -> None:
        while self._passed < len(self._checks):
            if self._board.record(self._passed)[0] != statuses.OK or not self._is_accepted():
                return
            self._read = self._end()
            self._passed += 1

    def _is_accepted(self) -> bool:
        return not self._is_long() and self._accepts(self._checks[self._passed], self._answer())

    def _accepts(self, check: Check, answer: bytes) -> bool:
        if self._program.kind == "stdio":
            return same_text(answer, check.output)
        if self._program.kind == "functional":
            return same_json(answer, check.output)
        return not check.output or same_literal(answer, check.output, check.tolerance)

    def _left_in_a_test(self, ended: Ended) -> bool:
        """os._exit(0) is a normal end of a real process, and of nothing that is called."""
        quiet = self._program.kind == "stdio" and self._program.mode == "real"
        if not quiet or ended.how != "ended" or ended.status != 0 or self._passed == len(self._checks):
            return False
        begun = self._board.started[0] > self._passed or self._passed == 0
        return begun and self._board.record(self._passed)[0] == 0

    def _end(self) -> int:
        """Where this test's answer ends; 0 on the board means at the end of the file."""
        size = os.fstat(self._output).st_size
        told = self._board.record(self._passed)[1]
        return min(max(told or size, self._read), size)

    def _answer(self, most: int | None = None) -> bytes:
        size = self._end() - self._read
        return os.pread(self._output, size if most is None else min(size, most), self._read)

    def _is_long(self) -> bool:
        """More than a test may print: the cap beyond what it should print, twice told for other spellings."""
        cap = self._limits.output_bytes + 2 * len(self._checks[self._passed].output)
        return self._end() - self._read > cap

    def _is_full(self, file_bytes: int) -> bool:
        return self._is_long() or any(
            os.fstat(fd).st_size >= file_bytes for fd in (self._output, self._errors)
        )

    def _by_record(self, status: int) -> Result:
        if status == statuses.OK:
            return "wrong"
        return "memory" if status == statuses.MEMORY else "runtime_error"

    def _by_end(self, ended: Ended) -> Result:
        """A process that ended, or was ended, within a test."""
        if ended.how == "timeout" or ended.status == -signal.SIGXCPU:
            return "timeout"
        if ended.status == -signal.SIGXFSZ:
            return "output_limit"
        if ended.status == -signal.SIGKILL and ended.how == "ended":
            # By the kernel: its CPU limit is the program's whole time, else the machine ran out of memory.
            total_s = self._limits.total(len(self._checks))
            return "timeout" if ended.cpu_s >= total_s else "memory"
        return "runtime_error"

    def _actual(self) -> str:
        answer = self._answer(CUT if self._program.kind == "stdio" else None)
        if self._program.kind == "stdio":
            return answer.decode(errors="backslashreplace")
        return shown(answer)[:CUT] if answer else ""

    def _why(self, verdict: Result, ended: Ended) -> str:
        """The end of the error output for an error, and the end of the process where that says more."""
        if verdict == "timeout":
            return f"over its time: {ended.wall_s:.2f} s of wall clock, {ended.cpu_s:.2f} s of CPU"
        if verdict != "runtime_error":
            return ""
        size = os.fstat(self._errors).st_size
        said = os.pread(self._errors, CUT, max(0, size - CUT)).decode(errors="backslashreplace").strip()
        if ended.how == "ended" and ended.status < 0:
            return f"{said}\nended by {signal.Signals(-ended.status).name}".strip()
        return said or f"ended with status {ended.status}"
