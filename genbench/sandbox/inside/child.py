"""A program's process from the fork to its end: descriptors, limits, filter, then the program."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any, NoReturn

from . import calls, confine, harness, process
from .board import Board
from .job import NOTHING, READY, RESULTS, Job, read
from .seccomp import Filter

_NOT_SET_UP = 70


@dataclass(frozen=True, slots=True)
class Ground:
    """The resources that the zygote has prepared for every program."""

    board: Board
    prelude: dict[str, Any]
    base_bytes: int
    filter: Filter | None
    pid: int


def become(ground: Ground, order: dict[str, Any], fds: list[int], ready: int) -> NoReturn:
    """Run the job and never return. A byte on `ready` says that the process is confined.

    Args:
        fds: descriptors of the job, its inputs, the output, the error output.
    """
    status = _NOT_SET_UP
    try:
        job = read(order, fds[0], fds[1], ground.board)
        _wire(job, fds[2], fds[3], ready)
        confine.program(order, ground.pid, ground.base_bytes, ground.filter)
        os.write(READY, b"1")
        os.close(READY)
        status = 0
        random.seed(0)  # a verdict must be repeatable, as for the hash seed
        _run(job, ground.prelude)
    except BaseException as error:
        if status == _NOT_SET_UP:
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        status = status or 1
    finally:
        os._exit(status)


def _wire(job: Job, output: int, errors: int, ready: int) -> None:
    """Set up descriptors 0, 1 and 2 and close the zygote's. Given descriptors are above RESERVED.

    If the program's prints are not its answer, they go to the error output. The answer goes to RESULTS.
    """
    printed = job.kind == "stdio" and job.mode == "real"
    # /dev/null is opened anew: locks and flags of the zygote's own would stay for the next program.
    os.dup2(os.memfd_create("stdin") if printed else os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output if printed else errors, 1)
    os.dup2(errors, 2)
    os.dup2(NOTHING if printed else output, RESULTS)
    os.dup2(ready, READY)
    os.closerange(RESULTS if printed else READY + 1, READY)
    os.closerange(READY + 1, confine.OPEN_FILES)


def _run(job: Job, prelude: dict[str, Any]) -> None:
    if job.kind == "assert":
        calls.answer_expressions(job, prelude)
    elif job.kind == "functional":
        calls.answer_calls(job, prelude)
    elif job.mode == "real":
        process.run(job, prelude)
    else:
        harness.run(job, prelude)
