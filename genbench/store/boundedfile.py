"""Reading of files that a stranger may have written: no links, no pipes, never more than a given size."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

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
        RunFolderError: the path is no plain file, cannot be read, or is too large.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror}") from error
    if not S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise RunFolderError(f"{path}: is no plain file; a run folder has no links, pipes or devices")
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
        RunFolderError: the path is no plain file of at most `most` bytes with a JSON object.
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
        raise ValueError(f"{text[:20]} is no finite number")
    return number


def json_object(data: bytes, path: Path) -> dict[str, Any]:
    """Return the JSON object in `data`, which was read from `path`. All of its numbers are finite.

    Raises:
        RunFolderError: the data are no JSON object.
    """
    try:
        record = json.loads(data, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{path}: cannot be read: {error}") from error
    if not isinstance(record, dict):
        raise RunFolderError(f"{path}: is no JSON object; restore the file")
    return record
