"""End the engine's processes when the run that started them is killed.

vLLM's engine outlives a parent killed with -9 and keeps its memory (measured on 0.32: alive and
growing after 80 s). This file is also started as a script, before the engine, with only the standard
library. The script watches one pid, records that process's descendants, and kills them when it is gone.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

MARKER = "GENBENCH_RUN_MARKER"
CAGE_OF = "GENBENCH_CAGE_OF"
"""The run's pid in the environment of a cage that is being opened, see sandbox/worker.py."""
SETTLED = b"settled\n"
_LOADING_POLL_S = 0.2
_SETTLED_POLL_S = 5.0
_KILL_FOR_S = 4.0
_REPLACE_PAUSE_S = 0.2


class EngineGuard:
    """The context of one engine. While it is open, a watcher process guards the descendants of this one.

    A watcher that is killed is replaced at once by a thread of this process. Each process that is forked
    meanwhile tells the watcher its pid before it does anything else, and ends if the run is gone by then: on
    a busy machine the watcher may have no turn between the fork of an engine and the end of its run.
    """

    def __init__(self) -> None:
        self._marker = f"{os.getpid()}-{time.monotonic_ns()}"
        self._lock = threading.Lock()
        self._watcher: subprocess.Popen[bytes] | None = None
        self._is_open = False
        self._is_settled = False

    @property
    def watcher_pid(self) -> int | None:
        """Return the process id of the watcher, or None if the guard is closed."""
        watcher = self._watcher
        return watcher.pid if watcher is not None else None

    def __enter__(self) -> Self:
        os.environ[MARKER] = self._marker
        self._is_open, self._run = True, os.pidfd_open(os.getpid())
        self._watcher = self._start()
        _tell_of_forks()
        _open.append(self)
        threading.Thread(target=self._keep, args=(self._watcher,), daemon=True, name="genbench-guard").start()
        return self

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(os.getpid()), self._marker],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,  # bytes for a watcher that is gone must not fail again when the pipe is closed
            env={key: value for key, value in os.environ.items() if key != MARKER},
        )

    def _keep(self, watcher: subprocess.Popen[bytes]) -> None:
        """Start another watcher whenever one ends while the guard is open."""
        while True:
            watcher.wait()
            with self._lock:
                if not self._is_open:
                    return
                _close_input(watcher)
                try:
                    self._watcher = watcher = self._start()
                except OSError:  # no process can be started now
                    pass
                else:
                    self._tell(watcher)
            time.sleep(_REPLACE_PAUSE_S)

    def settled(self) -> None:
        """Tell the watcher that the engine is up and starts no more processes. It then looks less often."""
        with self._lock:
            self._is_settled = True
            if self._watcher is not None:
                self._tell(self._watcher)

    def _tell(self, watcher: subprocess.Popen[bytes]) -> None:
        if self._is_settled and watcher.stdin is not None:
            try:
                watcher.stdin.write(SETTLED)
            except OSError:  # it was killed, and the thread replaces it
                return

    def forked(self) -> None:
        """Tell the watcher of this process, which was just forked. No lock is taken: its owner is gone."""
        watcher = self._watcher
        if watcher is not None and watcher.stdin is not None:
            with suppress(OSError, ValueError):  # it was killed, and its successor reads all processes
                os.write(watcher.stdin.fileno(), b"%d\n" % os.getpid())
        ended = select.poll()  # select takes no descriptor over 1,023
        ended.register(self._run, select.POLLIN)
        if ended.poll(0):
            os._exit(1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.environ.pop(MARKER, None)
        with suppress(ValueError):
            _open.remove(self)
        with self._lock:
            self._is_open = False
            watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.kill()
            watcher.wait()
            _close_input(watcher)
        os.close(self._run)


_open: list[EngineGuard] = []


@cache
def _tell_of_forks() -> None:
    """Make each process that is forked from now on tell the open guards of itself."""

    def tell() -> None:
        for guard in _open:
            guard.forked()

    os.register_at_fork(after_in_child=tell)


def _close_input(watcher: subprocess.Popen[bytes]) -> None:
    if watcher.stdin is not None:
        try:
            watcher.stdin.close()
        except OSError:
            return


def kill_with_descendants(pids: Iterable[int]) -> None:
    """Kill processes and all that they have started. Processes that are stopped die as well."""
    roots = {(pid, start) for pid in pids if (start := _start(pid)) is not None}
    for pid, start in roots | _descendants({pid for pid, _ in roots}):
        if _start(pid) == start:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue


def watch(parent: int, marker: str) -> None:
    """Wait for `parent` to end. Then kill its descendants, and all processes that carry `marker`."""
    wanted = frozenset({f"{MARKER}={marker}".encode(), f"{CAGE_OF}={parent}".encode()})
    try:
        handle = os.pidfd_open(parent)
    except ProcessLookupError:
        words, family = Words(), Family(parent)
        while select.select([0], [], [], 0)[0] and words.read():
            family.look(words.forked())
        _kill_all(family.members, wanted)
        return
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(0, select.POLLIN)
    pause, family, words = _LOADING_POLL_S, Family(parent), Words()
    while True:
        ready = dict(poll.poll(pause * 1000))
        if 0 in ready:
            if not words.read():
                poll.unregister(0)
            if words.is_settled:
                pause = _SETTLED_POLL_S
        elif handle in ready:  # only when all is read that was written before
            break
        family.look(words.forked())
    _kill_all(family.members, wanted)


class Words:
    """What the run and its forked processes write to the watcher: a pid a line, and that the engine is up."""

    def __init__(self) -> None:
        self._rest = b""
        self._pids: list[int] = []
        self.is_settled = False

    def read(self) -> bool:
        """Read what is there. Return False at the end of the input."""
        block = os.read(0, 65536)
        *lines, self._rest = (self._rest + block).split(b"\n")
        self.is_settled = self.is_settled or SETTLED.strip() in lines
        self._pids += [int(line) for line in lines if line.isdigit()]
        return bool(block)

    def forked(self) -> list[int]:
        """Return the pids that were read since the last call."""
        pids, self._pids = self._pids, []
        return pids


class Family:
    """The descendants of one process, found among the processes that are new at each look.

    A process gets its ancestors when it starts, so that each has to be read only once. With 1,100 processes
    a look takes 2 ms, and reading all of them 81 ms (on a busy core). There are five looks a second while
    an engine loads.

    Args:
        root: pid of the process. It is not a member.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._read: set[int] = set()
        self.members: set[tuple[int, str]] = set()
        """Pid and start time of each descendant, also after its parent has ended."""
        self.look()

    def look(self, named: Iterable[int] = ()) -> None:
        """Add the descendants that started since the last look, and those named. Forget those that ended."""
        self.members |= {(pid, start) for pid in named if (start := _start(pid)) is not None}
        pids = set(_pids())
        new, self._read = pids - self._read, pids
        self.members = {entry for entry in self.members if entry[0] in pids and _start(entry[0]) == entry[1]}
        if new:
            self.members |= _descendants({self._root, *(pid for pid, _ in self.members)}, new)


def _kill_all(known: set[tuple[int, str]], wanted: frozenset[bytes]) -> None:
    end = time.monotonic() + _KILL_FOR_S
    while time.monotonic() < end:
        alive = {entry for entry in known if _start(entry[0]) == entry[1]} | _marked(wanted)
        alive |= _descendants({pid for pid, _ in alive})
        known |= alive
        if not alive:
            return
        for pid, start in alive:
            if _start(pid) == start and pid != os.getpid():
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
        time.sleep(0.05)


def _stat(pid: int) -> list[str] | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields


def _start(pid: int) -> str | None:
    """Return the start time in ticks, or None if the process ended. A later process with this pid differs."""
    fields = _stat(pid)
    return fields[19] if fields else None


def _pids() -> list[int]:
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]


def _descendants(roots: set[int], among: Iterable[int] | None = None) -> set[tuple[int, str]]:
    """Return pid and start time of what the roots have started, as far as it is `among` these pids."""
    children: dict[int, list[tuple[int, str]]] = {}
    for pid in _pids() if among is None else among:
        fields = _stat(pid)
        if fields and pid != os.getpid():
            children.setdefault(int(fields[1]), []).append((pid, fields[19]))
    found: set[tuple[int, str]] = set()
    queue = list(roots)
    while queue:
        for entry in children.get(queue.pop(), []):
            if entry not in found:
                found.add(entry)
                queue.append(entry[0])
    return found


def _marked(wanted: frozenset[bytes]) -> set[tuple[int, str]]:
    """Return the processes whose environment at exec had one of the wanted entries."""
    found: set[tuple[int, str]] = set()
    for pid in _pids():
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        start = _start(pid)
        if not wanted.isdisjoint(environ) and start is not None and pid != os.getpid():
            found.add((pid, start))
    return found


if __name__ == "__main__":
    watch(int(sys.argv[1]), sys.argv[2])
