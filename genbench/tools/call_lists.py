"""Lists of calls in a text: the official decoders of BFCL, and the last list in a longer text.

The official rules are those of gorilla at commit faa6bdc6 (2025-07-09, the last state of v3). What a text
decodes to is the same, except that no part of a model's text is evaluated.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any, Literal, get_args

from genbench.tools.calls import Call, CallError
from genbench.tools.code_calls import code_calls
from genbench.tools.python_calls import python_calls

_FENCE = "```"
Language = Literal["python", "java", "javascript"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_TAG = re.compile(r"<tool_call>\n")
_LONGEST = 400_000
_MOST_ENDS = 50
_MOST_LISTS = 20
_MOST_CHARACTERS = 2_000_000
"""Characters that are parsed for one text, over all its lists and ends."""
CALL_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
"""The beginning of a list of calls: `[get_weather(`."""


def without_fence(body: str) -> tuple[str, str]:
    """Return the text before a fence that ends the body, and the text in the fence.

    Without such a fence, return an empty text and the body.
    """
    start, end = body.find(_FENCE), len(body) - len(_FENCE)
    if not body.endswith(_FENCE) or end < start + len(_FENCE):
        return "", body
    return body[:start].strip(), body[start + len(_FENCE) : end].removeprefix("json").strip()


def enclosed(text: str, opening: re.Pattern[str], closing: str) -> list[tuple[re.Match[str], str]]:
    """Return each opening that is closed, with the text up to its closing."""
    found: list[tuple[re.Match[str], str]] = []
    place = 0
    while (head := opening.search(text, place)) is not None:
        end = text.find(closing, head.end())
        if end < 0:
            break
        found.append((head, text[head.end() : end]))
        place = end + len(closing)
    return found


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
        CallError: a call is not an object with a name and arguments.
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
            raise CallError("a call is not an object with 'name' and 'arguments'")
        calls.append(Call(str(item["name"]), item["arguments"]))
    return tuple(calls)


def last_call_list(text: str, language: Language = "python") -> tuple[Call, ...]:
    """Return the last list of calls in a text, with any text around it, or nothing if it has none."""
    parsed = 0
    for match in reversed(list(CALL_LIST.finditer(text[:_LONGEST]))[-_MOST_LISTS:]):
        for end in _ends(text, match.start()):
            found = text[match.start() : end + 1]
            parsed += len(found)
            if parsed > _MOST_CHARACTERS:
                return ()
            try:
                return python_calls(found) if language == "python" else code_calls(found[1:-1], language)
            except CallError:
                continue
    return ()


def _ends(text: str, start: int) -> list[int]:
    """Return the first places at which a list that begins at `start` may end."""
    found = (place for place in range(start, len(text)) if text[place] == "]")
    return list(islice(found, _MOST_ENDS))
