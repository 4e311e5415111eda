"""Texts of training files, streamed: JSON Lines, Parquet and plain text, also compressed."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

from genbench.errors import DataError, asking_for_extras

_JSON = frozenset({".jsonl", ".ndjson"})
_TEXT = frozenset({".txt", ".md", ".text"})
_PARQUET = ".parquet"
_PACKED = frozenset({".gz", ".zst"})
SUFFIXES = ", ".join(sorted(_JSON | _TEXT | {_PARQUET})) + ", each but Parquet also with .gz or .zst"
BATCH_CHARACTERS = 400_000
"""Characters of a batch. Its arrays of eight-byte numbers stay in the cache."""
_PIECE, _CARRIED = 400_000, 5_000
"""A longer text is cut into pieces, which share that many characters."""
_LONGEST_LINE = 64 << 20
_SHORTEST = 8
"""Shorter values are left out: no n-gram fits into them."""


@dataclass(slots=True)
class Batch:
    """Some texts of one file, with the line (of Parquet: the row) and the document of each."""

    path: Path
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)
    characters: int = 0

    def add(self, text: str, line: int, document: int) -> None:
        """Add a text."""
        self.texts.append(text)
        self.lines.append(line)
        self.documents.append(document)
        self.characters += len(text)

    def parts(self) -> Iterator[Batch]:
        """Yield the batch, or smaller ones if one line made it far too large."""
        if self.characters <= 2 * BATCH_CHARACTERS:
            yield self
            return
        part = Batch(self.path)
        for text, line, document in zip(self.texts, self.lines, self.documents, strict=True):
            part.add(text, line, document)
            if part.characters >= BATCH_CHARACTERS:
                yield part
                part = Batch(self.path)
        yield part


@dataclass(frozen=True, slots=True)
class Copied:
    """Lines of a training file that were copied, left out as asked, and left out as unreadable."""

    kept: int
    removed: int
    unreadable: int


@dataclass(slots=True)
class CorpusFile:
    """One training file, read once.

    `done` counts the bytes on disk that were read. `unreadable` counts lines that are not JSON or too long;
    `first_unreadable` says where the first is and what is wrong with it.
    """

    path: Path
    done: int = 0
    unreadable: int = 0
    first_unreadable: str | None = None
    _document: int = 0

    @property
    def size(self) -> int:
        """Return the bytes on disk."""
        return self.path.stat().st_size

    def batches(self) -> Iterator[Batch]:
        """Yield the file's texts in batches that fit into memory.

        Raises:
            DataError: the file cannot be read, is cut off, or is of no known kind.
        """
        kind = kind_of(self.path)
        try:
            found = self._of_parquet() if kind == _PARQUET else self._of_lines(kind)
            yield from found
        except (OSError, EOFError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(f"{self.path}: cannot be read after {self.done:,} bytes: {why}") from error
        self.done = self.size

    def _of_lines(self, kind: str) -> Iterator[Batch]:
        batch = Batch(self.path)
        with self.path.open("rb") as raw, _unpacked(raw, self.path.suffix.lower()) as file:
            for line, text in self._lines(file):
                if kind in _JSON:
                    self._add_json(batch, line, text)
                else:
                    for piece in _pieces(text):
                        batch.add(piece, line, 0)
                if batch.characters >= BATCH_CHARACTERS:
                    self.done = raw.tell()
                    yield from batch.parts()
                    batch = _next(batch, carry=kind in _TEXT)
            yield from batch.parts()

    def _lines(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line. Lines that are too long are counted as unreadable."""
        for number, line in _numbered(file):
            if line is None:
                self._note(number, f"is longer than {_LONGEST_LINE >> 20} MiB")
            else:
                yield number, line.decode("utf-8", "replace")

    def copy_without(self, lines: Collection[int], place: Path) -> Copied:
        """Write the JSON lines of this file, as they are, to a new file, all but some.

        Lines that are blank, no JSON or too long are left out too. Nothing half-written stays at `place`.

        Args:
            lines: numbers of the lines to leave out, from 1.
            place: the file to write. It must not exist.

        Raises:
            DataError: the file cannot be read, or `place` cannot be written or exists.
        """
        kept = removed = unreadable = 0
        draft = place.with_name(f".{place.name}.part")
        try:
            with (
                self.path.open("rb") as raw,
                _unpacked(raw, self.path.suffix.lower()) as file,
                draft.open("wb") as made,
            ):
                for number, line in _numbered(file):
                    if line is not None and not line.strip():
                        continue
                    if number in lines:
                        removed += 1
                    elif line is None or not _is_json(line):
                        unreadable += 1
                    else:
                        kept += 1
                        made.write(line.removesuffix(b"\n") + b"\n")
            if place.exists():  # made while this one was searched
                raise DataError(f"{place}: exists already, and is not overwritten")
            draft.replace(place)
        except (OSError, EOFError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(f"{place}: cannot be written from {self.path}: {why}") from error
        finally:
            draft.unlink(missing_ok=True)
        return Copied(kept, removed, unreadable)

    def _add_json(self, batch: Batch, line: int, text: str) -> None:
        if not text.strip():
            return
        try:
            value = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            self._note(line, f"is not JSON ({error})")
            return
        self._add_value(batch, line, value)

    def _of_parquet(self) -> Iterator[Batch]:
        row = 0
        size = self.size
        with asking_for_extras():
            from genbench.data.parquet import read_parquet, row_count  # noqa: PLC0415  an extra
        total = max(1, row_count(self.path))
        batch = Batch(self.path)
        for number, record in read_parquet(self.path):
            row = number
            self._add_value(batch, row, record)
            if batch.characters >= BATCH_CHARACTERS:
                self.done = size * row // total
                yield from batch.parts()
                batch = Batch(self.path)
        yield from batch.parts()

    def _add_value(self, batch: Batch, line: int, value: Any) -> None:
        """Add every text in a JSON value. Each is a document of its own."""
        for text in _texts(value):
            if len(text) >= _SHORTEST:
                self._document += 1
                for piece in _pieces(text):
                    batch.add(piece, line, self._document)
                    self._document += len(text) > _PIECE

    def _note(self, line: int, what: str) -> None:
        self.unreadable += 1
        self.first_unreadable = self.first_unreadable or f"{self.path}:{line} {what}"


def _numbered(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and the bytes of each line, or None for a line that is too long."""
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield number, line
            continue
        yield number, None
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def corpus_files(paths: Sequence[Path]) -> list[CorpusFile]:
    """Return the training files at `paths`. Of a folder, all files of known kinds are taken.

    Raises:
        DataError: a path does not exist, is of no known kind, or a folder has no file of one.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [item for item in sorted(path.rglob("*")) if item.is_file() and _kind(item) is not None]
            if not inside:
                raise DataError(f"{path}: has no file of a known kind; wanted {SUFFIXES}")
            found += inside
        elif not path.exists():
            raise DataError(f"{path}: no such file or folder")
        else:
            kind_of(path)
            found.append(path)
    return [CorpusFile(path) for path in dict.fromkeys(found)]


def kind_of(path: Path) -> str:
    """Return the suffix that says how a file is read, without that of its compression.

    Raises:
        DataError: it is of no known kind.
    """
    kind = _kind(path)
    if kind is None:
        raise DataError(f"{path}: cannot read '{''.join(path.suffixes)}' files; wanted {SUFFIXES}")
    return kind


def is_json_lines(path: Path) -> bool:
    """Return whether the name of a file says that it is JSON Lines, maybe compressed."""
    return _kind(path) in _JSON


def is_training_file(path: Path) -> bool:
    """Return whether a path is a file of a known kind."""
    return path.is_file() and _kind(path) is not None


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _PACKED
    kind = suffixes[-2] if packed and len(suffixes) > 1 else (suffixes[-1] if suffixes else "")
    known = _JSON | _TEXT | (frozenset() if packed else {_PARQUET})
    return kind if kind in known else None


def _unpacked(raw: BinaryIO, suffix: str) -> IO[bytes]:
    """Return a reader of a file's bytes after decompression."""
    if suffix == ".gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 20)
    if suffix == ".zst":
        with asking_for_extras():
            from genbench.data.parquet import open_zstd  # noqa: PLC0415  an extra
        return open_zstd(raw)
    return raw


def _next(batch: Batch, *, carry: bool) -> Batch:
    """Return an empty batch, or one that begins with the last lines of plain text before it."""
    following = Batch(batch.path)
    if carry:
        kept = 0
        for at in range(len(batch.texts) - 1, -1, -1):
            kept += len(batch.texts[at])
            if kept > _CARRIED:
                break
            following.texts.insert(0, batch.texts[at])
            following.lines.insert(0, batch.lines[at])
            following.documents.insert(0, 0)
    return following


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value. Names of keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that overlap, so that no n-gram is lost between them."""
    if len(text) <= _PIECE:
        yield text
        return
    for start in range(0, len(text), _PIECE - _CARRIED):
        yield text[start : start + _PIECE]
