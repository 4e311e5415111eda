"""What an OpenAI-compatible server is sent for one request, and what its reply says: texts, function
calls and scores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.engines.http.server import HttpServer, Transient, plain, whole_number, without_surrogates
from genbench.engines.http.settings import HttpSettings
from genbench.engines.likelihood import Scored, sum_of
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.tools.families import parse
from genbench.types import Continuation, FinishReason, Message, Request


def tagged_calls(message: Mapping[str, Any]) -> str:
    """Return the calls that a server parsed out of a reply, as text with `<tool_call>` tags.

    Verifiers see one text, so calls are written back into it. Arguments that are no JSON stay as they are,
    and the call is then broken.
    """
    found = []
    for item in message.get("tool_calls") or ():
        called = item.get("function") if isinstance(item, dict) else None
        if not isinstance(called, dict):
            continue
        given = called.get("arguments")
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        name = json.dumps(str(called.get("name")), ensure_ascii=False)
        found.append(f'<tool_call>\n{{"name": {name}, "arguments": {arguments or "{}"}}}\n</tool_call>')
    return "\n".join(found)


def chat_messages(request: Request) -> list[dict[str, Any]]:
    """Return the messages of a request as a server reads them.

    If functions are offered, the calls of earlier replies are `tool_calls` again, and each result names the
    call that it answers.
    """
    found: list[dict[str, Any]] = []
    waiting: list[str] = []
    for place, message in enumerate(request.messages):
        if message.role == "tool":
            answered = waiting.pop(0) if waiting else f"call_{place}"
            found.append({"role": "tool", "tool_call_id": answered, "content": message.content})
        elif message.role == "assistant" and request.tools:
            found.append(_reply(message, place))
            waiting = [call["id"] for call in found[-1].get("tool_calls", ())]
        else:
            found.append({"role": message.role, "content": message.content})
    return found


def _reply(message: Message, place: int) -> dict[str, Any]:
    calls = parse(message.content, "hermes").calls if "<tool_call>" in message.content else ()
    if not calls:
        return {"role": message.role, "content": message.content}
    listed = [
        {
            "id": f"call_{place}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for number, call in enumerate(calls)
    ]
    said = message.content.split("<tool_call>", 1)[0].strip()
    return {"role": message.role, "content": said or None, "tool_calls": listed}


_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
"""What servers call the end of a completion. Any other word, such as `abort`, is no whole reply."""

Reply = tuple[str, FinishReason, tuple[int | None, int | None]]
"""Text, finish reason, (prompt tokens, completion tokens)."""


def body(settings: HttpSettings, request: Request) -> dict[str, Any]:
    """Return the request as JSON. A server fills missing fields with the checkpoint's own defaults."""
    decoding = settings.decodings[request.sample.task]
    record: dict[str, Any] = {
        "model": settings.model,
        "n": 1,
        "stream": False,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "presence_penalty": decoding.presence_penalty,
        "frequency_penalty": decoding.frequency_penalty,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "stop": list(decoding.stop),
    }
    if settings.prompts == "token_ids":
        record["prompt"] = list(request.token_ids)
    else:
        record["messages"] = chat_messages(request)
        if request.messages and request.messages[-1].role == "assistant":
            record |= _continuation(settings, request)
        if request.tools:
            record["tools"] = [dict(tool) for tool in request.tools]
    return record | (_vllm_fields(settings, request) if settings.api == "vllm" else {})


def _continuation(settings: HttpSettings, request: Request) -> dict[str, Any]:
    """Return the fields with which a server continues the last message.

    Raises:
        EngineError: the server's interface has none.
    """
    if settings.api != "vllm":
        raise EngineError(
            f"task {request.sample.task} gives the beginning of its answers, and only servers with "
            "engine.api: vllm can continue one; set the task's option answer_prefix: false"
        )
    return {"add_generation_prompt": False, "continue_final_message": True}


def _vllm_fields(settings: HttpSettings, request: Request) -> dict[str, Any]:
    decoding = settings.decodings[request.sample.task]
    stop_ids, ignore_eos = list(decoding.stop_token_ids), decoding.ignore_eos
    if settings.eos_token_id is not None and not ignore_eos:
        # ignore_eos keeps away the further eos ids of a generation_config that the server may have read.
        stop_ids, ignore_eos = list(dict.fromkeys([settings.eos_token_id, *stop_ids])), True
    record: dict[str, Any] = {
        "top_k": decoding.top_k,
        "min_p": decoding.min_p,
        "repetition_penalty": decoding.repetition_penalty,
        "min_tokens": decoding.min_tokens,
        "stop_token_ids": stop_ids,
        "ignore_eos": ignore_eos,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "include_stop_str_in_output": False,
        "add_special_tokens": False,
    }
    if decoding.thinking_token_budget is not None:
        record["thinking_token_budget"] = decoding.thinking_token_budget
    if settings.prompts == "chat" and settings.chat_template_kwargs:
        record["chat_template_kwargs"] = dict(settings.chat_template_kwargs)
    return record


def read_reply(settings: HttpSettings, record: Mapping[str, Any], request: Request) -> Reply:
    """Return text, finish reason and token counts of a reply.

    Raises:
        Transient: the reply is not whole.
        EngineError: the server counts another prompt than was sent.
    """
    choice = choice_of(record)
    finish = choice.get("finish_reason")
    reason = _FINISH.get(finish) if isinstance(finish, str) else None
    text = choice.get("text") if settings.prompts == "token_ids" else _chat_text(settings, choice)
    if not isinstance(text, str):
        raise Transient(f"half a reply: its text is {type(text).__name__}")
    if reason is None:
        shown = repr(plain(finish)) if isinstance(finish, str) else type(finish).__name__
        raise Transient(f"half a reply (finish_reason {shown})")
    usage = record.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    found, drawn = whole_number(usage.get("prompt_tokens")), whole_number(usage.get("completion_tokens"))
    if request.token_ids and found is not None and found != len(request.token_ids):
        raise EngineError(
            f"server {settings.base_urls[0]} counts {found} prompt tokens where {len(request.token_ids)} "
            "were sent: it does not take token ids as they are; set engine.prompts: chat"
        )
    return without_surrogates(text), reason, (found, drawn)


def _chat_text(settings: HttpSettings, choice: Mapping[str, Any]) -> str | None:
    """Return the reply's text, or None if it is no text.

    A trace that the server parsed out of it is put back in front.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    calls = tagged_calls(message)
    if "content" not in message and not _trace(message) and not calls:
        return None
    trace, content = _trace(message), message.get("content")
    if calls and isinstance(content, str | None):
        content = f"{content}\n{calls}" if content else calls
    if not (isinstance(content, str | None) and isinstance(trace, str | None)):
        return None
    if not trace:
        return content or ""
    opened, closed = settings.trace_tags
    return f"{opened}{trace}{closed}{content}" if content is not None else f"{opened}{trace}"


def _trace(message: Mapping[str, Any]) -> Any:
    return message.get("reasoning") or message.get("reasoning_content") or None


def choice_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the only choice of a reply.

    Raises:
        Transient: there is none, or several where one was asked for.
    """
    choices = record.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Transient(f"half a reply: no choices, found the keys {plain(', '.join(record))}")
    if len(choices) > 1:
        raise Transient(f"{len(choices)} choices where one was asked for")
    if not isinstance(choices[0], dict):
        raise Transient(f"half a reply: the choice is {type(choices[0]).__name__}, wanted an object")
    return choices[0]


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
