"""Long texts of a report. A few are kept in the page. Many are written to script files next to it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from genbench.errors import InputError, RunFolderError
from genbench.store.json_files import unwritable

_CALL = b"genbenchTexts("
"""The beginning of every script, by which a report knows its own files."""
_SCRIPT = re.compile(r"\d+\.js")
INLINE_CHARS = 800_000
"""Texts of up to this many characters of JSON stay in the page, so that small runs are one file."""
CHUNK_CHARS = 1_000_000
"""Characters of a chunk. A page opened from disk may load scripts, but may not fetch. One script of this
size loads in about 20 ms."""


class ChunkedTexts:
    """A store that takes records by key in any order and returns the chunk of each.

    `inline` returns few texts for the page itself. Many texts become `<folder>/<chunk>.js`, each one call of
    `genbenchTexts(chunk, records)`. They are written to a draft folder, which `publish` renames.
    """

    def __init__(self, folder: Path, inline_chars: int = INLINE_CHARS) -> None:
        self.folder = folder
        self._draft = folder.with_name(f".{folder.name}.part")
        self._inline_chars = inline_chars
        self._kept: list[str] = []
        self._current: list[str] = []
        self._chars = self._total = 0
        self._chunk = 0
        self._spilled = False
        self.has_mathematics = False
        """Whether any text so far may contain LaTeX."""

    def add(self, key: str, record: Any) -> int:
        """Store a record. Return the number of its chunk.

        Raises:
            InputError: the folder of the texts is there, and no report made it.
            RunFolderError: a file cannot be written.
        """
        # ASCII only: halves of surrogate pairs, U+2028 and NUL survive as escapes in any reader.
        text = f"{json.dumps(key)}:{json.dumps(record, separators=(',', ':'))}"
        self.has_mathematics = self.has_mathematics or "$" in text or "\\\\" in text
        if self._current and self._chars + len(text) > CHUNK_CHARS:
            self._close_chunk()
        self._current.append(text)
        self._chars += len(text)
        self._total += len(text)
        if self._total > self._inline_chars and not self._spilled:
            self._spill()
        return self._chunk

    def _spill(self) -> None:
        require_own(self.folder)
        _remove(self._draft)
        try:
            self._draft.mkdir(parents=True)
        except OSError as error:
            raise RunFolderError(unwritable(self.folder, error)) from error
        self._spilled = True
        for number, body in enumerate(self._kept):
            self._write(number, body)
        self._kept.clear()

    def _close_chunk(self) -> None:
        body = "{" + ",\n".join(self._current) + "}"
        if self._spilled:
            self._write(self._chunk, body)
        else:
            self._kept.append(body)
        self._current, self._chars = [], 0
        self._chunk += 1

    def _write(self, number: int, body: str) -> None:
        text = f"{_CALL.decode()}{number},{body});\n"
        try:
            (self._draft / f"{number}.js").write_text(text, encoding="ascii")
        except OSError as error:
            raise RunFolderError(unwritable(self.folder, error)) from error

    def publish(self) -> str | None:
        """Finish the store and rename its files.

        Return the folder's name, or None if all texts are inline.

        Raises:
            InputError: a folder of that name is there, and no report made it.
        """
        if self._current:
            self._close_chunk()
        if not self._spilled:
            if _is_own(self.folder):
                _remove(self.folder)
            return None
        require_own(self.folder)
        _remove(self.folder)
        self._draft.rename(self.folder)
        return self.folder.name

    def inline(self) -> str:
        """Return the chunks that are kept in the page, as one JSON array."""
        return "[" + ",".join(self._kept) + "]"

    def discard(self) -> None:
        """Remove an unfinished draft. On a full disk its last script may be cut off."""
        if self._spilled:
            shutil.rmtree(self._draft, ignore_errors=True)


def require_own(folder: Path) -> None:
    """Refuse to replace a folder that is not a report's folder of texts.

    Raises:
        InputError: it contains something else. Nothing in it was touched.
    """
    if os.path.lexists(folder) and not _is_own(folder):
        raise InputError(
            f"{folder}: the long texts of the report go into a folder of this name, and there is one that no "
            "report made; move it away, or give the page another name with --output"
        )


def _is_own(folder: Path) -> bool:
    """Return whether a folder contains nothing but the scripts that a report writes."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return all(_is_script(path) for path in folder.iterdir())


def _is_script(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or not _SCRIPT.fullmatch(path.name):
        return False
    with path.open("rb") as file:
        # A report that was killed or met a full disk may have left the beginning of a script.
        return _CALL.startswith(file.read(len(_CALL)))


def _remove(folder: Path) -> None:
    """Remove a folder of texts, if it is there.

    Raises:
        InputError: it contains something that no report wrote.
    """
    if not os.path.lexists(folder):
        return
    require_own(folder)
    shutil.rmtree(folder)
