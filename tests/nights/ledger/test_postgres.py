"""The ledger on PostgreSQL: the same rows as on SQLite, also after it was made again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import ColumnElement, Float, cast, literal, null, select, true
from starlette.testclient import TestClient

from genbench.errors import DatabaseGoneError
from genbench.nights.database import driver_rows
from genbench.nights.ledger.changes import annotate, pin_base
from genbench.nights.ledger.database import HEAD, Ledger, open_ledger
from genbench.nights.ledger.history import recent, track_history
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.tables import METADATA
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.postgres import gone, postgres_server
from tests.nights.ledger.synthetic import flat, make_run


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres_server() as found:
        yield found


def filled(ledger: Ledger, runs: Path) -> Ledger:
    add(ledger, [runs])
    uid = track_history(ledger, "nightly").points[1].uid
    pin_base(ledger, "nightly", uid, "the second night is steadier", by="ada")
    annotate(ledger, "nightly", 20_001, "engine", "new driver", by="ada", at="now")
    return ledger


@pytest.mark.slow
def test_postgres_and_sqlite_have_the_same_rows(url: str, tmp_path: Path) -> None:
    for night in range(3):
        make_run(tmp_path / "runs" / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_000 + night)
    with open_ledger(url, tmp_path / "pg.jsonl") as postgres:
        wanted = all_rows(filled(postgres, tmp_path / "runs"))
        series = recent(postgres, "nightly", 2).series["math"]
        assert series.uids == tuple(night.uid for night in track_history(postgres, "nightly").points[1:])
        rebuild(postgres)
        assert all_rows(postgres) == wanted
        with postgres.write() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, METADATA) == []
            Ledger.migrate(connection, "base")
            Ledger.migrate(connection, HEAD)
        rebuild(postgres)
        assert all_rows(postgres) == wanted
    with open_ledger(tmp_path / "same.sqlite3") as sqlite:
        scores = all_rows(filled(sqlite, tmp_path / "runs"))["score"]
    for left, right in zip(scores, wanted["score"], strict=True):
        for one, other in zip(left, right, strict=True):
            assert one == (pytest.approx(other, abs=1e-6) if isinstance(other, float) else other)


def test_rows_of_the_driver_have_the_same_values_in_the_binary_format(url: str, tmp_path: Path) -> None:
    values: list[ColumnElement[Any]] = [
        literal(1),
        literal(0.1),
        cast(literal("NaN"), Float),
        true(),
        literal("é"),
        null(),
    ]
    with open_ledger(url, tmp_path / "notes.jsonl") as ledger, ledger.read() as connection:
        (row,) = driver_rows(connection, select(*values, literal(b"\x00\xff")))
        result = connection.execute(select(1), execution_options={"genbench_binary": True})
        binary = result.cursor.format if result.cursor is not None else None
    assert (row[0], row[1], *row[3:]) == (1, 0.1, True, "é", None, b"\x00\xff")
    assert math.isnan(row[2])
    assert binary == 1


@pytest.mark.slow
def test_a_server_that_is_gone_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    folders = [
        make_run(tmp_path / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_000 + night)
        for night in range(2)
    ]
    with postgres_server() as url, open_ledger(url, tmp_path / "notes.jsonl") as ledger:
        add(ledger, folders[:1])
        with open_queue(url) as queue:
            service = Service(ledger=ledger, queue=queue, runs=tmp_path, suites={}, roots=())
            with TestClient(make_app(service), base_url="http://127.0.0.1:8321") as client:
                assert client.get("/tracks/nightly").status_code == 200
                with gone(url):
                    with pytest.raises(DatabaseGoneError, match="cannot be reached"):
                        add(ledger, folders[1:])
                    refused = client.get("/api/v1/tracks/nightly")
                    assert refused.status_code == 503 and url not in refused.text
                    assert client.get("/tracks/nightly", headers=BROWSER).status_code == 503
                    assert client.get("/api/v1/health").status_code == 200
                assert [item.outcome for item in add(ledger, folders[1:])] == ["added"]
                assert client.get("/tracks/nightly", headers=BROWSER).status_code == 200
        assert len(track_history(ledger, "nightly").points) == 2


BROWSER = {"Accept": "text/html"}
