"""The database of the queue, next to the ledger: opening, revisions of its tables, and transactions.

The queue is no part of the ledger's tables. The ledger can be deleted and made again from run folders, and
the queue cannot. Adding a large run to the ledger must not delay the renewal of a lease either.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, text

from genbench.ledger.connecting import postgres_engine, reading, sqlite_engine, writing
from genbench.ledger.database import DEFAULT, LEDGER_VARIABLE
from genbench.ledger.revisions import migrate_tables, require_known, revision_of

HEAD = "0002"
"""The revision of the tables that this version reads and writes."""
SCHEMA = "genbench_queue"
"""The schema of the tables on PostgreSQL, in the database of the ledger."""
_KNOWN = ("0001", "0002")
_LOCK = 0x67656E71
_REMEDY = "if the queue is damaged, restore it from a backup, or move the file away to begin an empty one"


@dataclass(frozen=True, slots=True)
class Queue:
    """An opened queue."""

    engine: Engine
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


def open_queue(ledger: str | Path | None = None) -> Queue:
    """Open the queue of a ledger, make it if there is none, and bring its tables to the present revision.

    Args:
        ledger: the ledger, as in `open_ledger`. The queue of a SQLite ledger is the file with
            `.queue.sqlite3` next to it. On PostgreSQL it is the schema `genbench_queue` of the same database.

    Raises:
        InputError: the file lies on a network file system, a newer version of genbench wrote it, or the
            database cannot be reached.
        UnavailableError: the driver of PostgreSQL is not installed.
    """
    target = str(ledger or os.environ.get(LEDGER_VARIABLE) or DEFAULT)
    if "://" in target:
        engine, shown = postgres_engine(target, options=f"-csearch_path={SCHEMA}")
    else:
        path = Path(target)
        path = path.with_name(f"{path.stem}.queue.sqlite3")
        engine, shown = sqlite_engine(path), str(path)
    queue = Queue(engine, shown)
    try:
        _bring_to_head(queue)
    except BaseException:
        queue.close()
        raise
    return queue


def _bring_to_head(queue: Queue) -> None:
    with queue.read() as connection:
        revision = revision_of(connection)
    if revision == HEAD:
        return
    require_known(revision, HEAD, _KNOWN, queue.where)
    with queue.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        if revision_of(connection) != HEAD:  # another process may have done it meanwhile
            migrate(connection, HEAD)


def migrate(connection: Connection, revision: str) -> None:
    """Bring the tables to a revision, up or down, in the transaction of `connection`.

    Args:
        revision: the revision's name, or `base` for no tables at all.
    """
    migrate_tables(connection, Path(__file__).parent / "migrations", revision)
