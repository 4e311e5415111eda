"""Decides equality of an answer and a reference as far as that needs no computer algebra.

Inequalities are rewritten as intervals, so that ``x>3`` and ``(3,∞)`` compare. Simple LaTeX is evaluated at
one fixed point, to refute equality in microseconds instead of 20 ms.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from genbench.verifiers.math.expression import (
    Expression,
    assignments,
    equation_sides,
    is_equation,
    read_expression,
    stated_values,
    system_values,
)
from genbench.verifiers.notation.grammar import Parser, UnreadableError
from genbench.verifiers.notation.latex import is_balanced, split_outside
from genbench.verifiers.notation.numbers import complex_numbers_equal, numbers_equal

_LESS, _LESS_EQUAL = r"(?:<|\\lt(?![A-Za-z]))", r"(?:\\leqslant|\\leq|\\le)(?![A-Za-z])"
_MORE, _MORE_EQUAL = r"(?:>|\\gt(?![A-Za-z]))", r"(?:\\geqslant|\\geq|\\ge)(?![A-Za-z])"
_NOT_EQUAL = r"(?:\\neq|\\ne)(?![A-Za-z])"
_SIGN = re.compile(rf"({_LESS}|{_LESS_EQUAL}|{_MORE}|{_MORE_EQUAL}|{_NOT_EQUAL})")
_INEQUALITY = re.compile(
    rf"{_SIGN.pattern}|\\not\s*[=<>]|\\(?:gg|ll|gtrsim|lesssim|gtrapprox|lessapprox|nless|ngtr|nleq|ngeq)(?![A-Za-z])"
)
# `x`, `x_{1}`, `|x|`, `f(x)`: the side of an inequality that is bounded.
_VARIABLE = re.compile(r"\\?[A-Za-z]+(?:_\{?\w+\}?)?'?|\|[a-z]\||[a-zA-Z]\([a-z]\)")
_CONSTANTS = frozenset({"e", "i", "\\pi", "\\infty"})
_OR = (
    r"\\(?:text|mbox|textrm|mathrm)\s*\{\s*or\s*\}|\\(?:lor|vee|cup)(?![A-Za-z])|(?<![A-Za-z])or(?![A-Za-z])"
)
_AND = (
    r"\\(?:text|mbox|textrm|mathrm)\s*\{\s*and\s*\}|\\(?:land|wedge)(?![A-Za-z])|"
    r"(?<![A-Za-z])and(?![A-Za-z])|,"
)
# `x \in [0, 1)`.
_MEMBER = re.compile(r"^\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*")
# `\{x \in \mathbb{R} \mid x > 3\}`.
_BUILDER = re.compile(
    r"^\\\{\s*([a-z])\s*(?:\\in\s*\\mathbb\s*\{?R\}?\s*)?(?:\\mid|\||:)\s*(.+)\\\}$", re.DOTALL
)
_PIECE = r"[(\[][^()\[\]]*(?:\([^()]*\)[^()\[\]]*)*,[^()\[\]]*(?:\([^()]*\)[^()\[\]]*)*[)\]]"
# `[0, 1) \cup (f(2), 3]`, `(1,2) \cup \{5\}`.
_INTERVALS = re.compile(rf"\s*{_PIECE}(?:\s*\\cup\s*(?:{_PIECE}|\\\{{[^{{}}]*\\\}}))*\s*")
# `\mathbb{R} \setminus \{1, 2\}`.
_REALS = re.compile(r"\s*\\mathbb\s*\{?R\}?\s*(?:\\setminus|\\backslash|-)\s*\\\{(.+)\\\}\s*")
# `|x| \ge 3` is two rays.
_OUTSIDE = re.compile(rf"\|\s*[a-z]\s*\|\s*(?P<sign>{_MORE_EQUAL}|{_MORE})\s*(?P<end>[^<>=,]+)")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INEQUALITY_CHARS = 300

Bound = tuple[str, str]
"""(sign, value) of one bound on the variable; signs are <, <=, >, >= and !=."""


def has_inequality(latex: str) -> bool:
    """Return whether a text has an inequality sign, ``\\ne`` among them."""
    return _INEQUALITY.search(latex) is not None


def is_interval(latex: str) -> bool:
    """Return whether a text is an interval or a union of intervals, perhaps after ``x \\in``."""
    text = _MEMBER.sub("", latex)
    return len(text) <= _INEQUALITY_CHARS and (
        _INTERVALS.fullmatch(text) is not None or _REALS.fullmatch(text) is not None
    )


def intervals_of(latex: str) -> str | None:
    """Return an inequality, or several joined by "or" or "and", as an interval or a union.

    ``-2 \\le x < 7`` becomes ``[-2,7)``, ``x<1 \\text{ or } x>3`` becomes ``(-\\infty,1) \\cup (3,\\infty)``.
    An interval stays as it is. Return None for what is neither.
    """
    text = _MEMBER.sub("", latex.strip())
    if len(text) > _INEQUALITY_CHARS:
        return None
    if builder := _BUILDER.match(text):
        text = builder[2].strip()
    if (outside := _REALS.fullmatch(text)) is not None:
        return _without(outside[1].split(","))
    if _INTERVALS.fullmatch(text):
        return text
    pieces: list[str] = []
    for part in _alternatives(text):
        piece = _conjunction(part)
        if piece is None:
            return None
        pieces += piece
    return " \\cup ".join(sorted(pieces, key=_lower_end))


def _alternatives(text: str) -> list[str]:
    """Return the parts that "or" joins. A comma may mean it: ``x<2, x>3`` cannot both be true."""
    parts = split_outside(text, _OR)
    pair = split_outside(text, ",") if len(parts) == 1 else []
    bounds = [_bounds(part.strip()) for part in pair] if len(pair) == 2 else []
    if len(bounds) != 2 or any(found is None or len(found) != 1 for found in bounds):
        return parts
    by_sign = {found[0][0]: found[0][1] for found in bounds if found}
    low, high = (
        next((value for sign, value in by_sign.items() if sign[0] == wanted), None) for wanted in "><"
    )
    if low is None or high is None:
        return parts
    ends = [_elements(end) for end in (low, high)]
    values = [end[0][0].real for end in ends if end is not None and len(end) == 1]
    both_closed = all(sign.endswith("=") for sign in by_sign)
    if len(values) == 2 and (values[0] > values[1] or (values[0] == values[1] and not both_closed)):
        return pair
    return parts


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


_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
"""Read as one number only if the reference has a decimal point: 1,2 may be a list."""
_CUT_OFF = re.compile(
    r"(?:[-+*/^=_]|\\(?:cdot|times|div|pm|mp|cup|cap|setminus|in|to|mid|d?frac|sqrt|binom)(?:\{\})?)$"
)
"""What an expression ends in if its last part is missing: ``204+``, ``204\\pm``, ``204\\sqrt{}``.

