"""The process of verifiers: it reads cases and writes findings. The kernel ends it if a verifier hangs.

Its memory is limited, so that the kernel kills nothing else on a small machine.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from genbench.errors import GenbenchError, UnavailableError, cause, lacking_extra
from genbench.registry import find
from genbench.types import Answer, Case, ChoiceScore, Finding, SampleId
from genbench.verifiers.pool.plugin_guard import CheckedVerifier

if TYPE_CHECKING:  # it imports pydantic, which takes a worker 0.1 s and 13 MB
    from genbench.protocols import Verifier

HEADER = struct.Struct("<I")
"""The length of the body in bytes."""
MOST_FRAME_BYTES = 256 << 20
"""Longest body that is read from a worker."""


# json.dumps would make an encoder for each message.
compact = json.JSONEncoder(separators=(",", ":")).encode


def frame(record: object) -> bytes:
    """Return a record as a frame. Escapes keep lone surrogates, which models can print."""
    body = compact(record).encode()
    return HEADER.pack(len(body)) + body


def read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    """Return the next record, or None at the end of the stream."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    (size,) = HEADER.unpack(head)
    body = stream.read(size)
    record: dict[str, Any] | None = json.loads(body) if len(body) == size else None
    return record


def case_to_record(case: Case) -> dict[str, Any]:
    """Return a case as JSON, without the traces: no verifier may see them."""
    return {
        "sample": [case.sample.task, case.sample.problem_id, case.sample.sample_index],
        "answers": [[answer.text, answer.trace_status, answer.truncated] for answer in case.answers],
        "reference": case.reference,
        "question": case.question,
        **({"choices": [astuple(choice) for choice in case.answer.choices]} if case.answer.choices else {}),
        **({"logged": dict(case.answer.logged)} if case.answer.logged is not None else {}),
    }


def without_answers(body: bytes) -> bytes:
    """Return a case's record in JSON with the texts of its answers replaced by empty ones."""
    record = json.loads(body)
    answers = [["", *rest] for _, *rest in record["answers"]]
    return compact(record | {"answers": answers}).encode()


def case_from_record(record: dict[str, Any]) -> Case:
    """Return the case that `case_to_record` wrote. Its traces are empty."""
    choices = tuple(ChoiceScore(*choice) for choice in record.get("choices", ()))
    answers = tuple(
        Answer(text, status, "", truncated, choices, record.get("logged"))
        for text, status, truncated in record["answers"]
    )
    return Case(SampleId(*record["sample"]), answers, record["reference"], record["question"])


