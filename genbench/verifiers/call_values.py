"""Values of arguments that were written as Java or JavaScript, by the type that the function declares.

A text that is no value of its type stays text. So it is compared as text, as in the official checker of BFCL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_WHOLE = re.compile(r"-?\d+")
_REAL = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_PLAIN_REAL = re.compile(r"-?\d+(\.\d+)?")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_NO_ELEMENTS = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_JS_ROWS = re.compile(r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)")
_JS_LIST = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_JS_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")

JAVA_TYPES: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        **dict.fromkeys(("char", "String", "any"), str),
        **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
        **dict.fromkeys(("HashMap", "Hashtable"), dict),
        "boolean": bool,
        "Set": set,
    }
)
"""The type of Python that stands for each type of Java."""

JAVASCRIPT_TYPES: Mapping[str, type] = MappingProxyType(
    {
        "String": str,
        "any": str,
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "dict": dict,
        "array": list,
    }
)
"""The type of Python that stands for each type of JavaScript."""


def java_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return the value of a text of Java.

    Args:
        kind: the declared type.
        inner: the declared type of the elements of a list or array.
    """
    found: Any = text
    match kind:
        case "byte" | "short" | "integer":
            found = int(text) if _WHOLE.fullmatch(text) else text
        case "long":
            found = int(text[:-1]) if re.fullmatch(r"-?\d+[lL]", text) else text
        case "float":
            found = float(text[:-1]) if text[-1:] in "fF" and _REAL.fullmatch(text[:-1]) else text
        case "double":
            found = float(text) if _REAL.fullmatch(text) else text
        case "boolean":
            found = text == "true" if text in ("true", "false") else text
        case "ArrayList":
            found = _java_list(text, inner)
        case "Array":
            found = _java_array(text, inner)
        case "HashMap":
            found = _java_map(text)
    return found


def javascript_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return the value of a text of JavaScript. The arguments are those of `java_value`."""
    found: Any = text
    match kind:
        case "String":
            found = text[1:-1] if _is_quoted(text) else text
        case "integer":
            found = int(text) if _WHOLE.fullmatch(text) else text
        case "float":
            found = float(text) if _PLAIN_REAL.fullmatch(text) else text
        case "Bigint":
            found = int(text[:-1]) if re.fullmatch(r"-?\d+n", text) else text
        case "Boolean":
            found = text == "true" if text in ("true", "false") else text
        case "array":
            found = _javascript_list(text.strip(), inner)
        case "dict":
            found = _javascript_object(text.strip())
    return found


CONVERTERS: Mapping[str, tuple[Mapping[str, type], Callable[..., Any]]] = MappingProxyType(
    {"java": (JAVA_TYPES, java_value), "javascript": (JAVASCRIPT_TYPES, javascript_value)}
)
"""By language: the types, and the function that returns the value of a text."""


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",") if piece.strip()]


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")


def _java_list(text: str, inner: str | None) -> Any:
    found = _AS_LIST.search(text)
    if found is not None:
        return [_java_element(item.strip(), inner) for item in found[1].split(",")]
    found = _ADDED.search(text)
    if found is not None:
        return [_java_element(item.strip(), inner) for item in re.findall(r"add\((.+?)\)", found[1])]
    return [] if _NO_ELEMENTS.search(text) else text


def _java_array(text: str, inner: str | None) -> Any:
    found = _ARRAY.search(text)
    return text if found is None else [_java_item(item, inner) for item in _pieces(found[1])]


def _java_element(text: str, inner: str | None) -> Any:
    """Return an element of a list. Texts lose their quotes."""
    return text[1:-1] if inner in ("char", "String") else _java_item(text, inner)


def _java_item(text: str, inner: str | None) -> Any:
    return java_value(text, inner) if inner else _java_guess(text)


def _java_map(text: str) -> Any:
    found = _MAP.search(text)
    if found is not None:
        pairs = re.findall(r"put\(\"(.*?)\",\s*(.*?)\)", found[1])
        return {key: _java_guess(value.strip()) for key, value in pairs}
    return {} if _EMPTY_MAP.search(text) else text


def _java_guess(text: str) -> Any:
    """Return the value of a text of no declared type."""
    if text in ("true", "false"):
        return text == "true"
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if re.fullmatch(r"-?\d+[lL]", text):
        return int(text[:-1])
    if text[-1:] in ("f", "F") and _REAL.fullmatch(text[:-1]):
        return float(text[:-1])
    return _number(text)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _javascript_list(text: str, inner: str | None) -> Any:
    rows = _JS_ROWS.match(text)
    if rows is not None:
        found = re.findall(r"\[(.*?)\]", rows[0])
        return [
            [_javascript_guess(item) for item in row.strip().removeprefix("[").split(",")] for row in found
        ]
    listed = _JS_LIST.match(text)
    if listed is None:
        return text
    inside = next((group for group in listed.groups() if group is not None), "").strip()
    items = [item.strip() for item in inside.split(",")] if inside else []
    if inner is None:
        return [_javascript_guess(item) for item in items]
    return [javascript_value(item, inner) for item in items]


def _javascript_object(text: str) -> Any:
    if text == "{}":
        return {}
    found = re.match(r"\{(.*?)\}", text)
    if found is None:
        return text
    return {
        key.strip().strip("'\""): _javascript_member(value.strip())
        for key, value in _JS_PAIR.findall(found[1])
    }


def _javascript_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_list(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _javascript_object(text)
    return _javascript_guess(text.strip("'\""))


def _javascript_guess(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if len(text) > 1 and _is_quoted(text) else _number(text)
