"""Evaluates simple LaTeX at one fixed point, to refute equality in microseconds where algebra takes 20 ms."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Sequence

_CHARS = 400
_FAR = 1e-3
"""Relative gap that no rounding explains: the algebra rounds at 1e-6."""
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+|\\[A-Za-z]+|\\[{}]|[A-Za-z]|[-+*/^_=(){}\[\],;])")
_RELATION = re.compile(
    r"[<>=!:]|\\(?:le|leq|leqslant|ge|geq|geqslant|ne|neq|lt|gt|equiv|approx|to|mid)(?![A-Za-z])"
)
_PREFIX = re.compile(r"^\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*(?:=|\\in(?![A-Za-z]))")
_MATRIX = re.compile(r"^\\begin\{([bpvBV]?matrix)\}(.*)\\end\{\1\}$", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-zA-Z]+\}")
_SEPARATOR = re.compile(r",|;|\\cup(?![A-Za-z])|\\(?:text|mbox)\s*\{\s*(?:and|or)\s*\}")
_FUNCTION_NAMES = frozenset("fghpqFGHPQ")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_CONSTANTS: dict[str, complex] = {"\\pi": math.pi, "e": math.e, "i": 1j, "\\infty": math.inf}
_GREEK = {
    "\\alpha": 0.61,
    "\\beta": 0.83,
    "\\gamma": 1.19,
    "\\theta": 0.47,
    "\\lambda": 1.43,
    "\\omega": 0.91,
}
_DIVIDE, _TIMES = frozenset({"/", "\\div"}), frozenset({"*", "\\cdot", "\\times"})


def refuted(reference: str, answer: str) -> bool:
    """Whether two tidy expressions certainly differ: both can be evaluated, and a value of one is none of
    the other's. Lists, tuples, intervals, sets and matrices count as the set of their elements, so
    that order, brackets and repetition stay with the algebra."""
    one = _elements(reference)
    two = _elements(answer) if one else None
    if not one or not two:
        return False
    return any(_absent(value, two) for value in one) or any(_absent(value, one) for value in two)


def _absent(value: complex, values: Sequence[complex]) -> bool:
    return not any(_near(value, other) for other in values)


def _near(one: complex, two: complex) -> bool:
    if cmath.isinf(one) or cmath.isinf(two):
        return one == two
    return abs(one - two) <= _FAR * max(1.0, abs(one), abs(two))


def _elements(latex: str) -> list[complex] | None:
    """The values that an expression lists; None where it is not simple enough to be sure."""
    if len(latex) > _CHARS or "\\%" in latex or "%" in latex or _WORD.search(_ENVIRONMENT.sub("", latex)):
        return None
    try:
        return _values(latex)
    except (_UnreadableError, ArithmeticError, ValueError, RecursionError):
        return None


def _values(latex: str) -> list[complex]:
    text = _PREFIX.sub("", latex.strip()).strip()
    if matrix := _MATRIX.match(text):
        rows = [row for row in matrix[2].split("\\\\") if row.strip()]
        return [value for row in rows for cell in row.split("&") for value in _values(cell)]
    parts = _split(text)
    if len(parts) > 1:
        return [value for part in parts for value in _values(part)]
    if (inside := _inside(text)) is not None:
        return _values(inside)
    if _RELATION.search(text):
        raise _UnreadableError
    signs = ("+", "-") if "\\pm" in text else ("",)
    if text.count("\\pm") > 1:
        raise _UnreadableError
    return [_Evaluation(text.replace("\\pm", sign)).value() for sign in signs]


def _split(text: str) -> list[str]:
    """Parts between separators that stand outside all brackets."""
    parts, start, depth = [], 0, 0
    for match in re.finditer(rf"[(\[{{]|[)\]}}]|{_SEPARATOR.pattern}", text):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _inside(text: str) -> str | None:
    """What stands in the brackets of a tuple, interval or set; None where the text is none."""
    if text.startswith("\\{") and text.endswith("\\}"):
        inside = text[2:-2]
    elif text[:1] in {"(", "["} and text[-1:] in {")", "]"}:
        inside = text[1:-1]
    else:
        return None
    depth = 0
    for char in inside:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return None
    return inside if text[0] != "[" or "," in inside else None


class _UnreadableError(Exception):
    """The expression is not simple enough to be sure of its value."""


class _Evaluation:
    """One pass over an expression: sums of products of powers of atoms."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        end = 0
        while end < len(text) and (match := _TOKEN.match(text, end)):
            self._tokens.append(match[1])
            end = match.end()
        if text[end:].strip() or not self._tokens:
            raise _UnreadableError
        self._at = 0

    def value(self) -> complex:
        value = self._sum()
        if self._at < len(self._tokens) or cmath.isnan(value):
            raise _UnreadableError
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._next
        if not token or (wanted and token != wanted):
            raise _UnreadableError
        self._at += 1
        return token

    def _sum(self) -> complex:
        total = self._signed() if self._next in {"+", "-"} else self._product()
        while self._next in {"+", "-"}:
            total += self._signed()
        return total

    def _signed(self) -> complex:
        return -self._product() if self._take() == "-" else self._product()

    def _product(self) -> complex:
        value = self._power()
        divided = False
        while True:
            token = self._next
            if token in _TIMES:
                self._take()
                value *= self._factor()
            elif token in _DIVIDE:
                self._take()
                value /= self._factor()
                divided = True
            elif self._begins_atom(token):
                if divided or token[0].isdigit() or self._after_digit_fraction(token):
                    raise _UnreadableError  # 1/2x, x2 and 1\frac{1}{2} can be read in two ways
                value *= self._power()
            else:
                return value

    def _after_digit_fraction(self, token: str) -> bool:
        return token == "\\frac" and self._tokens[self._at - 1][0].isdigit()

    def _factor(self) -> complex:
        if self._next == "-":
            self._take()
            return -self._power()
        return self._power()

    def _begins_atom(self, token: str) -> bool:
        return bool(token) and (
            token[0].isalnum() or token in {"(", "{", "\\frac", "\\sqrt", "\\pi"} or token in _GREEK
        )

    def _power(self) -> complex:
        base = self._atom()
        if self._next == "^":
            self._take()
            exponent = self._atom()
            if (
                self._next == "^"
                or abs(exponent) > 64
                or abs(base) > 1e6
                or (base == 0 and exponent.real <= 0)
            ):
                raise _UnreadableError
            return base**exponent
        return base

    def _atom(self) -> complex:
        token = self._take()
        if token[0].isdigit() or token[0] == ".":
            return float(token)
        if token in {"(", "{"}:
            value = self._sum()
            self._take(")" if token == "(" else "}")
            return value
        if token == "\\frac":
            above = self._braced()
            return above / self._braced()
        if token == "\\sqrt":
            return self._root()
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        return self._variable(token)

    def _variable(self, token: str) -> complex:
        if token in _GREEK:
            return _GREEK[token]
        if len(token) != 1 or self._next == "_" or (token in _FUNCTION_NAMES and self._next == "("):
            raise _UnreadableError
        if token in {"E", "I"}:
            raise _UnreadableError
        return 0.5 + (ord(token.lower()) % 61) * 0.0371  # math-verify 0.9.0 reads R as r

    def _braced(self) -> complex:
        if self._next != "{":
            token = self._take()
            if len(token) != 1 or not token.isalnum():
                raise _UnreadableError
            return float(token) if token.isdigit() else self._variable(token)
        return self._atom()

    def _root(self) -> complex:
        degree: complex = 2.0
        if self._next == "[":
            self._take()
            degree = self._sum()
            self._take("]")
        radicand = self._braced()
        if degree != 2 and (radicand.real < 0 or radicand.imag):
            raise _UnreadableError  # real or principal root
        return cmath.sqrt(radicand) if degree == 2 else radicand ** (1 / degree)
