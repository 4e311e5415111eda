"""The work of one program's process: the program, its inputs, and the destination of its output."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .board import Board

RESULTS, READY, NOTHING = 3, 4, 5
"""Descriptors: for answers that are not printed, for the report of the set-up, and for /dev/null."""
LAST_WORDS = 63
"""The descriptor on which a test's own process tells its status, the last one that a process may have."""
GO_ON, ENOUGH = b"+", b"-"
"""What the host and a stem say to each other after a test."""
RESERVED = 10
"""The zygote keeps all descriptors below, so that given descriptors never have a number that a program
uses."""


@dataclass(frozen=True, slots=True)
class Job:
    """The program, and the numbers of the `tests` that this process runs, in order.

    `spans` are the positions of each test's input in `inputs`.
    """

    mode: str
    kind: str
    fn_name: str | None
    program: str
    spans: list[list[int]]
    tests: Sequence[int]
    inputs: mmap.mmap | bytes
    board: Board

    @property
    def is_printed(self) -> bool:
        """Return whether the answers are what the program prints. Else they are written to RESULTS."""
        return self.kind == "stdio" and self.mode == "real"

    @property
    def count(self) -> int:
        """Return the number of tests."""
        return len(self.tests)

    def input(self, index: int) -> bytes:
        """Return the input of the test that is number `index` in this process."""
        start, end = self.spans[self.tests[index]]
        return self.inputs[start:end]


def read(order: dict[str, Any], job_fd: int, inputs_fd: int, board: Board) -> Job:
    """Return the job that the host wrote. The inputs are mapped, not copied."""
    size = os.fstat(job_fd).st_size
    told = json.loads(os.pread(job_fd, size, 0))
    total = os.fstat(inputs_fd).st_size
    inputs = mmap.mmap(inputs_fd, total, mmap.MAP_PRIVATE, mmap.PROT_READ) if total else b""
    return Job(
        told["mode"],
        told["kind"],
        told["fn_name"],
        # Python ignores the mark at the start of a file. The official evaluator does not.
        told["program"].removeprefix("\ufeff") if told["mode"] == "real" else told["program"],
        told["spans"],
        order["apart"] or range(order["first"], order["first"] + order["count"]),
        inputs,
        board,
    )
