"""The API against its committed description, with requests that schemathesis makes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.team.queue.database import open_queue
from genbench.team.service.app import OPENAPI_FILE, make_app, openapi_text
from genbench.team.service.context import Service, suites_in
from genbench.team.service.tokens import add_token
from tests.installed import ROOT
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.test_spec import SUITE

DOCUMENT = json.loads((ROOT / OPENAPI_FILE).read_text())
LABELS = sorted(f"{method.upper()} {path}" for path, item in DOCUMENT["paths"].items() for method in item)
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.mark.slow
def test_the_committed_description_is_that_of_the_code() -> None:
    assert (ROOT / OPENAPI_FILE).read_text() == openapi_text()
    assert DOCUMENT["openapi"].startswith("3.1")


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The operations of a service that runs in this process, and a token for it."""
    place: Path = tmp_path_factory.mktemp("api")
    for night in range(2):
        make_run(place / "runs" / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_000 + night)
    (place / "suites").mkdir()
    (place / "suites" / "nightly.yaml").write_text(SUITE)
    (place / "suites" / "rows.jsonl").write_text('{"question": "1+1?", "reference": "2"}\n')
    with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
        add(ledger, [place / "runs"])
        schema: Any = schemathesis.openapi.from_dict(DOCUMENT)
        schema.app = make_app(
            Service(
                ledger=ledger,
                queue=queue,
                runs=place / "runs",
                suites=suites_in(place / "suites"),
                hosts=frozenset({"testserver", "localhost", "127.0.0.1"}),
                most_per_second=10_000,
            )
        )
        found = {item.label: item for item in (one.ok() for one in schema.get_all_operations())}
        yield found | {"token": add_token(queue, "fuzz", "admin", 1)}


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_every_answer_is_as_the_description_says(label: str, operations: dict[str, Any]) -> None:
    @settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operations[label].as_strategy())
    def check(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {operations['token']}"}, checks=CHECKS)

    check()
