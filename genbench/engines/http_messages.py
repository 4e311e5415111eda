"""What an OpenAI-compatible server is sent for one request, and what its reply says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.engines.http_body import plain, whole_number, without_surrogates
from genbench.engines.http_settings import HttpSettings
from genbench.engines.http_tools import chat_messages, tagged_calls
from genbench.engines.http_tries import Transient
from genbench.errors import EngineError
from genbench.types import FinishReason, Request

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
