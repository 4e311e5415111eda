"""The API about tracks, runs and changes, and the committed OpenAPI document."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from genbench.team.queue.jobs import submit
from genbench.team.service.app import OPENAPI_FILE, openapi_text
from genbench.team.service.context import Service
from tests.team.queue.killing import placed

ROOT = Path(__file__).resolve().parents[3]
API = "/api/v1"


@pytest.mark.slow
def test_the_committed_document_is_that_of_the_code() -> None:
    text = (ROOT / OPENAPI_FILE).read_text()
    assert text == openapi_text()
    document = json.loads(text)
    assert document["openapi"].startswith("3.1")
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_tracks_and_their_trend_are_read(client: TestClient) -> None:
    (track,) = client.get(f"{API}/tracks").json()["items"]
    assert (track["name"], track["points"]) == ("nightly", 3)
    trend = client.get(f"{API}/tracks/nightly/trend").json()
    assert trend["track"] == "nightly" and trend["runs"] == 3
    assert client.get(f"{API}/tracks/nightly/changes").json() == []
    missing = client.get(f"{API}/tracks/nightli/trend")
    assert missing.status_code == 404 and "did you mean 'nightly'" in missing.json()["detail"]


def test_a_series_is_columns(client: TestClient) -> None:
    series = client.get(f"{API}/tracks/nightly/series/math").json()
    assert len(series["uid"]) == len(series["columns"]["value"]) == 3
    assert series["columns"]["difference"][0] is None
    assert client.get(f"{API}/tracks/nightly/series/none").status_code == 404


def test_runs_are_found_by_uid_and_gone_when_their_folder_is(client: TestClient, tmp_path: Path) -> None:
    first = client.get(f"{API}/runs", params={"limit": 2, "track": "nightly"}).json()
    rest = client.get(f"{API}/runs", params={"limit": 2, "after": first["next"]}).json()
    assert len(first["items"]) == 2 and len(rest["items"]) == 1 and rest["next"] is None
    uid = first["items"][0]["uid"]
    assert client.get(f"{API}/runs/{uid}/results").json()["tasks"].keys() == {"math"}
    assert client.get(f"{API}/runs/nobody/results").status_code == 404
    shutil.rmtree(tmp_path / "runs")
    gone = client.get(f"{API}/runs/{uid}/results")
    assert gone.status_code == 410 and "not there any more" in gone.json()["detail"]


def test_a_change_that_is_not_there_cannot_be_closed(writer: TestClient) -> None:
    body = {"state": "explained", "note": "why"}
    assert writer.patch(f"{API}/tracks/nightly/changes/c-1", json=body).status_code == 404
    empty = writer.patch(f"{API}/tracks/nightly/changes/c-1", json=body | {"note": ""})
    assert empty.status_code == 422


def test_health_readiness_and_metrics(client: TestClient, service: Service, tmp_path: Path) -> None:
    submit(service.queue, placed(1), tmp_path, by="ada")
    assert client.get(f"{API}/health").json()["status"] == "ok"
    ready = client.get(f"{API}/ready").json()
    assert (ready["ready"], ready["workers"]) == (False, 0)
    assert 'genbench_jobs{state="queued"} 1.0' in client.get(f"{API}/metrics").text
    assert client.get(f"{API}/messages").json() == {"items": [], "next": None}
