"""The API about jobs: submitting, once only, and every refusal with its status and sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert, select
from starlette.testclient import TestClient

from genbench.team.queue import tables
from genbench.team.queue.jobs import MOST_WAITING, get_job, job_events, job_folder
from genbench.team.service.api import jobs
from genbench.team.service.context import Service

JOBS = "/api/v1/jobs"


def test_a_job_is_submitted_listed_and_cancelled(
    writer: TestClient, service: Service, tmp_path: Path
) -> None:
    body = {"suite": "nightly", "night": "2026-11-20", "models": {"tuned": str(tmp_path / "ckpt" / "one")}}
    made = writer.post(JOBS, json=body)
    assert made.status_code == 201 and made.json()["requested_by"] == "ci"
    assert made.json()["label"] == "2026-11-20" and made.json()["slots"] == 6
    assert writer.post(JOBS, json=body).status_code == 200
    number = made.json()["id"]
    assert writer.get(f"{JOBS}/{number}").json()["state"] == "queued"
    assert writer.patch(f"{JOBS}/{number}", json={"priority": 9}).json()["priority"] == 9
    assert writer.post(f"{JOBS}/{number}/cancel").json()["state"] == "cancelled"
    twice = writer.post(f"{JOBS}/{number}/cancel")
    assert twice.status_code == 409 and "job 1 is cancelled" in twice.json()["detail"]
    assert writer.post(f"{JOBS}/{number}/retry").json()["state"] == "queued"
    assert [event.who for event in job_events(service.queue, number)] == ["ci"] * 4


def test_pages_of_jobs_are_followed_by_a_cursor(writer: TestClient) -> None:
    for day in range(10, 15):
        writer.post(JOBS, json={"suite": "nightly", "night": f"2026-11-{day}"})
    first = writer.get(JOBS, params={"limit": 3}).json()
    second = writer.get(JOBS, params={"limit": 3, "after": first["next"]}).json()
    assert [job["id"] for job in first["items"] + second["items"]] == [5, 4, 3, 2, 1]
    assert second["next"] is None
    assert writer.get(JOBS, params={"state": "failed"}).json()["items"] == []


@pytest.mark.slow
def test_an_idempotency_key_stands_for_one_job(writer: TestClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-20"}, headers=key)
    again = writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-20"}, headers=key)
    other = writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-21"}, headers=key)
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["id"] == again.json()["id"]
    assert other.headers["content-type"] == "application/problem+json"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"suite": "nightl"}, "offers no suite 'nightl'; did you mean 'nightly'"),
        ({"suite": "/etc/passwd"}, "offers no suite"),
        ({"suite": "../suites/nightly"}, "offers no suite"),
        ({"suite": "nightly", "tasks": ["summs"]}, "no task 'summs'; did you mean 'sums'"),
        ({"suite": "nightly", "night": "tomorrow"}, "wanted a date like 2026-11-22"),
        ({"suite": "nightly", "models": {"tuned": "/etc"}}, "below the roots of this service"),
        ({"suite": "nightly", "models": {"tuned": "../ckpt/one"}}, "below the roots of this service"),
        ({"suite": "nightly", "models": {"tuned": "/\0"}}, "below the roots of this service"),
        ({"suite": "nightly", "overrides": ["engine.kind=http"]}, "Extra inputs are not permitted"),
        ({"suite": "nightly", "responses": "/etc/passwd"}, "Extra inputs are not permitted"),
        ({"suite": "nightly", "priority": 11}, "less than or equal to 9"),
        ({}, "Field required"),
    ],
)
def test_a_wrong_job_is_refused_with_the_sentence(
    writer: TestClient, body: dict[str, object], told: str
) -> None:
    refused = writer.post(JOBS, json=body)
    assert refused.status_code == 422 and told in refused.json()["detail"]
    assert set(refused.json()) == {"type", "title", "status", "detail"}


def test_a_link_out_of_the_roots_is_no_model(writer: TestClient, tmp_path: Path) -> None:
    (tmp_path / "ckpt" / "link").symlink_to(tmp_path / "suites")
    refused = writer.post(JOBS, json={"suite": "nightly", "models": {"tuned": str(tmp_path / "ckpt/link")}})
    assert refused.status_code == 422


def test_what_is_no_json_or_not_there_is_told(writer: TestClient) -> None:
    json_type = {"Content-Type": "application/json"}
    assert writer.post(JOBS, content=b"{", headers=json_type).status_code == 400
    missing = writer.get(f"{JOBS}/7")
    assert missing.status_code == 404 and "no job 7" in missing.json()["detail"]
    assert writer.get(f"{JOBS}/7/events").status_code == 404
    assert writer.get(f"{JOBS}/{10**30}").status_code == 422
    assert writer.put(JOBS).status_code == 405


def test_events_are_streamed_and_go_on_where_they_ended(writer: TestClient, service: Service) -> None:
    writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-20"})
    writer.post(f"{JOBS}/1/cancel")
    text = writer.get(f"{JOBS}/1/events").text
    assert text.startswith("id: 1\nevent: submitted\ndata: {") and "event: cancelled" in text
    rest = writer.get(f"{JOBS}/1/events", headers={"Last-Event-ID": "1"}).text
    assert rest.startswith("id: 2\nevent: cancelled")
    folder = job_folder(get_job(service.queue, 1))
    folder.mkdir(parents=True)
    (folder / "log").write_text("drawing\n<script>")
    assert writer.get(f"{JOBS}/1/log").text == "drawing\n<script>"
    assert jobs.router.prefix == JOBS


def test_a_queue_that_is_full_says_when_to_come_again(writer: TestClient, service: Service) -> None:
    writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-20"})
    with service.queue.write() as connection:
        (row,) = connection.execute(select(tables.job)).mappings().all()
        known = {name: value for name, value in row.items() if name != "id"}
        connection.execute(
            insert(tables.job), [{**known, "key": f"k{number}"} for number in range(MOST_WAITING)]
        )
    refused = writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-21"})
    assert refused.status_code == 429 and refused.headers["retry-after"] == "60"
    assert "jobs wait, and 1000 may" in refused.json()["detail"]