math-verify 0.9.0 drops such an end and reads 204."""
_UNREAD = re.compile(
    r"\\(?:neg|lnot|not|[lcvd]?dots[a-z]?|exists|nexists|forall|complement|dagger|star|partial|Re|Im)(?![A-Za-z])|\.\.\."
)
"""Signs that math-verify 0.9.0 drops: it reads ``\\neg 2`` and ``2\\ldots`` as 2."""
_LETTERS = re.compile(r"[A-Za-z]+")
_TIME = re.compile(r"\d{1,2}:0\d")
"""A time of day such as 12:00, which is no ratio."""
_APART = re.compile(r"\d \d")
_WORDED = re.compile(r"[A-Za-z]{3,}(?![A-Za-z]*[{\\])|\\pm")
"""What makes a text with commas no plain list: words, or a sign that lists two values."""
_TUPLE = re.compile(r"[(\[].*,.*[)\]]", re.DOTALL)

Open = tuple[Expression, Expression]
"""(reference, answer) in the forms that computer algebra must compare."""


def decide(reference: Expression, answer: Expression) -> bool | Open:
    """Return whether the answer states the reference, or what computer algebra must compare."""
    if reference.modulus and answer.modulus:
        return _residues_equal(reference, answer)
    # Two numbers never need algebra, and most answers are numbers.
    if reference.number and answer.number:
        return numbers_equal(reference.number, answer.number)
    if reference.gaussian or answer.gaussian:
        if reference.gaussian and answer.gaussian:
            return complex_numbers_equal(
                reference.gaussian, answer.gaussian, rounded="." in reference.key + answer.key
            )
        if reference.number or answer.number:
            return False
    if reference.number and reference.number.decimal and _DECIMAL_COMMA.fullmatch(answer.key):
        return decide(reference, read_expression(answer.key.replace(",", ".")))
    spelt = _decide_spelling(reference, answer)
    return _decide_relations(reference, answer) if spelt is None else spelt


def _decide_listing(reference: Expression, answer: Expression) -> bool | Open:
    """Compare lists. An ordered pair is no list: ``(-2,1)`` states ``-2,1`` but not ``1,-2``."""
    ordered = [_is_tuple(side.key) for side in (reference, answer)]
    listed = [_is_list(side.key) for side in (reference, answer)]
    if ordered[0] and listed[1]:
        return reference, read_expression(f"({answer.latex})")
    if ordered[1] and listed[0]:
        return read_expression(f"({reference.latex})"), answer
    return reference, answer


def _is_tuple(key: str) -> bool:
    return key[:1] == "(" and key[-1:] == ")" and _is_list(key[1:-1]) and is_balanced(key[1:-1])


def _is_list(key: str) -> bool:
    return "," in key and len(split_outside(key, ",")) > 1 and not _WORDED.search(key)


def _decide_spelling(reference: Expression, answer: Expression) -> bool | None:
    """Compare two texts as they are written. Return None if that does not decide."""
    if reference.key == answer.key:
        return bool(reference.key)
    # The base counts, not the value: `204_5` does not state 204.
    if reference.based or answer.based:
        return _bases_equal(reference, answer)
    if reference.word is not None:
        return reference.word == (answer.word or answer.key.casefold())
    if answer.word is not None and not _LETTERS.fullmatch(reference.key):
        return False
    return False if _is_unreadable(reference, answer) else None


def _is_unreadable(reference: Expression, answer: Expression) -> bool:
    """Return whether math-verify would read less of an answer than it says, and so accept another one."""
    if _UNREAD.search(answer.key) and not _UNREAD.search(reference.key):
        return True
    cut_off = _CUT_OFF.search(answer.key) or _TIME.fullmatch(reference.key)
    return bool(cut_off) or _is_torn(reference, answer)


def _is_torn(reference: Expression, answer: Expression) -> bool:
    """Return whether an answer has numbers side by side, as in ``2 3``, and the reference has none."""
    return bool(_APART.search(answer.key)) and not _APART.search(reference.key)


def _residues_equal(reference: Expression, answer: Expression) -> bool | Open:
    """Compare residues: 4 mod 3 is 1 mod 3, but 1 mod 4 is not."""
    if reference.modulus != answer.modulus:
        return False
    one, two = reference.number, answer.number
    if one and two and str(reference.modulus).isdigit() and int(str(reference.modulus)):
        return (one.value - two.value) % int(str(reference.modulus)) == 0
    return decide(replace(reference, modulus=None), replace(answer, modulus=None))


def _bases_equal(reference: Expression, answer: Expression) -> bool:
    """Compare digits and bases. An answer may leave out the base that the question asks for, not add one."""
    if reference.based and answer.based:
        return reference.based == answer.based
    if reference.based is None:
        return False
    digits = answer.key.upper().lstrip("0") or "0"
    return digits == reference.based.digits


def _decide_relations(reference: Expression, answer: Expression) -> bool | Open:
    wants_inequality, has_one = has_inequality(reference.latex), has_inequality(answer.latex)
    if wants_inequality or has_one:
        return _decide_inequality(reference, answer, wants_inequality, has_one)
    if is_equation(answer.key) or is_equation(reference.key) or "=" in answer.key:
        return _decide_equation(reference, answer)
    return _decide_listing(reference, answer)


def _decide_inequality(reference: Expression, answer: Expression, wanted: bool, given: bool) -> bool | Open:
    """Compare an inequality with an interval as two intervals. A bound never states a value."""
    if wanted and given:
        pieces = [intervals_of(side.latex) for side in (reference, answer)]
        if all(piece and "\\cup" in piece for piece in pieces):
            return _open(*(read_expression(str(piece)) for piece in pieces))
        return reference, answer
    interval, inequality = (answer, reference) if wanted else (reference, answer)
    if not is_interval(interval.latex):
        return False
    rewritten, plain = intervals_of(inequality.latex), intervals_of(interval.latex)
    if rewritten is None or plain is None:
        return (reference, answer) if wanted else False
    sides = read_expression(plain), read_expression(rewritten)
    return _open(sides[1], sides[0]) if wanted else _open(*sides)


def _open(reference: Expression, answer: Expression) -> bool | Open:
    return True if reference.key == answer.key else (reference, answer)


def _decide_equation(reference: Expression, answer: Expression) -> bool | Open:
    if "=" not in reference.key:
        return _decide_answer_equation(reference, answer)
    if "=" not in answer.key:
        named = equation_sides(reference.key)
        if assignments(reference.key) is not None and _is_list(answer.key):
            # `3,2` gives no names, so its order counts.
            return decide(
                read_expression(str(_system_text(reference.key, "(,)"))), read_expression(f"({answer.latex})")
            )
        wanted = named[1] if named is not None else _system_text(reference.key, answer.key)
        if wanted is None:
            return False if answer.number else (reference, answer)
        return decide(read_expression(wanted), answer)
    return _decide_two_equations(reference, answer)


def _decide_two_equations(reference: Expression, answer: Expression) -> bool | Open:
    named, given = equation_sides(reference.key), equation_sides(answer.key)
    if named is not None and given is not None:
        if named[0] == given[0]:
            return decide(read_expression(named[1]), read_expression(given[1]))
        if len(named[0]) == len(given[0]) == 1:
            return False
    assigned = [assignments(side.key) for side in (reference, answer)]
    if assigned[0] is not None and assigned[1] is not None:
        if assigned[0].keys() != assigned[1].keys():
            return False
        values = [",".join(found[name] for name in assigned[0]) for found in assigned if found is not None]
        return decide(*(read_expression(f"({value})") for value in values))
    one, two = _system_text(reference.key, ""), _system_text(answer.key, "")
    if one is not None and two is not None:
        return decide(read_expression(one), read_expression(two))
    return reference, answer


def _decide_answer_equation(reference: Expression, answer: Expression) -> bool | Open:
    """Compare a value with the value that an equation states: ``x=5`` states 5, ``x^2=4`` states nothing."""
    undecided: bool | Open = False
    for value in stated_values(answer.key):
        outcome = decide(reference, read_expression(value))
        if outcome is True:
            return True
        undecided = undecided or outcome
    if undecided:
        return undecided
    system = _system_text(answer.key, reference.key)
    if system is not None:
        return decide(reference, read_expression(system))
    return False if reference.number or is_equation(answer.key) else (reference, answer)


def _system_text(key: str, other: str) -> str | None:
    """Return ``x=1,y=5`` as the list 1,5, or as a tuple if that is what it is compared with."""
    system = system_values(key)
    if system is None:
        return None
    values, one_name = system
    joined = ",".join(values)
    if (found := assignments(key)) is not None:
        joined = ",".join(found[name] for name in _in_order(found))
    return f"({joined})" if not one_name and _TUPLE.fullmatch(other) else joined


def _in_order(names: Iterable[str]) -> list[str]:
    """Return names that follow each other in the alphabet in its order: ``y=3,x=2`` is the point (2,3).

    Others stay as they are written: ``x=-5,p=2``.
    """
    ordered = sorted(names)
    follow = all(len(name) == 1 for name in ordered) and all(
        ord(two) - ord(one) == 1 for one, two in pairwise(ordered)
    )
    return ordered if follow else list(names)


_SAMPLED_CHARS = 400
_FAR = 2e-5
"""Relative gap that no rounding explains: an answer with a point may differ by 1e-5."""
_LOST = 1e-11
"""Relative error of doubles after the cancellation of terms, measured against the largest term."""
_RELATION = re.compile(
    r"[<>=!:]|\\(?:le|leq|leqslant|ge|geq|geqslant|ne|neq|lt|gt|equiv|approx|to|mid)(?![A-Za-z])"
)
_FACTORIAL = re.compile(r"!(?!=)")
# `x = `, `x_{1} \in `: what is in front of the values.
_PREFIX = re.compile(r"^\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*(?:=|\\in(?![A-Za-z]))")
_MATRIX = re.compile(r"^\\begin\{([bpvBV]?matrix)\}(.*)\\end\{\1\}$", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-zA-Z]+\}")
_SEPARATOR = r",|;|\\cup(?![A-Za-z])|\\(?:text|mbox)\s*\{\s*(?:and|or)\s*\}"
# `f(2)` is no product of f and 2, while `x(2)` may be one.
_FUNCTION_NAMES = frozenset("fghpqFGHPQ")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_CONSTANT_VALUES: dict[str, complex] = {"\\pi": math.pi, "e": math.e, "i": 1j, "\\infty": math.inf}
_GREEK = {
    "\\alpha": 0.61,
    "\\beta": 0.83,
    "\\gamma": 1.19,
    "\\theta": 0.47,
    "\\lambda": 1.43,
    "\\omega": 0.91,
}
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "\\sin": cmath.sin,
    "\\cos": cmath.cos,
    "\\tan": cmath.tan,
    "\\cot": lambda z: 1 / cmath.tan(z),
    "\\sec": lambda z: 1 / cmath.cos(z),
    "\\csc": lambda z: 1 / cmath.sin(z),
    "\\arcsin": cmath.asin,
    "\\arccos": cmath.acos,
    "\\arctan": cmath.atan,
    "\\sinh": cmath.sinh,
    "\\cosh": cmath.cosh,
    "\\tanh": cmath.tanh,
    "\\ln": cmath.log,
    "\\exp": cmath.exp,
}
Value = tuple[complex, float]
"""(value, largest magnitude met on the way)"""


def refuted(reference: str, answer: str) -> bool:
    """Return whether two tidy expressions certainly differ.

    They do if both can be evaluated and a value of one is none of the other's. Lists, tuples, intervals,
    sets and matrices count as the set of their elements, so that order, brackets and repetition stay
    with the algebra.
    """
    one = _elements(reference)
    two = _elements(answer) if one else None
    if not one or not two:
        return False
    return any(_absent(value, two) for value in one) or any(_absent(value, one) for value in two)


def _absent(value: Value, values: Sequence[Value]) -> bool:
    return not any(_near(value, other) for other in values)


def _near(one: Value, two: Value) -> bool:
    if cmath.isinf(one[0]) or cmath.isinf(two[0]):
        return one[0] == two[0]
    size = max(abs(one[0]), abs(two[0]))
    return abs(one[0] - two[0]) <= _FAR * size + _LOST * max(one[1], two[1])


def _elements(latex: str) -> list[Value] | None:
    """Return the values that an expression lists, or None if it is not simple enough to be sure."""
    if (
        len(latex) > _SAMPLED_CHARS
        or "\\%" in latex
        or "%" in latex
        or _WORD.search(_ENVIRONMENT.sub("", latex))
    ):
        return None
    try:
        return _values(latex)
    except (UnreadableError, ArithmeticError, ValueError, RecursionError):
        return None


def _values(latex: str) -> list[Value]:
    text = _PREFIX.sub("", latex.strip()).strip()
    if matrix := _MATRIX.match(text):
        rows = [row for row in matrix[2].split("\\\\") if row.strip()]
        return [value for row in rows for cell in row.split("&") for value in _values(cell)]
    parts = split_outside(text, _SEPARATOR)
    if len(parts) > 1:
        return [value for part in parts for value in _values(part)]
    if (inside := _inside(text)) is not None:
        return _values(inside)
    if _RELATION.search(_FACTORIAL.sub("", text)):
        raise UnreadableError
    signs = ("+", "-") if "\\pm" in text else ("",)
    if text.count("\\pm") > 1:
        raise UnreadableError
    return [_evaluated(text.replace("\\pm", sign)) for sign in signs]


def _evaluated(text: str) -> Value:
    field = _Point()
    value = Parser(text, field).value()
    if cmath.isnan(value):
        raise UnreadableError
    return value, field.largest


def _inside(text: str) -> str | None:
    """Return what the brackets of a tuple, interval or set contain, or None if the text is none."""
    if text.startswith("\\{") and text.endswith("\\}"):
        inside = text[2:-2]
    elif text[:1] in {"(", "["} and text[-1:] in {")", "]"}:
        inside = text[1:-1]
    else:
        return None
    if not is_balanced(inside):
        return None
    return inside if text[0] != "[" or "," in inside else None


class _Point:
    """Complex numbers, with every variable at a fixed value."""

    def __init__(self) -> None:
        self.largest = 0.0
        self._has_variables = False

    def literal(self, digits: str) -> complex:
        return float(digits)

    def name(self, token: str, following: str) -> complex:
        if token in _CONSTANT_VALUES:
            return _CONSTANT_VALUES[token]
        self._has_variables = True
        if token in _GREEK:
            return _GREEK[token]
        if len(token) != 1 or following == "_" or (token in _FUNCTION_NAMES and following == "("):
            raise UnreadableError
        if not token.isalpha() or token in {"E", "I"}:
            raise UnreadableError
        return 0.5 + (ord(token.lower()) % 61) * 0.0371  # math-verify 0.9.0 reads R as r

    def add(self, one: complex, two: complex) -> complex:
        if not (cmath.isinf(one) or cmath.isinf(two)):
            self.largest = max(self.largest, abs(one), abs(two))
        return one + two

    def negate(self, value: complex) -> complex:
        return -value

    def multiply(self, one: complex, two: complex) -> complex:
        return one * two

    def divide(self, one: complex, two: complex) -> complex:
        return one / two

    def power(self, base: complex, exponent: complex) -> complex:
        if abs(exponent) > 64 or abs(base) > 1e6 or (base == 0 and exponent.real <= 0):
            raise UnreadableError
        return base**exponent

    def root(self, radicand: complex, degree: complex | None) -> complex:
        if degree is None or degree == 2:
            return cmath.sqrt(radicand)
        if radicand.real < 0 or radicand.imag:
            raise UnreadableError  # real or principal root
        return radicand ** (1 / degree)

    def factorial(self, value: complex) -> complex:
        if value.imag or value.real != int(value.real) or not 0 <= value.real <= 100:
            raise UnreadableError
        return float(math.factorial(int(value.real)))

    def binomial(self, above: complex, below: complex) -> complex:
        if any(v.imag or v.real != int(v.real) or not 0 <= v.real <= 200 for v in (above, below)):
            raise UnreadableError
        return float(math.comb(int(above.real), int(below.real)))

    def function(self, name: str, argument: complex) -> complex:
        if self._has_variables or abs(argument) > 1e3:
            raise UnreadableError  # doubles lose the angle of a large argument
        return _FUNCTIONS[name](argument)

    def absolute(self, value: complex) -> complex:
        if self._has_variables:
            raise UnreadableError
        return abs(value)
