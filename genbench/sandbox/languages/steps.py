"""Starts one step of a program in another language, watches it from outside, and ends all its processes."""

from __future__ import annotations

import fcntl
import marshal
import os
import select
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from genbench.sandbox import keeper, leftovers
from genbench.sandbox.cage import WORK, Cage, Tier, tool_cage
from genbench.sandbox.inside import seccomp
from genbench.sandbox.inside.step import REPORT
from genbench.sandbox.languages.language import Language, Step, tool
from genbench.sandbox.worker import SandboxError, outer_user, private_uid, threads_of_user

Files = Mapping[str, tuple[bytes, int]]
"""Content and mode by name."""
_FIRST_LOOK_S, _LOOK_S = 0.1, 0.05
_MOST_ENTRIES = 4096
_OPEN_FILES = 1024
_KEPT_MIB = 64
_SHOWN = 1 << 20
"""Bytes of the output that are looked at, from the end."""
How = Literal["ended", "timeout", "memory", "output_limit"]


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a step: by itself with an exit status, or stopped at a limit."""

    how: How
    status: int
    output: str
    errors: str
    wall_s: float
    cpu_s: float = 0.0
    peak_mib: int = 0
    files: Files = field(default_factory=dict)


class _Place:
    """A step's working folder. In tier A it is a tmpfs of the cage and cannot be seen."""

    def __init__(self, cage: Cage, uid: int) -> None:
        self.folder: Path | None = None
        if cage.tier != "a":
            self.folder = Path(tempfile.mkdtemp(prefix="genbench-step-"))
            if os.geteuid() == 0 and cage.tier == "b":
                os.chown(self.folder, uid, uid)

    def usage(self) -> tuple[int, int]:
        """Return the bytes and the entries in it."""
        return (0, 0) if self.folder is None else leftovers.usage(self.folder, _MOST_ENTRIES)

    def remove(self) -> None:
        """Remove the folder of tier B."""
        if self.folder is not None:
            leftovers.remove(self.folder)


def run_step(cage: Cage, language: Language, step: Step, files: Files) -> Ended:
    """Run a step on files in an empty working folder. No process of it is left afterwards.

    Raises:
        SandboxError: the step could not be started, or what it left cannot be read. A program may be the
            cause, so its caller tries again and then looks whether a harmless program runs.
    """
    uid = _uid(cage.tier, language)
    tools = tool_cage(cage, language, step.work_mib)
    place = _Place(cage, uid)
    work = WORK if place.folder is None else str(place.folder)
    order = {
        "files": [(name, len(content), mode) for name, (content, mode) in files.items()],
        "command": [_found(word) if number == 0 else word for number, word in enumerate(step.command)],
        "environment": _environment(language, work),
        "work": work,
        "tier": cage.tier,
        "uid": uid,
        "filters": _filters(cage.tier, language.loopback),
        "readable": tools.readable,
        "executable": tools.executable,
        "writable": [*tools.writable, work],
        "memory_mib": step.memory_mib,
        "file_mib": step.file_mib,
        "cpu_s": int(step.wall_s) + 1,
        "processes": step.processes + (threads_of_user() if cage.tier == "b" and os.geteuid() else 0),
        "open_files": _OPEN_FILES,
        "keep": step.keep,
        "keep_mib": _KEPT_MIB,
    }
    try:
        with _memory_files() as (given, output, errors, report):
            _write_all(given, marshal.dumps(order))
            for content, _ in files.values():
                _write_all(given, content)
            os.lseek(given, 0, os.SEEK_SET)
            started = time.monotonic()
            keep = partial(keeper.command, kept=tools.command, user=outer_user(cage))
            how = _watched(keep, tools.environment, (given, output, errors, report), place, step)
            if how == "ended" and any(
                os.fstat(file).st_size >= step.file_mib << 20 for file in (output, errors)
            ):
                how = "output_limit"  # some runtimes ignore the signal, and the program goes on
            return _ended(how, output, errors, report, time.monotonic() - started)
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise SandboxError(f"a step could not be followed: {type(error).__name__}: {error}") from error
    finally:
        place.remove()


def _uid(tier: Tier, language: Language) -> int:
    """Return the user of a step: one of its own, unless that one could not read what it needs.

    Tier A mounts it where everybody can.
    """
    closed = tier == "b" and not all(_is_open(Path(path)) for path, _ in language.mounts)
    return 0 if closed and os.geteuid() == 0 else private_uid()


