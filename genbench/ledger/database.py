"""The database of a ledger: opening, revisions of its tables, and transactions."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import MetaData
from sqlalchemy.exc import SQLAlchemyError

from genbench.database import VERSION, Database, postgres_engine, revision_of, sqlite_engine
from genbench.errors import InputError
from genbench.ledger.notes import Notes
from genbench.ledger.tables import METADATA

LEDGER_VARIABLE = "GENBENCH_LEDGER"
NOTES_VARIABLE = "GENBENCH_LEDGER_NOTES"
DEFAULT = Path("runs") / "ledger.sqlite3"
HEAD = "0001"
"""The revision of the tables that this version reads and writes."""


@dataclass(frozen=True, slots=True)
class Ledger(Database):
    """An opened ledger: its database, and the notes that people and commands left next to it."""

    notes: Notes

    REMEDY: ClassVar[str] = "if the ledger is damaged, make it again with: genbench ledger rebuild"
    LOCK: ClassVar[int] = 0x67656E62
    REVISIONS: ClassVar[tuple[str, ...]] = (HEAD,)
    SCRIPTS: ClassVar[Path] = Path(__file__).parent / "migrations"
    METADATA: ClassVar[MetaData] = METADATA


def open_ledger(where: str | Path | None = None, notes: Path | None = None, *, create: bool = True) -> Ledger:
    """Open a ledger, and bring its tables to the present revision.

    Args:
        where: path of the SQLite file, or a postgresql:// URL. None means GENBENCH_LEDGER, else
            runs/ledger.sqlite3.
        notes: the file of notes. None means GENBENCH_LEDGER_NOTES, else the name of the SQLite file with
            `.notes.jsonl`. PostgreSQL has no default.
        create: whether a ledger that does not exist is made.

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
        engine, shown = sqlite_engine(path), str(path)
        notes = notes or path.with_name(f"{path.stem}.notes.jsonl")
    return Ledger(engine, shown, Notes(notes)).bring_to_head()


def remove_database(ledger: Ledger) -> None:
    """Delete all tables. Run folders and notes stay."""
    with ledger.write() as connection:
        if revision_of(connection) is not None:
            ledger.migrate(connection, "base")
            with suppress(SQLAlchemyError):
                VERSION.drop(connection, checkfirst=True)
