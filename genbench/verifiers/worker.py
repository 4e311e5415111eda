"""A verifier's process: reads cases, writes findings; the kernel ends it when one hangs."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import traceback
from typing import Any, BinaryIO

from genbench.errors import GenbenchError, UnavailableError
from genbench.protocols import Verifier
from genbench.registry import VERIFIERS, load
from genbench.types import Finding
from genbench.verifiers.wire import case_from_record, finding_to_record, frame, read_frame

_PR_SET_PDEATHSIG = 1
_MEMORY_BYTES = 8 << 30
"""Address space of one worker; an answer that makes sympy want more becomes status `memory`."""


def main() -> None:
    """Serves one pool until it closes our stdin. Prints of libraries must not get into the frames."""
    _die_with_parent()
    os.nice(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    _leave_a_core()
    # The soft limit alone: a sandbox that a verifier opens sets limits of its own for its programs.
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        _serve(source, sink)


def _die_with_parent() -> None:
    """A hung verifier must not outlive a killed run; reading end-of-file alone would not end it."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _leave_a_core() -> None:
    """The first core is never ours, nor our sandboxes': niceness alone lets each new process of theirs begin
    on the engine's core, which cost generation 7 % (two cores, 45 programs a second).
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])


def _serve(source: BinaryIO, sink: BinaryIO) -> None:
    verifiers: dict[int, Verifier] = {}
    while (record := read_frame(source)) is not None:
        if "load" in record:
            reply = _load(verifiers, record)
        else:
            reply = _judge(verifiers, record) if "case" in record else _check(verifiers, record)
        sink.write(frame(reply))
        sink.flush()
    for verifier in verifiers.values():
        verifier.close()


def _load(verifiers: dict[int, Verifier], record: dict[str, Any]) -> dict[str, Any]:
    try:
        verifier: Verifier = load(VERIFIERS, record["load"], "verifier")(**record["options"])
        verifiers[record["key"]] = verifier
        return {"version": verifier.version, "checks": hasattr(verifier, "check")}
    except GenbenchError as error:
        return {"refused": str(error)}
    except Exception:  # a plug-in may raise anything while it is built
        return {"refused": f"verifier '{record['load']}' cannot be loaded:\n{traceback.format_exc()}"}


def _check(verifiers: dict[int, Verifier], record: dict[str, Any]) -> dict[str, Any]:
    """Whether the verifier can judge by these references; asked of those that have `check` alone."""
    verifier: Any = verifiers[record["key"]]
    unavailable: dict[str, str] = {}
    for problem_id, reference in record["check"]:
        try:
            verifier.check(reference)
        except UnavailableError as error:
            unavailable[problem_id] = str(error)
        except GenbenchError as error:
            return {"refused": f"problem {problem_id}: {error}"}
    return {"unavailable": unavailable}


def _judge(verifiers: dict[int, Verifier], record: dict[str, Any]) -> dict[str, Any]:
    """One finding. The timer's signal has its default action: the kernel ends us, whatever C code runs."""
    try:
        verifier, case = verifiers[record["key"]], case_from_record(record["case"])
        signal.setitimer(signal.ITIMER_REAL, verifier.time_limit_s(case))
        try:
            finding = verifier.verify(case)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except MemoryError:
        finding = Finding(0.0, "memory", detail={"why": "the answer needs too much memory to verify"})
    except Exception:  # foreign code: a defect, recorded and never scored
        finding = Finding(0.0, "verifier_error", detail={"why": traceback.format_exc(limit=8)})
    return finding_to_record(finding)


if __name__ == "__main__":
    main()
