"""Reads answers that are given as JSON: ``{"reasoning": "…", "answer": 204}``."""

from __future__ import annotations

import json
import re
from typing import Any

_TAIL = 20_000
"""Characters from the end in which an object is looked for."""
# The order decides: of {"answer": …, "final_answer": …} the final one counts.
_KEYS = ("finalanswer", "answer", "final", "result", "solution", "value", "response", "output")
_FENCES = ("```", "</answer>", "</json>")
# Python's quotes: {'answer': '5'}.
_SINGLE = re.compile(r"(?<=[{,:\[])\s*'([^'\"]*)'|'([^'\"]*)'\s*(?=[},:\]])")
_ESCAPE = re.compile(r"\\([\"\\/])?")
_OPENING = re.compile(r"\{\s*[\"']")
_OPENINGS = 40
"""Opening braces that are tried. The text from each one on is decoded anew."""
_DEPTH = 4
"""Objects within each other whose answer is still read."""


def json_answer(text: str) -> str | None:
    """Return the answer of a JSON object that ends the text, fenced or not, or None if there is none."""
    body = text[-_TAIL:].rstrip()
    for fence in _FENCES:
        body = body.removesuffix(fence).rstrip()
    if not body.endswith("}"):
        return None
    for opening in reversed([match.start() for match in _OPENING.finditer(body)][:_OPENINGS]):
        record = _decoded(body[opening:])
        if isinstance(record, dict) and (found := _value(record)) is not None:
            return found
    return None


def _decoded(text: str) -> Any:
    # Models write LaTeX in JSON with single backslashes, and Python's quotes.
    escaped = _ESCAPE.sub(lambda match: match[0] if match[1] else "\\\\", text)
    for candidate in (escaped, _SINGLE.sub(lambda m: f'"{m[1] or m[2] or ""}"', text)):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return None


def _value(value: Any, depth: int = 0) -> str | None:
    if isinstance(value, bool) or value is None or depth > _DEPTH:
        return None
    if isinstance(value, dict):
        named = {re.sub(r"[\s_-]", "", key.lower()): inner for key, inner in value.items()}
        return next((_value(named[key], depth + 1) for key in _KEYS if key in named), None)
    if isinstance(value, list):
        parts = [_value(item, depth + 1) for item in value]
        return ", ".join(map(str, parts)) if all(parts) else None
    return str(value).strip() or None
