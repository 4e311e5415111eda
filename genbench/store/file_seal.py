"""Seals of files that are written as a whole: their size and sha256."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Self

from pydantic import Field

from genbench.errors import InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.store.json_files import read_json, replace_json

_NOTE_BYTES = 1 << 12


class FileSeal(JsonRecord):
    """The content of one file."""

    bytes: int = Field(ge=0, description="size of the file")
    sha256: str = Field(description="sha256 of the file")

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a file and return its seal."""
        return cls(bytes=path.stat().st_size, sha256=_sha256(path))

    def fits(self, path: Path) -> bool:
        """Return whether a file is the sealed one. One of another size is not read, as it may be a hole."""
        return path.stat().st_size == self.bytes and _sha256(path) == self.sha256


def note_seal(path: Path) -> None:
    """Write the seal of a file next to it, as NAME.seal.json."""
    replace_json(_note(path), FileSeal.of(path).to_json())


def noted_seal(path: Path) -> FileSeal | None:
    """Read the seal next to a file. Return None if there is none, as in older runs.

    Raises:
        RunFolderError: it is not one.
    """
    record = read_json(_note(path), _NOTE_BYTES)
    try:
        return None if record is None else FileSeal.from_json(record, str(_note(path)))
    except InputError as error:
        raise RunFolderError(str(error)) from error


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.seal.json")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
