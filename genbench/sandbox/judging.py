"""A program and its tests become one judgement: runs, looks at what was printed, stops at the first failure.

Expected outputs stay here. Many tests share a process; what fails there after the first test is tried
again in a new process, so that nothing that a test left behind decides (where state must survive, in
`lcb-compat` and for asserts, it counts as it is).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from genbench.sandbox.alone import Turns
from genbench.sandbox.inside import board as statuses
from genbench.sandbox.programs import Check, Judgement, Limits, Program
from genbench.sandbox.view import View
from genbench.sandbox.worker import Ended, Files, Worker

_STARVED = 0.95
"""A timed-out process with a smaller share of a core than this waited: for other processes, or asleep."""


class Checks:
    """A problem's tests with their inputs in one memory file, to be used for many programs."""

    def __init__(self, all_: Sequence[Check]) -> None:
        self.all = tuple(all_)
        texts = [check.input.encode(errors="surrogatepass") for check in self.all]
        ends = list(accumulate(map(len, texts), initial=0))
        self.spans = list(pairwise(ends))
        self.size = ends[-1]
        self.fd = os.memfd_create("inputs")
        write_all(self.fd, b"".join(texts))

    def close(self) -> None:
        os.close(self.fd)


def judge(worker: Worker, program: Program, checks: Checks, limits: Limits, turns: Turns) -> Judgement:
    """The judgement on one program.

    Raises:
        SandboxError: the cage failed; the worker is of no use any more.
    """
    with ExitStack() as stack:
        job = memory_file(stack, "job")
        told = {
            "mode": program.mode,
            "kind": program.kind,
            "fn_name": program.fn_name,
            "program": program.text,
        }
        write_all(job, json.dumps(told | {"spans": checks.spans}).encode())
        return _settle(_Case(worker, program, checks, limits, job), turns)


def _settle(case: _Case, turns: Turns) -> Judgement:
    """Runs until a test has failed for good or all have passed."""
    total, index, wall_s, spent_s = len(case.checks.all), 0, 0.0, 0.0
    alone, share = False, case.limits.isolation == "program" or case.joined
    while index < total:
        with turns.alone() if alone else turns.together():
            passed, failed, ended = case.run(index, total - index if share else 1, spent_s)
        wall_s, spent_s = wall_s + ended.wall_s, spent_s + ended.wall_s
        if failed is None:
            index, alone = index + passed, False
        elif failed.verdict == "timeout" and not alone and ended.cpu_s < _STARVED * ended.wall_s:
            # The clock of a busy machine does not decide: once more, with nothing else of ours running.
            index, alone, wall_s, spent_s = (0 if case.joined else index + passed), True, 0.0, 0.0
        elif passed == 0 or case.joined:
            return replace(failed, wall_s=wall_s)
        else:
            # Once: a second try at every test would be a second guess for a program that guesses.
            index, share = index + passed, False
    return Judgement("pass", wall_s=wall_s)


@dataclass(frozen=True, slots=True)
class _Case:
    """One program under judgement: what each of its processes needs."""

    worker: Worker
    program: Program
    checks: Checks
    limits: Limits
    job: int

    @property
    def joined(self) -> bool:
        """All tests must run in one process, since its state is part of the rules."""
        return self.program.mode == "lcb-compat" or self.program.kind == "assert"

    def run(self, first: int, count: int, spent_s: float) -> tuple[int, Judgement | None, Ended]:
        """One process from test `first` on: how many passed, the failure after them, and its end.

        No failure and fewer than `count` passed: the process ended between two tests; go on in a new one.
        """
        count = min(count, statuses.CAPACITY)
        with ExitStack() as stack:
            output, errors = memory_file(stack, "output"), memory_file(stack, "errors")
            files = Files(self.job, self.checks.fd, output, errors)
            file_bytes = self._file_bytes(first, count)
            checks = self.checks.all[first : first + count]
            view = View(self.worker.board, self.program, checks, self.limits, files)
            order = {
                "first": first,
                "count": count,
                "wall_s": self.limits.wall_s,
                "total_s": max(self.limits.total(len(self.checks.all)) - spent_s, 0.0),
                "memory_mib": self.limits.memory_mib,
                "input_bytes": self.checks.size,
                "file_bytes": file_bytes,
            }
            ended = self.worker.run(order, files, view.has_failed)
            passed, failure = view.conclude(ended, file_bytes)
            failure = None if failure is None else replace(failure, test=first + passed)
            return passed, failure, ended

    def _file_bytes(self, first: int, count: int) -> int:
        """Bytes that a process may write into one file: one test's cap and what the others should print."""
        expected = sum(2 * len(test.output) for test in self.checks.all[first : first + count])
        largest = max(end - start for start, end in self.checks.spans[first : first + count])
        return max(self.limits.output_bytes + expected, largest)


def memory_file(stack: ExitStack, name: str) -> int:
    """A file in memory that the stack closes."""
    fd = os.memfd_create(name)
    stack.callback(os.close, fd)
    return fd


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
