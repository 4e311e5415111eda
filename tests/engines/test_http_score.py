"""Scores of a server's reply: rows are counted and named, so that shifted positions are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from genbench.engines.http_score import read_scores, score_body
from genbench.engines.http_settings import HttpSettings
from genbench.engines.http_tries import Transient
from genbench.errors import EngineError, RequestFailedError
from genbench.types import Continuation

SETTINGS = HttpSettings(("http://h/v1",), "m", "vllm", "token_ids", None, None, 9.0, 0, 9.0, None, {}, {})
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
    with pytest.raises(Transient, match="is no number"):
        read_scores(SETTINGS, reply(None, row(6), {"7": {"logprob": None}}, row(8)), ITEM)
    with pytest.raises(RequestFailedError, match="is -inf"):
        read_scores(SETTINGS, reply(None, row(6), row(7, -float("inf")), row(8)), ITEM)


def test_only_vllms_api_with_token_ids_can_score() -> None:
    assert SETTINGS.no_scores == ""
    for other in (replace(SETTINGS, api="openai"), replace(SETTINGS, prompts="chat")):
        assert "no log-probabilities by token id" in other.no_scores
