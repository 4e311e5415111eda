"""Forms of the pages: a session, tokens of forms, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.history import track_history
from genbench.team.queue.jobs import get_job, list_jobs
from genbench.team.service import responses
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.team.service.tokens import COOKIE, Sessions, add_token, caller_named, revoke_token

HOME = "http://127.0.0.1:8321"
OWN = {"Origin": HOME, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}


def logged_in(client: TestClient, service: Service, scope: str = "admin") -> dict[str, str]:
    """The headers of a browser after its user has shown a token."""
    token = add_token(service.queue, "ada", scope, 1)
    done = client.post("/forms/login", data={"token": token}, headers=OWN, follow_redirects=False)
    assert done.status_code == 303
    cookie = done.headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=strict", "Secure", "Path=/"):
        assert word in cookie
    assert token not in cookie
    return {**OWN, "Cookie": cookie.partition(";")[0]}


def hidden(client: TestClient, headers: dict[str, str], path: str = "/queue") -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', client.get(path, headers=headers).text)
    assert found is not None
    return found[1]


def sent(client: TestClient, target: str, headers: dict[str, str], /, **fields: str) -> Any:
    return client.post(target, data=fields, headers=headers, follow_redirects=False)


def test_somebody_with_a_session_submits_stops_and_retries(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    headers = logged_in(client, service)
    token = hidden(client, headers)
    assert "<option>nightly</option>" in client.get("/queue", headers=headers).text
    done = sent(
        client,
        "/forms/jobs",
        headers,
        form_token=token,
        suite="nightly",
        model="tuned",
        path=str(tmp_path / "ckpt" / "one"),
        night="2026-11-20",
        priority="7",
    )
    assert done.status_code == 303 and done.headers["location"] == "/jobs/1"
    job = get_job(service.queue, 1)
    assert (job.requested_by, job.priority, job.label) == ("ada", 7, "2026-11-20")
    for what, state in (("cancel", "cancelled"), ("retry", "queued")):
        assert what in client.get("/jobs/1", headers=headers).text
        assert sent(client, f"/forms/jobs/1/{what}", headers, form_token=token).status_code == 303
        assert get_job(service.queue, 1).state == state
    wrong = sent(client, "/forms/jobs", headers, form_token=token, suite="nightl")
    assert wrong.status_code == 422 and "did you mean &#39;nightly&#39;" in wrong.text
    assert (
        sent(client, "/forms/jobs", headers, form_token=token, suite="nightly", priority="x").status_code
        == 422
    )
    assert sent(client, "/forms/jobs/1/burn", headers, form_token=token).status_code == 404


def test_remarks_and_bases_are_the_authors(client: TestClient, service: Service) -> None:
    headers = logged_in(client, service)
    token = hidden(client, headers)
    uid = track_history(service.ledger, "nightly").points[0].uid
    note = sent(
        client,
        "/forms/tracks/nightly/notes",
        headers,
        form_token=token,
        at="2024-10-05",
        kind="engine",
        text="new driver",
    )
    base = sent(client, "/forms/tracks/nightly/base", headers, form_token=token, uid=uid, reason="release")
    assert (note.status_code, base.status_code) == (303, 303)
    history = track_history(service.ledger, "nightly")
    assert history.base is not None and history.base.uid == uid
    assert {item.by for item in history.annotations} == {"ada"}
    assert (
        sent(
            client, "/forms/tracks/nightly/notes", headers, form_token=token, at="soon", text="x"
        ).status_code
        == 422
    )
    missing = sent(
        client, "/forms/tracks/nightly/changes/c-1", headers, form_token=token, state="explained", note="x"
    )
    assert missing.status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Cookie": ""},
        {"Cookie": f"{COOKIE}=YWRhADk5OTk5.0000"},
        {"Cookie": f"{COOKIE}=%%%"},
    ],
)
def test_a_form_from_elsewhere_is_refused(
    client: TestClient, service: Service, change: dict[str, str]
) -> None:
    headers = logged_in(client, service)
    token = hidden(client, headers)
    refused = sent(client, "/forms/jobs", {**headers, **change}, form_token=token, suite="nightly")
    assert refused.status_code == 403 and list_jobs(service.queue) == []


def test_a_form_needs_its_token_and_a_session_opens_no_api(client: TestClient, service: Service) -> None:
    headers = logged_in(client, service)
    for token in ("", "0" * 64, Sessions().form_token("ada")):
        assert sent(client, "/forms/jobs", headers, form_token=token, suite="nightly").status_code == 403
    assert client.post("/api/v1/jobs", json={"suite": "nightly"}, headers=headers).status_code == 401
    plain = client.post("/forms/jobs", content=b"{}", headers={**headers, "Content-Type": "application/json"})
    assert plain.status_code == 415
    assert client.post("/forms/login", data={"token": "gb_x"}, headers=OWN).status_code == 403
    assert client.post("/forms/login", data={"token": "gb_x"}).status_code == 403
    assert list_jobs(service.queue) == []


def test_a_scope_limits_what_is_shown_and_done(client: TestClient, service: Service) -> None:
    headers = logged_in(client, service, "submit")
    token = hidden(client, headers)
    refused = sent(client, "/forms/tracks/nightly/base", headers, form_token=token, uid="x", reason="y")
    assert refused.status_code == 403 and "needs a token of scope admin" in refused.text
    assert "Make it the base" not in client.get("/tracks/nightly/runs", headers=headers).text


def test_a_session_ends_with_its_token_or_by_logging_out(client: TestClient, service: Service) -> None:
    headers = logged_in(client, service)
    token = hidden(client, headers)
    out = sent(client, "/forms/logout", headers, form_token=token)
    assert out.status_code == 303 and f'{COOKIE}=""' in out.headers["set-cookie"]
    revoke_token(service.queue, "ada")
    assert caller_named(service.queue, "ada") is None
    page = client.get("/queue", headers=headers, follow_redirects=False)
    assert page.status_code == 303 and page.headers["location"] == "/login"
    assert 'type="password"' in client.get("/login").text
    assert responses.genbench_status(responses.GoneError("x")) == 410


@pytest.mark.slow
def test_a_listed_proxy_names_its_users(service: Service) -> None:
    named = {"X-Forwarded-User": "eve"}
    for proxies, status in ((frozenset({"testclient"}), 200), (frozenset({"10.0.0.1"}), 401)):
        own = replace(service, proxies=proxies, proxy_scope="submit")
        with TestClient(make_app(own), base_url=HOME) as client:
            assert client.get("/queue", headers=named).status_code == status
            assert client.post("/api/v1/jobs", json={}, headers=named).status_code == 401
            if status == 200:
                token = hidden(client, named)
                done = sent(
                    client,
                    "/forms/jobs",
                    {**OWN, **named},
                    form_token=token,
                    suite="nightly",
                    night="2026-11-20",
                )
                assert done.status_code == 303 and get_job(service.queue, 1).requested_by == "eve"
