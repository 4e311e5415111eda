"""JSON Lines on disk: one write a line, torn ends healed, damaged lines named."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from genbench.errors import RunFolderError

_TAIL = 1 << 16
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def dumps(record: object) -> str:
    """One compact line of JSON (no newline); NaN is refused, since readers elsewhere refuse it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(record: object) -> bytes:
    """One line as bytes. Lone surrogates (a model can be made to print them) are kept as escapes."""
    text = dumps(record)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class Appender:
    """Appends records to one file. A line that could not be written whole is taken back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.healed_bytes = heal(path)
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written: {error.strerror}") from error
        self._dirty = False

    def append(self, record: object) -> None:
        """Writes one line.

        Raises:
            RunFolderError: the disk is full or failing; the file ends with its last whole line.
        """
        line = encode(record)
        size = os.fstat(self._fd).st_size
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            os.ftruncate(self._fd, size)
            raise RunFolderError(unwritable(self.path, error)) from error
        self._dirty = True

    def sync(self) -> None:
        """Pushes what was written to the disk itself (a lost node, not only a killed process)."""
        if self._dirty:
            self._dirty = False
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise RunFolderError(unwritable(self.path, error)) from error

    def close(self) -> None:
        if self._fd >= 0:
            try:
                self.sync()
            finally:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def unwritable(path: Path, error: OSError) -> str:
    """Why a file cannot be written, and what to do, for a RunFolderError."""
    if error.errno in NO_SPACE:
        return f"{path}: the disk is full; make space and run the same command again, it continues"
    return f"{path}: cannot be written: {error.strerror}"


def heal(path: Path) -> int:
    """Cuts a torn last line (a process killed in the middle of a write); returns the bytes cut."""
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = _last_newline(file, size)
            if end < size:
                file.truncate(end)
            return size - end
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror}") from error


def _last_newline(file: Any, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - _TAIL)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        end = start
    return 0


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers (from 1) and records; a torn last line is passed over, a missing file is empty.

    Raises:
        RunFolderError: a whole line is not a JSON object; names the line.
    """
    for number, _, record in read_places(path):
        yield number, record


def read_places(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """As `read_lines`, with the byte at which each line begins: (number, byte, record)."""
    if not path.exists():
        return
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
            except ValueError as error:
                raise RunFolderError(
                    f"{path}:{number}: not valid JSON ({error}); restore or delete the line, then run again"
                ) from error
            if not isinstance(record, dict):
                raise RunFolderError(f"{path}:{number}: wanted a JSON object, found {type(record).__name__}")
            yield number, place, record
            place += len(line)


def replace(path: Path, data: bytes) -> None:
    """Writes a whole file by rename: readers see the old one or the new one, never half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RunFolderError(unwritable(path, error)) from error


def rename(path: Path, target: Path) -> None:
    """Puts a finished file in the place of another; readers see one or the other."""
    try:
        path.replace(target)
    except OSError as error:
        raise RunFolderError(unwritable(target, error)) from error


def replace_json(path: Path, record: object) -> None:
    """Writes an indented JSON file by rename."""
    replace(path, json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")
