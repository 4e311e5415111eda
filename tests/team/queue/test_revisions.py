"""Every revision of the queue's tables, down and up again on a filled database of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, insert, inspect, select, text

from genbench.errors import InputError
from genbench.nights.ledger.database import open_ledger
from genbench.team.queue import tables
from genbench.team.queue.database import SCHEMA, Queue, open_queue
from genbench.team.queue.jobs import submit
from genbench.team.queue.messages import note_arrival, put_message
from genbench.team.service.tokens import add_token
from genbench.team.watch.watches import WatchRules, add_checkpoint, save_watch
from tests.nights.ledger.postgres import postgres_server
from tests.team.queue.killing import placed


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "l.sqlite3")
        return
    with postgres_server() as url:
        yield url


def fill(queue: Queue, place: Path) -> None:
    """Put at least one row into each table that people fill."""
    job, _ = submit(queue, placed(1), place, by="ada")
    add_token(queue, "ci", "submit", 1)
    rules = WatchRules(folder=str(place), suite="s.yaml", track="t", runs=str(place))
    save_watch(queue, "sft", rules, by="ada")
    add_checkpoint(queue, "sft", "checkpoint-5", "f")
    with queue.write() as connection:
        put_message(connection, "k", "failed", "t", "job 1 failed", detail={"job": 1})
        key = {"owner": "ci", "key": "k", "body": "b", "job_id": job.id, "at": 1.0}
        connection.execute(insert(tables.idempotency).values(key))
    note_arrival(queue, 1, "webhook")


def rows(connection: Connection, table: Table, columns: set[str]) -> list[dict[str, Any]]:
    names = [column for column in table.c if column.name in columns]
    if not names:
        return []
    return [dict(row._mapping) for row in connection.execute(select(*names))]


def test_what_a_revision_has_survives_the_way_down_to_it_and_up_again(target: str, tmp_path: Path) -> None:
    with open_queue(target) as queue:
        fill(queue, tmp_path)
        for revision in reversed(queue.REVISIONS[:-1]):
            with queue.write() as connection:
                before = {name: rows(connection, table, {c.name for c in table.c}) for name, table in known()}
                Queue.migrate(connection, revision)
                found = inspect(connection)
                schema = SCHEMA if "://" in target else None
                columns = {
                    name: {column["name"] for column in found.get_columns(name, schema=schema)}
                    for name in found.get_table_names(schema=schema)
                }
                Queue.migrate(connection, queue.REVISIONS[-1])
                for name, table in known():
                    kept = columns.get(name, set())
                    wanted = [{key: row[key] for key in row if key in kept} for row in before[name]]
                    assert rows(connection, table, kept) == (wanted if kept else []), (revision, name)
        with queue.write() as connection:
            Queue.migrate(connection, "base")
            Queue.migrate(connection, queue.REVISIONS[-1])
        fill(queue, tmp_path)


def known() -> list[tuple[str, Table]]:
    return sorted(tables.METADATA.tables.items())


def test_an_older_genbench_refuses_newer_tables_in_one_line(target: str, tmp_path: Path) -> None:
    for opened in (open_queue(target), open_ledger(target, tmp_path / "notes.jsonl")):
        with opened, opened.write() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for again in (open_queue, lambda where: open_ledger(where, tmp_path / "notes.jsonl")):
        with pytest.raises(InputError, match=r"a newer genbench wrote it.*9999") as error:
            again(target)
        assert "\n" not in str(error.value)
