"""The client of a service: it asks again when the network or the service fails, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from genbench.errors import InputError
from genbench.team.queue.jobs import list_jobs
from genbench.team.service.app import make_app
from genbench.team.service.client import RemoteService
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.service.serving import serving


class Flaky:
    """An application whose answers are lost in turn: the request is served, and then 503 is sent."""

    def __init__(self, app: ASGIApp, lost: int) -> None:
        self.app, self.lost, self.seen = app, lost, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen += 1
        if self.seen > self.lost:
            await self.app(scope, receive, send)
            return

        async def swallow(_: object) -> None:
            return

        await self.app(scope, receive, swallow)
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def remote(service: Service) -> Iterator[tuple[RemoteService, Flaky]]:
    app = Flaky(make_app(service), lost=2)
    with serving(app) as url:
        yield RemoteService(url, add_token(service.queue, "ci", "submit", 1), waits_s=(0.0, 0.0)), app


@pytest.mark.slow
def test_an_answer_that_is_lost_makes_no_second_job(
    remote: tuple[RemoteService, Flaky], service: Service
) -> None:
    client, app = remote
    record, _ = client.submit({"suite": "nightly", "night": "2026-11-20"})
    assert record["id"] == 1 and app.seen == 3 and len(list_jobs(service.queue)) == 1


def test_a_push_is_repeated_until_it_arrives(remote: tuple[RemoteService, Flaky], tmp_path: Path) -> None:
    client, app = remote
    run = make_run(tmp_path / "elsewhere", {"math": flat(20, 2, 0.5, 9)}, position=20_003)
    assert client.push(run)["outcome"] == "unchanged" and app.seen == 3


@pytest.mark.slow
def test_a_service_that_stays_away_is_named(service: Service) -> None:
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:9: cannot be reached"):
        RemoteService("http://127.0.0.1:9", waits_s=()).get("/jobs")
    with (
        serving(Flaky(make_app(service), lost=9)) as url,
        pytest.raises(InputError, match="none of genbench's"),
    ):
        RemoteService(url, waits_s=(0.0,)).get("/jobs")
    assert "secret" not in repr(RemoteService("http://a", "secret"))