def _is_open(path: Path) -> bool:
    """Return whether every user can read a folder."""
    real = path.resolve()
    return all(place.stat().st_mode & 0o001 for place in (real, *real.parents))


@lru_cache(maxsize=4)
def _filters(tier: Tier, loopback: bool) -> tuple[tuple[bytes, bool], ...]:
    found = seccomp.machine()
    if tier == "unsafe":
        return ()
    if found is None:
        raise SandboxError("seccomp: no tables for this processor")
    # Landlock knows nothing of UDP, and tier B has the network of the host.
    filters = seccomp.build_tools(found, shares_processes=tier == "b", sockets=loopback and tier == "a")
    return tuple((filter_.code, filter_.has_ids) for filter_ in filters)


def _environment(language: Language, work: str) -> dict[str, str]:
    return {
        "HOME": work,
        "TMPDIR": work,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        **{name: value.replace("{work}", work) for name, value in language.environment},
    }


def _found(name: str) -> str:
    return name if "/" in name else tool(name) or name


@contextmanager
def _memory_files() -> Iterator[tuple[int, int, int, int]]:
    made = [os.memfd_create(name) for name in ("order", "output", "errors", "report")]
    try:
        yield made[0], made[1], made[2], made[3]
    finally:
        for file in made:
            os.close(file)


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _watched(
    command: Callable[[int], list[str]],
    environment: dict[str, str],
    fds: tuple[int, int, int, int],
    place: _Place,
    step: Step,
) -> How:
    """Run a step below a keeper until it ends or a limit is reached. Return which.

    Args:
        command: the keeper's, for the descriptor of its lifeline.
    """
    given, output, errors, report = fds
    pair = os.pipe()
    watched, lifeline = fcntl.fcntl(pair[0], fcntl.F_DUPFD_CLOEXEC, REPORT + 1), pair[1]
    os.close(pair[0])
    libraries = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    keep = command(watched)
    try:
        pid = os.posix_spawn(
            keep[0],
            keep,
            libraries | environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, given, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, errors, 2),
                (os.POSIX_SPAWN_DUP2, watched, watched),
                (os.POSIX_SPAWN_DUP2, report, REPORT),
            ],
            setsid=True,
        )
    except OSError as error:
        os.close(lifeline)
        raise SandboxError(f"{keep[0]}: {error}") from None
    finally:
        os.close(watched)
    handle = os.pidfd_open(pid)
    try:
        return _until_end(pid, handle, place, step)
    finally:
        os.close(lifeline)
        os.waitpid(pid, 0)
        os.close(handle)


def _until_end(pid: int, handle: int, place: _Place, step: Step) -> How:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    end = time.monotonic() + step.wall_s
    pause = _FIRST_LOOK_S
    while not poller.poll(pause * 1000):
        pause = _LOOK_S
        if time.monotonic() > end:
            return "timeout"
        if _memory_of(pid) > step.memory_mib << 20:
            return "memory"
        size, entries = place.usage()
        if size > step.work_mib << 20 or entries > _MOST_ENTRIES:
            return "output_limit"
    return "ended"


def _memory_of(root: int) -> int:
    """Return the bytes of memory in use by all processes below one."""
    parents: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (parent := keeper.parent(int(entry.name))) is not None:
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = 0, list(parents.get(root, ()))
    while left:
        pid = left.pop()
        left += parents.get(pid, ())
        try:
            found += int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
        except (OSError, IndexError):
            continue
    return found * os.sysconf("SC_PAGE_SIZE")


def _ended(how: How, output: int, errors: int, report: int, wall_s: float) -> Ended:
    texts = _end_of(output), _end_of(errors)
    if how != "ended":
        return Ended(how, -9, *texts, wall_s)
    told, _, content = os.pread(report, os.fstat(report).st_size, 0).partition(b"\n")
    if not told:
        raise SandboxError(f"a step did not start: {texts[1].strip()[-500:] or 'no reason was given'}")
    status, cpu_s, peak_mib, count = told.decode().split()
    listed: list[list[str]] = []
    for _ in range(int(count)):
        line, _, content = content.partition(b"\n")
        listed.append(line.decode().split(" ", 2))
    files: dict[str, tuple[bytes, int]] = {}
    for size, mode, name in listed:
        files[name], content = (content[: int(size)], int(mode)), content[int(size) :]
    return Ended(how, int(status), *texts, wall_s, float(cpu_s), int(peak_mib), files)


def _end_of(file: int) -> str:
    size = os.fstat(file).st_size
    return os.pread(file, _SHOWN, max(0, size - _SHOWN)).decode("utf-8", "replace")
