"""Runs whose server sends what no correct server sends: bounded, and one clear status or message."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from genbench.errors import ConfigError, EngineError

from .conftest import ODD, Drawn, Server

Servers = Callable[[], Server]
UNCOUNTED = {"text tokens", "no number of tokens", "no usage"}
KEPT = UNCOUNTED | {"filtered", "tool call"}
"""Replies that are whole. The others are asked for again."""


@pytest.mark.slow
def test_no_odd_reply_ends_a_run_or_enters_its_files(drawn: Drawn, servers: Servers) -> None:
    server, asked = servers(), Counter[int]()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        problem = int(body["messages"][-1]["content"].partition("(")[2].partition(")")[0])
        asked[body["seed"]] += 1
        return list(ODD)[problem] if asked[body["seed"]] == 1 else None

    server.fault = fault
    drawn.write(server, n=len(ODD), retries=3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = drawn.run()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10  # KiB
    drawn.assert_whole(len(ODD))
    assert report.failures == []
    found = drawn.completions()
    ends = Counter(record["finish_reason"] for record in found.values())
    assert ends == {"stop": 2 * len(ODD) - 4, "content_filter": 2, "tool_calls": 2}
    for number, name in enumerate(ODD):
        for record in (found[f"q{number}", 0], found[f"q{number}", 1]):
            counts = record["prompt_tokens"], record["completion_tokens"]
            assert counts == ((None, None) if name in UNCOUNTED else (0, 3)), name
    assert sum(asked.values()) == 2 * (2 * len(ODD) - len(KEPT))


@pytest.mark.parametrize("name", ["deep", "large", "two choices"])
@pytest.mark.slow
def test_a_server_that_sends_nothing_else_ends_the_run_with_one_message(
    drawn: Drawn, servers: Servers, name: str
) -> None:
    server = servers()
    server.fault = lambda number, body: name
    drawn.write(server, retries=0)
    said = {"deep": "nested too deeply", "large": "more than 1 MiB", "two choices": "2 choices where one"}
    with pytest.raises(EngineError, match=said[name]):
        drawn.run()
    assert drawn.completions() == {}


def test_a_model_that_a_server_does_not_have_costs_no_retries(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.models = []
    server.fault = lambda number, body: "404"
    drawn.write(server)
    with pytest.raises(EngineError, match=r"refuses every request: status 404: .*lists no models"):
        drawn.run()
    assert len(server.requests) <= 3 + 4


def test_a_model_that_a_server_no_longer_lists_is_told_at_once(drawn: Drawn, servers: Servers) -> None:
    server = servers()

    def fault(number: int, body: dict[str, Any]) -> str:
        server.models = [{"id": "another"}]
        return "404"

    server.fault = fault
    drawn.write(server)
    with pytest.raises(ConfigError, match="does not serve 'tuned'; it serves: another"):
        drawn.run()


def test_what_a_server_states_of_its_model_is_checked(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.models = [{"id": "tuned", "root": ["x"], "max_model_len": "4096", "owned_by": 7}]
    drawn.write(server, n=1)
    drawn.run()
    drawn.assert_whole(1)
