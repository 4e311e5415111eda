"""Rewrites inequalities as intervals, so that ``x>3`` and ``(3,\\infty)`` compare."""

from __future__ import annotations

import re
from itertools import pairwise

from genbench.verifiers.brackets import split_outside

_LESS, _LESS_EQUAL = r"(?:<|\\lt(?![A-Za-z]))", r"(?:\\leqslant|\\leq|\\le)(?![A-Za-z])"
_MORE, _MORE_EQUAL = r"(?:>|\\gt(?![A-Za-z]))", r"(?:\\geqslant|\\geq|\\ge)(?![A-Za-z])"
_NOT_EQUAL = r"(?:\\neq|\\ne)(?![A-Za-z])"
_SIGN = re.compile(rf"({_LESS}|{_LESS_EQUAL}|{_MORE}|{_MORE_EQUAL}|{_NOT_EQUAL})")
_INEQUALITY = re.compile(
    rf"{_SIGN.pattern}|\\not\s*[=<>]|\\(?:gg|ll|gtrsim|lesssim|gtrapprox|lessapprox|nless|ngtr|nleq|ngeq)(?![A-Za-z])"
)
_VARIABLE = re.compile(r"\\?[A-Za-z]+(?:_\{?\w+\}?)?'?|\|[a-z]\||[a-zA-Z]\([a-z]\)")
_CONSTANTS = frozenset({"e", "i", "\\pi", "\\infty"})
_OR = (
    r"\\(?:text|mbox|textrm|mathrm)\s*\{\s*or\s*\}|\\(?:lor|vee|cup)(?![A-Za-z])|(?<![A-Za-z])or(?![A-Za-z])"
)
_AND = (
    r"\\(?:text|mbox|textrm|mathrm)\s*\{\s*and\s*\}|\\(?:land|wedge)(?![A-Za-z])|"
    r"(?<![A-Za-z])and(?![A-Za-z])|,"
)
_MEMBER = re.compile(r"^\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*")
_BUILDER = re.compile(
    r"^\\\{\s*([a-z])\s*(?:\\in\s*\\mathbb\s*\{?R\}?\s*)?(?:\\mid|\||:)\s*(.+)\\\}$", re.DOTALL
)
_PIECE = r"[(\[][^()\[\]]*(?:\([^()]*\)[^()\[\]]*)*,[^()\[\]]*(?:\([^()]*\)[^()\[\]]*)*[)\]]"
_INTERVALS = re.compile(rf"\s*{_PIECE}(?:\s*\\cup\s*(?:{_PIECE}|\\\{{[^{{}}]*\\\}}))*\s*")
_REALS = re.compile(r"\s*\\mathbb\s*\{?R\}?\s*(?:\\setminus|\\backslash|-)\s*\\\{(.+)\\\}\s*")
_OUTSIDE = re.compile(rf"\|\s*[a-z]\s*\|\s*(?P<sign>{_MORE_EQUAL}|{_MORE})\s*(?P<end>[^<>=,]+)")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CHARS = 300

Bound = tuple[str, str]
"""(sign, value) of one bound on the variable; signs are <, <=, >, >= and !=."""


def has_inequality(latex: str) -> bool:
    """Return whether a text has an inequality sign, ``\\ne`` among them."""
    return _INEQUALITY.search(latex) is not None


def is_interval(latex: str) -> bool:
    """Return whether a text is an interval or a union of intervals, perhaps after ``x \\in``."""
    text = _MEMBER.sub("", latex)
    return len(text) <= _CHARS and (
        _INTERVALS.fullmatch(text) is not None or _REALS.fullmatch(text) is not None
    )


