"""The notes next to a ledger: what people and commands said that no run folder contains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from genbench.errors import InputError
from genbench.json_record import JsonRecord
from genbench.stats.tracks.sequential_detection import ChangeState, Direction
from genbench.store.json_files import encode, heal
from genbench.store.manifest import TrackRole
from genbench.suite.track import TrackKind, TrackName

_LONGEST = 1 << 20
"""Bytes of one note."""

AnnotationKind = Literal["engine", "data", "verifier", "base", "note"]


class _Said(JsonRecord):
    """What every note has."""

    at: str = Field(description="local time with offset")
    by: str = Field(description="the person, or `genbench`")
    note: str = Field(description="what kind of note it is")


class RootNote(_Said):
    """A folder was added. A rebuild looks for runs in it."""

    note: Literal["root"]
    path: str


class PlaceNote(_Said):
    """A run belongs to a track that its own manifest does not name."""

    note: Literal["place"]
    uid: str
    track: TrackName
    kind: TrackKind
    position: int
    role: TrackRole


class TrackNote(_Said):
    """The settings of a track."""

    note: Literal["track"]
    track: TrackName
    alarms_per_year: float | None = None
    nights_per_year: float | None = None


class BaseNote(_Said):
    """A run became the base of a track."""

    note: Literal["base"]
    track: TrackName
    uid: str
    reason: str


class AnnotationNote(_Said):
    """A remark on a night or step of a track."""

    note: Literal["annotation"]
    id: str
    track: TrackName
    position: int
    kind: AnnotationKind
    text: str


class FoundChange(JsonRecord):
    """A change of level of one task, or of the pooled line if `task` is None, as it was found.

    `size` is after minus before, a fraction of 1, with the interval `ci`. `suspects` are the runs with which
    it may have begun.
    """

    id: str
    track: str
    task: str | None
    direction: Direction
    gating: bool
    first_uid: str
    last_before_uid: str
    found_uid: str
    found_position: int
    z: float
    threshold: float
    size: float
    ci: tuple[float, float]
    suspects: tuple[str, ...]


class ChangeNote(FoundChange, _Said):
    """A change of level was found."""

    note: Literal["change"]


class Change(FoundChange):
    """A change and what has become of it. `by`, `note` and `at` say who closed it, why and when."""

    state: ChangeState = "open"
    by: str = ""
    note: str = ""
    at: str = ""
    closed_uid: str | None = None


class SettleNote(_Said):
    """A change was explained or dismissed by a person, or has recovered."""

    note: Literal["settle"]
    id: str
    state: Literal["explained", "dismissed", "recovered"]
    text: str
    closed_uid: str | None = None


class WithdrawNote(_Said):
    """A change that nobody settled is no longer found: nights before it came, went or were drawn again."""

    note: Literal["withdraw"]
    id: str


class PruneNote(_Said):
    """Files of a run were deleted to save space."""

    note: Literal["prune"]
    uid: str
    kept: Literal["verdicts", "none"]


Note = (
    RootNote
    | PlaceNote
    | TrackNote
    | BaseNote
    | AnnotationNote
    | ChangeNote
    | SettleNote
    | WithdrawNote
    | PruneNote
)
_READER: TypeAdapter[Note] = TypeAdapter(Annotated[Note, Field(discriminator="note")])


@dataclass(frozen=True, slots=True)
class Notes:
    """The file of notes. Lines are only appended."""

    path: Path

    def append(self, note: Note) -> None:
        """Write one note. It is on the disk when the method returns.

        Raises:
            InputError: the file cannot be written.
        """
        line = encode(note.to_json())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            heal(self.path)
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.write(fd, line)
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}") from error

    def read(self, start: int = 0) -> Iterator[tuple[Note, int]]:
        """Yield (note, byte offset after it) from a byte offset on. An incomplete last line is left out.

        Raises:
            InputError: a line is damaged, or the file cannot be read. Names the line.
        """
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        with file:
            file.seek(start)
            place = start
            while (line := file.readline(_LONGEST)).endswith(b"\n"):
                place += len(line)
                yield self._note(line, place), place

    def size(self) -> int:
        """Return the number of bytes, 0 if there is no file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _note(self, line: bytes, place: int) -> Note:
        try:
            return _READER.validate_json(line)
        except ValidationError as error:
            number = self.path.read_bytes()[:place].count(b"\n")
            first: Any = error.errors(include_url=False, include_context=False)[0]
            key = ".".join(str(part) for part in first["loc"]) or "the line"
            raise InputError(
                f"{self.path}:{number}: '{key}': {first['msg']}; correct the line, or restore the file"
            ) from error
