"""One writer for a run folder: a lock that dies with its process and does not pass to its children."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Self

from genbench.errors import RunFolderError, RunLockedError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


class FolderLock:
    """Held while a process writes a run folder.

    A POSIX record lock: it belongs to the process and is not inherited over fork, unlike flock,
    which an engine forked from us would keep after our death. It does not hold against a second
    writer in this same process, so the owner that the file records is looked at as well; where
    the file system has no locks that record is all there is.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self.advisory_only = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be written: {error.strerror}") from error
        try:
            self._take(folder)
        except BaseException:
            os.close(self._fd)
            raise

    def _take(self, folder: Path) -> None:
        owner = self._owner()
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise RunLockedError(_refusal(folder, owner)) from None
            self.advisory_only = True
        ours = all(owner.get(key) == value for key, value in _self().items())
        if owner and (ours or (self.advisory_only and not _is_gone(owner))):
            raise RunLockedError(_refusal(folder, owner))
        me = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(me).encode(), 0)

    def _owner(self) -> dict[str, Any]:
        try:
            record = json.loads(os.pread(self._fd, 4096, 0) or b"{}")
        except ValueError:
            return {}
        return record if isinstance(record, dict) else {}

    def close(self) -> None:
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _self() -> dict[str, Any]:
    """This process, told apart from another that had its pid before (in containers all are pid 1)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return {"host": socket.gethostname(), "pid": os.getpid(), "start_ticks": int(fields[19])}


def _refusal(folder: Path, owner: dict[str, Any]) -> str:
    who = f"pid {owner.get('pid', '?')} on {owner.get('host', '?')}, since {owner.get('started', '?')}"
    return f"{folder}: another run writes this folder ({who}); wait for it, or give another --run-dir"


def _is_gone(owner: dict[str, Any]) -> bool:
    """Whether the recorded owner is known to have ended: only its own host can tell."""
    if owner.get("host") != socket.gethostname() or not isinstance(owner.get("pid"), int):
        return False
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
