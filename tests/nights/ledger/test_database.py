"""Opening a ledger: revisions up and down on a filled database, and what is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from genbench.errors import InputError
from genbench.nights.database import Database, revision_of
from genbench.nights.ledger.database import HEAD, Ledger, open_ledger, remove_database
from genbench.nights.ledger.history import track_names
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.migrations import r0003_about
from genbench.nights.ledger.tables import METADATA
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run


def test_the_revisions_make_the_tables_that_the_code_uses(ledger: Ledger) -> None:
    with ledger.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        assert revision_of(connection) == HEAD == r0003_about.revision
    assert isinstance(ledger, Database)


def test_every_revision_goes_down_and_up_on_a_filled_ledger(ledger: Ledger, tmp_path: Path) -> None:
    add(ledger, [make_run(tmp_path / "runs" / "n0", {"math": flat()})])
    wanted = all_rows(ledger)
    with ledger.write() as connection:
        Ledger.migrate(connection, "base")
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        Ledger.migrate(connection, HEAD)
    rebuild(ledger)
    assert all_rows(ledger) == wanted


def test_the_environment_of_revisions_runs_only_inside_alembic() -> None:
    with pytest.raises((NameError, AttributeError)):
        import genbench.nights.database.env  # noqa: F401


def test_a_newer_ledger_is_refused_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    with open_ledger(path) as ledger, ledger.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"a newer genbench wrote it.*9999") as error:
        open_ledger(path)
    assert "\n" not in str(error.value)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")
    with pytest.raises(InputError, match="another program"):
        open_ledger(path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_text("not a database " * 100)
    with pytest.raises(InputError, match="not a database"):
        open_ledger(tmp_path / "ledger.sqlite3")


def test_reading_needs_a_ledger_that_exists(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="genbench ledger add"):
        open_ledger(tmp_path / "none.sqlite3", create=False)
    assert not (tmp_path / "none.sqlite3").exists()


def test_the_variable_names_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "mine.sqlite3"))
    with open_ledger() as ledger:
        assert ledger.where == str(tmp_path / "mine.sqlite3")
        assert ledger.notes.path == tmp_path / "mine.notes.jsonl"


def test_postgres_needs_a_place_for_notes_and_hides_the_password() -> None:
    with pytest.raises(InputError, match="GENBENCH_LEDGER_NOTES") as error:
        open_ledger("postgresql://ada:secret@host/db")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("where", ["mysql://host/db", "http://host/"])
def test_other_databases_are_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wanted the path of a SQLite file, or postgresql"):
        open_ledger(where, tmp_path / "notes.jsonl")


def test_a_server_that_does_not_answer_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="postgresql://") as error:
        open_ledger(f"postgresql://ada:secret@/db?host={tmp_path}", tmp_path / "notes.jsonl")
    assert "secret" not in str(error.value) and "\n" not in str(error.value)


def test_the_ledger_uses_a_write_ahead_log(ledger: Ledger) -> None:
    with ledger.read() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"


def test_removed_tables_are_made_again_at_the_next_opening(ledger: Ledger, tmp_path: Path) -> None:
    remove_database(ledger)
    with open_ledger(tmp_path / "ledger.sqlite3") as again:
        assert track_names(again) == []
