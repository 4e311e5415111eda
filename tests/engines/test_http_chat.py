"""A judge behind a server: what it is sent, what it replies, and what is retried."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from genbench.engines.http.chat import ChatServer
from genbench.errors import ConfigError, EngineError, RequestFailedError, RequestStuckError
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeServer
from genbench.types import Message, Question

from .conftest import Server

Servers = Callable[[], Server]
QUESTION = Question((Message("user", "2+2?"),), {"choice": ["A", "B"]}, 32, 5)


def chat(server: Server, **changes: Any) -> ChatServer:
    known = {"base_url": server.url, "model": "tuned", "retries": 1, "timeout_s": 2}
    return ChatServer(JudgeServer.model_validate(known | changes), Decoding(top_k=20), first_pause_s=0.01)


def reply(found: ChatServer) -> str:
    async def work() -> str:
        try:
            await found.start()
            return await found.reply(QUESTION)
        finally:
            await found.close()

    return asyncio.run(work())


def test_a_question_is_sent_with_every_field_and_its_constraint(servers: Servers) -> None:
    server = servers()
    assert reply(chat(server, chat_template_kwargs={"enable_thinking": False})) == "4 5"
    (body,) = server.requests
    assert body["messages"] == [{"role": "user", "content": "2+2?"}]
    assert (body["seed"], body["max_tokens"], body["top_k"], body["n"]) == (5, 32, 20, 1)
    assert body["structured_outputs"] == {"choice": ["A", "B"]}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_server_that_is_no_vllm_gets_none_of_vllms_fields(servers: Servers) -> None:
    server = servers()
    reply(chat(server, structured="none"))
    assert not server.requests[0].keys() & {"top_k", "min_p", "structured_outputs", "repetition_penalty"}


def test_what_the_server_declares_is_recorded_as_unproven(servers: Servers) -> None:
    found = chat(servers(), revision="r1")
    reply(found)
    assert found.record["proven"] is False and found.record["revision_declared"] == "r1"
    assert found.record["version"] == "9.9" and found.record["max_model_len"] == 4096


def test_a_try_that_fails_is_repeated_and_counted(servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "503" if number == 0 else None
    found = chat(server)
    assert reply(found) == "4 5" and found.retried == 1


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("500", RequestStuckError, "no usable reply in 2 tries"),
        ("400", RequestFailedError, "status 400: .*as told"),
    ],
)
def test_a_question_without_a_reply_fails_alone(
    servers: Servers, fault: str, error: type[Exception], message: str
) -> None:
    server = servers()
    server.fault = lambda number, body: fault
    with pytest.raises(error, match=message):
        reply(chat(server))


def test_a_model_that_is_not_served_is_refused_at_the_start(servers: Servers) -> None:
    with pytest.raises(ConfigError, match="does not serve 'other'; it serves: tuned"):
        reply(chat(servers(), model="other"))


def test_a_server_that_is_away_names_the_key_to_mend(servers: Servers) -> None:
    server = servers()
    server.die()
    with pytest.raises(EngineError, match=r"start it, or mend judge\.server\.base_url"):
        reply(chat(server))


def test_a_key_that_is_not_set_is_named(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ConfigError, match="the variable NO_SUCH_KEY is not set"):
        chat(servers(), api_key_env="NO_SUCH_KEY")
