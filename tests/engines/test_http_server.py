"""One server: what it states of itself, whether it is there, and replies that are not what was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from genbench.engines.http.server import HttpServer, ServerAddress, Transient
from genbench.errors import ConfigError

from .conftest import Server

T = TypeVar("T")
Servers = Callable[[], Server]


def asked(url: str, work: Callable[[HttpServer], Awaitable[T]], model: str = "tuned") -> T:
    """Open a client of a server, do the work with it, and close it."""

    async def run() -> T:
        server = HttpServer(ServerAddress("server", "engine.base_urls", url, model, None, 1, 5.0, 0))
        server.open()
        try:
            return await work(server)
        finally:
            await server.close()

    return asyncio.run(run())


def test_a_server_states_root_context_and_version(servers: Servers) -> None:
    told = asked(servers().url, HttpServer.served)
    assert told == {"root": "/weights/tuned", "max_model_len": 4096, "version": "9.9"}


def test_values_of_other_types_are_not_taken_over(servers: Servers) -> None:
    server = servers()
    server.models = [{"id": "tuned", "root": 5, "max_model_len": float("nan"), "owned_by": ["x"]}]
    assert asked(server.url, HttpServer.served) == {"version": "9.9"}


def test_another_models_server_is_refused(servers: Servers) -> None:
    with pytest.raises(ConfigError, match="does not serve 'other'; it serves: tuned"):
        asked(servers().url, HttpServer.served, model="other")


def test_a_server_that_is_gone_does_not_answer(servers: Servers) -> None:
    server = servers()
    assert asked(server.url, HttpServer.answers)
    server.die()
    assert not asked(server.url, HttpServer.answers)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("deep", "nested too deeply"),
        ("false encoding", "DecodingError"),
        ("no model", "another model answered"),
    ],
)
def test_an_odd_reply_is_tried_again(servers: Servers, fault: str, why: str) -> None:
    server = servers()
    server.fault = lambda number, body: fault
    sent: dict[str, Any] = {"seed": 1, "prompt": [1]}
    with pytest.raises(Transient, match=why):
        asked(server.url, lambda client: client.once("POST", "completions", sent))
