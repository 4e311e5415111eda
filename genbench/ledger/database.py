"""The database of a ledger: opening, revisions of its tables, and transactions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from genbench.errors import InputError
from genbench.ledger.connecting import postgres_engine, reading, sqlite_engine, writing
from genbench.ledger.notes import Notes
from genbench.ledger.revisions import VERSION, migrate_tables, require_known, revision_of

LEDGER_VARIABLE = "GENBENCH_LEDGER"
NOTES_VARIABLE = "GENBENCH_LEDGER_NOTES"
DEFAULT = Path("runs") / "ledger.sqlite3"
HEAD = "0001"
"""The revision of the tables that this version reads and writes."""
_KNOWN = ("0001",)
_LOCK = 0x67656E62
"""The number of PostgreSQL's advisory lock, which one writing transaction holds at a time."""
_REMEDY = "if the ledger is damaged, make it again with: genbench ledger rebuild"


@dataclass(frozen=True, slots=True)
class Ledger:
    """An opened ledger: its database, and the notes that people and commands left next to it."""

    engine: Engine
    notes: Notes
    where: str
    """Path of the SQLite file, or the URL without its password."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads.

        Raises:
            InputError: the database fails.
        """
        with reading(self.engine, self.where, _REMEDY) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes. Only one process writes at a time, others wait.

        Raises:
            InputError: the database fails, or another process writes for too long.
        """
        with writing(self.engine, self.where, _REMEDY, _LOCK) as connection:
            yield connection

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_ledger(where: str | Path | None = None, notes: Path | None = None, *, create: bool = True) -> Ledger:
    """Open a ledger, and bring its tables to the present revision.

    Args:
        where: path of the SQLite file, or a postgresql:// URL. None means GENBENCH_LEDGER, else
            runs/ledger.sqlite3.
        notes: the file of notes. None means GENBENCH_LEDGER_NOTES, else the name of the SQLite file with
            `.notes.jsonl`. PostgreSQL has no default.
        create: whether a ledger that does not exist is made.

    Raises:
        InputError: there is no ledger and `create` is False, the file lies on a network file system, a newer
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
    ledger = Ledger(engine, Notes(notes), shown)
    try:
        _bring_to_head(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _bring_to_head(ledger: Ledger) -> None:
    """Make the tables, or bring them from an older revision to the present one.

    Raises:
        InputError: the tables are of a newer version.
    """
    with ledger.read() as connection:
        revision = revision_of(connection)
    if revision == HEAD:
        return
    require_known(revision, HEAD, _KNOWN, ledger.where)
    with ledger.write() as connection:
        if revision_of(connection) != HEAD:  # another process may have done it meanwhile
            migrate(connection, HEAD)


def migrate(connection: Connection, revision: str) -> None:
    """Bring the tables to a revision, up or down, in the transaction of `connection`.

    Args:
        revision: the revision's name, or `base` for no tables at all.
    """
    migrate_tables(connection, Path(__file__).parent / "migrations", revision)


def remove_database(ledger: Ledger) -> None:
    """Delete all tables. Run folders and notes stay."""
    with ledger.write() as connection:
        if revision_of(connection) is not None:
            migrate(connection, "base")
            with suppress(SQLAlchemyError):
                VERSION.drop(connection, checkfirst=True)
