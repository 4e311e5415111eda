"""Reads sets of real numbers: intervals, unions, inequalities, and all reals without some points.

``x>3`` and ``(3,\\infty)`` are one set. So are ``x<4 \\text{ and } x \\ne 1`` and ``(-\\infty,1)\\cup(1,4)``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from genbench.verifiers.math.sampling import real_value
from genbench.verifiers.notation.latex import is_balanced, split_outside, unwrap

_CHARS = 300
_PIECES = 20
_LESS, _LESS_EQUAL = r"(?:<|\\lt(?![A-Za-z]))", r"(?:\\leqslant|\\leq|\\le)(?![A-Za-z])"
_MORE, _MORE_EQUAL = r"(?:>|\\gt(?![A-Za-z]))", r"(?:\\geqslant|\\geq|\\ge)(?![A-Za-z])"
_NOT_EQUAL = r"(?:\\neq|\\ne)(?![A-Za-z])"
_SIGN = re.compile(rf"({_LESS_EQUAL}|{_MORE_EQUAL}|{_NOT_EQUAL}|{_LESS}|{_MORE})")
_INEQUALITY = re.compile(
    rf"{_SIGN.pattern}|\\not\s*[=<>]|\\(?:gg|ll|gtrsim|lesssim|gtrapprox|lessapprox|nless|ngtr|nleq|ngeq)(?![A-Za-z])"
)
_NAME = r"\\?[A-Za-z]+(?:_\{?\w+\}?)?'?"
# `x`, `x_{1}`, `|x|`, `f(x)`: the side of an inequality that is bounded.
_VARIABLE = re.compile(rf"{_NAME}|\|\s*[A-Za-z]\s*\||[A-Za-z]\([a-z]\)")
_CONSTANTS = frozenset({"e", "i", "\\pi", "\\infty"})
_WORD = r"\\(?:text|mbox|textrm|mathrm)\s*\{{\s*{0}\s*\}}|(?<![A-Za-z\\]){0}(?![A-Za-z])"
_OR = _WORD.format("or") + r"|\\(?:lor|vee|cup)(?![A-Za-z])"
_AND = _WORD.format("and") + r"|\\(?:land|wedge|cap)(?![A-Za-z])|[,;]"
_MEMBER = re.compile(rf"^\s*(?:{_NAME}|{_VARIABLE.pattern})\s*\\in(?![A-Za-z])\s*")
# `\{x \in \mathbb{R} \mid x > 3\}`.
_BUILDER = re.compile(
    r"^\\\{\s*([a-z])\s*(?:\\in\s*\\mathbb\s*\{?R\}?\s*)?(?:\\mid|\||:)\s*(.+)\\\}$", re.DOTALL
)
_WITHOUT = re.compile(
    r"^(?P<whole>.+?)\s*(?:\\setminus|\\backslash|-|\\text\s*\{\s*except\s*\})\s*(?P<points>\\\{.+\\\})$"
)
_REALS = re.compile(
    r"\\mathbb\s*\{?R\}?\s*(?P<half>(?:\^|_)\s*\{?\s*(?P<sign>\+|-|>\s*0|<\s*0|\\geq?\s*0)\s*\}?)?"
)
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
# "all real numbers except 0 and 1".
_IN_WORDS = re.compile(
    r"(?:\\text\s*\{)?\s*(?:the\s+set\s+of\s+)?(?:all|any|the)\s+real(?:s|\s+numbers)\s*(?P<except>except|but|excluding)?"
    r"(?:\s+for)?\s*\}?(?P<points>.*)",
    re.IGNORECASE | re.DOTALL,
)
Equal = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Interval:
    """The real numbers between two ends, as LaTeX and as numbers, and whether the ends are among them."""

    low: str
    high: str
    has_low: bool
    has_high: bool
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class RealSet:
    """Intervals that neither overlap nor touch, in rising order."""

    intervals: tuple[Interval, ...]
    name: str = ""
    """What is bounded, if an inequality says so."""


def has_inequality(latex: str) -> bool:
    """Return whether a text has an inequality sign, ``\\ne`` among them."""
    return _INEQUALITY.search(latex) is not None


def read_real_set(latex: str) -> RealSet | None:
    """Return the set of real numbers that tidy LaTeX describes, or None if it describes no plain one."""
    text = latex.strip()
    if len(text) > _CHARS:
        return None
    if (worded := _IN_WORDS.fullmatch(text)) is not None:
        return _all_but(worded["points"] if worded["except"] else "", bool(worded["points"].strip(" .{}")))
    if (builder := _BUILDER.match(text)) is not None:
        text = builder[2].strip()
    parts = split_outside(text, _OR)
    found = [_conjunction(part.strip()) for part in parts]
    if len(parts) > _PIECES or any(part is None for part in found):
        return None
    names = {part.name for part in found if part is not None}
    return RealSet(
        _union([one for part in found if part for one in part.intervals]),
        names.pop() if len(names) == 1 else "",
    )


def sets_equal(one: RealSet, two: RealSet, equal: Equal) -> bool:
    """Return whether two sets are the same. `equal` compares two ends that are close."""
    if len(one.intervals) != len(two.intervals) or (one.name and two.name and one.name != two.name):
        return False
    return all(
        _same(first, second, equal) for first, second in zip(one.intervals, two.intervals, strict=True)
    )


def _same(one: Interval, two: Interval, equal: Equal) -> bool:
    if (one.has_low, one.has_high) != (two.has_low, two.has_high):
        return False
    return all(
        first == second or equal(first, second)
        for first, second in ((one.low, two.low), (one.high, two.high))
    )


def _all_but(points: str, wanted: bool) -> RealSet | None:
    if not points.strip(" .{}"):
        return None if wanted else RealSet((_ALL,))
    ends = split_outside(unwrap(points), r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|,")
    named = [re.sub(r"^[A-Za-z]\s*=\s*", "", end.strip("{} .")) for end in ends if end.strip("{} .")]
    return _without(RealSet((_ALL,)), named)


def _interval(low: str, high: str, has_low: bool, has_high: bool) -> Interval | None:
    low, high = low.strip(), high.strip()
    left, right = real_value(low), real_value(high)
    return None if left is None or right is None else Interval(low, high, has_low, has_high, left, right)


_ALL = Interval("-\\infty", "\\infty", False, False, -math.inf, math.inf)


def _conjunction(text: str) -> RealSet | None:
    """Return the numbers for which all conditions are true. In ``x<2, x>3`` the comma must mean "or"."""
    parts = [text] if _plain_set(text) else split_outside(text, _AND)
    found = [_plain_set(part.strip()) or _bounded(part.strip()) for part in parts]
    sets = [part for part in found if part is not None]
    if len(sets) < len(parts) or not sets:
        return None
    names = {part.name for part in sets if part.name}
    if len(names) > 1 or (len(parts) > 1 and not names):
        return None
    common = sets[0].intervals
    for other in sets[1:]:
        common = _intersection(common, other.intervals)
    if not common and "," in text:
        common = _union([one for part in sets for one in part.intervals])
    return RealSet(common, names.pop() if names else "") if common else None


def _plain_set(text: str) -> RealSet | None:
    """Read ``[0,1)``, ``]0,1[``, ``\\mathbb{R}``, ``\\mathbb{R}\\setminus\\{1\\}`` and ``x \\in [0,1]``."""
    text = _MEMBER.sub("", text).strip()
    if (reals := _REALS.fullmatch(text)) is not None:
        return RealSet((_half(reals["sign"]),))
    if (without := _WITHOUT.match(text)) is not None:
        whole = _plain_set(without["whole"])
        return None if whole is None else _without(whole, split_outside(without["points"][2:-2], ","))
    if text[:2] == "\\{" and text[-2:] == "\\}":
        points = [_interval(point, point, True, True) for point in split_outside(text[2:-2], ",")]
        plain = [point for point in points if point is not None]
        return RealSet(_union(plain)) if len(plain) == len(points) else None
    if text[:1] not in {"(", "[", "]"} or text[-1:] not in {")", "]", "["}:
        return None
    ends = split_outside(text[1:-1], "[,;]")
    if len(ends) != 2 or not is_balanced(text[1:-1]):
        return None
    found = _interval(ends[0], ends[1], text[0] == "[", text[-1] == "]")
    return RealSet((found,)) if found is not None and found.left <= found.right else None


def _half(sign: str | None) -> Interval:
    if sign is None:
        return _ALL
    if sign[0] in "-<":
        return replace(_ALL, high="0", right=0.0)
    return replace(_ALL, low="0", left=0.0, has_low=sign[0] == "\\")


def _bounded(text: str) -> RealSet | None:
    """Return the numbers that satisfy one inequality, such as ``a<x``, ``a<x \\le b`` or ``|x| \\ge 3``."""
    parts = [part.strip() for part in _SIGN.split(text)]
    sides, signs = parts[::2], [_plain_sign(sign) for sign in parts[1::2]]
    places = [
        place for place, side in enumerate(sides) if side not in _CONSTANTS and _VARIABLE.fullmatch(side)
    ]
    if len(signs) not in (1, 2) or len(places) != 1 or not all(sides):
        return None
    place = places[0]
    found: tuple[Interval, ...] = (_ALL,)
    for at, end in enumerate(sides):
        if at != place:
            sign = signs[at] if at < place else signs[at - 1]
            bound = _ray(_FLIPPED[sign] if at < place else sign, end)
            if abs(at - place) != 1 or bound is None:
                return None
            found = _intersection(found, bound)
    name = sides[place]
    if name.startswith("|"):
        name, found = name.strip("| "), _mirrored(found)
    return RealSet(found, name)


def _ray(sign: str, end: str) -> tuple[Interval, ...] | None:
    at = real_value(end)
    if at is None:
        return None
    below, above = replace(_ALL, high=end, right=at), replace(_ALL, low=end, left=at)
    if sign == "!=":
        return (below, above)
    return (
        (replace(below, has_high="=" in sign),) if sign[0] == "<" else (replace(above, has_low="=" in sign),)
    )


def _mirrored(found: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the numbers whose absolute values are in a set."""
    positive = _intersection(found, (Interval("0", "\\infty", True, False, 0.0, math.inf),))
    negative = [
        Interval(_negative(one.high), _negative(one.low), one.has_high, one.has_low, -one.right, -one.left)
        for one in positive
    ]
    return _union([*negative, *positive])


def _negative(end: str) -> str:
    return end if end == "0" else end[1:] if end.startswith("-") else f"-{end}"


def _without(whole: RealSet, points: Sequence[str]) -> RealSet | None:
    found = whole.intervals
    for point in points:
        rays = _ray("!=", point.strip())
        if rays is None:
            return None
        found = _intersection(found, rays)
    return replace(whole, intervals=found)


def _intersection(ones: Sequence[Interval], twos: Sequence[Interval]) -> tuple[Interval, ...]:
    found = []
    for one in ones:
        for two in twos:
            first = max(one, two, key=lambda part: (part.left, not part.has_low))
            last = min(one, two, key=lambda part: (part.right, part.has_high))
            both = Interval(first.low, last.high, first.has_low, last.has_high, first.left, last.right)
            if both.left < both.right or (both.left == both.right and both.has_low and both.has_high):
                found.append(both)
    return tuple(found)


def _union(found: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return intervals in order, joined where they overlap or touch."""
    merged: list[Interval] = []
    for one in sorted(found, key=lambda part: (part.left, not part.has_low)):
        last = merged[-1] if merged else None
        touches = last is not None and (
            one.left < last.right or (one.left == last.right and (one.has_low or last.has_high))
        )
        if last is None or not touches:
            merged.append(one)
        elif (one.right, one.has_high) > (last.right, last.has_high):
            merged[-1] = replace(last, high=one.high, has_high=one.has_high, right=one.right)
    return tuple(merged)


def _plain_sign(sign: str) -> str:
    if re.fullmatch(_NOT_EQUAL, sign):
        return "!="
    equal = "=" if re.fullmatch(rf"{_LESS_EQUAL}|{_MORE_EQUAL}", sign) else ""
    return ("<" if re.fullmatch(rf"{_LESS}|{_LESS_EQUAL}", sign) else ">") + equal
