"""Who is let in: tokens, scopes, the Host header, sizes, rates and headers of every response."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import resource
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from genbench.errors import InputError
from genbench.team.service.app import make_api, make_app
from genbench.team.service.context import Service
from genbench.team.service.middleware import MOST_BODY, Guard
from genbench.team.service.responses import MEDIA
from genbench.team.service.tokens import COOKIE, Caller, add_token, caller_of, list_tokens, revoke_token

TRACKS, JOBS = "/api/v1/tracks", "/api/v1/jobs"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_reading_is_open_until_a_token_is_made_and_writing_never(
    client: TestClient, service: Service
) -> None:
    assert client.get(TRACKS).status_code == 200
    assert client.post(JOBS, json={"suite": "nightly"}).status_code == 401
    token = add_token(service.queue, "reader", "read", None)
    refused = client.get(TRACKS)
    assert refused.status_code == 401 and refused.headers["content-type"] == MEDIA
    assert client.get("/").status_code == 401
    assert client.get("/api/v1/health").status_code == 200
    assert client.get(TRACKS, headers=bearer(token)).status_code == 200
    denied = client.post(JOBS, json={"suite": "nightly"}, headers=bearer(token))
    assert denied.status_code == 403 and "needs a token of scope submit" in denied.json()["detail"]


def test_a_browser_reads_with_the_token_as_password_and_never_writes_with_it(
    client: TestClient, service: Service
) -> None:
    token = add_token(service.queue, "ada", "submit", 1)
    basic = {"Authorization": "Basic " + base64.b64encode(f"ada:{token}".encode()).decode()}
    assert client.get("/", headers=basic).status_code == 200
    assert client.post(JOBS, json={"suite": "nightly"}, headers=basic).status_code == 401
    assert client.get("/", headers={"Authorization": "Basic %%%"}).status_code == 401


def test_a_revoked_or_expired_token_is_worthless(service: Service) -> None:
    token = add_token(service.queue, "ci", "submit", 1)
    assert caller_of(service.queue, token) == Caller("ci", "submit")
    assert list_tokens(service.queue)[0].used is not None
    revoke_token(service.queue, "ci")
    assert caller_of(service.queue, token) is None
    assert caller_of(service.queue, add_token(service.queue, "short", "read", 1e-9)) is None
    for wrong in (("ci", "read", 1), ("a/b", "read", 1), ("x", "root", 1), ("x", "read", 0)):
        with pytest.raises(InputError):
            add_token(service.queue, *wrong)
    with pytest.raises(InputError, match="there is no token 'shor'; did you mean 'short'"):
        revoke_token(service.queue, "shor")


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.1.evil.example", "127.0.0.1:x", "user@evil"])
def test_a_foreign_host_header_is_refused(client: TestClient, host: str) -> None:
    assert client.get(TRACKS, headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8321"])
def test_the_own_host_is_answered(client: TestClient, host: str) -> None:
    assert client.get(TRACKS, headers={"Host": host}).status_code == 200


@pytest.mark.slow
def test_a_large_body_is_refused_also_if_it_says_nothing_of_its_size(writer: TestClient) -> None:
    assert writer.post(JOBS, content=b"x" * (MOST_BODY + 1)).status_code == 413
    assert writer.post(JOBS, headers={"Content-Length": "many"}, content=b"x").status_code == 413
    parts = iter([b"x" * (MOST_BODY // 2 + 1)] * 2)
    refused = writer.post(JOBS, content=parts)
    assert refused.status_code == 413 and "is larger than 262144 bytes" in refused.json()["detail"]


def test_too_many_requests_in_a_second_wait(service: Service) -> None:
    with TestClient(make_app(replace(service, most_per_second=3)), base_url="http://localhost") as client:
        codes = [client.get("/api/v1/health").status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]


@pytest.mark.slow
def test_who_has_no_token_is_limited_and_who_has_one_behind_the_same_address_is_not(service: Service) -> None:
    token = add_token(service.queue, "ada", "read", 1)
    own = replace(service, most_per_second=20)
    cookie = {"Cookie": f"{COOKIE}={own.sessions.open('ada')}"}
    with TestClient(make_app(own), base_url="http://localhost") as client:
        wrong = [client.get(TRACKS, headers=bearer(f"gb_{number}")).status_code for number in range(40)]
        assert wrong[:20] == [401] * 20 and 429 in wrong[20:]
        assert client.get(TRACKS, headers=bearer(token)).status_code == 200
        assert client.get("/", headers=cookie).status_code == 200
        assert client.get("/", headers={"Cookie": f"{COOKIE}=6164.00"}).status_code in (303, 401, 429)


def test_a_web_socket_is_refused_without_a_defect(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/"):
        pass


@pytest.mark.slow
def test_requests_that_never_end_their_heads_silence_nobody(tmp_path: Path) -> None:
    """The server has 256 descriptors, and 1,100 clients send half a head each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "genbench", "serve", "--port", str(port), "--ledger", "l.sqlite3"]
    limited = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *command]
    server = subprocess.Popen(limited, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    halves: list[socket.socket] = []
    try:
        assert server.stderr is not None and f":{port}/" in server.stderr.readline()
        url = f"http://127.0.0.1:{port}/api/v1/health"
        with httpx.Client(transport=httpx.HTTPTransport(retries=10), timeout=60) as patient:
            patient.get(url)
        for number in range(1100):
            half = socket.create_connection(("127.0.0.1", port), timeout=30)
            half.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: ")
            halves.append(half)
            if number % 100 == 99:
                assert httpx.get(url, timeout=5).status_code == 200
        halves[0].settimeout(30)
        assert halves[0].recv(1) == b""
    finally:
        for half in halves:
            half.close()
        server.terminate()
        server.communicate(timeout=60)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_every_response_allows_three_scripts_by_digest_and_forbids_sniffing(client: TestClient) -> None:
    allowed = set()
    for name in ("plotly.js", "review.js", "service.js"):
        script = client.get(f"/scripts/{name}")
        assert script.headers["content-type"].startswith("text/javascript")
        digest = base64.b64encode(hashlib.sha256(script.content).digest()).decode()
        allowed.add(f"'sha256-{digest}'")
    assert client.get("/scripts/other.js").status_code == 404
    for path in ("/", TRACKS, "/nothing", "/queue", "/style.css"):
        headers = client.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert set(policy["script-src"].split()) == allowed and policy["default-src"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "a'b", "\u202e", "x" * 300])
