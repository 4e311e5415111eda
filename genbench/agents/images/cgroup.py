"""Control groups (version 2) of boxes, below the folder that the variable GENBENCH_CGROUP names.

No other folder is used, not even the own group: a group with processes cannot give controllers to groups
below it, so that one would first have to be emptied of processes that others have started and count there.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genbench.agents.images.box import BoxLimits

VARIABLE = "GENBENCH_CGROUP"
_NEEDED = ("memory", "pids")
_PREFIX = "genbench-"
_PERIOD_US = 100_000
_TRIES, _PAUSE_S = 100, 0.01
"""How often a group is removed that is not empty yet: killed processes take a moment to end."""


def delegated() -> Path | None:
    """Return the folder in which boxes have groups, None if there is none."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else None


def prepare(root: Path) -> list[str]:
    """Give the controllers of the delegated folder to the groups below it. Return their names.

    Raises:
        ConfigError: it cannot be used.
    """
    from genbench.errors import ConfigError  # noqa: PLC0415  no keeper needs it

    switch = root / "cgroup.subtree_control"
    try:
        there = (root / "cgroup.controllers").read_text().split()
        found = [name for name in (*_NEEDED, "cpu") if name in there]
        why = " and ".join(f"no {name}" for name in _NEEDED if name not in found)
        if not why and not set(found) <= set(switch.read_text().split()):
            _write(switch, " ".join(f"+{name}" for name in found))
    except OSError as error:
        why = "processes of its own" if error.errno == errno.EBUSY else f"{error}"
    if why:
        raise ConfigError(f"{VARIABLE}: {root} cannot be used: {why} (docs/agents.md, Control groups)")
    return found


def sweep(root: Path) -> int:
    """End and remove the groups whose keepers were killed. Return how many there were."""
    gone, own = 0, _lock(root)
    for path in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # its keeper lives, or removes it
            place = _lock(path, fcntl.LOCK_NB)
            gone += _remove(path)
            os.close(place)
    os.close(own)
    return gone


class Group:
    """The group of one box. It is locked as long as its keeper lives.

    Its memory.oom.group stays 0: else the first process of the box would end with any other.

    Raises:
        OSError: the kernel refuses a limit. Nothing is left then.
    """

    def __init__(self, root: Path, limits: BoxLimits) -> None:
        own = _lock(root)  # else a sweep could remove it before it is locked
        self._path = root / f"{_PREFIX}{os.urandom(6).hex()}"
        self._path.mkdir()
        self._place = _lock(self._path)
        os.close(own)
        memory = limits.memory_mb and limits.memory_mb + (limits.disk_mb or 0) << 20  # its disk is memory
        values = {"memory.max": memory, "pids.max": limits.pids and limits.pids + 1}  # and the first process
        if (self._path / "memory.swap.max").exists():
            values["memory.swap.max"] = memory and 0
        try:
            for name, value in values.items():
                if value is not None:
                    _write(self._path / name, str(value))
            if limits.cpus and (self._path / "cpu.max").exists():
                _write(self._path / "cpu.max", f"{limits.cpus * _PERIOD_US} {_PERIOD_US}")
        except OSError:
            self.end()
            raise

    def add(self, pid: int) -> None:
        """Put a process into it. 0 is the one that asks."""
        _write(self._path / "cgroup.procs", f"{pid}\n", "a")

    def hits(self) -> Counter[str]:
        """Return how often its limits were met. What ended for memory of the whole machine does not count."""
        ooms = [_count(self._path / "memory.events", key) for key in ("oom", "oom_kill")]
        return Counter(memory=min(ooms), pids=_count(self._path / "pids.events", "max"))

    def end(self) -> None:
        """Kill what is in it, and remove it. What stays is for a sweep."""
        _remove(self._path)
        os.close(self._place)


def _lock(path: Path, flags: int = 0) -> int:
    """Lock a folder. Return the descriptor that has the lock."""
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | flags)
    except OSError:
        os.close(place)
        raise
    return place


def _write(path: Path, text: str, mode: str = "w") -> None:
    try:
        with path.open(mode) as file:
            file.write(text)
    except OSError as error:  # what a write raises does not name the file
        raise OSError(error.errno, error.strerror, str(path)) from None


def _count(path: Path, key: str) -> int:
    """Return a number of a file with lines `key number`, 0 if it lacks it."""
    words = path.read_text().split() if path.exists() else []
    return int(dict(zip(words[::2], words[1::2], strict=True)).get(key, 0))


def _remove(path: Path) -> bool:
    """Remove a group and those below it, and kill what is in them. Return whether nothing is left."""
    for _ in range(_TRIES):
        each = path
        try:
            for each in (*sorted((one for one in path.rglob("*") if one.is_dir()), reverse=True), path):
                each.rmdir()
            return True
        except OSError as error:
            if error.errno != errno.EBUSY:
                return False
            with suppress(OSError):
                _kill(each)
        time.sleep(_PAUSE_S)
    return False


def _kill(path: Path) -> None:
    """Kill the processes of a group. Kernels before 5.14 have no cgroup.kill."""
    if (path / "cgroup.kill").exists():
        (path / "cgroup.kill").write_text("1")
        return
    for word in (path / "cgroup.procs").read_text().split():
        if int(word) > 0:  # 0 is one that this process cannot see, and would mean its own
            with suppress(ProcessLookupError):
                os.kill(int(word), signal.SIGKILL)
