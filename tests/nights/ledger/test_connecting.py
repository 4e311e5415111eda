"""Connections to databases: which are refused, and how their errors are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from genbench.errors import InputError
from genbench.nights.database import Database, postgres_engine, sqlite_engine


class Plain(Database):
    """A database without tables."""

    REMEDY, LOCK = "", 1


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with Plain(sqlite_engine(tmp_path / "new" / "file.sqlite3"), "here") as database:
        with database.write() as connection:
            connection.execute(text("CREATE TABLE t (x INTEGER)"))
            connection.execute(text("INSERT INTO t VALUES (7)"))
        with database.read() as connection:
            assert connection.execute(text("SELECT x FROM t")).scalar() == 7


def test_an_error_of_the_database_names_it_in_one_line(tmp_path: Path) -> None:
    with (
        Plain(sqlite_engine(tmp_path / "file.sqlite3"), "here") as database,
        pytest.raises(InputError, match="here: no such table: t"),
        database.read() as connection,
    ):
        connection.execute(text("SELECT * FROM t"))


@pytest.mark.parametrize("target", ["mysql://host/d", "://"])
def test_another_database_is_refused(target: str) -> None:
    with pytest.raises(InputError):
        postgres_engine(target)


def test_a_password_is_not_shown() -> None:
    assert postgres_engine("postgresql://me:secret@host/d")[1] == "postgresql://me:***@host/d"
