"""The other APIs of the gateway: /completions, /responses and Anthropic's /messages.

Each is translated into a request of the chat API and its reply back. So there is one way of drawing a turn,
with one journal, one rule of seeds and one rule of retries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from genbench.agents.gateway.chat import (
    CONTEXT_CODE,
    DECODING,
    REFUSED,
    ChatError,
    ChatReply,
    ChatRequest,
    ContextOverflowError,
    call_ids,
    read_request,
    refuse,
)
from genbench.tools.calls import plain
from genbench.tools.families import said_before_calls

Event = tuple[str, Mapping[str, Any]]
"""Name and content of a part of a stream. An API that names none has "" there."""


class Api(Protocol):
    """What a client of an API sends and reads."""

    end: str
    """What ends a stream; empty if its last event does."""

    def read(self, body: Any, replies: Mapping[str, str]) -> ChatRequest:
        """Return what is asked, see `chat.read_request`."""
        ...

    def body(self, reply: ChatReply, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply. `asked` is the body of the request."""
        ...

    def events(self, reply: ChatReply, wanted: ChatRequest, asked: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the reply as the parts of a stream. The text is drawn whole before the first of them."""
        ...

    def error(self, error: ChatError) -> dict[str, Any]:
        """Return the body of an error."""
        ...


class _OpenAiErrors:
    end = "data: [DONE]\n\n"

    def error(self, error: ChatError) -> dict[str, Any]:
        """Return the body of an error."""
        return error.body


class ChatApi(_OpenAiErrors):
    """`/chat/completions`."""

    def read(self, body: Any, replies: Mapping[str, str]) -> ChatRequest:
        """Return what is asked."""
        return read_request(body, replies)

    def body(self, reply: ChatReply, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply."""
        del asked
        return reply.body

    def events(self, reply: ChatReply, wanted: ChatRequest, asked: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the parts of a stream."""
        del asked
        return (("", chunk) for chunk in reply.chunks(with_usage=wanted.wants_usage))


class CompletionsApi(_OpenAiErrors):
    """`/completions`: the prompt is a text that gets no chat template, and the reply is as it was drawn."""

    _REFUSED: Mapping[str, tuple[Any, ...]] = {
        **{field: REFUSED[field] for field in ("n", "stop", "logit_bias", "best_of", "response_format")},
        "logprobs": (None, False),
        "prompt_logprobs": (None,),
        "echo": (None, False),
        "suffix": (None, ""),
    }

    def read(self, body: Any, replies: Mapping[str, str]) -> ChatRequest:
        """Return what is asked."""
        del replies
        _require_object(body)
        refuse(body, self._REFUSED)
        prompt = body.get("prompt")
        if isinstance(prompt, list) and len(prompt) == 1:
            (prompt,) = prompt
        if not isinstance(prompt, str) or not prompt:
            raise ChatError("'prompt' is not a text; several prompts, and token ids, are not read")
        return ChatRequest(prompt, None, _asked(body), body.get("stream") is True, _wants_usage(body))

    def body(self, reply: ChatReply, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply."""
        del asked
        return self._part(reply) | {"usage": reply.usage}

    def events(self, reply: ChatReply, wanted: ChatRequest, asked: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the parts of a stream."""
        del asked
        yield "", self._part(reply)
        if wanted.wants_usage:
            yield "", {**reply.head("text_completion", "cmpl"), "choices": [], "usage": reply.usage}

    def _part(self, reply: ChatReply) -> dict[str, Any]:
        reason = reply.ended
        ended = "stop" if reason == "tool_calls" else reason
        choice = {"index": 0, "text": reply.completion.text, "logprobs": None, "finish_reason": ended}
        return {**reply.head("text_completion", "cmpl"), "choices": [choice]}


class ResponsesApi(_OpenAiErrors):
    """`/responses`, as Codex asks. Nothing is kept between requests: `input` is the whole conversation."""

    end = ""
    _REFUSED: Mapping[str, tuple[Any, ...]] = {
        "background": (None, False),
        "context_management": (None, []),
        "conversation": (None,),
        "max_tool_calls": (None,),
        "moderation": (None,),
        "previous_response_id": (None,),
        "prompt": (None,),
        "tool_choice": REFUSED["tool_choice"],
        "top_logprobs": (None, 0),
        "truncation": (None, "disabled"),
    }

    def read(self, body: Any, replies: Mapping[str, str]) -> ChatRequest:
        """Return what is asked."""
        _require_object(body)
        refuse(body, self._REFUSED)
        wanted = (body.get("text") or {}).get("format") if isinstance(body.get("text"), dict) else None
        if wanted not in (None, {"type": "text"}):
            raise ChatError(f"'text.format' is {json.dumps(wanted)[:200]}: the gateway forces no format")
        other = [item for item in body.get("include") or () if item != "reasoning.encrypted_content"]
        if other:
            raise ChatError(f"'include' is {json.dumps(other)[:200]}: the gateway has nothing of that kind")
        asked = {"max_tokens": body.get("max_output_tokens")}
        if isinstance(body.get("reasoning"), dict):
            asked["reasoning_effort"] = body["reasoning"].get("effort")
        chat = {
            **{name: body[name] for name in ("temperature", "top_p", "stream") if name in body},
            **{name: value for name, value in asked.items() if value is not None},
            "messages": [*self._system(body), *self._messages(body.get("input"))],
            "tools": [self._tool(place, item) for place, item in enumerate(body.get("tools") or ())],
            "tool_choice": body.get("tool_choice"),
        }
        return read_request(chat, replies)

    def _system(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        told = body.get("instructions")
        return [{"role": "system", "content": told}] if told else []

    def _tool(self, place: int, item: Any) -> dict[str, Any]:
        if not isinstance(item, dict) or item.get("type") != "function":
            kind = item.get("type") if isinstance(item, dict) else item
            raise ChatError(f"tools[{place}] is of type {json.dumps(kind)[:80]}; only 'function' is offered")
        return {"type": "function", "function": {key: item[key] for key in item if key != "type"}}

    def _messages(self, given: Any) -> list[dict[str, Any]]:
        """Return messages of the chat API. Calls belong to the text of the assistant in front of them."""
        if isinstance(given, str) and given:
            return [{"role": "user", "content": given}]
        if not isinstance(given, list) or not given:
            raise ChatError("'input' is missing, or neither a text nor a list of items")
        found: list[dict[str, Any]] = []
        for place, item in enumerate(given):
            kind = item.get("type", "message") if isinstance(item, dict) else None
            if kind == "message":
                found.append({"role": item.get("role"), "content": self._content(place, item.get("content"))})
            elif kind == "function_call":
                if not found or found[-1]["role"] != "assistant":
                    found.append({"role": "assistant", "content": None})
                function = {"name": item.get("name"), "arguments": item.get("arguments")}
                call = {"id": item.get("call_id"), "type": "function", "function": function}
                found[-1].setdefault("tool_calls", []).append(call)
            elif kind == "function_call_output":
                output = self._content(place, item.get("output"))
                found.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
            elif kind != "reasoning":  # whether a trace is read again, the chat template decides
                raise ChatError(f"input[{place}] is of type {json.dumps(kind)[:80]}, which is not read")
        return found

    def _content(self, place: int, content: Any) -> Any:
        if not isinstance(content, list):
            return content
        for part in content:
            if not isinstance(part, dict) or not isinstance(part.get("text"), str):
                kind = part.get("type") if isinstance(part, dict) else part
                raise ChatError(
                    f"input[{place}] has a part of type {json.dumps(kind)[:80]}; only texts are read"
                )
        return content

    def body(self, reply: ChatReply, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply."""
        return self._response(reply, asked, self._items(reply), self._status(reply))

    def _status(self, reply: ChatReply) -> str:
        return "incomplete" if reply.ended in ("length", "content_filter") else "completed"

    def _response(
        self, reply: ChatReply, asked: Mapping[str, Any], items: Sequence[Mapping[str, Any]], status: str
    ) -> dict[str, Any]:
        why = {"length": "max_output_tokens", "content_filter": "content_filter"}
        ended = why.get(reply.ended) if status == "incomplete" else None
        return {
            "id": reply.name("resp"),
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None if ended is None else {"reason": ended},
            "instructions": asked.get("instructions"),
            "metadata": asked.get("metadata") or {},
            "model": reply.model,
            "output": list(items),
            "parallel_tool_calls": True,
            "temperature": None,
            "tool_choice": asked.get("tool_choice") or "auto",
            "tools": asked.get("tools") or [],
            "top_p": None,
            "usage": self._usage(reply) if status != "in_progress" else None,
        }

    def _usage(self, reply: ChatReply) -> dict[str, Any]:
        usage = reply.usage
        return {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": reply.completion.trace_tokens or 0},
            "total_tokens": usage["total_tokens"],
        }

    def _items(self, reply: ChatReply) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if reply.answer.trace:
            content = [{"type": "reasoning_text", "text": reply.answer.trace}]
            found.append({"type": "reasoning", "id": reply.name("rs"), "summary": [], "content": content})
        said = said_before_calls(reply.answer.text) if reply.calls else reply.answer.text
        if said or not reply.calls:
            found.append(
                {
                    "type": "message",
                    "id": reply.name("msg"),
                    "role": "assistant",
                    "status": self._status(reply),
                    "content": [{"type": "output_text", "text": said, "annotations": [], "logprobs": []}],
                }
            )
        names = call_ids(reply.completion.turn, reply.calls)
        for name, call in zip(names, reply.calls, strict=True):
            item = {"type": "function_call", "id": f"fc_{name}", "call_id": name, "status": "completed"}
            found.append(item | call.tool_call(name)["function"])
        return found

    def events(self, reply: ChatReply, wanted: ChatRequest, asked: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the parts of a stream."""
        del wanted
        for number, (kind, fields) in enumerate(self._parts(reply, asked)):
            yield kind, {"type": kind, "sequence_number": number, **fields}

    def _parts(self, reply: ChatReply, asked: Mapping[str, Any]) -> Iterator[Event]:
        for kind in ("response.created", "response.in_progress"):
            yield kind, {"response": self._response(reply, asked, (), "in_progress")}
        for place, item in enumerate(self._items(reply)):
            empty: dict[str, Any] = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
            begun = item | empty | {"status": "in_progress"}
            yield "response.output_item.added", {"output_index": place, "item": begun}
            yield from self._deltas(item, {"output_index": place, "item_id": item["id"]})
            yield "response.output_item.done", {"output_index": place, "item": item}
        status = self._status(reply)
        yield f"response.{status}", {"response": self.body(reply, asked)}

    def _deltas(self, item: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Event]:
        if item["type"] == "function_call":
            kind, written = "response.function_call_arguments", item["arguments"]
            yield f"{kind}.delta", {**at, "delta": written}
            yield f"{kind}.done", {**at, "arguments": written, "name": item["name"]}
            return
        (part,) = item["content"]
        at = {**at, "content_index": 0}
        kind = f"response.{part['type']}"
        more: dict[str, Any] = {"logprobs": []} if item["type"] == "message" else {}
        yield "response.content_part.added", {**at, "part": part | {"text": ""}}
        yield f"{kind}.delta", {**at, "delta": part["text"], **more}
        yield f"{kind}.done", {**at, "text": part["text"], **more}
        yield "response.content_part.done", {**at, "part": part}


class MessagesApi:
    """Anthropic's `/messages`, as Claude Code asks."""

    end = ""
    _REFUSED: Mapping[str, tuple[Any, ...]] = {
        "stop_sequences": (None, []),
        "container": (None,),
        "context_management": (None, {}),
        "mcp_servers": (None, []),
        "tool_choice": (None, {"type": "auto"}, {"type": "none"}),
    }
    _ERRORS: Mapping[int, str] = {
        400: "invalid_request_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        503: "overloaded_error",
    }
    _STOPS: Mapping[str, str] = {
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "refusal",
    }

    def read(self, body: Any, replies: Mapping[str, str]) -> ChatRequest:
        """Return what is asked."""
        _require_object(body)
        choice = body.get("tool_choice")
        kind = {"type": choice.get("type")} if isinstance(choice, dict) else choice
        refuse({**body, "tool_choice": kind}, self._REFUSED)
        output = body.get("output_config") or {}
        if not isinstance(output, dict) or output.get("format") is not None:
            raise ChatError(f"'output_config' is {json.dumps(output)[:200]}: the gateway forces no format")
        given = body.get("messages")
        if not isinstance(given, list) or not given:
            raise ChatError("'messages' is missing, or no list with messages")
        messages = [part for place, item in enumerate(given) for part in self._messages(place, item)]
        chat = {
            **{name: body[name] for name in (*DECODING, "stream") if name in body},
            "messages": [*self._system(body.get("system")), *messages],
            "tools": [self._tool(place, item) for place, item in enumerate(body.get("tools") or ())],
            "tool_choice": "none" if kind == {"type": "none"} else "auto",
        }
        if output.get("effort") is not None:
            chat["reasoning_effort"] = output["effort"]
        return read_request(chat, replies)

    def _system(self, given: Any) -> list[dict[str, Any]]:
        return [{"role": "system", "content": self._texts("system", given)}] if given else []

    def _tool(self, place: int, item: Any) -> dict[str, Any]:
        if not isinstance(item, dict) or item.get("type") not in (None, "custom"):
            kind = item.get("type") if isinstance(item, dict) else item
            raise ChatError(f"tools[{place}] is of type {json.dumps(kind)[:80]}; only 'custom' is offered")
        function = {"name": item.get("name"), "description": item.get("description") or ""}
        return {"type": "function", "function": function | {"parameters": item.get("input_schema") or {}}}

    def _messages(self, place: int, item: Any) -> Iterator[dict[str, Any]]:
        """Yield messages of the chat API. Results of tools are messages of their own there."""
        role, where = item.get("role") if isinstance(item, dict) else None, f"messages[{place}]"
        if role not in ("user", "assistant", "system"):
            raise ChatError(f"{where} has no role of user, assistant")
        content = item.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise ChatError(f"{where} has a content that is neither a text nor a list of blocks")
        texts: list[Mapping[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for block in blocks:
            kind = block.get("type")
            if kind == "tool_result" and role == "user":
                result = self._texts(where, block.get("content") or "")
                yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": result}
            elif kind == "tool_use" and role == "assistant":
                function = {"name": block.get("name"), "arguments": json.dumps(block.get("input") or {})}
                calls.append({"id": block.get("id"), "type": "function", "function": function})
            elif kind == "text":
                texts.append(block)
            elif kind not in ("thinking", "redacted_thinking"):  # the chat template decides about traces
                raise ChatError(f"{where} has a block of type {json.dumps(kind)[:80]}, which is not read")
        if texts or calls or role == "assistant":
            message = {"role": role, "content": self._texts(where, texts)}
            yield message | ({"tool_calls": calls} if calls else {})

    def _texts(self, where: str, given: Any) -> str:
        if isinstance(given, str):
            return given
        if isinstance(given, list) and all(isinstance(block, dict) for block in given):
            other = [block for block in given if not isinstance(block.get("text"), str)]
            if not other:
                return "\n".join(block["text"] for block in given)
            raise ChatError(
                f"{where} has a block of type {json.dumps(other[0].get('type'))[:80]}; only texts are read"
            )
        raise ChatError(f"{where} has a content that is neither a text nor a list of blocks")

    def body(self, reply: ChatReply, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply."""
        del asked
        return self._message(reply, self._blocks(reply), self._stop(reply), reply.usage["completion_tokens"])

    def _stop(self, reply: ChatReply) -> str:
        return self._STOPS.get(reply.finish_reason, "end_turn")

    def _message(
        self, reply: ChatReply, blocks: Sequence[Mapping[str, Any]], stop: str | None, new_tokens: int
    ) -> dict[str, Any]:
        return {
            "id": reply.name("msg"),
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": list(blocks),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": reply.usage["prompt_tokens"], "output_tokens": new_tokens},
        }

    def _blocks(self, reply: ChatReply) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if reply.answer.trace:
            found.append({"type": "thinking", "thinking": reply.answer.trace, "signature": ""})
        said = said_before_calls(reply.answer.text) if reply.calls else reply.answer.text
        if said or not reply.calls:
            found.append({"type": "text", "text": said})
        names = call_ids(reply.completion.turn, reply.calls)
        for name, call in zip(names, reply.calls, strict=True):
            found.append({"type": "tool_use", "id": name, "name": call.name, "input": plain(call.arguments)})
        return found

    def events(self, reply: ChatReply, wanted: ChatRequest, asked: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the parts of a stream."""
        del wanted, asked
        for kind, fields in self._parts(reply):
            yield kind, {"type": kind, **fields}

    def _parts(self, reply: ChatReply) -> Iterator[Event]:
        yield "message_start", {"message": self._message(reply, (), None, 0)}
        for place, block in enumerate(self._blocks(reply)):
            if block["type"] == "tool_use":
                begun: dict[str, Any] = {"input": {}}
                written = json.dumps(block["input"], ensure_ascii=False)
                delta = {"type": "input_json_delta", "partial_json": written}
            else:
                field = str(block["type"])
                begun = {field: ""}
                delta = {"type": f"{field}_delta", field: block[field]}
            yield "content_block_start", {"index": place, "content_block": block | begun}
            yield "content_block_delta", {"index": place, "delta": delta}
            yield "content_block_stop", {"index": place}
        ended = {"stop_reason": self._stop(reply), "stop_sequence": None}
        yield "message_delta", {"delta": ended, "usage": {"output_tokens": reply.usage["completion_tokens"]}}
        yield "message_stop", {}

    def error(self, error: ChatError) -> dict[str, Any]:
        """Return the body of an error. Claude Code knows a full context by "prompt is too long"."""
        said = str(error)
        if isinstance(error, ContextOverflowError) and error.tokens is not None:
            said = f"prompt is too long: {error.tokens} tokens > {error.context} maximum"
        elif error.code == CONTEXT_CODE:
            said = f"prompt is too long: {said}"
        kind = self._ERRORS.get(error.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": said}}


APIS: Mapping[str, Api] = {
    "/chat/completions": ChatApi(),
    "/completions": CompletionsApi(),
    "/responses": ResponsesApi(),
    "/messages": MessagesApi(),
}
"""By route. Each is without state."""


def _require_object(body: Any) -> None:
    if not isinstance(body, dict):
        raise ChatError("the body is not a JSON object")


def _asked(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in DECODING if body.get(name) is not None}


def _wants_usage(body: Mapping[str, Any]) -> bool:
    options = body.get("stream_options") or {}
    return isinstance(options, dict) and options.get("include_usage") is True
