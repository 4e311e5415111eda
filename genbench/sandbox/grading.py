"""Running and checking of one program against its tests, up to the first failure.

Expected outputs are never sent into the cage. Many tests share a process. A test that fails there after the
first one is tried again in a new process, so that the state of earlier tests does not decide. If it passes
there, all other tests run by themselves too. If the state must be kept (in `lcb-compat` and for asserts), the
failure counts as it is. Tests whose outputs are easy to guess are not asked twice. They share a process if
the program can leave nothing behind, and then a wrong answer counts as it is. Otherwise they have a process
each from the start. These are forked from a stem, which has compiled the program and run nothing of it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from genbench.errors import DataError
from genbench.sandbox.compare import check_expected, same_json, same_literal, same_text, shown
from genbench.sandbox.inside import board as statuses
from genbench.sandbox.inside.board import Board
from genbench.sandbox.programs import Check, Grade, Kind, Limits, Program, Result
from genbench.sandbox.traceless import leaves_nothing
from genbench.sandbox.turns import Turn, Turns
from genbench.sandbox.worker import Ended, Files, SandboxError, Worker

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
        files: one output for all tests, one after the other, or one for each test.
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
        self._outputs = files.outputs
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
        ended = self.end_of_test(ended)
        if self._failed is None and self._left_in_a_test(ended):
            self._take(statuses.OK, 0)
            self._advance()
        if self._failed is None and (self._passed == len(self._checks) or self._ended_between_tests(ended)):
            return self._passed, None
        found = self._failed or self._shown(0, 0)
        verdict = self._by_record(found.status) if self._has_told(found.status) else self._by_end(ended)
        if verdict in ("runtime_error", "wrong") and (found.is_long or self._is_full(file_bytes)):
            verdict = "output_limit"
        why = self._why(verdict, found.status, ended)
        return self._passed, Grade(verdict, actual=self._actual(found), why=why)

    def require_set_up(self) -> None:
        """Raise SandboxError if a stem could not confine the process of a test, so that it did not run."""
        self._advance()
        if self._failed is not None and statuses.kind_of(self._failed.status) == statuses.NOT_SET_UP:
            raise SandboxError("the process of a test could not be set up")

    def end_of_test(self, ended: Ended) -> Ended:
        """Return the end of the process that ran the failed test, if it is another one than the stem."""
        status = self._failed.status if self._failed is not None else 0
        is_other = statuses.kind_of(status) == statuses.SIGNAL
        return replace(ended, how="ended", status=-statuses.exit_code(status)) if is_other else ended

    @staticmethod
    def _has_told(status: int) -> bool:
        """Return whether a test's record tells its end. A process that a signal ended tells nothing."""
        return status != 0 and statuses.kind_of(status) != statuses.SIGNAL

    @property
    def _files(self) -> tuple[int, int]:
        """Return the output and the error output of the current test."""
        last = len(self._outputs) - 1
        return self._outputs[min(self._passed, last)]

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
            self._read, self._passed = found.end if len(self._outputs) == 1 else 0, self._passed + 1
        else:
            self._failed = found

    def _shown(self, status: int, end: int) -> Shown:
        """Return a copy of what the current test has written. An end of 0 means the end of the file."""
        output, _ = self._files
        size = os.fstat(output).st_size
        end = min(max(end or size, self._read), size)
        # The cap is added to the expected length, which counts twice for other spellings.
        cap = self._limits.output_bytes + 2 * len(self._checks[self._passed].output)
        is_long = end - self._read > cap
        return Shown(status, os.pread(output, CUT if is_long else end - self._read, self._read), end, is_long)

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
        return any(os.fstat(fd).st_size >= file_bytes for fd in self._files)

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
        _, errors = self._files
        size = os.fstat(errors).st_size
        said = os.pread(errors, CUT, max(0, size - CUT)).decode(errors="backslashreplace").strip()
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


_RUNS_ALONE, _ALONE_SLACK_S = 2, 1.0
"""How many sole turns a program may have, and the seconds beyond a test's own for which all others wait."""
_STARVED = 0.95
"""A timed-out process with a smaller share of a core than this was waiting for other processes, or asleep."""
_NO_THREAD = "can't start new thread"
"""Python's error if a limit on threads is reached. In tier b the kernel counts those of all programs of an
ordinary user together."""
_MOST_APART = 20
"""Tests with a process each that one stem is forked for. Each has two open files, and a process has 64."""
_GUESSABLE, _LONGEST_GUESS = 0.2, 32
"""If a guess is right in this share of the tests, their outputs are easy to guess, as `YES` and `NO` are.
Outputs with more characters are never guessed."""
_DIGIT = 0.25
"""The chance to guess one digit of a number. The small numbers are more frequent than the others."""