def finding_to_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON."""
    return asdict(finding)


def finding_from_record(record: dict[str, Any]) -> Finding:
    """Return the finding that `finding_to_record` wrote."""
    return Finding(**record)


MOST_BYTES = 8 << 30
"""Address space of one worker on a machine that has twice as much."""
LEAST_BYTES = 256 << 20
"""What a case gets in any case. Ordinary answers need less than a tenth of it."""
_OWN_GROUP, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_MEMORY, _OWN_SIZE = Path("/proc/meminfo"), Path("/proc/self/statm")


def worker_bytes(available: int | None = None) -> int:
    """Return the bytes of address space that a worker may use: half of the machine's memory, at most 8 GiB.

    An answer that makes a verifier want more gets status `memory`. Without a limit the kernel would end the
    largest process of the machine, which may be the engine.

    Args:
        available: the machine's memory in bytes. None: it is asked.
    """
    return min(MOST_BYTES, (machine_bytes() if available is None else available) // 2)


def alone_bytes(free: int | None = None) -> int:
    """Return the address space for a case that is verified alone because its worker died.

    This is what the process has now and half of the memory that is free. So the case cannot make the kernel
    kill a process.

    Args:
        free: the free memory in bytes. None: it is asked.
    """
    room = (free_bytes() if free is None else free) // 2
    return min(worker_bytes(), _own_bytes() + max(LEAST_BYTES, room))


def machine_bytes(own_group: Path = _OWN_GROUP, groups: Path = _GROUPS) -> int:
    """Return the memory of this machine in bytes, or that of this container if it has less.

    Args:
        own_group: the kernel's file with the control groups of this process.
        groups: where the control groups are mounted.
    """
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *(group.limit for group in _limited(own_group, groups))])


def free_bytes(own_group: Path = _OWN_GROUP, groups: Path = _GROUPS, memory: Path = _MEMORY) -> int:
    """Return the memory in bytes that this process could still get, in this machine and its container.

    Args:
        memory: the kernel's file with the memory of the machine.
    """
    machine = _number(memory, "MemAvailable:") << 10
    return min([machine, *(group.limit - group.used for group in _limited(own_group, groups))])


@dataclass(frozen=True, slots=True)
class _Group:
    """A control group with a limit. `used` is without file pages that the kernel can drop."""

    limit: int
    used: int


@dataclass(frozen=True, slots=True)
class _Version:
    """The names of one version of the control groups."""

    limit: str
    usage: str
    droppable: str


_OLD = _Version("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_NEW = _Version("memory.max", "memory.current", "inactive_file")


def _limited(own_group: Path, groups: Path) -> Iterator[_Group]:
    """Yield the control group of this process and those around it, as far as they have a limit."""
    try:
        lines = own_group.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _above(groups, path, _NEW)
        elif "memory" in controllers.split(","):
            yield from _above(groups / "memory", path, _OLD)


def _above(root: Path, path: str, names: _Version) -> Iterator[_Group]:
    """Yield the limited groups from one up to the root. A container may hide the folders in between."""
    own = root / path.removeprefix("/")
    for folder in (own, *own.parents):
        if not folder.is_relative_to(root):
            return
        limit = _number(folder / names.limit)
        if limit:
            used = _number(folder / names.usage) - _number(folder / "memory.stat", names.droppable)
            yield _Group(limit, max(0, used))


def _number(file: Path, key: str = "") -> int:
    """Return the number in a file of the kernel, or the one behind a key. No such number is 0."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        words = [word for word in line.split() if word != key]
        if line.startswith(key) and words and words[0].isdigit():
            return int(words[0])
    return 0


def _own_bytes() -> int:
    """Return the address space of this process."""
    return int(_OWN_SIZE.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


_PR_SET_PDEATHSIG = 1
_LIMIT_CALL_S = 30.0
"""What a verifier may take to say how long it needs."""
_MOST_CROWDING = 4


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
    told: dict[int, float] = {}
    own = os.getpid()
    while (record := read_frame(source)) is not None:
        if "load" in record:
            reply = frame(_load(verifiers, record))
        else:
            if alone:
                _limit_memory(alone_bytes())
            is_case = "case" in record
            reply = _verify(verifiers, record, sink, told) if is_case else frame(_check(verifiers, record))
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
        plug_in = find("verifier", name, record["folder"], is_allowed=True)  # the run has asked
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


def _crowding() -> int:
    """Return how many processes want each core now, from 1 to a most. A limit is that many times longer.

    A wall limit would otherwise turn a right answer into a `timeout` where other work leaves no turn: an
    answer of 0.7 s of CPU took over 10 s at a load of 25 on two cores (measured).
    """
    return max(1, min(_MOST_CROWDING, int(os.getloadavg()[0] / (os.cpu_count() or 1))))


def _verify(
    verifiers: dict[int, Verifier], record: dict[str, Any], sink: BinaryIO, told: dict[int, float]
) -> bytes:
    """Return the frame of one finding.

    The timer's signal keeps its default action, so that C code cannot ignore it. The pool is told the time
    limit first, because no signal but SIGKILL ends a process that is stopped.

    Args:
        told: by verifier, the limit that the pool was told last. An equal one is not told again.
    """
    try:
        verifier, case = verifiers[record["key"]], case_from_record(record["case"])
        signal.setitimer(signal.ITIMER_REAL, _LIMIT_CALL_S)
        try:
            limit_s = verifier.time_limit_s(case) * _crowding()
            if told.get(record["key"]) != limit_s:
                told[record["key"]] = limit_s
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
