"""What the host reads of one process: each record once, each answer final."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from genbench.sandbox.grading import CUT, View, memory_file, signal_name
from genbench.sandbox.inside import board as statuses
from genbench.sandbox.inside.board import Board
from genbench.sandbox.programs import Check, Limits, Mode, Program
from genbench.sandbox.worker import Ended, Files

ENDED = Ended("ended", 0, True, 0.1, 0.1)
KILLED = Ended("timeout", -9, True, 1.0, 0.1)
FILE_BYTES = 1 << 24


class Process:
    """The memory that a program's process would write, written by a test."""

    def __init__(self, stack: ExitStack) -> None:
        board_fd = memory_file(stack, "board")
        Board.wipe(board_fd)
        self.board = Board(board_fd)
        self.files = Files(0, 0, [(memory_file(stack, "output"), memory_file(stack, "errors"))])
        stack.callback(self.board.close)

    def write(self, text: bytes, place: int = 0) -> None:
        os.pwrite(self.files.outputs[0][0], text, place)

    def say(self, text: bytes) -> None:
        os.pwrite(self.files.outputs[0][1], text, 0)

    def view(self, *outputs: str, mode: Mode = "real", limits: Limits | None = None) -> View:
        checks = [Check("", output) for output in outputs]
        return View(self.board, Program("", "stdio", None, mode), checks, limits or Limits(), self.files)


@pytest.fixture
def process() -> Iterator[Process]:
    with ExitStack() as stack:
        yield Process(stack)


def test_answers_that_are_right_pass_in_order(process: Process) -> None:
    view = process.view("1", "2")
    process.write(b"1\n2\n")
    process.board.finish(0, statuses.OK, 2)
    process.board.finish(1, statuses.OK, 4)
    assert not view.has_failed()
    assert view.conclude(ENDED, FILE_BYTES) == (2, None)


def test_a_rejected_answer_stays_rejected_if_the_record_is_taken_back(process: Process) -> None:
    view = process.view("YES")
    process.write(b"NO ")
    process.board.finish(0, statuses.OK, 3)
    assert view.has_failed()
    process.write(b"YES")
    process.board.finish(0, 0, 0)
    passed, failure = view.conclude(ENDED, FILE_BYTES)
    assert passed == 0 and failure is not None
    assert (failure.verdict, failure.actual) == ("wrong", "NO ")


def test_a_rejected_answer_stays_rejected_if_the_output_is_replaced(process: Process) -> None:
    view = process.view("YES")
    process.write(b"NO ")
    process.board.finish(0, statuses.OK, 3)
    assert view.has_failed()
    process.write(b"YES")
    assert view.has_failed()
    assert view.conclude(ENDED, FILE_BYTES)[1] is not None


def test_an_accepted_answer_is_not_looked_at_again(process: Process) -> None:
    view = process.view("YES", "NO")
    process.write(b"YES")
    process.board.finish(0, statuses.OK, 3)
    assert not view.has_failed()
    process.board.finish(0, statuses.EXCEPTION, 3)
    process.write(b"YESNO")
    process.board.finish(1, statuses.OK, 5)
    assert view.conclude(ENDED, FILE_BYTES) == (2, None)


@pytest.mark.parametrize("end", [1 << 63, (1 << 64) - 1, 10**6])
def test_an_end_beyond_the_output_is_the_end_of_the_output(process: Process, end: int) -> None:
    view = process.view("1")
    process.write(b"1\n")
    process.board.finish(0, statuses.OK, end)
    assert view.conclude(ENDED, FILE_BYTES) == (1, None)


def test_ends_that_fall_give_an_empty_answer(process: Process) -> None:
    view = process.view("12", "2")
    process.write(b"12")
    process.board.finish(0, statuses.OK, 2)
    process.board.finish(1, statuses.OK, 1)
    passed, failure = view.conclude(ENDED, FILE_BYTES)
    assert passed == 1 and failure is not None and failure.actual == ""


@pytest.mark.parametrize("status", [statuses.EXCEPTION, 77, statuses.exit_with(3)])
def test_a_test_that_did_not_end_normally_is_a_runtime_error(process: Process, status: int) -> None:
    view = process.view("1")
    process.write(b"1")
    process.board.finish(0, status, 1)
    failure = view.conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "runtime_error"


def test_an_exit_status_is_said_after_what_the_program_said(process: Process) -> None:
    view = process.view("1")
    process.say(b"no such city\n")
    process.board.finish(0, statuses.exit_with(3), 0)
    failure = view.conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.why == "no such city\nended with status 3"


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (40, "signal 40"), (64, "signal 64")])
def test_every_signal_is_named_or_numbered(process: Process, number: int, name: str) -> None:
    assert signal_name(number) == name or name.startswith("signal")
    failure = process.view("1").conclude(Ended("ended", -number, True, 0.1, 0.1), FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "runtime_error"
    assert failure.why.startswith("ended by ")


def test_out_of_memory_is_told_from_an_error(process: Process) -> None:
    view = process.view("1")
    process.board.finish(0, statuses.MEMORY, 0)
    failure = view.conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "memory"


def test_a_process_over_its_time_is_a_timeout(process: Process) -> None:
    failure = process.view("1").conclude(KILLED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "timeout"
    assert "1.00 s of wall clock" in failure.why


def test_more_output_than_allowed_is_an_output_limit(process: Process) -> None:
    view = process.view("1", limits=Limits(output_mib=1))
    process.write(b"x" * (2 << 20))
    process.board.finish(0, statuses.OK, 0)
    failure = view.conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "output_limit"
    assert len(failure.actual) == CUT


def test_a_quiet_end_within_a_test_is_an_answer_of_a_real_process(process: Process) -> None:
    process.write(b"1\n")
    process.board.start(0)
    assert process.view("1").conclude(ENDED, FILE_BYTES) == (1, None)


def test_a_quiet_end_is_no_answer_in_the_compatible_mode(process: Process) -> None:
    process.write(b"1\n")
    process.board.start(0)
    failure = process.view("1", mode="lcb-compat").conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "runtime_error"


def test_an_end_between_two_tests_is_no_failure(process: Process) -> None:
    view = process.view("1", "2")
    process.write(b"1\n")
    process.board.start(0)
    process.board.finish(0, statuses.OK, 2)
    assert view.conclude(ENDED, FILE_BYTES) == (1, None)


def test_threads_that_were_left_are_noted(process: Process) -> None:
    view = process.view("1", mode="lcb-compat")
    process.write(b"1\n")
    process.board.finish(0, statuses.OK | statuses.THREADS_LEFT, 2)
    assert view.conclude(ENDED, FILE_BYTES) == (1, None)
    assert view.threads_left


@pytest.mark.parametrize(
    "answer",
    [
        b'{"i": "0x' + b"f" * 400 + b'"}',
        b"1e999",
        b"NaN",
        b'{"zz": []}',
        b"[" * 5000,
        b'{"i":"0x1","t":[]}',
        b'{"t":null}',
        b'{"d":"ab"}',
        b'{"b":"abc"}',
        b'{"d":[[' * 60 + b"1" + b",1]]}" * 60,
        "0.5".encode("utf-16"),
    ],
)
def test_no_value_that_a_program_writes_makes_the_judge_fail(process: Process, answer: bytes) -> None:
    program = Program("", "assert", None, "real")
    view = View(process.board, program, [Check("f(1)", "0.5", 1e-6)], Limits(), process.files)
    process.write(answer)
    process.board.finish(0, statuses.OK, len(answer))
    failure = view.conclude(ENDED, FILE_BYTES)[1]
    assert failure is not None and failure.verdict == "wrong"
