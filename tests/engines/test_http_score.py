"""Scores of a server's reply: rows are counted and named, so that shifted positions are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.http.engine import read_scores, score_body
from genbench.engines.http.kind import HttpConfig, HttpKind, HttpSettings
from genbench.engines.http.server import Transient
from genbench.engines.kind import ModelSource
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.suite.config import Decoding, ModelConfig
from genbench.types import Continuation

from .conftest import Server

SETTINGS = HttpSettings(HttpConfig(), ("http://h/v1",), "m", {}, {})
ITEM = Continuation(0, (5, 6), (7, 8))


def row(token: int, logprob: float = -1.0, rank: int = 1) -> dict[str, Any]:
    return {str(token): {"logprob": logprob, "rank": rank, "decoded_token": "x"}}


def reply(*rows: Any) -> dict[str, Any]:
    return {"choices": [{"text": "", "prompt_logprobs": list(rows)}]}


def test_the_body_has_token_ids_and_asks_for_the_rows_of_the_prompt() -> None:
    sent = score_body(SETTINGS, ITEM)
    assert (sent["prompt"], sent["prompt_logprobs"], sent["max_tokens"]) == ([5, 6, 7, 8], 0, 1)


def test_the_rows_of_the_continuation_are_added() -> None:
    found = read_scores(SETTINGS, reply(None, row(6), row(7, -0.5), row(8, -2.0, 3)), ITEM)
    assert (found.logprob, found.tokens, found.greedy) == (-2.5, 2, False)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((None, row(7), row(8), row(9)), "returns shifted positions: a row has the tokens 7, wanted 6"),
        ((None, {" a": {"logprob": -1.0, "rank": 1}}, row(7), row(8)), "names the tokens .* by text"),
        ((None, row(7), row(8)), "gives 3 rows of log-probabilities for 4 tokens"),
    ],
)
def test_shifted_positions_end_the_run(rows: tuple[Any, ...], words: str) -> None:
    with pytest.raises(EngineError, match=words):
        read_scores(SETTINGS, reply(*rows), ITEM)


def test_a_server_without_these_log_probabilities_ends_the_run() -> None:
    with pytest.raises(EngineError, match="gives no prompt_logprobs"):
        read_scores(SETTINGS, {"choices": [{"text": ""}]}, ITEM)


def test_half_a_row_is_asked_again_and_a_wrong_number_is_refused() -> None:
    with pytest.raises(Transient, match="is not a number"):
        read_scores(SETTINGS, reply(None, row(6), {"7": {"logprob": None}}, row(8)), ITEM)
    with pytest.raises(RequestFailedError, match="is -inf"):
        read_scores(SETTINGS, reply(None, row(6), row(7, -float("inf")), row(8)), ITEM)


def test_only_vllms_api_with_token_ids_can_score() -> None:
    assert SETTINGS.no_scores == ""
    for config in (HttpConfig(api="openai"), HttpConfig(prompts="chat")):
        other = replace(SETTINGS, config=config)
        assert "no log-probabilities by token id" in other.no_scores


def find(server: Server, fault: str | None, *, scores: bool = True) -> None:
    """Find a model at a server, as `genbench check` and every run do first."""
    server.fault = lambda number, body: fault
    config = HttpConfig(base_urls=(server.url,), model="tuned", timeout_s=2)
    model = ModelConfig(path="shipped:checkpoints/tiny-tuned")
    HttpKind(config).find(ModelSource("m", model, Path(), {"t": Decoding(max_tokens=1)}, {}, scores))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rows of the next token", "returns shifted positions: a row has the tokens 7, wanted 6"),
        ("a row too few", "gives 3 rows of log-probabilities for 4 tokens"),
        ("rows by text", "names the tokens of its log-probabilities by text"),
        ("filtered", "gives no prompt_logprobs"),
        ("400", "cannot score given texts: status 400.*as told"),
    ],
)
def test_a_server_that_cannot_score_is_refused_before_a_run(
    servers: Callable[[], Server], fault: str | None, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        find(servers(), fault)


def test_a_server_that_scores_or_is_busy_is_accepted_and_others_are_not_asked(
    servers: Callable[[], Server],
) -> None:
    server = servers()
    for fault in ("scored", "429"):
        find(server, fault)
    find(server, None, scores=False)
    assert [sent["prompt"] for sent in server.requests] == [[5, 6, 7, 8]] * 2
