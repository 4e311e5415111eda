"""Runs by tag and value: scores and values as columns, the chart, the table of several, and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.ingest import add
from genbench.store.manifest import AboutRecord
from genbench.team.service.context import Service
from tests.nights.ledger import synthetic
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run

HTML = {"accept": "text/html"}


@pytest.fixture
def sweep(service: Service, tmp_path: Path) -> list[str]:
    """The uids of four runs of a sweep over learning rates, one of them with another mix."""
    found = []
    for number, rate in enumerate((1e-6, 1e-5, 1e-4, 1e-3)):
        about = AboutRecord(
            tags=("sweep", f"v{number}"),
            note='<b>"first" try</b>' if number == 0 else "",
            meta={"lr": rate, "mix": "v8" if number == 3 else "v7"},
        )
        scores = {"math": synthetic.flat(20, 2, 0.2 * number, number)}
        folder = synthetic.make_run(tmp_path / "sweep" / f"r{number}", scores, track=None, about=about)
        (outcome,) = add(service.ledger, [folder])
        assert outcome.uid is not None, outcome
        found.append(outcome.uid)
    return found


def shown(client: TestClient, address: str) -> list[str]:
    """The uids that a list of runs shows, newest first."""
    text = client.get(address, headers=HTML).text
    return [part[:8] for part in text.split('<a href="/runs/')[1:] if part[8:9] == "-"]


def test_runs_are_found_by_tag_value_and_note(client: TestClient, sweep: list[str]) -> None:
    own = [uid[:8] for uid in sweep]
    for query, wanted in (
        ("tag=sweep", own),
        ("tag=v2", own[2:3]),
        ("tag=swee", []),
        ("meta=lr", own),
        ("meta=lr%3D1e-5", own[1:2]),
        ("meta=mix%3Dv7", own[:3]),
        ("meta=mix%3Dv", []),
        ("text=first", own[:1]),
    ):
        assert sorted(shown(client, f"/runs?{query}")) == sorted(wanted), query


def test_scores_and_values_are_columns_and_a_chart(client: TestClient, sweep: list[str]) -> None:
    query = "tag=sweep&column=task:math&column=meta:lr&column=note&column=nonsense&x=lr&y=math"
    text = client.get(f"/runs?{query}", headers=HTML).text
    assert '<th scope="col" class="n">math</th><th scope="col">lr</th><th scope="col">note</th></tr>' in text
    assert "&lt;b&gt;" in text and "<b>" not in text
    assert "math against lr, 4 runs, logarithmic" in text
    assert text.count('class="point"') == 4
    assert all(f'<a href="/runs/{uid}" aria-label=' in text for uid in sweep)
    lines = list(csv.DictReader(io.StringIO(client.get(f"/runs.csv?{query}").text)))
    assert {float(line["meta:lr"]) for line in lines} == {1e-3, 1e-4, 1e-5, 1e-6}
    assert {line["tags"] for line in lines} == {f"sweep v{number}" for number in range(4)}
    assert "no chart" in client.get("/runs", headers=HTML).text


def test_a_run_shows_what_was_said_of_it(client: TestClient, sweep: list[str]) -> None:
    text = client.get(f"/runs/{sweep[0]}", headers=HTML).text
    assert '<a href="/runs?tag=sweep">sweep</a>' in text and "lr=1e-06" in text


@pytest.mark.slow
def test_several_runs_are_a_table_as_compare_makes_it(
    client: TestClient, service: Service, make_run: MakeRun
) -> None:
    answers: dict[str, Callable[[int], list[str]]] = {
        "low": lambda i: [RIGHT if i % 4 == 0 else WRONG] * 4,
        "all": lambda _: [RIGHT] * 4,
    }
    uids = []
    for name, answer in answers.items():
        folder = make_run(name, answer, n=24)
        as_another_run(folder, lambda record: record.update(about={"tags": ["two"], "meta": {"lr": 1.0}}))
        (outcome,) = add(service.ledger, [folder])
        uids.append(outcome.uid)
    text = client.get(f"/table?run={uids[0]}&run={uids[1]}", headers=HTML).text
    assert "100.0 (+75.0*) #1" in text and f'<a href="/runs/{uids[1]}">' in text
    lines = list(csv.DictReader(io.StringIO(client.get("/table.csv?tag=two").text)))
    assert [(line["score"], line["meta.lr"]) for line in lines] == [("0.25", "1.0"), ("1.0", "1.0")]
    assert client.get("/table", headers=HTML).status_code == 200
    assert client.get("/table?run=none", headers=HTML).status_code == 404
    assert client.get("/table.csv?tag=none").status_code == 422
