"""The process of verifiers: it reads cases and writes findings. The kernel ends it if a verifier hangs."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from genbench.errors import GenbenchError, UnavailableError, cause, lacking_extra
from genbench.protocols import Verifier
from genbench.registry import find
from genbench.types import Finding
from genbench.verifiers.checked import CheckedVerifier
from genbench.verifiers.memorylimit import alone_bytes, worker_bytes
from genbench.verifiers.wire import case_from_record, finding_to_record, frame, read_frame

_PR_SET_PDEATHSIG = 1
_LIMIT_CALL_S = 30.0
"""What a verifier may take to say how long it needs."""


def main() -> None:
    """Serve one pool until it closes our stdin. Prints of libraries must not get into the frames."""
    _die_with_parent()
    os.nice(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    _leave_a_core()
    _limit_memory(worker_bytes())
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        _serve(source, sink, alone=sys.argv[2:] == ["alone"])


def _die_with_parent() -> None:
    """Ask the kernel to kill us with our parent: a hung verifier never reads the end of its stdin."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _leave_a_core() -> None:
    """Keep this process and its sandboxes off the first core, which the engine uses.

    Niceness does not do it: each new process of a sandbox began on the engine's core, which cost
    generation 7 % (two cores, 45 programs a second).
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])


def _limit_memory(size: int) -> None:
    """Limit the address space, softly: a sandbox that a verifier opens sets limits for its own programs."""
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _serve(source: BinaryIO, sink: BinaryIO, *, alone: bool) -> None:
    verifiers: dict[int, Verifier] = {}
    own = os.getpid()
    while (record := read_frame(source)) is not None:
        if "load" in record:
            reply = frame(_load(verifiers, record))
        else:
            if alone:
                _limit_memory(alone_bytes())
            reply = _verify(verifiers, record, sink) if "case" in record else frame(_check(verifiers, record))
        if os.getpid() != own:
            os._exit(0)  # a verifier has forked: a second reply would be taken for that to the next case
        sink.write(reply)
        sink.flush()
    for verifier in verifiers.values():
        with suppress(Exception):  # foreign code, and nobody waits for this process any more
            verifier.close()


def _load(verifiers: dict[int, Verifier], record: dict[str, Any]) -> dict[str, Any]:
    name = record["load"]
    try:
        plug_in = find("verifier", name, record["folder"])
        built = plug_in.build(record["options"])
        if plug_in.is_built_in:
            verifier, has_check = built, hasattr(built, "check")
        else:
            verifier = CheckedVerifier(built, plug_in)
            has_check = verifier.has_check
        verifiers[record["key"]] = verifier
        notes = list(getattr(built, "notes", ())) if plug_in.is_built_in else []
        return {"version": verifier.version, "checks": has_check, "notes": notes}
    except GenbenchError as error:
        return {"refused": str(error)}
    except BaseException as error:  # a plug-in may raise anything while it is loaded
        why = lacking_extra(error) or cause(error)
        return {"refused": f"verifier '{name}' cannot be loaded: {why}"}


def _check(verifiers: dict[int, Verifier], record: dict[str, Any]) -> dict[str, Any]:
    """Ask a verifier with `check` whether it can judge by these references."""
    verifier: Any = verifiers[record["key"]]
    unavailable: dict[str, str] = {}
    refused: dict[str, str] = {}
    for problem_id, reference in record["check"]:
        try:
            verifier.check(reference)
        except UnavailableError as error:
            unavailable[problem_id] = str(error)
        except GenbenchError as error:
            refused[problem_id] = str(error)
    return {"unavailable": unavailable, "refused": refused}


def _verify(verifiers: dict[int, Verifier], record: dict[str, Any], sink: BinaryIO) -> bytes:
    """Return the frame of one finding.

    The timer's signal keeps its default action, so that C code cannot ignore it. The pool is told the time
    limit first, because no signal but SIGKILL ends a process that is stopped.
    """
    try:
        verifier, case = verifiers[record["key"]], case_from_record(record["case"])
        signal.setitimer(signal.ITIMER_REAL, _LIMIT_CALL_S)
        try:
            limit_s = verifier.time_limit_s(case)
            sink.write(frame({"limit_s": limit_s}))
            sink.flush()
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            finding = verifier.verify(case)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return frame(finding_to_record(finding))
    except MemoryError:
        finding = Finding(0.0, "memory", detail={"why": "the answer needs too much memory to verify"})
    except GenbenchError as error:
        finding = Finding(0.0, "verifier_error", detail={"why": str(error)})
    except BaseException as error:  # foreign code: a defect is recorded and never scored
        finding = Finding(0.0, "verifier_error", detail={"why": f"the verifier failed: {cause(error)}"})
    return frame(finding_to_record(finding))


if __name__ == "__main__":
    main()
