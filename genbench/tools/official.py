"""The official decoders of the Berkeley Function-Calling Leaderboard, so far as texts are concerned.

The rules are those of gorilla at commit faa6bdc6 (2025-07-09, the last state of v3). What a text decodes to
is the same, except that no part of a model's text is evaluated.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, get_args

from genbench.tools.calls import Call, CallError
from genbench.tools.code_calls import code_calls
from genbench.tools.enclosed import enclosed
from genbench.tools.python_calls import python_calls

Language = Literal["python", "java", "javascript"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_TAG = re.compile(r"<tool_call>\n")


def official_prompt_calls(text: str, language: Language = "python") -> tuple[Call, ...]:
    """Return the calls of an answer in prompt form.

    Raises:
        CallError: the text does not decode.
    """
    found = text.strip("`\n ")
    found = found if found.startswith("[") else f"[{found}"
    found = found if found.endswith("]") else f"{found}]"
    if language == "python":
        return python_calls(found.strip("[]'"), official=True)
    return code_calls(found[1:-1], language, official=True)


def official_tagged_calls(text: str) -> tuple[Call, ...]:
    """Return the calls of an answer with `<tool_call>` tags, as the handlers of Qwen's models read it.

    The line breaks inside the tags are required. JSON that does not parse is passed over.

    Raises:
        CallError: a call is no object with a name and arguments.
    """
    found: list[Any] = []
    for _, body in enclosed(text, _TAG, "\n</tool_call>"):
        try:
            found.append(json.loads(body))
        except (ValueError, RecursionError):
            continue
    calls = []
    for item in found:
        if not isinstance(item, dict) or not isinstance(item.get("arguments"), dict) or "name" not in item:
            raise CallError("a call is no object with 'name' and 'arguments'")
        calls.append(Call(str(item["name"]), item["arguments"]))
    return tuple(calls)
