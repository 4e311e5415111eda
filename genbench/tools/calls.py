"""The records of function calls: one call, and what a reply was parsed to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_DEEPEST = 100
"""Levels of a value that a record keeps. What is deeper is left out."""
_MOST_BITS = 14_000
"""Bits of an integer that is kept as a number. Python writes none of more than 4,300 digits."""

_TOUCHED = re.compile(
    r"git\s+(?:log|show|reflog|cat-file|rev-list|fsck)\b[^\n]{0,200}?(?:--all|--reflog|-S|\b[0-9a-f]{7,40}\b)"
    r"|\b(?:curl|wget)\s|\bpip3?\s+download\b"
)
"""Commands with which agents have found the solution in the history of a repository or in the network."""
UNNAMED = ""
"""The argument name of a bare name in a call of Java or JavaScript. No function has such a parameter."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function. Every argument has a name."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, Any]:
        """Return the call as JSON, with values that JSON lacks as text."""
        return {"name": self.name, "arguments": plain(self.arguments)}

    def tool_call(self, name: str) -> dict[str, Any]:
        """Return the call as the OpenAI chat API has it, under the id `name`."""
        arguments = json.dumps(plain(self.arguments), ensure_ascii=False)
        return {"id": name, "type": "function", "function": {"name": self.name, "arguments": arguments}}


@dataclass(frozen=True, slots=True)
class Parsed:
    """The calls of a reply in their order.

    `broken` says why something that looks like a call could not be read. It is None if there is no such text.
    A reply with a broken call has no calls: half of an answer is not an answer.
    """

    calls: tuple[Call, ...] = ()
    broken: str | None = None


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can represent it. What JSON lacks becomes text.

    No value fails, because a model chose it: keys of any type, integers of any size, any depth.
    """
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    if depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {_key(key): plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, depth + 1) for inner in value]
    return _text(value)


def _key(key: Any) -> str:
    """Return a key as JSON writes it, or as text."""
    if isinstance(key, str):
        return key
    return json.dumps(plain(key)) if key is None or isinstance(key, bool | int | float) else _text(key)


def _text(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # foreign code, or a long integer in a tuple
        return f"<{type(value).__name__}>"


def depth_of(value: Any, most: int) -> int:
    """Return how many levels of lists and objects a value of JSON has. Counting stops above `most`."""
    level, depth = [value], 0
    while level and depth <= most:
        containers = [item for item in level if isinstance(item, list | dict)]
        level = [
            inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)
        ]
        depth += bool(containers)
        if not containers:
            break
    return depth


def touches_history_or_network(text: str) -> bool:
    """Return whether a reply runs a command with which solutions have been found instead of worked out."""
    return _TOUCHED.search(json.dumps(text)) is not None


class CallError(ValueError):
    """A text is not a call. The message says why."""


def tagged_calls(message: Mapping[str, Any]) -> str:
    """Return the calls of a message of the OpenAI chat API as text with `<tool_call>` tags.

    Verifiers see one text, so calls are written back into it. Arguments that are not JSON stay as they are,
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
