"""Functions in prompts: the variable of a chat template that takes them, and results for other templates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.types import Message

_TOOL_VARIABLES = ("xml_tools", "tools")
"""Variables under which chat templates take tools. SmolLM3's takes `xml_tools`."""


def tool_variable(template: str | None) -> str | None:
    """Return the variable under which the chat template takes tools, or None if it takes none."""
    words = set(re.findall(r"[A-Za-z_]\w*", template or ""))
    return next((name for name in _TOOL_VARIABLES if name in words), None)


def template_tools(template: str | None, schemas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the argument of the chat template that shows the functions. Empty if there are none."""
    variable = tool_variable(template) if schemas else None
    if variable is None:
        return {}
    # Templates with `xml_tools` show each function itself, those with `tools` unpack `function`.
    return {variable: [schema["function"] if variable == "xml_tools" else schema for schema in schemas]}


def without_tool_roles(messages: Sequence[Message]) -> list[Message]:
    """Return messages with each run of results as one message of the user, for models without tool roles."""
    found: list[Message] = []
    results: list[dict[str, str]] = []
    for message in [*messages, None]:
        if message is not None and message.role == "tool":
            results.append({"role": "tool", "name": message.name, "content": message.content})
            continue
        if results:
            found.append(Message("user", json.dumps(results, ensure_ascii=False)))
            results = []
        if message is not None:
            found.append(message)
    return found
