"""Encoding of values as type-tagged JSON, so that the host compares data and never foreign objects.

null, booleans, numbers, strings and lists are unchanged. Every object is a tag:
{"i": hex} a big integer, {"t": [...]} a tuple, {"d": [[key, value] ...]} a dict, {"s": [...]} a set,
{"b": hex} bytes, {"q": [hex, hex]} a fraction or a decimal number, {"c": [real, imaginary]} a complex number,
{"o": name} anything else, equal to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

_DEEPEST = 200
_BIG = 1 << 63
_SCALAR = frozenset({str, float, bool, type(None)})


def tagged(value: Any, depth: int = 0) -> Any:
    """Return `value` with its types.

    Base types are read with their own methods, not with those of a subclass.
    """
    if type(value) in _SCALAR:
        return value
    if type(value) is int and -_BIG < value < _BIG:
        return value
    if depth > _DEEPEST:
        return {"o": "nested too deep"}
    told = _EXACT.get(type(value), _other)
    return told(value, depth)


def _list(items: list[Any], depth: int) -> list[Any]:
    types = set(map(type, items))
    if types <= _SCALAR or (types == {int} and min(items) > -_BIG and max(items) < _BIG):
        return items
    return [tagged(item, depth + 1) for item in items]


def _ratio(value: Fraction | Decimal, _: int) -> Any:
    """Return the exact value, as Python compares it with other numbers. Infinity and NaN are floats."""
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    return {"q": [hex(part) for part in value.as_integer_ratio()]}


def _dict(pairs: Any, depth: int) -> Any:
    return {"d": [[tagged(key, depth + 1), tagged(value, depth + 1)] for key, value in pairs]}


_EXACT: dict[type, Callable[[Any, int], Any]] = {
    int: lambda value, _: {"i": hex(value)},
    list: _list,
    tuple: lambda value, depth: {"t": _list(list(value), depth)},
    dict: lambda value, depth: _dict(value.items(), depth),
    set: lambda value, depth: {"s": _list(list(value), depth)},
    frozenset: lambda value, depth: {"s": _list(list(value), depth)},
    type({}.keys()): lambda value, depth: {"s": _list(list(value), depth)},
    type({}.items()): lambda value, depth: {"s": _list(list(value), depth)},
    Fraction: _ratio,
    Decimal: _ratio,
    complex: lambda value, _: {"c": [value.real, value.imag]},
    bytes: lambda value, _: {"b": value.hex()},
    bytearray: lambda value, _: {"b": value.hex()},
}
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, lambda value: int.__add__(value, 0)),
    (str, str.__str__),
    (float, lambda value: float.__add__(value, 0.0)),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
)


def _other(value: Any, depth: int) -> Any:
    """Return subclasses as their base (a Counter is a dict) and numpy's scalars as Python's."""
    for base, plain in _BASES:
        if isinstance(value, base):
            return tagged(plain(value), depth)
    kind = type(value)
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(kind, "item"):
        return tagged(value.item(), depth + 1)
    return {"o": kind.__name__}
