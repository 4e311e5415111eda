"""Long texts of a report. A few are kept in the page. Many are written to script files next to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

INLINE_CHARS = 800_000
"""Texts of up to this many characters of JSON stay in the page, so that small runs are one file."""
CHUNK_CHARS = 1_000_000
"""Characters of a chunk. A page opened from disk may load scripts, but may not fetch. One script of this
size loads in about 20 ms."""


class TextStore:
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

    def add(self, key: str, record: Any) -> int:
        """Store a record. Return the number of its chunk."""
        # ASCII only: halves of surrogate pairs, U+2028 and NUL survive as escapes in any reader.
        text = f"{json.dumps(key)}:{json.dumps(record, separators=(',', ':'))}"
        if self._current and self._chars + len(text) > CHUNK_CHARS:
            self._close_chunk()
        self._current.append(text)
        self._chars += len(text)
        self._total += len(text)
        if self._total > self._inline_chars and not self._spilled:
            self._spill()
        return self._chunk

    def _spill(self) -> None:
        self._spilled = True
        shutil.rmtree(self._draft, ignore_errors=True)
        self._draft.mkdir(parents=True)
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
        (self._draft / f"{number}.js").write_text(f"genbenchTexts({number},{body});\n", encoding="ascii")

    def publish(self) -> str | None:
        """Finish the store and rename its files.

        Return the folder's name, or None if all texts are inline.
        """
        if self._current:
            self._close_chunk()
        shutil.rmtree(self.folder, ignore_errors=True)
        if not self._spilled:
            return None
        self._draft.rename(self.folder)
        return self.folder.name

    def inline(self) -> str:
        """Return the chunks that are kept in the page, as one JSON array."""
        return "[" + ",".join(self._kept) + "]"

    def discard(self) -> None:
        """Remove an unfinished draft."""
        shutil.rmtree(self._draft, ignore_errors=True)
