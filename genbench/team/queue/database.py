"""The database of the queue, next to the ledger: opening, revisions of its tables, and transactions.

The queue is not a part of the ledger's tables. The ledger can be deleted and made again from run folders, and
the queue cannot. Adding a large run to the ledger must not delay the renewal of a lease either.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import MetaData

from genbench.errors import InputError
from genbench.nights.database import Database, postgres_engine, sqlite_engine
from genbench.nights.ledger.database import DEFAULT, LEDGER_VARIABLE
from genbench.team.queue.tables import METADATA

HEAD = "0003"
"""The revision of the tables that this version reads and writes."""
SCHEMA = "genbench_queue"
"""The schema of the tables on PostgreSQL, in the database of the ledger."""


@dataclass(frozen=True, slots=True)
class Queue(Database):
    """An opened queue."""

    REMEDY: ClassVar[str] = (
        "if the queue is damaged, restore it from a backup, or move the file away to begin an empty one"
    )
    LOCK: ClassVar[int] = 0x67656E71
    REVISIONS: ClassVar[tuple[str, ...]] = ("0001", "0002", HEAD)
    SCRIPTS: ClassVar[Path] = Path(__file__).parent / "migrations"
    METADATA: ClassVar[MetaData] = METADATA
    SCHEMA: ClassVar[str | None] = SCHEMA


def open_queue(ledger: str | Path | None = None, *, create: bool = True) -> Queue:
    """Open the queue of a ledger, and bring its tables to the present revision.

    Args:
        ledger: the ledger, as in `open_ledger`. The queue of a SQLite ledger is the file with
            `.queue.sqlite3` next to it. On PostgreSQL it is the schema `genbench_queue` of the same database.
        create: whether a queue that does not exist is made.

    Raises:
        InputError: there is no queue and `create` is False, the file is on a network file system, a newer
            version of genbench wrote it, or the database cannot be reached.
        UnavailableError: the driver of PostgreSQL is not installed.
    """
    target = str(ledger or os.environ.get(LEDGER_VARIABLE) or DEFAULT)
    if "://" in target:
        engine, shown = postgres_engine(target, options=f"-csearch_path={SCHEMA}")
    else:
        path = Path(target)
        path = path.with_name(f"{path.stem}.queue.sqlite3")
        if not create and not path.exists():
            raise InputError(
                f"{path}: no queue yet; `genbench queue submit` makes one, and --ledger names the ledger of "
                "another"
            )
        engine, shown = sqlite_engine(path), str(path)
    return Queue(engine, shown).bring_to_head()
