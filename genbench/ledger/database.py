"""The database of a ledger: opening, revisions of its tables, and transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from genbench.errors import InputError, UnavailableError
from genbench.ledger.filesystem import network_file_system
from genbench.ledger.notes import Notes
from genbench.ledger.tables import VERSION

LEDGER_VARIABLE = "GENBENCH_LEDGER"
NOTES_VARIABLE = "GENBENCH_LEDGER_NOTES"
DEFAULT = Path("runs") / "ledger.sqlite3"
HEAD = "0001"
"""The revision of the tables that this version reads and writes."""
_KNOWN = ("0001",)
_BUSY_MS = 10_000
_LOCK = 0x67656E62
"""The number of PostgreSQL's advisory lock, which one writing transaction holds at a time."""
_WRITES = "genbench_writes"


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
        with _explained(self.where), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes. Only one process writes at a time, others wait.

        Raises:
            InputError: the database fails, or another process writes for too long.
        """
        engine = self.engine.execution_options(**{_WRITES: True})
        with _explained(self.where), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
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
        engine, shown = _postgres(target)
        if notes is None:
            raise InputError(
                f"{shown}: what people say about runs is kept in a file; name it with --notes FILE or "
                f"{NOTES_VARIABLE}, on a disk that every user of this ledger sees"
            )
    else:
        path = Path(target)
        if not create and not path.exists():
            raise InputError(f"{path}: no ledger; make one with: genbench ledger add DIR --ledger {path}")
        engine, shown = _sqlite(path), str(path)
        notes = notes or path.with_name(f"{path.stem}.notes.jsonl")
    ledger = Ledger(engine, Notes(notes), shown)
    try:
        _bring_to_head(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _sqlite(path: Path) -> Engine:
    """Return the engine of a SQLite file.

    Raises:
        InputError: the file lies on a network file system, or its folder cannot be made.
    """
    network = network_file_system(path)
    if network is not None:
        raise InputError(
            f"{path}: lies on {network}, on which SQLite's write-ahead log loses data; put the ledger on a "
            "local disk with --ledger PATH, or use PostgreSQL with --ledger postgresql://HOST/DATABASE. The "
            "run folders may stay where they are"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made: {error.strerror}") from error
    engine = create_engine(URL.create("sqlite+pysqlite", database=str(path)))
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    """Set the options of one connection. Python's own transactions are off, see `_begin_sqlite`."""
    connection.isolation_level = None
    for option in (
        f"busy_timeout={_BUSY_MS}",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        "trusted_schema=OFF",
    ):
        connection.execute(f"PRAGMA {option}")


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction. One that writes takes its lock at once, so that it need not wait in the middle."""
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(target: str) -> tuple[Engine, str]:
    """Return the engine of a PostgreSQL database, and its URL without the password."""
    try:
        url = make_url(target)
    except ArgumentError as error:
        raise InputError(f"--ledger: {error}") from error
    shown = url.render_as_string(hide_password=True)
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise InputError(f"{shown}: wanted the path of a SQLite file, or postgresql://USER@HOST/DATABASE")
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"))
    except ModuleNotFoundError:
        raise UnavailableError(
            'PostgreSQL needs the package psycopg: pip install "genbench[postgres]"'
        ) from None
    return engine, shown


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Turn errors of the database into messages for people."""
    try:
        yield
    except OperationalError as error:
        first = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
        raise InputError(f"{where}: {first}") from error
    except SQLAlchemyError as error:
        first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise InputError(
            f"{where}: {first}; if the ledger is damaged, make it again with: genbench ledger rebuild"
        ) from error


def _bring_to_head(ledger: Ledger) -> None:
    """Make the tables, or bring them from an older revision to the present one.

    Raises:
        InputError: the tables are of a newer version.
    """
    with ledger.read() as connection:
        revision = revision_of(connection)
    if revision == HEAD:
        return
    if revision is not None and revision not in _KNOWN:
        raise InputError(
            f"{ledger.where}: a newer genbench wrote it (revision {revision}, this version knows {HEAD}); "
            "update genbench, or name another --ledger"
        )
    with ledger.write() as connection:
        if revision_of(connection) != HEAD:  # another process may have done it meanwhile
            migrate(connection, HEAD)


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables, or None if there are none yet.

    Raises:
        InputError: the database has tables of another program.
    """
    names = set(inspect(connection).get_table_names())
    if VERSION.name in names:
        return connection.execute(select(VERSION.c.version_num)).scalar()
    if names:
        raise InputError(
            f"the database has tables of another program ({', '.join(sorted(names)[:3])}); name another one"
        )
    return None


def migrate(connection: Connection, revision: str) -> None:
    """Bring the tables to a revision, up or down, in the transaction of `connection`.

    Args:
        revision: the revision's name, or `base` for no tables at all.
    """
    # Alembic takes 0.2 s to import, which only a change of revision needs.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    now = revision_of(connection)
    down = revision == "base" or (now is not None and now > revision)
    (command.downgrade if down else command.upgrade)(config, revision)


def remove_database(ledger: Ledger) -> None:
    """Delete all tables. Run folders and notes stay."""
    with ledger.write() as connection:
        if revision_of(connection) is not None:
            migrate(connection, "base")
            with suppress(SQLAlchemyError):
                VERSION.drop(connection, checkfirst=True)
