"""A service over a small ledger and an empty queue."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service, suites_in
from genbench.team.service.tokens import add_token
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.test_spec import SUITE


@pytest.fixture(scope="session")
def empty_databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of an empty ledger and queue: making their tables takes as long as a test."""
    place = tmp_path_factory.mktemp("empty")
    with open_ledger(place / "l.sqlite3"), open_queue(place / "l.sqlite3"):
        return place


@pytest.fixture
def service(tmp_path: Path, empty_databases: Path) -> Iterator[Service]:
    for night in range(3):
        make_run(tmp_path / "runs" / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_000 + night)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "nightly.yaml").write_text(SUITE)
    (tmp_path / "suites" / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    (tmp_path / "ckpt" / "one").mkdir(parents=True)
    shutil.copytree(empty_databases, tmp_path, dirs_exist_ok=True)
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        add(ledger, [tmp_path / "runs"])
        yield Service(
            ledger=ledger,
            queue=queue,
            runs=tmp_path / "runs",
            suites=suites_in(tmp_path / "suites"),
            roots=((tmp_path / "ckpt").resolve(),),
        )


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """A client without a token."""
    with TestClient(make_app(service), base_url="http://127.0.0.1:8321") as opened:
        yield opened


@pytest.fixture
def writer(service: Service, client: TestClient) -> TestClient:
    """The same client with a token that may submit."""
    client.headers["Authorization"] = f"Bearer {add_token(service.queue, 'ci', 'submit', 1)}"
    return client
