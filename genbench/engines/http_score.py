"""Scoring of given continuations by a vLLM server: what it is sent, and how its positions are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.engines.http_messages import choice_of
from genbench.engines.http_server import HttpServer
from genbench.engines.http_settings import HttpSettings
from genbench.engines.http_tries import Transient
from genbench.engines.scored import Scored, sum_of
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.types import Continuation

_PROBE = Continuation(0, (5, 6), (7, 8))
"""Tokens that every vocabulary has. They differ, so that rows that are shifted are found."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One token of a reply: its log-probability and its rank, from 1."""

    logprob: float
    rank: int


def score_body(settings: HttpSettings, item: Continuation) -> dict[str, Any]:
    """Return the request for one continuation as JSON: its token ids, and one token that is drawn."""
    return {
        "model": settings.model,
        "prompt": [*item.context, *item.token_ids],
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 0,
        "add_special_tokens": False,
        "n": 1,
        "stream": False,
    }


async def check_scores(server: HttpServer, settings: HttpSettings, limit_s: float) -> None:
    """Let a server score a few tokens before a run depends on it. A server that is busy is not refused.

    Raises:
        ConfigError: it refuses such a request, or its reply cannot be indexed safely.
    """
    try:
        record = await server.once("POST", "completions", score_body(settings, _PROBE), limit_s)
        read_scores(settings, record or {}, _PROBE)
    except Transient:
        return
    except RequestFailedError as error:
        raise ConfigError(f"{server.address} cannot score given texts: {error}") from None
    except EngineError as error:
        raise ConfigError(str(error)) from None


def read_scores(settings: HttpSettings, record: Mapping[str, Any], item: Continuation) -> Scored:
    """Return the score of a continuation from the reply of a server.

    Every row names the token id that it is about. So positions that are shifted are found.

    Raises:
        Transient: the reply is not whole.
        EngineError: the server gives no log-probabilities of prompts, or shifted ones.
        RequestFailedError: a log-probability is no finite number.
    """
    rows = choice_of(record).get("prompt_logprobs")
    server = f"server {settings.base_urls[0]}"
    if not isinstance(rows, list):
        raise EngineError(
            f"{server} gives no prompt_logprobs: it cannot score given texts; use a vLLM server of version "
            "0.8 or later, or engine.kind vllm"
        )
    ids = (*item.context, *item.token_ids)
    if len(rows) != len(ids):
        raise EngineError(
            f"{server} gives {len(rows)} rows of log-probabilities for {len(ids)} tokens, so their positions "
            "are shifted; use engine.kind vllm"
        )
    own = [_row(settings, row, token) for row, token in zip(rows, ids, strict=True)][len(item.context) :]
    return sum_of(item.token_ids, own, f"of {server}")


def _row(settings: HttpSettings, row: Any, token: int) -> dict[int, Entry]:
    """Return the row of a token. The first token of a prompt has none.

    Raises:
        EngineError: the row is about another token.
    """
    if row is None:
        return {}
    if not isinstance(row, dict):
        raise Transient(f"half a reply: a row of log-probabilities is {type(row).__name__}")
    found = row.get(str(token))
    if found is None and not any(key.isdecimal() for key in row):
        raise EngineError(
            f"server {settings.base_urls[0]} names the tokens of its log-probabilities by text "
            f"({', '.join(map(repr, row)):.60}), so their positions cannot be checked; use engine.kind vllm"
        )
    if found is None:
        raise EngineError(
            f"server {settings.base_urls[0]} returns shifted positions: a row has the tokens "
            f"{', '.join(map(str, row)):.60}, wanted {token}; use engine.kind vllm"
        )
    return {token: Entry(*_numbers(found))}


def _numbers(found: Any) -> tuple[float, int]:
    logprob = found.get("logprob") if isinstance(found, dict) else None
    rank = found.get("rank") if isinstance(found, dict) else None
    numbers: Sequence[Any] = (logprob, rank)
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise Transient("half a reply: a log-probability or its rank is no number")
    return float(logprob), int(rank)  # type: ignore[arg-type]
