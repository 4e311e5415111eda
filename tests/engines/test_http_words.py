"""What servers say instead of an answer: told in their words, with what to do, and counted rightly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from genbench.engines.http.engine import read_reply
from genbench.engines.http.kind import HttpConfig, HttpSettings
from genbench.engines.http.server import HttpServer, Transient
from genbench.errors import ConfigError, EngineError, PromptRefusedError, RequestFailedError
from genbench.reports.terminal.run import run_table
from genbench.suite.config import Decoding
from genbench.types import Request, SampleId
from tests.table import each_row

from .conftest import WORDS, Drawn, Server, reply
from .test_http_server import asked

Servers = Callable[[], Server]
SENT: dict[str, Any] = {"seed": 1, "messages": [{"role": "user", "content": "2 + 2?"}]}
CHAT = HttpSettings(
    HttpConfig(prompts="chat"), ("u",), "tuned", {"t": Decoding()}, {}, trace_tags=("<a>", "</a>")
)
REQUEST = Request(SampleId("t", "p", 0), 0, (), 1, 8, "")


async def post(client: HttpServer) -> dict[str, Any] | None:
    return await client.once("POST", "chat/completions", SENT)


async def post_twice(client: HttpServer) -> dict[str, Any] | None:
    """Ask a server that answers first, so that its key and its address are right."""
    await post(client)
    return await post(client)


TOLD = [
    ("filter by 400", PromptRefusedError, "status 400: The response was filtered due to the prompt"),
    ("context", PromptRefusedError, "status 400: This model's maximum context length is 2048 tokens"),
    ("error with 200", Transient, "status 502 inside a reply with status 200: Provider returned error"),
    ("refused with 200", RequestFailedError, "status 400 inside a reply with status 200: No such tool"),
    ("error of a choice", Transient, "an error inside a reply with status 200: upstream is gone"),
    (
        "events",
        RequestFailedError,
        r"streams its reply: data: .* asked not to \(stream: false\); switch that off",
    ),
    (
        "moved",
        ConfigError,
        r"status 307: the server sends us on to http://elsewhere/v1/\S+; name .*base_urls",
    ),
    ("forbidden", ConfigError, r"refuses us \(status 403: blocked by the firewall\); name its variable"),
    ("unauthorized", ConfigError, r"refuses us \(status 401: Incorrect API key provided\)"),
    ("page", Transient, "broken JSON: .*found: <html><body>Please log in"),
    ("unknown field", RequestFailedError, r"supplied: seed; if .* say so with engine\.api or engine\.fields"),
]


@each_row("fault, error, words", TOLD)
def test_the_servers_own_words_are_told(
    servers: Servers, fault: str, error: type[Exception], words: str
) -> None:
    server = servers()
    server.fault = lambda number, body: fault
    with pytest.raises(error, match=words):
        asked(server.url, post)


@each_row("fault", ["forbidden", "unauthorized", "moved"])
def test_a_server_that_has_answered_is_asked_again(servers: Servers, fault: str) -> None:
    server = servers()
    server.fault = lambda number, body: fault if number else None
    with pytest.raises(Transient, match="status"):
        asked(server.url, post_twice)


def said(fault: str) -> tuple[str, str, str]:
    record = json.loads(WORDS[fault](reply("/chat/completions", {"seed": 1}))[2])
    found = read_reply(CHAT, record, REQUEST)
    return found.text, found.finish, found.refused


def test_content_in_parts_refusals_and_filtered_replies_are_read() -> None:
    assert said("parts") == ("<a>hm</a>4", "stop", "")
    assert said("refusal") == ("I can't help with that. 4", "stop", "")
    assert said("filter by 200") == ("", "content_filter", "finish_reason content_filter (violence)")


def test_an_address_without_v1_is_named(servers: Servers) -> None:
    server = servers()
    server.only_v1 = True
    with pytest.raises(
        ConfigError, match=r"no page /models, and there is one at /v1/models: let engine\.base_urls"
    ):
        asked(server.url.removesuffix("/v1"), HttpServer.served)
    assert asked(server.url, HttpServer.served)["root"] == "/weights/tuned"


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["filter by 400", "filter by 200", "context"])
def test_a_refused_prompt_counts_as_the_suite_says(drawn: Drawn, servers: Servers, fault: str) -> None:
    server = servers()
    server.fault = lambda number, body: fault if "(3)" in body["messages"][-1]["content"] else None
    drawn.write(server)
    report = drawn.run()
    task = report.results["m"].tasks["free"]
    assert report.failures == [] and task.excluded == 0
    assert task.status_counts == {"wrong": 18, "truncated": 2}
    assert task.refused == {"context" if fault == "context" else "content_filter": 2}
    kept = drawn.completions()["q3", 0]
    assert kept["refused"] and kept["text"] == "" and kept["finish_reason"] != "error"
    shown = run_table(report.results, {})
    words = kept["refused"][:60]
    assert f"2 truncated: {words}" in shown and "they are wrong; `refused: excluded` leaves them out" in shown
    report = drawn.run(
        "tasks.0.refused=excluded"
    )  # nothing is drawn again; verdicts are made by the new rule
    task = report.results["m"].tasks["free"]
    assert (task.excluded, task.unanswered, task.bounds) == (2, 2, (0.0, 0.1))
    assert len(server.requests) == 20
    assert "left out" in run_table(report.results, {})


@pytest.mark.slow
def test_excluded_samples_say_why_in_the_terminal(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "400" if "(3)" in body["messages"][-1]["content"] else None
    drawn.write(server)
    report = drawn.run()
    shown = run_table(report.results, {})
    assert "2 of 20 samples are excluded, more than the 1.0% that the suite allows; " in shown
    assert "; 2 engine_error: status 400: as told" in shown
    assert "(first: q3, sample " in shown


@pytest.mark.slow
def test_a_lock_in_between_loses_nothing_and_a_lasting_one_can_be_continued(
    drawn: Drawn, servers: Servers
) -> None:
    server = servers()
    server.fault = lambda number, body: "forbidden" if number in (3, 9) else None
    drawn.write(server)
    drawn.run("engine.concurrency=1", run_dir="first")
    drawn.assert_whole(run_dir="first")
    drawn.write(server, n=20, retries=0)
    server.requests.clear()
    server.fault = lambda number, body: "forbidden" if number > 5 else None
    words = r"(?s)status 403: blocked by the firewall.*the same command goes on from what is on disk"
    with pytest.raises((EngineError, ConfigError), match=words):
        drawn.run()
    server.fault = lambda number, body: None
    drawn.run()
    drawn.assert_whole(20)
