"""Databases of tables on SQLite and PostgreSQL: connections, transactions, and revisions kept by Alembic.

The ledger and the queue are such databases.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    Select,
    String,
    Table,
    UpdateBase,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, ExecutionContext, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from genbench.errors import DatabaseGoneError, InputError, UnavailableError, install_command

_NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "lustre", "gpfs", "beegfs", "ceph", "9p"),
        *("glusterfs", "pvfs2", "orangefs", "panfs", "wekafs", "virtiofs", "fuse.sshfs", "fuse.glusterfs"),
        *("fuse.ceph", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs", "fuse.rclone", "fuse.lizardfs"),
    }
)
_MOUNTS = Path("/proc/self/mountinfo")


def network_file_system(path: Path, mounts: Iterable[str] | None = None) -> str | None:
    """Return the type of the network file system that a path is on, or None for a local one.

    Args:
        path: a file or folder. It need not exist.
        mounts: lines as in /proc/self/mountinfo. None reads that file.
    """
    kind = file_system(path, mounts)
    return kind if kind in _NETWORK else None


def file_system(path: Path, mounts: Iterable[str] | None = None) -> str | None:
    """Return the type of the file system that a path is on, or None if the kernel does not tell."""
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return None
    real = path.resolve()
    found, depth = None, -1
    for point, kind in _points(mounts):
        # A later mount on the same folder covers the earlier one.
        if real.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind, len(point.parts)
    return found


def _points(mounts: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield folder and type of each mount."""
    for line in mounts:
        before, separator, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if separator and len(fields) > 4:
            yield Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])), kinds[0]


_BUSY_MS = 10_000
_WRITES = "genbench_writes"
_BINARY = "genbench_binary"


def sqlite_engine(path: Path) -> Engine:
    """Return the engine of a SQLite file.

    Raises:
        InputError: the file is on a network file system, or its folder cannot be made.
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


_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


def is_damaged(path: Path) -> bool:
    """Return whether SQLite finds a file damaged."""
    with closing(sqlite3.connect(path, timeout=_BUSY_MS / 1000)) as connection:
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        except sqlite3.DatabaseError as error:
            return error.sqlite_errorname.startswith(_DAMAGED)


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


def postgres_engine(target: str, **options: Any) -> tuple[Engine, str]:
    """Return the engine of a PostgreSQL database, and its URL without the password.

    Args:
        options: further arguments of the driver's connections.

    Raises:
        InputError: the URL is wrong.
        UnavailableError: the driver of PostgreSQL is not installed.
    """
    try:
        url = make_url(target)
    except ArgumentError as error:
        raise InputError(f"--ledger: {error}") from error
    shown = url.render_as_string(hide_password=True)
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise InputError(f"{shown}: wanted the path of a SQLite file, or postgresql://USER@HOST/DATABASE")
    try:
        # Connections of before a restart of the server are tried out first, and made again.
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"), connect_args=options, pool_pre_ping=True
        )
    except ModuleNotFoundError:
        raise UnavailableError(
            f"PostgreSQL needs the package psycopg: {install_command('postgres')}"
        ) from None
    event.listen(engine, "before_cursor_execute", _choose_format)
    return engine, shown


def _choose_format(
    _: Connection, cursor: Any, __: str, ___: object, context: ExecutionContext | None, ____: object
) -> None:
    """Ask PostgreSQL for the binary format. Numbers are then not written as text and parsed again."""
    if context is not None and context.execution_options.get(_BINARY):
        cursor.format = 1  # psycopg.pq.Format.BINARY


def driver_rows(connection: Connection, query: Select[Any]) -> Sequence[Any]:
    """Return the rows of a query as the driver gives them, in half the time that SQLAlchemy's rows take.

    PostgreSQL sends them in its binary format, which halves the time once more.

    A boolean is 0 or 1 on SQLite.
    """
    result = connection.execute(query, execution_options={_BINARY: True})
    cursor = result.cursor
    assert cursor is not None
    rows: Sequence[Any] = cursor.fetchall()
    result.close()
    return rows


@contextmanager
def _explained(where: str, remedy: str) -> Iterator[None]:
    """Turn errors of the database into messages for people."""
    try:
        yield
    except OperationalError as error:
        first = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
        if _is_gone(error):
            raise DatabaseGoneError(f"{where}: cannot be reached: {first}") from error
        hint = "; is the disk full? make space and run the same command again" if "disk" in first else ""
        raise InputError(f"{where}: {first}{hint}") from error
    except SQLAlchemyError as error:
        first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise InputError(f"{where}: {first}; {remedy}") from error


def _is_gone(error: OperationalError) -> bool:
    """Return whether a server cannot be reached, is starting or stopping, or ended the connection.

    SQLSTATE classes 08 and 57P are those of connections (PostgreSQL, appendix A). A connection that failed
    has none.
    """
    if not type(error.orig).__module__.startswith("psycopg"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return bool(error.connection_invalidated or state is None or state.startswith(("08", "57P")))


VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""The revision of the tables, as Alembic keeps it."""


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


