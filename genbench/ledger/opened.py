"""An opened database: its transactions, and how its tables get to the revision that the code uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from sqlalchemy import Connection, Engine, text

from genbench.ledger.connecting import reading, writing
from genbench.ledger.revisions import migrate_tables, require_known, revision_of


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
    SCHEMA: ClassVar[str | None] = None
    """The schema of the tables on PostgreSQL. None means the default one."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads.

        Raises:
            InputError: the database fails.
        """
        with reading(self.engine, self.where, self.REMEDY) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes. Only one process writes at a time, others wait.

        Raises:
            InputError: the database fails, or another process writes for too long.
        """
        with writing(self.engine, self.where, self.REMEDY, self.LOCK) as connection:
            yield connection

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        require_known(revision, head, self.REVISIONS, self.where)
        with self.write() as connection:
            if self.SCHEMA is not None and connection.dialect.name == "postgresql":
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {self.SCHEMA}"))
            if revision_of(connection) != head:  # another process may have done it meanwhile
                migrate_tables(connection, self.SCRIPTS, head)