class Checks:
    """A problem's tests with their inputs in one memory file, to be used for many programs.

    `are_guessable` tells whether a program that knows the possible outputs often guesses one.
    """

    def __init__(self, all_: Sequence[Check]) -> None:
        self.all = tuple(all_)
        self.are_guessable = _are_guessable([check.output for check in self.all])
        self._readable: set[Kind] = set()
        texts = [check.input.encode(errors="surrogatepass") for check in self.all]
        ends = list(accumulate(map(len, texts), initial=0))
        self.spans = list(pairwise(ends))
        self.size = ends[-1]
        self.fd = os.memfd_create("inputs")
        write_all(self.fd, b"".join(texts))

    def require_readable(self, kind: Kind) -> None:
        """Raise DataError if the expected output of a test cannot be read.

        This is checked once for each kind.
        """
        if kind not in self._readable:
            for number, check in enumerate(self.all, start=1):
                try:
                    check_expected(kind, check.output)
                except DataError as error:
                    raise DataError(f"test {number}: {error}") from None
            self._readable.add(kind)

    def close(self) -> None:
        """Free the memory file."""
        os.close(self.fd)


def _are_guessable(outputs: Sequence[str]) -> bool:
    """Return whether a program that does not solve a problem often guesses an output.

    A guess may be an output that other tests have too. It may also be of a form with few values: a number of
    one digit, or a word, as long as few different words are known. So a set of three tests counts by its
    forms, and a large one by its repetitions as well. If all outputs are the same, a program that prints that
    one passes with any number of tries.
    """
    short = [" ".join(output.split()) for output in outputs if len(output) <= _LONGEST_GUESS]
    counts = Counter(short)
    if len(outputs) < 2 or (len(counts) == 1 and len(short) == len(outputs)):
        return False
    words = sum(1 for output in counts if not any(map(str.isdigit, output)))
    chances = (
        count * max((count - 1) / (len(outputs) - 1), _chance_by_form(output, words))
        for output, count in counts.items()
    )
    return sum(chances) >= _GUESSABLE * len(outputs)


def _chance_by_form(output: str, words: int) -> float:
    """Return the chance to guess an output of that form. `words` are the known outputs without digits."""
    digits = sum(map(str.isdigit, output))
    return float(_DIGIT**digits) if digits else 1 / (words + 1)


def grade(
    worker: Worker,
    program: Program,
    checks: Checks,
    limits: Limits,
    turns: Turns,
    *,
    alone: bool = False,
    accept: Accept | None = None,
) -> Grade:
    """Return the grade of one program. After any exception the worker cannot be used.

    Args:
        alone: begin with a sole turn, without other programs of this user.
        accept: called with each answer instead of the comparison with the expected output.

    Raises:
        DataError: An expected output cannot be read.
        SandboxError: The cage failed.
    """
    checks.require_readable(program.kind)
    with ExitStack() as stack:
        job = memory_file(stack, "job")
        told = {
            "mode": program.mode,
            "kind": program.kind,
            "fn_name": program.fn_name,
            "program": program.text,
        }
        write_all(job, json.dumps(told | {"spans": checks.spans}).encode())
        return _settle(_Case(worker, program, checks, limits, job, accept), turns, alone)


def _settle(case: _Case, turns: Turns, alone: bool) -> Grade:
    """Run until a test has failed for good or all have passed."""
    tests: Sequence[int] = range(len(case.checks.all))
    apart, wall_s, spent_s, runs_alone, threads_left = not case.shares, 0.0, 0.0, 0, False
    while tests:
        # A test in a sole turn is one process: the other tests must not sleep while others wait.
        count = 1 if alone and not case.joined else len(tests)
        with turns.alone(case.limits.wall_s + _ALONE_SLACK_S) if alone else turns.together() as turn:
            passed, failed, ended, left = case.run(tests[:count], apart, spent_s, turn)
        wall_s, spent_s, threads_left = wall_s + ended.wall_s, spent_s + ended.wall_s, threads_left or left
        if failed is None:
            tests, alone = tests[passed:], False
        elif runs_alone < _RUNS_ALONE and not alone and _is_crowded_out(failed, ended):
            # What other programs may have caused does not count. The test runs once more in a sole turn.
            tests, alone, wall_s, spent_s = tests if case.joined else tests[passed:], True, 0.0, 0.0
            runs_alone += 1
        elif apart or passed == 0 or case.joined or (case.checks.are_guessable and failed.verdict == "wrong"):
            return replace(failed, wall_s=wall_s, threads_left=threads_left)
        else:
            # The state of earlier tests may be the cause: each test runs by itself, those that passed too.
            # A program can find out which one failed. If outputs are easy to guess, that test got no answer.
            first = tests[passed]
            tests = [first, *(test for test in range(len(case.checks.all)) if test != first)]
            apart, spent_s = True, spent_s if failed.verdict == "timeout" else 0.0
    return Grade("pass", wall_s=wall_s, threads_left=threads_left)


