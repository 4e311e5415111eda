"""Texts of a zip file that a benchmark's repository has next to its rows. Nothing is unpacked to disk."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row, ZippedTexts

_LARGEST_TEXT = 16 << 20
_LARGEST = 1 << 30
"""Limits of unpacked bytes, of one text and of all. The documents of AA-LCR have 14 MB together."""


def with_texts(rows: Sequence[Row], wanted: ZippedTexts, folder: Path) -> list[Row]:
    """Return the rows with a list of the texts that each names. A text that is not there is None.

    Raises:
        DataError: the zip file is missing, damaged or too large, or a row lacks a column.
    """
    path = folder / wanted.archive
    if not path.is_file():
        raise DataError(f"{path}: no such file; it has the texts of '{wanted.column}'. Download it too")
    try:
        with zipfile.ZipFile(path) as archive:
            texts = _Texts(path, archive)
            return [
                {**row, wanted.column: [texts.read(name) for name in _names(row, wanted)]} for row in rows
            ]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    # RuntimeError: zipfile's for an encrypted member, a newer version or a method that it lacks.
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
        raise DataError(f"{path}: cannot be read: {error}; download it again") from error


def _names(row: Row, wanted: ZippedTexts) -> list[str]:
    try:
        folder = wanted.folder.format_map(row)
        names = str(row[wanted.names]).split(wanted.separator)
    except KeyError as error:
        raise DataError(f"a row has no column {error}, which says where its texts are") from None
    return [folder + name.strip() for name in names if name.strip()]


class _Texts:
    """The texts of an archive, each read once."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive, self._left = path, archive, _LARGEST
        members = (item for item in archive.infolist() if not item.is_dir())
        self._members = {name: item for item in members for name in _spellings(item.filename)}
        self._read: dict[str, str | None] = {}

    def read(self, name: str) -> str | None:
        if name not in self._read:
            member: Any = self._members.get(name)
            self._read[name] = None if member is None else self._text(member, name)
        return self._read[name]

    def _text(self, member: zipfile.ZipInfo, name: str) -> str:
        most = min(_LARGEST_TEXT, self._left)
        with self._archive.open(member) as file:
            data = file.read(most + 1)  # what the directory says of the size is not trusted
        if len(data) > most:
            raise DataError(f"{self._path}: {name} is larger than the {most:,} bytes that are left to it")
        self._left -= len(data)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{self._path}: {name} is not UTF-8: {error}") from None


def _spellings(name: str) -> tuple[str, ...]:
    """Return a member's name, and what it is if its UTF-8 was read as CP437, as without a flag."""
    try:
        return name, name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return (name,)