def metadata() -> MetaData:
    """Return an empty set of tables, whose constraints and indexes are named by one convention."""
    return MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
        }
    )


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database of some tables, whose revisions are in a folder of scripts."""

    engine: Engine
    where: str
    """Path of the SQLite file, or the URL without its password."""

    REMEDY: ClassVar[str]
    """What to do if it is damaged."""
    LOCK: ClassVar[int]
    """The number of PostgreSQL's advisory lock, which one writing transaction has at a time."""
    REVISIONS: ClassVar[tuple[str, ...]]
    """The revisions that this version knows. The last one is that of the code."""
    SCRIPTS: ClassVar[Path]
    """The folder of the revisions."""
    METADATA: ClassVar[MetaData]
    """The tables of the last revision."""
    SCHEMA: ClassVar[str | None] = None
    """The schema of the tables on PostgreSQL. None means the default one."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads.

        Raises:
            InputError: the database fails.
        """
        with _explained(self.where, self.REMEDY), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes. Only one process writes at a time, others wait.

        Raises:
            InputError: the database fails, or another process writes for too long.
        """
        writer = self.engine.execution_options(**{_WRITES: True})
        with _explained(self.where, self.REMEDY), writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({self.LOCK})"))
            yield connection

    def rows(self, query: Select[Any]) -> Sequence[Any]:
        """Return all rows of a query, read in a transaction of its own.

        Raises:
            InputError: the database fails.
        """
        with self.read() as connection:
            return connection.execute(query).all()

    def run(self, statement: UpdateBase) -> int:
        """Run one statement that writes, in a transaction of its own. Return the number of rows that it met.

        Raises:
            InputError: the database fails, or another process writes for too long.
        """
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def migrate(cls, connection: Connection, revision: str) -> None:
        """Bring the tables to a revision, up or down, in the transaction of `connection`.

        Args:
            revision: the revision's name, or `base` for no tables at all.
        """
        # Alembic takes 0.2 s to import, which only a change of revision needs.
        from alembic import command  # noqa: PLC0415
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent))
        config.set_main_option("version_locations", str(cls.SCRIPTS))
        config.set_main_option("path_separator", "os")
        config.attributes |= {"connection": connection, "metadata": cls.METADATA}
        now = revision_of(connection)
        down = revision == "base" or (now is not None and now > revision)
        (command.downgrade if down else command.upgrade)(config, revision)

    def bring_to_head(self) -> Self:
        """Make the tables, or bring them from an older revision to that of the code. Return the database.

        It is closed if that fails.

        Raises:
            InputError: the tables are of a newer version, or the database cannot be reached.
        """
        try:
            self._bring_to_head()
        except BaseException:
            self.close()
            raise
        return self

    def _bring_to_head(self) -> None:
        head = self.REVISIONS[-1]
        with self.read() as connection:
            revision = revision_of(connection)
        if revision == head:
            return
        if revision is not None and revision not in self.REVISIONS:
            raise InputError(
                f"{self.where}: a newer genbench wrote it (revision {revision}, this version knows {head}); "
                "update genbench, or name another --ledger"
            )
        with self.write() as connection:
            if self.SCHEMA is not None and connection.dialect.name == "postgresql":
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {self.SCHEMA}"))
            if revision_of(connection) != head:  # another process may have done it meanwhile
                self.migrate(connection, head)
