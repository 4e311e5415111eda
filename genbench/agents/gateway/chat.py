"""The words of the OpenAI chat API: what a harness asks for, and the reply that it gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.tools.calls import Call, tagged_calls
from genbench.tools.families import said_before_calls
from genbench.types import Answer, Completion, Message, ToolOffer

DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "reasoning_effort",
    "thinking",
)
"""Fields that the contract of the run decides. What a harness asks for is counted and not used."""
REFUSED: Mapping[str, tuple[Any, ...]] = {
    "n": (None, 1),
    "stop": (None, [], ""),
    "response_format": (None, {"type": "text"}),
    "tool_choice": (None, "auto", "none"),
    "logit_bias": (None, {}),
    "logprobs": (None, False),
    "top_logprobs": (None, 0),
    "functions": (None, []),
    "best_of": (None, 1),
    "guided_json": (None,),
    "guided_regex": (None,),
    "guided_choice": (None,),
    "structured_outputs": (None,),
    "chat_template": (None,),
    "chat_template_kwargs": (None, {}),
    "add_generation_prompt": (None, True),
    "continue_final_message": (None, False),
}
"""Fields that change a text in a way that is not offered, with the values that ask for nothing."""
CONTEXT_CODE = "context_length_exceeded"
"""The code of an error by which clients know that a prompt fills the context."""
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


class ChatError(Exception):
    """A request that is answered with an error, in the words that clients of the API understand."""

    def __init__(self, message: str, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code

    @property
    def body(self) -> dict[str, Any]:
        """Return the JSON of the reply."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": None, "code": self.code}}


class ContextOverflowError(ChatError):
    """A prompt that fills the context, in the words that clients look for.

    Args:
        context, tokens: of the model and of the prompt, None if unknown.
    """

    def __init__(self, context: int | None, tokens: int | None) -> None:
        has = "" if tokens is None else f" However, your messages have {tokens} tokens."
        size = "of the model" if context is None else str(context)
        super().__init__(
            f"This model's maximum context length is {size} tokens.{has} Please reduce the length of the "
            "messages.",
            code=CONTEXT_CODE,
        )
        self.context, self.tokens = context, tokens


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request of a harness.

    Args:
        messages: what it sends, or a prompt as text, which gets no chat template.
        asked: the fields of the decoding that it wishes, which are not followed.
    """

    messages: tuple[Message, ...] | str
    offer: ToolOffer | None
    asked: Mapping[str, Any]
    stream: bool
    wants_usage: bool

    @property
    def assistant_turns(self) -> int:
        """Return how many replies of the model the prompt has. In a prompt as text they are not seen."""
        if isinstance(self.messages, str):
            return 0
        return sum(message.role == "assistant" for message in self.messages)


def refuse(body: Mapping[str, Any], refused: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse fields that ask for something that is not offered.

    Args:
        refused: by field, the values that ask for nothing.

    Raises:
        ChatError: names the field and its value.
    """
    for field, idle in refused.items():
        if field in body and body[field] not in idle:
            raise ChatError(
                f"'{field}' is {json.dumps(body[field])[:200]}: the gateway draws every text under the "
                "decoding of its run and does not offer this"
            )


def read_request(body: Any, replies: Mapping[str, str]) -> ChatRequest:
    """Return what a harness asks for.

    Args:
        body: the JSON of the request.
        replies: the texts that the model wrote in this rollout, by the ids of their calls. A reply that comes
            back with such an id is the text as it was drawn.

    Raises:
        ChatError: a message or a field is wrong, or asks for something that is not offered.
    """
    if not isinstance(body, dict):
        raise ChatError("the body is not a JSON object")
    refuse(body, REFUSED)
    given = body.get("messages")
    if not isinstance(given, list) or not given:
        raise ChatError("'messages' is missing, or no list with messages")
    names: dict[str, str] = {}
    messages = tuple(_message(place, item, replies, names) for place, item in enumerate(given))
    options = body.get("stream_options") or {}
    return ChatRequest(
        messages,
        _offer(body),
        {name: body[name] for name in DECODING if body.get(name) is not None},
        body.get("stream") is True,
        isinstance(options, dict) and options.get("include_usage") is True,
    )


def _offer(body: Mapping[str, Any]) -> ToolOffer | None:
    tools = body.get("tools") or []
    if body.get("tool_choice") == "none" or not tools:
        return None
    documents = []
    for item in tools:
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ChatError("'tools' has an entry that is no {type: function, function: {name, …}}")
        documents.append(function)
    return ToolOffer(tuple(documents), are_schemas=True)


