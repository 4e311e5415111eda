"""Calls that are written as Python: `[f(x=1), g(y="a")]`. Nothing of the text is ever evaluated by Python."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from genbench.tools.calls import Call, CallError

_LONGEST = 200_000
"""Characters of a text that is parsed. Longer ones are not calls."""
_LARGEST_POWER = 64
_LONGEST_VALUE = 100_000
_MOST_PRODUCTS = 50
"""Products and powers in one text. Each may repeat a value up to `_LONGEST_VALUE` times."""
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
    }
)


def python_calls(text: str, *, official: bool = False) -> tuple[Call, ...]:
    """Return the calls of one Python expression: a call, or a list or tuple of calls.

    Args:
        text: the expression.
        official: read it as the official decoder of BFCL does. It drops positional arguments, negates the
            operand of every unary operator, and takes names and further calls as their own text.

    Raises:
        CallError: the text is something else, or an argument has a value that is refused.
    """
    body = _expression(text)
    items = body.elts if isinstance(body, ast.List | ast.Tuple | ast.Set) else [body]
    calls = [item for item in items if isinstance(item, ast.Call)]
    if len(calls) != len(items):
        raise CallError("the text is not a list of calls")
    return tuple(_call(item, official) for item in calls)


def _expression(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise CallError(f"the text has more than {_LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in the model's text
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CallError(f"no Python expression: {type(error).__name__}") from None
    if sum(isinstance(node, ast.Mult | ast.Pow) for node in ast.walk(body)) > _MOST_PRODUCTS:
        raise CallError(f"the text has more than {_MOST_PRODUCTS} products and powers")
    return body


def _call(item: ast.Call, official: bool) -> Call:
    if item.args and not official:
        raise CallError("an argument has no name")
    arguments: dict[str, Any] = {}
    for keyword in item.keywords:
        if keyword.arg is None and not official:
            raise CallError("arguments are unpacked with **")
        try:
            arguments[keyword.arg or ""] = _value(keyword.value, official)
        except RecursionError:
            raise CallError("a value is nested too deeply") from None
    return Call(_name(item.func, official), arguments)


def _name(node: ast.expr, official: bool) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif not official:
        raise CallError("the function has no plain name")
    return ".".join(reversed(parts))


def _value(node: ast.expr, official: bool) -> Any:
    """Return the value of an argument."""
    found: Any
    match node:
        case ast.Constant(value=value):
            found = "..." if value is Ellipsis else value
        case ast.UnaryOp():
            found = _unary(node, official)
        case ast.List(elts=items):
            found = [_value(item, official) for item in items]
        case ast.Tuple(elts=items):
            found = tuple(_value(item, official) for item in items)
        case ast.Dict():
            found = _dictionary(node, official)
        case ast.BinOp():
            found = _binary(node, official)
        case ast.Name(id=name):
            found = name
        case ast.Call() if node.keywords and official:
            call = _call(node, official)
            found = {call.name: dict(call.arguments)}
        case ast.Call() | ast.Subscript() if official:
            found = ast.unparse(node)
        case _:
            raise CallError(f"a value is {type(node).__name__}, which is not a plain value")
    return found


def _dictionary(node: ast.Dict, official: bool) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise CallError("a dictionary is unpacked with **")
        name = _value(key, official)
        try:
            found[name] = _value(value, official)
        except TypeError:
            raise CallError("a key of a dictionary is a list or a dictionary") from None
    return found


def _unary(node: ast.UnaryOp, official: bool) -> Any:
    operand = _value(node.operand, official)
    if official:
        if not isinstance(node.operand, ast.Constant) or not isinstance(operand, int | float | complex):
            raise CallError("an operator before something that is not a number")
        return -operand
    if isinstance(node.op, ast.USub | ast.UAdd) and type(operand) in (int, float):
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node.op, ast.Not) and isinstance(operand, bool):
        return not operand
    raise CallError("an operator before something that is not a number")


def _binary(node: ast.BinOp, official: bool) -> Any:
    """Return the result of an operator between numbers, texts or lists. Large results are refused.

    The official decoder gives such a text to `eval`, which runs what the model wrote. No published row needs
    more than this.
    """
    left, right = _value(node.left, official), _value(node.right, official)
    for side, value in ((node.left, left), (node.right, right)):
        if isinstance(side, ast.Name | ast.Call | ast.Subscript):
            raise CallError("an operator has an operand that is not a plain value")
        if not isinstance(value, int | float | str | list):
            raise CallError(f"an operator has an operand of type {type(value).__name__}")
    if isinstance(node.op, ast.Pow) and not _is_small_power(left, right):
        raise CallError("a power is too large")
    if isinstance(node.op, ast.Mult) and not _is_small(left, right):
        raise CallError("a repeated value is too long")
    apply = _BINARY.get(type(node.op))
    if apply is None or (isinstance(node.op, ast.Mod) and isinstance(left, str)):
        raise CallError(f"the operator {type(node.op).__name__} is refused")
    try:
        found = apply(left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise CallError(f"an operator fails: {error}") from None
    if isinstance(found, int) and found.bit_length() > _LONGEST_VALUE:
        raise CallError("a number is too large")
    return found


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise CallError("a power is not a number")
    return value if abs(value) < _LONGEST_VALUE else float("inf")


def _is_small_power(base: Any, exponent: Any) -> bool:
    """Tell whether a power is quickly computed."""
    if not abs(_number(exponent)) <= _LARGEST_POWER:
        return False
    return not isinstance(base, int) or base.bit_length() * abs(exponent) <= _LONGEST_VALUE


def _is_small(left: Any, right: Any) -> bool:
    """Tell whether a product is not a long text or list, also if its items are long."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, str | list) and isinstance(other, int):
            return _size(one) * max(other, 0) <= _LONGEST_VALUE
    return True


def _size(value: Any) -> int:
    """Return the characters and items in a value, with everything inside it."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return 1 + sum(_size(key) + _size(inner) for key, inner in value.items())
    return 1 + sum(map(_size, value)) if isinstance(value, list | tuple) else 1
