"""Function calls in the chat messages of a server: those of its replies, and those that are sent back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from genbench.tools.families import parse
from genbench.types import Message, Request


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
