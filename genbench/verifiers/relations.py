"""Reads equations: which value ``n = 2+3 = 5`` states, and which equation states none."""

from __future__ import annotations

import re

from genbench.verifiers.brackets import split_outside
from genbench.verifiers.numbers import is_too_large, read_number
from genbench.verifiers.quantities import has_letters, is_name, is_quantity

_EQUALS = r"(?<![<>!=\\:])=(?!=)"
_HAS_EQUALS = re.compile(_EQUALS)
_PARTS = r",|;|(?<=[^A-Za-z\\])(?:and|or)(?=[A-Za-z\\(])"
_INEQUALITY = re.compile(r"[<>]|\\(?:le|leq|ge|geq|ne|neq|lt|gt)(?![A-Za-z])")
_CHARS = 1_500


def is_equation(key: str) -> bool:
    """Return whether a canonical text has an equals sign outside all brackets, and no inequality."""
    if "=" not in key or len(key) > _CHARS:
        return False
    return len(split_outside(key, _EQUALS)) > 1 and not _INEQUALITY.search(key)


def stated_values(key: str) -> list[str]:
    """Return the values that a canonical equation states, the best first, or none if it states no value.

    ``n=2+3=5`` states 5, ``5=x`` too. ``x^{2}=4`` states none: it is about x. ``\\ln2=0.69`` states both
    sides, since the number is rounded.
    """
    if not _HAS_EQUALS.search(key) or not is_equation(key) or len(split_outside(key, _PARTS)) > 1:
        return []
    parts = [part for part in split_outside(key, _EQUALS) if part]
    if len(parts) < 2:
        return []
    if is_quantity(parts[0]):
        return _values(parts)
    if is_name(parts[-1]) and not has_letters(parts[0]):
        return [parts[0]]
    return [parts[-1]] if not has_letters(parts[0]) else []


def _values(parts: list[str]) -> list[str]:
    last = parts[-1]
    if is_name(last) and not has_letters(parts[0]):
        return [parts[0]]
    number = None if is_too_large(last) else read_number(last)
    if number is not None and number.decimal:
        return [last, *(part for part in parts[:-1] if not has_letters(part) and part != last)]
    return [last]


def equation_sides(key: str) -> tuple[str, str] | None:
    """Return (name, value) of an equation of two sides, one of them a quantity with letters."""
    parts = split_outside(key, _EQUALS) if is_equation(key) else []
    if len(parts) != 2 or not all(parts) or len(split_outside(key, ",|;")) > 1:
        return None
    if has_letters(parts[0]) and is_quantity(parts[0]):
        return parts[0], parts[1]
    if is_name(parts[1]) and not has_letters(parts[0]):
        return parts[1], parts[0]
    return None


def system_values(key: str) -> tuple[list[str], bool] | None:
    """Return the values of ``x=1,y=5`` and whether all names are one, or None for anything else.

    ``x=3,5`` and ``x=3,x=5`` have one name.
    """
    parts = split_outside(key, _PARTS)
    if len(parts) < 2 or not all(parts):
        return None
    sides = [equation_sides(part) for part in parts]
    if sides[0] is not None and not any(_HAS_EQUALS.search(part) for part in parts[1:]):
        return [sides[0][1], *parts[1:]], True
    named = [side for side in sides if side is not None]
    if len(named) != len(parts):
        return None
    names = {name for name, _ in named}
    if 1 < len(names) < len(named):
        return None
    return [value for _, value in named], len(names) == 1
