"""Opening a queue: its own tables next to the ledger, revisions up and down, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, inspect, select, text

from genbench.errors import InputError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add, rebuild
from genbench.team.queue.database import HEAD, SCHEMA, Queue, open_queue
from genbench.team.queue.jobs import count_jobs, submit
from genbench.team.queue.migrations import r0001_first, r0002_watches, r0003_channels
from genbench.team.queue.tables import METADATA
from tests.nights.ledger.postgres import postgres_server
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.killing import placed


def test_the_revisions_make_the_tables_that_the_code_uses(queue: Queue) -> None:
    with queue.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    revisions = [item.revision for item in (r0001_first, r0002_watches, r0003_channels)]
    assert revisions == ["0001", "0002", HEAD]


def test_every_revision_goes_down_and_up_on_a_filled_queue(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path, by="ada")
    with queue.write() as connection:
        Queue.migrate(connection, "base")
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        Queue.migrate(connection, HEAD)
    assert count_jobs(queue) == {}
    assert submit(queue, placed(1), tmp_path, by="ada")[1]


def test_a_queue_of_the_first_revision_gets_the_tables_of_watches_and_keeps_its_jobs(
    queue: Queue, tmp_path: Path
) -> None:
    submit(queue, placed(1), tmp_path, by="ada")
    with queue.write() as connection:
        Queue.migrate(connection, "0001")
        assert "watch" not in inspect(connection).get_table_names()
    with open_queue(tmp_path / "ledger.sqlite3") as again:
        assert count_jobs(again) == {"queued": 1}
        with again.read() as connection:
            assert {"watch", "checkpoint"} <= set(inspect(connection).get_table_names())


def test_a_newer_queue_is_refused_with_one_line(queue: Queue, tmp_path: Path) -> None:
    with queue.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"a newer genbench wrote it.*9999") as error:
        open_queue(tmp_path / "ledger.sqlite3")
    assert "\n" not in str(error.value)


def test_making_the_ledger_again_leaves_the_queue_alone(queue: Queue, tmp_path: Path) -> None:
    submit(queue, placed(1), tmp_path, by="ada")
    make_run(tmp_path / "runs" / "n0", {"math": flat()})
    with open_ledger(tmp_path / "ledger.sqlite3") as ledger:
        add(ledger, [tmp_path / "runs"])
        rebuild(ledger)
    assert count_jobs(queue) == {"queued": 1}


@pytest.mark.slow
def test_on_postgres_queue_and_ledger_share_a_database(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    with postgres_server() as url, open_queue(url) as queue, open_ledger(url, notes) as ledger:
        submit(queue, placed(1), tmp_path, by="ada")
        make_run(tmp_path / "runs" / "n0", {"math": flat()})
        add(ledger, [tmp_path / "runs"])
        rebuild(ledger)
        assert count_jobs(queue) == {"queued": 1}
        with queue.write() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, METADATA) == []
            assert connection.scalar(select(func.current_schema())) == SCHEMA
            assert "job" in inspect(connection).get_table_names(schema=SCHEMA)
            Queue.migrate(connection, "base")
            Queue.migrate(connection, HEAD)
        assert count_jobs(queue) == {}