def _is_crowded_out(failed: Grade, ended: Ended) -> bool:
    """Return whether other programs may be the cause: they had the core, the threads or the memory.

    If the machine lacks memory, the kernel kills any process, not only the one that needs too much.
    """
    if failed.verdict == "memory":
        return ended.how == "ended" and ended.status == -signal.SIGKILL
    if failed.verdict == "timeout":
        return ended.cpu_s < _STARVED * ended.wall_s
    return failed.verdict == "runtime_error" and _NO_THREAD in failed.why


@dataclass(frozen=True, slots=True)
class _Case:
    """One program with the arguments of each of its processes."""

    worker: Worker
    program: Program
    checks: Checks
    limits: Limits
    job: int
    accept: Accept | None = None

    @property
    def joined(self) -> bool:
        """Return whether all tests must run in one process, since its state is part of the rules."""
        return self.program.mode == "lcb-compat" or self.program.kind == "assert"

    @property
    def shares(self) -> bool:
        """Return whether a process runs several tests, as long as none fails."""
        if self.joined or self.limits.isolation == "test" or not self.checks.are_guessable:
            return self.joined or self.limits.isolation == "program"
        return leaves_nothing(self.program.text)

    def run(
        self, tests: Sequence[int], apart: bool, spent_s: float, turn: Turn
    ) -> tuple[int, Grade | None, Ended, bool]:
        """Run one process for the tests, or one for each. Tests that share one follow each other.

        Return how many tests passed, the failure after them, the process's end, and if threads were left.
        If there is no failure and not all passed, some tests have not run. The caller continues with those.
        """
        tests = tests[: _MOST_APART if apart else statuses.CAPACITY]
        with ExitStack() as stack:
            outputs = [
                (memory_file(stack, "output"), memory_file(stack, "errors"))
                for _ in range(len(tests) if apart else 1)
            ]
            files = Files(self.job, self.checks.fd, outputs, _talk(stack) if apart else None)
            file_bytes = self._file_bytes(tests)
            checks = [self.checks.all[test] for test in tests]
            view = View(self.worker.board, self.program, checks, self.limits, files, accept=self.accept)
            order = {
                "first": tests[0],
                "count": len(tests),
                "apart": list(tests) if apart else [],
                "wall_s": self.limits.wall_s,
                "total_s": max(self.limits.total(len(self.checks.all)) - spent_s, 0.0),
                "memory_mib": self.limits.memory_mib,
                "input_bytes": self.checks.size,
                "file_bytes": file_bytes,
            }

            def has_failed() -> bool:
                turn.tick()
                return view.has_failed()

            packages = any(name in self.program.text for name in self.worker.cage.packages)
            ended = self.worker.run(order, files, has_failed, packages=packages)
            if apart:
                view.require_set_up()
            passed, failure = view.conclude(ended, file_bytes)
            failure = None if failure is None else replace(failure, test=tests[passed])
            return passed, failure, view.end_of_test(ended), view.threads_left

    def _file_bytes(self, tests: Sequence[int]) -> int:
        """Return the bytes that a process may write into one file.

        They are a test's cap and the others' outputs.
        """
        expected = sum(2 * len(self.checks.all[test].output) for test in tests)
        largest = max(end - start for start, end in (self.checks.spans[test] for test in tests))
        return max(self.limits.output_bytes + expected, largest)


def _talk(stack: ExitStack) -> tuple[int, int]:
    """Return the two ends of a socket that the stack closes."""
    ours, theirs = socket.socketpair()
    return stack.enter_context(ours).fileno(), stack.enter_context(theirs).fileno()


def memory_file(stack: ExitStack, name: str) -> int:
    """Return a file in memory that the stack closes."""
    fd = os.memfd_create(name)
    stack.callback(os.close, fd)
    return fd


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to a descriptor, in several calls if one is not enough."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
