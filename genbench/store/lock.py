"""The lock of a run folder: it admits one writer, ends with its process and is not inherited by children."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import struct
import time
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from genbench.errors import RunFolderError, RunLockedError
from genbench.json_record import Count, JsonRecord
from genbench.store.json_files import read_bytes, unwritable

_PLAIN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags of opening a file that a stranger may have replaced with a link or a pipe."""
_OWNER_BYTES = 1 << 20
"""The largest owner.json that is read."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


class FolderLock:
    """The lock of a run folder, taken while a process writes the folder.

    It is a POSIX record lock, which belongs to the process and is not inherited over fork. An engine forked
    from this process would keep an flock after the process has ended.

    A POSIX lock does not exclude a second writer in the same process, and closing any descriptor of the file
    releases it. The owner is therefore recorded in a file of its own, owner.json, which is checked first. If
    the file system has no locks, that record is the only protection, and `advisory_only` is True.

    Raises:
        RunLockedError: another process writes the folder, or this process already does.
        RunFolderError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._owner_path = folder / "owner.json"
        self.advisory_only = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            owner = self._owner()
            if owner and _is_us(owner):
                raise RunLockedError(_refusal(folder, owner))
            self._fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | _PLAIN, 0o644)
        except OSError as error:
            raise RunFolderError(unwritable(folder, error)) from error
        try:
            self._take(folder, owner)
        except BaseException:
            os.close(self._fd)
            raise

    def _take(self, folder: Path, owner: dict[str, Any]) -> None:
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise RunLockedError(_refusal(folder, owner)) from None
            self.advisory_only = True
        if self.advisory_only and owner and not _is_gone(owner):
            raise RunLockedError(_refusal(folder, owner))
        record = _self() | {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        try:
            _write_anew(self._owner_path, json.dumps(record))
        except OSError as error:
            raise RunFolderError(unwritable(folder, error)) from error

    def _owner(self) -> dict[str, Any]:
        return _recorded(self._owner_path)

    def close(self) -> None:
        """Give the lock back."""
        if self._fd >= 0:
            self._owner_path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class WriterRecord(JsonRecord):
    """The process that writes a run folder, or that wrote it last."""

    host: str = Field(description="host of the process")
    pid: Count = Field(description="process id")
    started: str = Field(description="time at which the process started")
    # Null: it runs on another host, on a file system without locks.
    alive: bool | None = Field(description="whether it is running; null if this host cannot tell")

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host}, since {self.started}"


def writer_of(folder: Path) -> WriterRecord | None:
    """Return the recorded writer of a folder, or None if there is none. Do not write or lock anything.

    Raises:
        RunFolderError: the folder cannot be read, or has a link or a pipe in the place of owner.json.
    """
    owner = _recorded(folder / "owner.json")
    if not owner or not _is_pid(owner.get("pid", 0)):
        return None
    return WriterRecord(
        host=str(owner.get("host", "?")),
        pid=int(owner.get("pid", 0)),
        started=str(owner.get("started", "?")),
        alive=_is_held(folder, owner),
    )


def _recorded(path: Path) -> dict[str, Any]:
    """Return the record in owner.json, or nothing if there is none or it is damaged.

    A folder may come from anyone. Opening a pipe would wait for ever.
    """
    try:
        record = json.loads(read_bytes(path, _OWNER_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _write_anew(path: Path, text: str) -> None:
    """Write a file that was not there. An old one may be a second name of a file of someone else."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN, 0o644), "w") as file:
        file.write(text)


def _is_held(folder: Path, owner: dict[str, Any]) -> bool | None:
    """Return whether a process has the lock, without taking it. Return None if that cannot be known."""
    if _is_us(owner):  # Closing a descriptor of the lock file in this process would release the lock.
        return True
    if _is_gone(owner):
        return False
    question = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        fd = os.open(folder / "lock", os.O_RDONLY | _PLAIN)
    except OSError:
        return None
    try:
        kind: int = struct.unpack("hhqqi4x", fcntl.fcntl(fd, fcntl.F_GETLK, question))[0]
    except OSError:
        return True if owner.get("host") == socket.gethostname() else None
    finally:
        os.close(fd)
    return kind != fcntl.F_UNLCK


def _is_us(owner: dict[str, Any]) -> bool:
    return all(owner.get(key) == value for key, value in _self().items())


def _self() -> dict[str, Any]:
    """Return what identifies this process.

    The start time distinguishes it from an earlier process with the same pid. In containers all have pid 1.
    """
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return {"host": socket.gethostname(), "pid": os.getpid(), "start_ticks": int(fields[19])}


def _refusal(folder: Path, owner: dict[str, Any]) -> str:
    who = f"pid {owner.get('pid', '?')} on {owner.get('host', '?')}, since {owner.get('started', '?')}"
    return f"{folder}: another run writes this folder ({who}); wait for it, or give another --run-dir"


def _is_pid(value: object) -> bool:
    """Return whether a value can be the number of a process. Larger numbers have no meaning to the kernel."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _is_gone(owner: dict[str, Any]) -> bool:
    """Return whether the recorded owner is known to have ended. Only its own host can know."""
    if owner.get("host") != socket.gethostname() or not _is_pid(owner.get("pid")):
        return False
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
