"""The service behind `genbench sandbox`: programs in and verdicts out, as JSON Lines."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, Self, get_args

from genbench.errors import DataError, InputError
from genbench.sandbox.box import Sandbox
from genbench.sandbox.compare import check_expected
from genbench.sandbox.programs import Check, Grade, Kind, Limits, Mode, Program
from genbench.sandbox.selftest import TierWish, open_cage
from genbench.sandbox.worker import SandboxError

_WAITING = 2
"""Programs that wait per worker. They are enough that no worker idles, and few enough that big inputs do
not pile up."""


@dataclass(frozen=True, slots=True)
class Work:
    """One program to run, and the callback `done`, which is called in a worker's thread."""

    program: Program
    checks: Sequence[Check]
    limits: Limits
    done: Callable[[Grade | Exception], None]


class Pool:
    """Workers that share a queue.

    Args:
        workers: how many workers. None means one per core.

    Raises:
        UnavailableError: there is no sandbox on this machine.
    """

    def __init__(
        self, tier: TierWish = None, workers: int | None = None, *, unsafe_local_exec: bool = False
    ) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self.cage, first = open_cage(tier, unsafe_local_exec=unsafe_local_exec)
        first.close()  # a cage would die with this thread, which may end
        self._queue: queue.Queue[Work | None] = queue.Queue(_WAITING * self.workers)
        self._threads = [threading.Thread(target=self._serve) for _ in range(self.workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> None:
        """Add a program to the queue. Wait if too many wait already."""
        self._queue.put(work)

    def _serve(self) -> None:
        with Sandbox(self.cage) as box:
            while (work := self._queue.get()) is not None:
                try:
                    answer: Grade | Exception = box.grade(work.program, work.checks, work.limits)
                except (
                    Exception
                ) as error:  # the caller gets the error: a thread that ended would leave its queue waiting
                    answer = error
                work.done(answer)

    def close(self) -> None:
        """Wait for the queued programs, then end every cage."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def grade_stream(
    stdin: IO[bytes],
    stdout: IO[bytes],
    *,
    mode: Mode = "real",
    tier: TierWish = None,
    workers: int | None = None,
    unsafe_local_exec: bool = False,
) -> None:
    """Read one program per line and write one verdict per line, in the order in which they are made.

    In: {kind, fn_name, tests: [{input, output}], limits: {wall_s, memory_mib}, program}. Other keys are
    ignored. Out: {i, verdict, detail, wall_s}, `i` is the line's number from 0.

    Raises:
        InputError: a line is not of that form. Lines before it have their verdicts.
        SandboxError: a program broke its cage three times.
        UnavailableError: there is no sandbox on this machine.
    """
    failures: list[Exception] = []
    with Pool(tier, workers, unsafe_local_exec=unsafe_local_exec) as pool:
        verdicts = _Verdicts(stdout, {"tier": pool.cage.tier, "mode": mode})
        for number, line in enumerate(stdin):
            if not line.strip():
                continue
            program, checks, limits = _read(line, number, mode)
            if program is None:
                verdicts.write(number, Grade("no_code"))
                continue
            pool.submit(Work(program, checks, limits, _told(verdicts, number, failures)))
    if failures:
        raise failures[0]


def _told(verdicts: _Verdicts, number: int, failures: list[Exception]) -> Callable[[Grade | Exception], None]:
    def done(answer: Grade | Exception) -> None:
        if isinstance(answer, SandboxError):
            failures.append(SandboxError(f"line {number + 1}: {answer}"))
        elif isinstance(answer, Exception):
            failures.append(answer)
        else:
            verdicts.write(number, answer)

    return done


class _Verdicts:
    """The output of verdicts, which writes whole lines from any thread."""

    def __init__(self, stream: IO[bytes], facts: dict[str, str]) -> None:
        self._stream, self._facts = stream, facts
        self._lock = threading.Lock()

    def write(self, number: int, grade: Grade) -> None:
        detail: dict[str, Any] = dict(self._facts)
        if grade.test is not None:
            detail |= {"test": grade.test, "actual": grade.actual, "why": grade.why}
        if grade.threads_left:
            detail["threads_left"] = True
        record = {
            "i": number,
            "verdict": grade.verdict,
            "detail": detail,
            "wall_s": round(grade.wall_s, 4),
        }
        with self._lock:
            self._stream.write(json.dumps(record).encode() + b"\n")
            self._stream.flush()


def _read(line: bytes, number: int, mode: Mode) -> tuple[Program | None, list[Check], Limits]:
    try:
        record = json.loads(line)
        kind: Kind = record["kind"]
        checks = [Check(test["input"], test["output"], test.get("tolerance")) for test in record["tests"]]
        limits = Limits(**record.get("limits") or {})
        text = record["program"]
        _check(kind in get_args(Kind), f"kind '{kind}' is not one of {', '.join(get_args(Kind))}")
        _check(all(isinstance(t.input, str) and isinstance(t.output, str) for t in checks), "tests are texts")
        for check in checks:
            check_expected(kind, check.output)
        _check(text is None or isinstance(text, str), "program is a text or null")
        program = None if text is None else Program(text, kind, record.get("fn_name"), mode)
    except DataError as error:
        raise InputError(f"line {number + 1} of the programs: {error}") from None
    except (ValueError, SyntaxError, KeyError, TypeError, AttributeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"line {number + 1} of the programs: {what}") from None
    return program, checks, limits


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