def intervals_of(latex: str) -> str | None:
    """Return an inequality, or several joined by "or" or "and", as an interval or a union.

    ``-2 \\le x < 7`` becomes ``[-2,7)``, ``x<1 \\text{ or } x>3`` becomes ``(-\\infty,1) \\cup (3,\\infty)``.
    An interval stays as it is. Return None for what is neither.
    """
    text = _MEMBER.sub("", latex.strip())
    if len(text) > _CHARS:
        return None
    if builder := _BUILDER.match(text):
        text = builder[2].strip()
    if (outside := _REALS.fullmatch(text)) is not None:
        return _without(outside[1].split(","))
    if _INTERVALS.fullmatch(text):
        return text
    pieces: list[str] = []
    for part in split_outside(text, _OR):
        piece = _conjunction(part)
        if piece is None:
            return None
        pieces += piece
    return " \\cup ".join(sorted(pieces, key=_lower_end))


def _lower_end(piece: str) -> float:
    """Return a number to sort by: the lower end, if it is plain."""
    text = piece[1:].partition(",")[0].strip()
    try:
        return float("-inf") if "infty" in text else float(text)
    except ValueError:
        return 0.0


def _conjunction(text: str) -> list[str] | None:
    """Return the intervals of inequalities that are all true."""
    if outer := _OUTSIDE.fullmatch(text.strip()):
        ends = ("]", "[") if re.fullmatch(_MORE_EQUAL, outer["sign"]) else (")", "(")
        return [f"(-\\infty,-{outer['end']}{ends[0]}", f"{ends[1]}{outer['end']},\\infty)"]
    bounds: list[Bound] = []
    for part in split_outside(text, _AND):
        found = _bounds(part)
        if found is None:
            return None
        bounds += found
    excluded = [value for sign, value in bounds if sign == "!="]
    if excluded:
        return [_without(excluded)] if len(excluded) == len(bounds) else None
    lower = [bound for bound in bounds if bound[0][0] == ">"]
    upper = [bound for bound in bounds if bound[0][0] == "<"]
    if len(lower) > 1 or len(upper) > 1:
        return None
    left = ("[" if lower[0][0] == ">=" else "(") + lower[0][1] if lower else "(-\\infty"
    right = upper[0][1] + ("]" if upper[0][0] == "<=" else ")") if upper else "\\infty)"
    return [f"{left},{right}"]


def _bounds(text: str) -> list[Bound] | None:
    """Return the bounds of one inequality such as ``a<x``, ``x \\ge a`` or ``a<x \\le b``."""
    parts = [part.strip() for part in _SIGN.split(text)]
    sides, signs = parts[::2], [_plain_sign(sign) for sign in parts[1::2]]
    places = [place for place, side in enumerate(sides) if _is_variable(side)]
    if len(signs) not in (1, 2) or len(places) != 1 or not all(sides):
        return None
    place = places[0]
    if len(signs) == 2 and (place != 1 or signs[0][0] != signs[1][0] or "!=" in signs):
        return None
    if sides[place].startswith("|"):
        return _absolute_bounds(signs, sides, place)
    bounds = []
    if place > 0:
        bounds.append((_FLIPPED.get(signs[place - 1], "!="), sides[place - 1]))
    if place < len(signs):
        bounds.append((signs[place], sides[place + 1]))
    return bounds


def _absolute_bounds(signs: list[str], sides: list[str], place: int) -> list[Bound] | None:
    """Return the bounds of ``|x|<a``."""
    if len(signs) != 1 or place != 0 or signs[0] not in ("<", "<="):
        return None
    return [(_FLIPPED[signs[0]], f"-{sides[1]}"), (signs[0], sides[1])]


def _is_variable(side: str) -> bool:
    return side not in _CONSTANTS and _VARIABLE.fullmatch(side) is not None


def _plain_sign(sign: str) -> str:
    if re.fullmatch(_NOT_EQUAL, sign):
        return "!="
    equal = "=" if re.fullmatch(rf"{_LESS_EQUAL}|{_MORE_EQUAL}", sign) else ""
    return ("<" if re.fullmatch(rf"{_LESS}|{_LESS_EQUAL}", sign) else ">") + equal


def _without(points: list[str]) -> str:
    """Return the real numbers without some points, which come in rising order."""
    ends = ["-\\infty", *(point.strip() for point in points), "\\infty"]
    return " \\cup ".join(f"({low},{high})" for low, high in pairwise(ends))
