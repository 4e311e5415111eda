"""JSON and JSON Lines files: reading, appending, and replacing whole files by rename.

A stranger may have written a file that is read. Links, pipes and files above a given size are refused.
"""

from __future__ import annotations

import errno
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Self

from genbench.errors import RunFolderError

MOST_BYTES = 128 << 20
"""The largest file of a run folder that is read as a whole. The manifest of a million problems has 17 MB."""
MOST_LINE_BYTES = 128 << 20
"""The longest line of a file of JSON Lines. A completion of a million tokens has about 13 MB."""


def read_bytes(path: Path, most: int) -> bytes | None:
    """Return the content of a plain file, or None if it does not exist.

    Args:
        path: the file. Its last component must not be a link.
        most: the largest number of bytes that is accepted.

    Raises:
        RunFolderError: the path is not a plain file, cannot be read, or is too large.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror}") from error
    if not S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise RunFolderError(f"{path}: is not a plain file; a run folder has no links, pipes or devices")
    with os.fdopen(fd, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise RunFolderError(f"{path}: is larger than {most:,} bytes; genbench writes no such file")
    return data


def lines_of(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline). The last line may lack the newline.

    A file with holes can have a line that is larger than any memory.

    Args:
        path: the file, for messages.

    Raises:
        RunFolderError: a line is longer than any that genbench writes.
    """
    number = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        if len(line) > MOST_LINE_BYTES:
            raise RunFolderError(f"{path}:{number}: the line is longer than {MOST_LINE_BYTES:,} bytes")
        yield number, line


def read_json(path: Path, most: int) -> dict[str, Any] | None:
    """Return the JSON object in a plain file, or None if the file does not exist.

    Raises:
        RunFolderError: the path is not a plain file of at most `most` bytes with a JSON object.
    """
    data = read_bytes(path, most)
    return None if data is None else json_object(data, path)


def _finite(text: str) -> float:
    """Return the number that a text stands for. Infinity and NaN have no digest and no JSON of their own.

    Raises:
        ValueError: the number is not finite.
    """
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def json_object(data: bytes, path: Path) -> dict[str, Any]:
    """Return the JSON object in `data`, which was read from `path`. All of its numbers are finite.

    Raises:
        RunFolderError: the data are not a JSON object.
    """
    try:
        record = json.loads(data, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{path}: cannot be read: {error}") from error
    if not isinstance(record, dict):
        raise RunFolderError(f"{path}: is not a JSON object; restore the file")
    return record


_TAIL = 1 << 16
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def dumps(record: object) -> str:
    """Return compact JSON on one line, without the newline.

    Raises:
        ValueError: the record contains NaN or an infinity, which other readers of JSON refuse.
    """
    return _COMPACT.encode(record)


# json.dumps would make an encoder for each line.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(record: object) -> bytes:
    """Return the line of a record as UTF-8 with a newline.

    Lone surrogates, which UTF-8 cannot encode and a model may print, are written as escapes.
    """
    text = dumps(record)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class Appender:
    """A JSON Lines file open for appending.

    A line that could not be written completely is removed again.

    Raises:
        RunFolderError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _own(path)
        self.healed_bytes = heal(path)
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written: {error.strerror}") from error
        self._dirty = False

    def append(self, record: object) -> None:
        """Write one line.

        Raises:
            RunFolderError: the disk is full or failing. The file ends with its last complete line.
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
        """Flush the written lines to the disk (fsync), so that they also survive the loss of the machine."""
        if self._dirty:
            self._dirty = False
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise RunFolderError(unwritable(self.path, error)) from error

    def close(self) -> None:
        """Close the file."""
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
    """Return the message of a RunFolderError: why a file cannot be written, and what to do."""
    if error.errno in NO_SPACE:
        return f"{path}: the disk is full; make space and run the same command again, it continues"
    return f"{path}: cannot be written: {error.strerror}"


def heal(path: Path) -> int:
    """Cut an incomplete last line, as a process killed during a write leaves it. Return the bytes cut.

    Raises:
        RunFolderError: the file cannot be written.
    """
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


def _own(path: Path) -> None:
    """Replace a file that has a second name by a copy, so that what is appended changes no other file.

    A run folder from elsewhere may contain a hard link to a file of its reader.

    Raises:
        RunFolderError: the file cannot be copied.
    """
    try:
        if path.stat().st_nlink < 2:
            return
        with path.open("rb") as file:
            replace_parts(path, iter(lambda: file.read(_TAIL), b""))
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunFolderError(unwritable(path, error)) from error


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
    """Yield (line number from 1, record).

    An incomplete last line is skipped. A file that does not exist has no lines.

    Raises:
        RunFolderError: as `read_places`.
    """
    for number, _, record in read_places(path):
        yield number, record


def read_places(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (line number from 1, byte offset of the line, record).

    An incomplete last line is skipped. A file that does not exist has no lines.

    Raises:
        RunFolderError: the file cannot be read, or a complete line is not a JSON object. Names the line.
    """
    if not path.exists():
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror}") from error
    place = 0
    with file:
        for number, line in lines_of(file, path):
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RunFolderError(
                    f"{path}:{number}: not valid JSON ({error}); restore or delete the line, then run again"
                ) from error
            if not isinstance(record, dict):
                raise RunFolderError(f"{path}:{number}: wanted a JSON object, found {type(record).__name__}")
            yield number, place, record
            place += len(line)


def replace(path: Path, data: bytes) -> None:
    """Write a whole file by rename. Readers see the old file or the new one, never a part.

    Raises:
        RunFolderError: the file cannot be written.
    """
    replace_parts(path, (data,))


def replace_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a whole file by rename, as `replace` does, from parts that are made one after the other.

    Raises:
        RunFolderError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(fd, "wb") as file:
                file.writelines(parts)
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
    """Move a finished file to `target`. Readers of `target` see the old file or the new one, never a part.

    Raises:
        RunFolderError: the file cannot be moved.
    """
    try:
        path.replace(target)
    except OSError as error:
        raise RunFolderError(unwritable(target, error)) from error


def replace_json(path: Path, record: object) -> None:
    """Write an indented JSON file by rename.

    Raises:
        RunFolderError: the file cannot be written.
    """
    replace(path, json_bytes(record))


def json_bytes(record: object) -> bytes:
    """Return indented JSON as UTF-8 with a newline."""
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"