def test_no_name_in_a_path_becomes_a_file(client: TestClient, path: str) -> None:
    for prefix in ("/runs/", "/tracks/", "/api/v1/runs/", "/api/v1/tracks/"):
        for suffix in ("", "/results", "/trend", "/changes"):
            assert client.get(f"{prefix}{path}{suffix}").status_code in (404, 422)


@pytest.mark.slow
def test_a_token_is_in_no_answer(writer: TestClient, service: Service) -> None:
    token = writer.headers["Authorization"].partition(" ")[2]
    writer.post(JOBS, json={"suite": "nightly", "night": "2026-11-20"})
    for path in ("/", "/queue", "/jobs/1", JOBS, f"{JOBS}/1", "/api/v1/metrics", f"{JOBS}/1/log"):
        assert token not in writer.get(path).text
    assert token not in repr(list_tokens(service.queue))


def test_an_error_that_nobody_foresaw_is_a_problem_too(service: Service) -> None:
    app = make_api(service)
    app.add_api_route("/api/v1/defect", lambda: int("x"))
    app.add_api_route("/api/v1/full", lambda: Path("/dev/full").write_text("x", encoding="utf-8"))
    with TestClient(app, raise_server_exceptions=False) as client:
        for name, cause in (("defect", "ValueError"), ("full", "No space left on device")):
            failed = client.get(f"/api/v1/{name}")
            assert (failed.status_code, failed.headers["content-type"]) == (500, MEDIA)
            assert failed.json()["detail"] == f"the service failed ({cause}); its log says where"


def test_a_body_that_is_cut_off_is_not_taken_for_a_whole_one(service: Service) -> None:
    """A form without its end could mean something else."""
    token = add_token(service.queue, "ada", "submit", 1)
    parts: list[Message] = [
        {"type": "http.request", "body": b'{"suite": "nightly"}', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8321"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "POST", "path": JOBS, "headers": headers, "client": ("127.0.0.1", 1)}
    asyncio.run(Guard(make_app(service), service)(scope, receive, send))
    assert sent[0]["status"] == 408
