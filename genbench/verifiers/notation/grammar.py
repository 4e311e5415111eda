"""Parses simple LaTeX arithmetic over any kind of number.

Exact evaluation (arithmetic.py) and evaluation at a point (sampling.py) share this grammar. It refuses
whatever can be read in two ways, such as ``1/2x``.
"""

from __future__ import annotations

import re
from typing import Any, Generic, Protocol, TypeVar

_TOKEN = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+|\\[A-Za-z]+|\\[{}]|[A-Za-z]|[-+*/^_=(){}\[\],;!|])")
_DIVIDE, _TIMES = frozenset({"/", "\\div"}), frozenset({"*", "\\cdot", "\\times"})
FUNCTIONS = frozenset(
    {"\\sin", "\\cos", "\\tan", "\\cot", "\\sec", "\\csc", "\\arcsin", "\\arccos", "\\arctan"}
    | {"\\sinh", "\\cosh", "\\tanh", "\\ln", "\\exp"}
)
_OPENING = frozenset({"(", "{", "\\frac", "\\sqrt", "\\pi", "\\binom"})
_GREEK = frozenset({"\\alpha", "\\beta", "\\gamma", "\\theta", "\\lambda", "\\omega"})
_DEPTH = 40
"""Sums within each other that are read. The parser calls itself for each."""

T = TypeVar("T")


class UnreadableError(Exception):
    """The expression is not simple enough to be sure of its value."""


class TooLargeError(UnreadableError):
    """The value has more digits than may be computed."""


class Field(Protocol[T]):
    """The operations of one kind of number. Each may raise UnreadableError or ArithmeticError."""

    def literal(self, digits: str) -> T:
        """Return the number that digits with an optional point spell."""
        ...

    def name(self, token: str, following: str) -> T:
        """Return the value of a letter, a constant or a command, given the text after it."""
        ...

    def bounded(self, value: Any) -> T:
        """Return the value of a sum, product or quotient if it is not too large."""
        ...

    def power(self, base: T, exponent: T) -> T:
        """Return the power."""
        ...

    def root(self, radicand: T, degree: T | None) -> T:
        """Return the root. The degree is 2 if it is None."""
        ...

    def factorial(self, value: T) -> T:
        """Return the factorial."""
        ...

    def binomial(self, above: T, below: T) -> T:
        """Return the binomial coefficient."""
        ...

    def function(self, name: str, argument: T) -> T:
        """Return a named function's value, such as that of `sin`."""
        ...

    def absolute(self, value: T) -> T:
        """Return the absolute value."""
        ...


class Parser(Generic[T]):
    """One pass over an expression: sums of products of powers of atoms."""

    def __init__(self, text: str, field: Field[T]) -> None:
        self._field = field
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0
        self._bars = 0

    def value(self) -> T:
        """Return the value of the whole expression.

        Raises:
            UnreadableError: the expression is not simple, or can be read in two ways.
            ArithmeticError: it has no value, or one that does not fit.
        """
        value = self._sum()
        if self._at < len(self._tokens):
            raise UnreadableError
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._next
        if not token or (wanted and token != wanted):
            raise UnreadableError
        self._at += 1
        return token

    def _sum(self) -> T:
        self._depth += 1
        if self._depth > _DEPTH:
            raise UnreadableError
        total = self._signed() if self._next in {"+", "-"} else self._product()
        while self._next in {"+", "-"}:
            total = self._plus(total, self._signed())
        self._depth -= 1
        return total

    def _signed(self) -> T:
        return self._negative(self._product()) if self._take() == "-" else self._product()

    def _plus(self, one: Any, two: Any) -> T:
        return self._field.bounded(one + two)

    def _times(self, one: Any, two: Any) -> T:
        return self._field.bounded(one * two)

    def _over(self, one: Any, two: Any) -> T:
        return self._field.bounded(one / two)

    def _negative(self, value: Any) -> T:
        return self._field.bounded(-value)

    def _product(self) -> T:
        value = self._power()
        divided = False
        while True:
            token = self._next
            if token in _TIMES:
                self._take()
                value = self._times(value, self._factor())
            elif token in _DIVIDE:
                self._take()
                value = self._over(value, self._factor())
                divided = True
            elif self._begins_atom(token):
                if divided or token[0].isdigit() or self._follows_digit(token):
                    raise UnreadableError  # 1/2x, x2 and 1\frac{1}{2} can be read in two ways
                value = self._times(value, self._power())
            else:
                return value

    def _follows_digit(self, token: str) -> bool:
        return token == "\\frac" and self._tokens[self._at - 1][0].isdigit()

    def _factor(self) -> T:
        if self._next == "-":
            self._take()
            return self._negative(self._power())
        return self._power()

    def _begins_atom(self, token: str) -> bool:
        return bool(token) and (
            token[0].isalnum()
            or token in _OPENING
            or token in _GREEK
            or token in FUNCTIONS
            or (token == "|" and not self._bars)
        )

    def _power(self) -> T:
        value = self._atom()
        while self._next == "!":
            self._take()
            value = self._field.factorial(value)
        if self._next == "^":
            self._take()
            exponent = self._atom()
            if self._next in {"^", "!"}:
                raise UnreadableError
            value = self._field.power(value, exponent)
        return value

    def _atom(self) -> T:
        token = self._take()
        if token[0].isdigit() or token[0] == ".":
            return self._field.literal(token)
        if token in {"(", "{"}:
            value = self._sum()
            self._take(")" if token == "(" else "}")
            return value
        if token == "|":
            return self._between_bars()
        return self._command(token)

    def _command(self, token: str) -> T:
        if token == "\\frac":
            above = self._group()
            return self._over(above, self._group())
        if token == "\\binom":
            above = self._group()
            return self._field.binomial(above, self._group())
        if token == "\\sqrt":
            return self._root()
        if token in FUNCTIONS:
            return self._field.function(token, self._argument())
        return self._field.name(token, self._next)

    def _between_bars(self) -> T:
        if self._bars:
            raise UnreadableError
        self._bars += 1
        value = self._sum()
        self._take("|")
        self._bars -= 1
        return self._field.absolute(value)

    def _argument(self) -> T:
        """Read the argument of a function: one group, or one factor without signs as in ``\\sin x``."""
        if self._next in {"(", "{"}:
            value = self._atom()
            if self._next in {"^", "!"}:
                raise UnreadableError
            return value
        if self._next in {"^", "_", "|"}:
            raise UnreadableError
        value = self._power()
        goes_on = self._begins_atom(self._next) and self._next not in FUNCTIONS
        if goes_on or self._next in _DIVIDE:
            raise UnreadableError
        return value

    def _group(self) -> T:
        if self._next == "{":
            return self._atom()
        raise UnreadableError

    def _root(self) -> T:
        degree = None
        if self._next == "[":
            self._take()
            degree = self._sum()
            self._take("]")
        return self._field.root(self._group(), degree)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while end < len(text) and (match := _TOKEN.match(text, end)):
        tokens.append(match[1])
        end = match.end()
    if text[end:].strip() or not tokens:
        raise UnreadableError
    return tokens
