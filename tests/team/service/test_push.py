"""Runs that other machines push: added once, replaced only on request, refused if they are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.history import track_history
from genbench.team.service.bundle import FILES, MOST_BYTES, content_digest_of, pack_run
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token
from tests.nights.ledger.synthetic import flat, make_run, rewrite
from tests.nights.ledger.test_bundle import zipped

PUSH = "/api/v1/runs/push"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of the fourth night, on a machine that shares no disk."""
    return make_run(tmp_path / "elsewhere", {"math": flat(20, 2, 0.5, 9)}, position=20_003)


def push(client: TestClient, data: bytes, *, replace: bool = False) -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": "application/octet-stream", "Content-Digest": content_digest_of(data)}
    found = client.post(PUSH, content=data, headers=headers, params={"replace": replace})
    return found.status_code, found.json()


def test_a_pushed_run_is_a_point_of_its_track_and_kept_once(
    writer: TestClient, service: Service, folder: Path
) -> None:
    data = pack_run(folder)
    status, record = push(writer, data)
    assert status == 201 and record["outcome"] == "added", record
    points = track_history(service.ledger, "nightly").points
    assert len(points) == 4 and points[-1].uid == record["run"]["uid"]
    assert push(writer, data) == (200, record | {"outcome": "unchanged"})
    assert [path.name for path in (service.runs / "pushed").iterdir()] == [points[-1].uid]
    problems = writer.get(f"/api/v1/runs/{points[-1].uid}/tasks/math/problems")
    assert problems.status_code == 410


def test_other_contents_of_a_run_need_replace(writer: TestClient, service: Service, folder: Path) -> None:
    status, record = push(writer, pack_run(folder))
    rewrite(folder, results=lambda record: record.update(warnings=["another"]))
    again = zipped({name: (folder / name).read_bytes() for name in FILES})
    refused, told = push(writer, again)
    assert refused == 409 and "other contents" in told["detail"]
    assert push(writer, again, replace=True) == (200, record | {"outcome": "replaced"})
    assert len(track_history(service.ledger, "nightly").points) == 4
    assert status == 201 and len(list((service.runs / "pushed").iterdir())) == 1


def test_a_run_that_the_service_drew_itself_gets_a_second_place(writer: TestClient, service: Service) -> None:
    status, record = push(writer, pack_run(service.runs / "n0"))
    assert status == 201 and len(record["run"]["paths"]) == 2
    assert len(track_history(service.ledger, "nightly").points) == 3


def test_a_refusal_by_the_ledger_names_no_path_of_the_service(
    writer: TestClient, service: Service, tmp_path: Path
) -> None:
    drawn = service.runs / "n0"
    uid = json.loads((drawn / "manifest.json").read_text())["uid"]
    other = make_run(tmp_path / "elsewhere", {"math": flat(20, 2, 0.9, 5)}, position=20_000, uid=uid)
    status, told = push(writer, pack_run(other))
    assert status == 409 and told["detail"], told
    assert str(tmp_path) not in told["detail"], told
    assert list((service.runs / "pushed").glob("*")) == []


def test_what_is_no_run_is_refused_and_leaves_nothing(
    writer: TestClient, service: Service, folder: Path
) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    others = {name: (folder / name).read_bytes() for name in ("results.json", "sums.json")}
    wrong = [manifest | {"uid": "../../etc"}, manifest | {"format": 99}, manifest | {"run_id": "x"}]
    bundles = [zipped(others | {"manifest.json": json.dumps(item).encode()}) for item in wrong]
    for data in (*bundles, b"no zip", zipped({"../x": b""})):
        status, told = push(writer, data)
        assert status == 422 and str(service.runs) not in told["detail"], told
    assert list((service.runs / "pushed").glob("*")) == []


def test_size_digest_type_and_scope_are_checked(writer: TestClient, service: Service, folder: Path) -> None:
    data = pack_run(folder)
    plain = {"Content-Type": "application/octet-stream"}
    cut = writer.post(PUSH, content=data[:-1], headers=plain | {"Content-Digest": content_digest_of(data)})
    assert cut.status_code == 400 and "cut off" in cut.json()["detail"]
    assert writer.post(PUSH, content=data, headers=plain).status_code == 422
    assert push(writer, bytes(MOST_BYTES + 1))[0] == 413
    other = {"Content-Type": "text/plain", "Content-Digest": content_digest_of(data)}
    assert writer.post(PUSH, content=data, headers=other).status_code == 415
    writer.headers["Authorization"] = f"Bearer {add_token(service.queue, 'eye', 'read', 1)}"
    assert push(writer, data)[0] == 403
    del writer.headers["Authorization"]
    assert push(writer, data)[0] == 401
    assert not (service.runs / "pushed").exists()
