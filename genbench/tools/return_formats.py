"""The four formats in which BFCL's format sensitivity asks for calls, and what a reply in each decodes to.

The rules are those of gorilla at commit 6ea57973 (bfcl-eval 2026.3.23). No part of a reply is evaluated.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args
from xml.etree import ElementTree as ET

from genbench.tools.calls import UNNAMED, Call, CallError
from genbench.tools.python_calls import python_calls

ReturnFormat = Literal["python", "json", "verbose_xml", "concise_xml"]
RETURN_FORMATS: tuple[ReturnFormat, ...] = get_args(ReturnFormat)
_LONGEST = 200_000
"""Characters of a reply that is parsed. Longer ones are not calls."""
_DECODER = json.JSONDecoder()
# The official expression for a list of objects tries exponentially many ways to split the text of a reply
# such as `[{},{},{},`. It finds what these two find: the first `[{`, up to the first `}]` after it.
_LIST_START, _LIST_END = re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")


def returned_calls(text: str, asked: ReturnFormat, tagged: bool, *, official: bool) -> tuple[Call, ...]:
    """Return the calls of a reply in the format that was asked for, with any text around XML and JSON.

    Args:
        text: the reply.
        asked: the format.
        tagged: whether the calls are wanted between `<TOOLCALL>` tags.
        official: read it as the official decoder does. JSON that does not parse has no calls then, and
            Python has the quirks of `python_calls`.

    Raises:
        CallError: the reply does not decode.
    """
    if len(text) > _LONGEST:
        raise CallError(f"the reply has more than {_LONGEST} characters")
    found = text.strip("`\n ")
    found = found if found.startswith("[") else f"[{found}"
    found = found if found.endswith("]") else f"{found}]"
    if tagged:
        found = _between(found, "TOOLCALL").strip()
    if asked == "python":
        return python_calls(found.strip().strip("'"), official=official)
    if asked == "json":
        return _json_calls(found, official)
    return _xml_calls(found, nested=asked == "verbose_xml")


def calls_in_any_format(text: str) -> tuple[Call, ...]:
    """Return the calls of a reply in the first of the four formats that it has, with or without tags."""
    for tagged in (True, False):
        for asked in RETURN_FORMATS:
            try:
                if found := returned_calls(text, asked, tagged, official=False):
                    return found
            except CallError:
                continue
    return ()


def _between(text: str, tag: str) -> str:
    """Return the text between the first tags. A regular expression takes minutes for many open tags."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    if not 0 <= start < end:
        raise CallError(f"no calls between <{tag}> and </{tag}>")
    return text[start + len(tag) + 2 : end]


def _json_calls(text: str, official: bool) -> tuple[Call, ...]:
    """Read `[{"function": NAME, "parameters": {…}}, …]`."""
    head = _LIST_START.search(text)
    try:
        if official:
            items = json.loads(_official_list(text))
        else:
            items, _ = _DECODER.raw_decode(text, head.start() if head else 0)
    except json.JSONDecodeError as error:
        if official:
            return ()
        raise CallError(f"the list of calls is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise CallError(f"the list of calls is not JSON: {type(error).__name__}") from None
    if not isinstance(items, list | dict | str):
        raise CallError("the JSON is not a list of calls")
    calls = [item for item in items if isinstance(item, dict)]
    for item in calls:
        if not isinstance(item.get("function"), str) or not isinstance(item.get("parameters"), dict):
            raise CallError("a call is not an object with 'function' and 'parameters'")
    return tuple(Call(item["function"], item["parameters"]) for item in calls)


def _official_list(text: str) -> str:
    """Return what the official decoder takes for the list: it ends at the first `}]`, also of an argument."""
    start, end = text.find("["), text.rfind("]")
    body = text[start : end + 1] if 0 <= start < end else text
    head = _LIST_START.search(body)
    tail = _LIST_END.search(body, head.end()) if head else None
    return body[head.start() : tail.end()] if head and tail else body


def _xml_calls(text: str, *, nested: bool) -> tuple[Call, ...]:
    """Read `<functions><function name="…">…</function></functions>`.

    Args:
        nested: whether parameters are in `<params>` and have their values as attributes (verbose_xml).
    """
    inside = _between(text, "functions")
    try:
        # The root is ours, so that no text can declare an entity.
        root = ET.fromstring(f"<functions>{inside}</functions>")
        return tuple(_xml_call(item, nested) for item in root.findall("function"))
    except (
        ET.ParseError,
        KeyError,
        TypeError,
        ValueError,
        SyntaxError,
        RecursionError,
        MemoryError,
    ) as error:
        raise CallError(f"the <functions> element cannot be read: {type(error).__name__}: {error}") from None


def _xml_call(item: ET.Element, nested: bool) -> Call:
    arguments: dict[str, Any] = {}
    within = item.find("params") if nested else None
    for parameter in (item if within is None else within).findall("param"):
        text = parameter.attrib.get("value", "") if nested else (parameter.text or "").strip()
        name = parameter.attrib.get("name", UNNAMED) if nested else parameter.attrib["name"]
        read = _TYPES.get(parameter.attrib.get("type", "string"), str)
        arguments[name] = read(text)
    return Call(item.attrib["name"], arguments)


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in the model's text
        return ast.literal_eval(text)


def _is_true(text: str) -> bool:
    return text.lower() == "true"


_TYPES: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "integer": int,
        "float": float,
        "boolean": _is_true,
        "null": lambda _: None,
        **dict.fromkeys(("array", "tuple", "object", "dict"), _literal),
    }
)
"""By the type that a reply states, how its text becomes a value. All others stay text."""
