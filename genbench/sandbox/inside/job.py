"""The work of one program's process: the program, its inputs, and the destination of its output."""

from __future__ import annotations

import json
import mmap
import os
from dataclasses import dataclass
from typing import Any

from .board import Board

RESULTS, READY, NOTHING = 3, 4, 5
"""Descriptors: for answers that are not printed, for the report of the set-up, and for /dev/null."""
RESERVED = 10
"""The zygote keeps all descriptors below, so that given descriptors never have a number that a program
uses."""


@dataclass(frozen=True, slots=True)
class Job:
    """The job has `count` tests from `first` on.

    `spans` are the positions of each test's input in `inputs`.
    """

    mode: str
    kind: str
    fn_name: str | None
    program: str
    spans: list[list[int]]
    first: int
    count: int
    inputs: mmap.mmap | bytes
    board: Board

    def input(self, index: int) -> bytes:
        """Return the input of the test that is number `index` in this process."""
        start, end = self.spans[self.first + index]
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
        told["program"],
        told["spans"],
        order["first"],
        order["count"],
        inputs,
        board,
    )
