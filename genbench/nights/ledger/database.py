"""The database of a ledger: opening, revisions of its tables, and transactions."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import MetaData
from sqlalchemy.exc import SQLAlchemyError

from genbench.errors import InputError
from genbench.nights.database import (
    VERSION,
    Database,
    is_damaged,
    postgres_engine,
    revision_of,
    sqlite_engine,
)
from genbench.nights.ledger.notes import Notes
from genbench.nights.ledger.tables import METADATA

LEDGER_VARIABLE = "GENBENCH_LEDGER"
NOTES_VARIABLE = "GENBENCH_LEDGER_NOTES"
DEFAULT = Path("runs") / "ledger.sqlite3"
HEAD = "0003"
"""The revision of the tables that this version reads and writes."""


@dataclass(frozen=True, slots=True)
class Ledger(Database):
    """An opened ledger: its database, and the notes that people and commands left next to it."""

    notes: Notes

    REMEDY: ClassVar[str] = "if the ledger is damaged, make it again with: genbench ledger rebuild"
    LOCK: ClassVar[int] = 0x67656E62
    REVISIONS: ClassVar[tuple[str, ...]] = ("0001", "0002", HEAD)
    SCRIPTS: ClassVar[Path] = Path(__file__).parent / "migrations"
    METADATA: ClassVar[MetaData] = METADATA


class _RebuiltLedger(Ledger):
    """A ledger that is made again. Its errors do not advise to do that."""

    REMEDY: ClassVar[str] = (
        "name an empty database with --ledger: run folders and the file of notes are all that is needed"
    )


def open_ledger(
    where: str | Path | None = None,
    notes: Path | None = None,
    *,
    create: bool = True,
    is_rebuilt: bool = False,
) -> Ledger:
    """Open a ledger, and bring its tables to the present revision.

    Args:
        where: path of the SQLite file, or a postgresql:// URL. None means GENBENCH_LEDGER, else
            runs/ledger.sqlite3.
        notes: the file of notes. None means GENBENCH_LEDGER_NOTES, else the name of the SQLite file with
            `.notes.jsonl`. PostgreSQL has no default.
        create: whether a ledger that does not exist is made.
        is_rebuilt: whether its tables are then made again. A damaged SQLite file is renamed to
            `<name>.damaged`, and a new one is made.

    Raises:
        InputError: there is no ledger and `create` is False, the file is on a network file system, a newer
            version of genbench wrote it, or the database cannot be reached.
        UnavailableError: the driver of PostgreSQL is not installed.
    """
    target = str(where or os.environ.get(LEDGER_VARIABLE) or DEFAULT)
    notes = notes or (Path(named) if (named := os.environ.get(NOTES_VARIABLE)) else None)
    if "://" in target:
        engine, shown = postgres_engine(target)
        if notes is None:
            raise InputError(
                f"{shown}: what people say about runs is kept in a file; name it with --notes FILE or "
                f"{NOTES_VARIABLE}, on a disk that every user of this ledger sees"
            )
    else:
        path = Path(target)
        if not create and not path.exists():
            raise InputError(f"{path}: no ledger; make one with: genbench ledger add DIR --ledger {path}")
        if is_rebuilt:
            _set_damaged_aside(path)
        engine, shown = sqlite_engine(path), str(path)
        notes = notes or path.with_name(f"{path.stem}.notes.jsonl")
    kind = _RebuiltLedger if is_rebuilt else Ledger
    return kind(engine, shown, Notes(notes)).bring_to_head()


_MAGIC = b"SQLite format 3\0"


def _set_damaged_aside(path: Path) -> None:
    """Rename a SQLite file that is damaged, with the log that belongs to it.

    Raises:
        InputError: the file is another one than a database, or cannot be renamed.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
        if start and start != _MAGIC:
            raise InputError(
                f"{path}: is not a SQLite file, or its beginning is damaged; if it was the ledger, move it "
                "away and run the same command again"
            )
        if not start or not is_damaged(path):
            return
        for ending in ("", "-wal", "-shm"):
            own = path.with_name(path.name + ending)
            if own.exists():
                own.replace(path.with_name(f"{path.name}.damaged{ending}"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path}: cannot be read or renamed: {error.strerror}") from error


def remove_database(ledger: Ledger) -> None:
    """Delete all tables. Run folders and notes stay."""
    with ledger.write() as connection:
        if revision_of(connection) is not None:
            ledger.migrate(connection, "base")
            with suppress(SQLAlchemyError):
                VERSION.drop(connection, checkfirst=True)
