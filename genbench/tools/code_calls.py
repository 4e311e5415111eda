"""Calls that are written as Java or JavaScript, with named arguments: `Maps.put(key="a", value=1L)`.

Every argument stays text, as the official decoder of BFCL has it. The type that the function declares says
what the text means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from genbench.tools.calls import UNNAMED, Call, CallError

CodeLanguage = Literal["java", "javascript"]

_NAME = re.compile(r"\s*([A-Za-z_$][\w$]*(?:\s*\.\s*[A-Za-z_$][\w$]*)*)\s*\(")
# `key = …`, and neither the comparison `a == b` nor the arrow function `x => …`.
_NAMED = re.compile(r"\s*([A-Za-z_$][\w$]*)\s*=(?![=>])\s*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*|\d[\w.]*")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BEFORE_OPERANDS = frozenset(
    ("new", "typeof", "function", "async", "await", "void", "delete", "final", "class")
)
_BETWEEN_OPERANDS = frozenset(("instanceof", "in", "of", "extends"))
_CREATED = re.compile(r"new\s+([\w.$]+\s*(?:<.*?>)?)\s*\(", re.DOTALL)  # new ArrayList<String>(
_ARRAY = re.compile(r"new\s+([\w.$<>\s]+?)\s*\[\s*\]\s*(\{.*\})\Z", re.DOTALL)  # new int[]{1, 2}


def code_calls(text: str, language: CodeLanguage, *, official: bool = False) -> tuple[Call, ...]:
    """Return the one call of a text.

    Args:
        official: drop arguments without a name, as the official decoder of BFCL does.

    Raises:
        CallError: the text is not a call, two arguments have one name, or one has none.
    """
    head = _NAME.match(text)
    if head is None:
        raise CallError("the text does not begin with a call")
    inside, rest = _enclosed(text, head.end() - 1)
    if rest.strip().rstrip(";").strip():
        raise CallError("something follows the call")
    arguments: dict[str, str] = {}
    for part in _parts(inside):
        named = _NAMED.match(part)
        if named is None and not official:
            raise CallError("an argument has no name")
        if named is None and not re.fullmatch(r"\s*[A-Za-z_$][\w$]*\s*", part):
            continue
        name = UNNAMED if named is None else named[1]
        if name in arguments:
            raise CallError(f"two arguments are called '{name}'")
        arguments[name] = part.strip() if named is None else _text(part[named.end() :].strip(), language)
    return (Call(re.sub(r"\s", "", head[1]), arguments),)


def _enclosed(text: str, start: int) -> tuple[str, str]:
    """Return what is between the bracket at `start` and its partner, and what follows.

    Raises:
        CallError: a bracket or a quote is not closed.
    """
    closers: list[str] = []
    for place, sign in _signs(text, start):
        if sign in _PAIRS:
            closers.append(_PAIRS[sign])
        elif sign in _PAIRS.values():
            if not closers or closers.pop() != sign:
                raise CallError("brackets do not match")
            if not closers:
                return text[start + 1 : place], text[place + 1 :]
    raise CallError("a bracket is not closed")


def _signs(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the signs outside of quotes with their places. A quoted text is one sign: its first quote.

    Raises:
        CallError: a quote is not closed.
    """
    place = start
    while place < len(text):
        sign = text[place]
        yield place, sign
        place = _closing(text, place) + 1 if sign in "\"'`" else place + 1


def _closing(text: str, start: int) -> int:
    quote, place = text[start], start + 1
    while place < len(text) and text[place] != quote:
        if text[place] == "\n" and quote != "`":
            break
        place += 2 if text[place] == "\\" else 1
    if place >= len(text) or text[place] != quote:
        raise CallError("a quote is not closed")
    return place


def _parts(text: str) -> list[str]:
    """Return the pieces between the commas that are in no bracket."""
    found, depth, begin = [], 0, 0
    for place, sign in _signs(text):
        depth += (sign in _PAIRS) - (sign in _PAIRS.values())
        if sign == "," and depth == 0 and not _is_inside_type(text[begin:place]):
            found.append(text[begin:place])
            begin = place + 1
    found.append(text[begin:])
    return found if len(found) > 1 or found[0].strip() else []


def _is_inside_type(text: str) -> bool:
    """Tell whether a text ends inside type arguments, as in `new HashMap<String`."""
    return re.search(r"\bnew\s+[\w.$]+\s*<[^<>]*\Z", text) is not None


def _text(value: str, language: CodeLanguage) -> str:
    """Return an argument as the official decoder has it: quotes around a whole literal are removed.

    Raises:
        CallError: the argument is not an expression of the language.
    """
    if not value:
        raise CallError("an argument has no value")
    if value[0] in "\"'" and _closing(value, 0) == len(value) - 1:
        return value[1:-1]
    if language == "javascript":
        _check_expression(value)
        return value
    if value[0] in "[{" or (value[0] == "(" and len(_parts(_enclosed(value, 0)[0])) > 1):
        raise CallError("a value of Java begins with a bracket")
    _check_expression(value)
    return _java_text(value)


def _java_text(value: str) -> str:
    """Return a Java expression without blanks, and an object without the body of its class."""
    array = _ARRAY.fullmatch(value)
    if array is not None:
        return f"new {_without_blanks(array[1])}[]{_without_blanks(array[2])}"
    created = _CREATED.match(value)
    if created is not None:
        inside, _ = _enclosed(value, created.end() - 1)
        given = ", ".join(_without_blanks(part) for part in _parts(inside))
        return f"new {_without_blanks(created[1])}({given})"
    if value.startswith("new "):
        raise CallError("an array has no elements")
    return value if value.endswith(")") else _without_blanks(value)


def _without_blanks(text: str) -> str:
    found, last = [], 0
    for place, sign in _signs(text):
        if sign.isspace():
            found.append(text[last:place])
            last = place + 1
    return "".join([*found, text[last:]])


def _check_expression(value: str) -> None:
    """Refuse two operands next to each other, outside of brackets. Their inside only has to be balanced.

    Raises:
        CallError: the value is not an expression.
    """
    place, operand = 0, False
    while place < len(value):
        sign = value[place]
        word = _WORD.match(value, place)
        if sign.isspace():
            place += 1
        elif word is not None or sign in "\"'`":
            if operand:
                if word is None or word[0] not in _BETWEEN_OPERANDS:
                    raise CallError("two values follow each other")
                place, operand = word.end(), False
                continue
            place = _closing(value, place) + 1 if word is None else word.end()
            operand = word is None or word[0] not in _BEFORE_OPERANDS
        elif sign in _PAIRS:
            inside, rest = _enclosed(value, place)
            place, operand = len(value) - len(rest), True
            del inside
        elif sign in _PAIRS.values():
            raise CallError("brackets do not match")
        else:
            operand = sign == ">" and _is_inside_type(value[:place])
            place += 1