def _message(place: int, item: Any, replies: Mapping[str, str], names: dict[str, str]) -> Message:
    """Return a message. `names` gets the function of each call, for the results that follow."""
    role = _ROLES.get(str(item.get("role"))) if isinstance(item, dict) else None
    if role is None:
        raise ChatError(f"messages[{place}] has no role of {', '.join(_ROLES)}")
    content = _content(place, item.get("content"))
    if role == "tool":
        return Message("tool", content, str(item.get("name") or names.get(str(item.get("tool_call_id")), "")))
    if role != "assistant":
        return Message(role, content)  # type: ignore[arg-type]
    calls = [call for call in item.get("tool_calls") or () if isinstance(call, dict)]
    for call in calls:
        names[str(call.get("id"))] = str((call.get("function") or {}).get("name") or "")
    drawn = next((replies[str(call.get("id"))] for call in calls if str(call.get("id")) in replies), None)
    if drawn is not None:
        return Message("assistant", drawn)
    # A call that the model did not write in this rollout: an example of the harness.
    return Message("assistant", "\n".join(part for part in (content, tagged_calls(item)) if part))


def _content(place: int, content: Any) -> str:
    """Return a content as one text. It may be a list of texts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        other = [part for part in content if not isinstance(part.get("text"), str)]
        if not other:
            return "\n".join(part["text"] for part in content)
        raise ChatError(f"messages[{place}] has a part of type '{other[0].get('type')}'; only texts are read")
    raise ChatError(f"messages[{place}] has a content that is neither a text nor a list of texts")


def call_ids(turn: int, calls: Sequence[Call]) -> list[str]:
    """Return the ids of the calls of a reply. They follow from its place in the rollout."""
    return [f"call_{turn}_{number}" for number in range(len(calls))]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A completion as a harness gets it."""

    completion: Completion
    answer: Answer
    calls: tuple[Call, ...]
    model: str
    version: str
    """The identity of the weights."""

    @property
    def ended(self) -> str:
        """Return why the completion ended, in the words of the API. A loop that was ended reached a limit."""
        return "length" if self.completion.finish_reason == "loop" else self.completion.finish_reason

    @property
    def finish_reason(self) -> str:
        """Return why the reply ended: `tool_calls`, `length`, `content_filter` or `stop`."""
        reason = self.ended
        return "tool_calls" if self.calls and reason in ("stop", "tool_calls") else reason

    @property
    def usage(self) -> dict[str, Any]:
        """Return the counts of tokens."""
        prompt, new = self.completion.prompt_tokens or 0, self.completion.completion_tokens or 0
        return {"prompt_tokens": prompt, "completion_tokens": new, "total_tokens": prompt + new}

    @property
    def message(self) -> dict[str, Any]:
        """Return the message of the assistant. The trace is under both names that clients read."""
        found: dict[str, Any] = {"role": "assistant", "content": self.answer.text}
        if self.answer.trace:
            found |= {"reasoning": self.answer.trace, "reasoning_content": self.answer.trace}
        if self.calls:
            found["content"] = said_before_calls(self.answer.text) or None
            names = call_ids(self.completion.turn, self.calls)
            found["tool_calls"] = [call.tool_call(name) for name, call in zip(names, self.calls, strict=True)]
        return found

    def name(self, prefix: str) -> str:
        """Return an id of the reply, which follows from its place in the run."""
        sample = self.completion.sample
        return f"{prefix}-{sample.problem_id}-{sample.sample_index}-{self.completion.turn}"

    def head(self, kind: str, prefix: str = "chatcmpl") -> dict[str, Any]:
        """Return the fields that the replies of OpenAI's APIs begin with."""
        return {
            "id": self.name(prefix),
            "object": kind,
            "created": 0,
            "model": self.model,
            "system_fingerprint": self.version,
        }

    @property
    def body(self) -> dict[str, Any]:
        """Return the whole reply as JSON."""
        choice = {"index": 0, "message": self.message, "finish_reason": self.finish_reason, "logprobs": None}
        return {**self.head("chat.completion"), "choices": [choice], "usage": self.usage}

    def chunks(self, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """Yield the reply as the parts of a stream. The text is drawn whole before the first of them."""
        head = self.head("chat.completion.chunk")
        delta = self.message
        calls = [{"index": place, **call} for place, call in enumerate(delta.pop("tool_calls", ()))]
        for part in (delta, {"tool_calls": calls} if calls else None):
            if part is not None:
                yield {**head, "choices": [{"index": 0, "delta": part, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": self.finish_reason}]}
        if with_usage:
            yield {**head, "choices": [], "usage": self.usage}
