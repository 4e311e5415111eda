"""Comparison of answers with expected ones: printed text, JSON values, Python literals.

Only data of limited size is compared. Rules of printed text and JSON values:
LiveCodeBench (testing_util.py at 28fef95, lines 229-307 and 372-423).
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from genbench.errors import DataError
from genbench.sandbox.programs import Check, Kind

_LONGEST_SHOWN = 80
_LONGEST_KEY = 200
_LONGEST_RATIO = 4_000
"""Hexadecimal digits of a numerator or denominator. Time to reduce a fraction is quadratic in its digits."""
_NUMBERS = (int, float, complex, Fraction)
_LONGEST_NUMBER = 100_000
"""Characters of a token that is read as a number. Longer ones are equal only as text."""


def same_text(actual: bytes, expected: str) -> bool:
    """Compare line by line without outer blanks. Lines that differ must be equal number by number."""
    wanted = expected.strip()
    if actual.strip() == wanted.encode(errors="surrogatepass"):
        return True
    given = actual.decode(errors="surrogateescape").strip()
    if given.count("\n") != wanted.count("\n"):
        return False
    return all(map(_same_line, given.split("\n"), wanted.split("\n")))


def _same_line(actual: str, expected: str) -> bool:
    actual, expected = actual.strip(), expected.strip()
    if actual == expected:
        return True
    given, wanted = actual.split(), expected.split()
    return len(given) == len(wanted) and all(map(_same_number, given, wanted))


def _same_number(actual: str, expected: str) -> bool:
    if max(len(actual), len(expected)) > _LONGEST_NUMBER:
        return False
    if not (actual.isascii() and expected.isascii()):  # Decimal reads the digits of every script
        return False
    try:
        return Decimal(actual) == Decimal(expected)
    except InvalidOperation:
        return False


def same_json(answer: bytes, expected: str) -> bool:
    """Compare a called function's value with JSON by Python's ==. An outermost tuple counts as a list."""
    value = decoded(answer)
    if isinstance(value, tuple):
        value = list(value)
    return _equal(value, _plain(_json(expected)))


def same_literal(answer: bytes, expected: str, tolerance: float | None) -> bool:
    """Compare an expression's value with a Python literal. Numbers may be `tolerance` apart."""
    value, wanted = decoded(answer), _plain(ast.literal_eval(expected))
    return _equal(value, wanted) or (tolerance is not None and _near(value, wanted, tolerance))


def _near(value: Any, wanted: Any, tolerance: float) -> bool:
    """Compare two numbers, or two lists of numbers position by position."""
    if isinstance(value, _NUMBERS) and isinstance(wanted, _NUMBERS):
        return _distance(value, wanted) <= tolerance
    if isinstance(value, list | tuple) and isinstance(wanted, list | tuple) and len(value) == len(wanted):
        return all(_near(one, other, tolerance) for one, other in zip(value, wanted, strict=True))
    return False


def _distance(value: Any, wanted: Any) -> float | Fraction:
    """Return |value - wanted|. It is exact if an integer is too large to become a float."""
    try:
        distance: float | Fraction = abs(value - wanted)
        return distance
    except OverflowError:
        if isinstance(value, complex) or isinstance(wanted, complex):
            return math.inf
        finite = math.isfinite(wanted) if isinstance(wanted, float) else math.isfinite(value)
        return abs(Fraction(value) - Fraction(wanted)) if finite else math.inf


def _equal(value: Any, wanted: Any) -> bool:
    try:
        return bool(value == wanted)
    except RecursionError:
        return False


class _Other:
    """A value that JSON cannot represent. It is equal to nothing."""

    def __init__(self, name: str) -> None:
        self.name = name


def decoded(answer: bytes) -> Any:
    """Return the value of tagged JSON (inside/calls.py).

    Anything else becomes a value that is equal to nothing.
    """
    try:
        # As bytes it could be in UTF-16, too. Each NaN is an object of its own, equal to no other.
        return _untagged(json.loads(answer.decode(), parse_constant=float))
    except (ValueError, RecursionError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError):
        return _Other("not a value")


def _untagged(node: Any) -> Any:
    if isinstance(node, list):
        nested = not {list, dict}.isdisjoint(map(type, node))
        return [_untagged(item) for item in node] if nested else node
    if not isinstance(node, dict):
        return node
    ((tag, body),) = node.items()
    return _TAGS[tag](body) if tag in _TAGS else _Other(str(body))


def _ratio(parts: Any) -> Any:
    numerator, denominator = parts
    if max(len(numerator), len(denominator)) > _LONGEST_RATIO:
        return _Other("a fraction with too many digits")
    value = Fraction(int(numerator, 16), int(denominator, 16))
    return value.numerator if value.denominator == 1 else value


_TAGS: dict[str, Callable[[Any], Any]] = {
    "i": lambda digits: int(digits, 16),
    "t": lambda items: tuple(_untagged(item) for item in items),
    "d": lambda pairs: {_key(_untagged(key)): _untagged(value) for key, value in pairs},
    "s": lambda items: frozenset(_key(_untagged(item)) for item in items),
    "b": bytes.fromhex,
    "q": _ratio,
    "c": lambda parts: complex(*parts),
}


def _plain(value: Any) -> Any:
    """Return an expected value with its keys and members as `_untagged` makes them."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return {_key(_plain(k)): _plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return frozenset(_key(_plain(item)) for item in value)
    return value


def _key(value: Any) -> str:
    """Return a text that is equal for equal values. Long ones are digests, so that keys in keys do not grow.

    A program can choose numbers that collide, but not texts.
    """
    text = _spelled(value)
    if len(text) <= _LONGEST_KEY:
        return text
    return f"sha256:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def _spelled(value: Any) -> str:
    if isinstance(value, complex):  # both zeros are spelled alike
        if value.imag:
            return f"c{_spelled(value.real)},{_spelled(value.imag)}"
        value = value.real
    if isinstance(value, Fraction) and float(value) == value:
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return f"n{int(value):x}"
    if isinstance(value, tuple):
        return f"t({','.join(f'{len(part)}:{part}' for part in map(_key, value))})"
    if isinstance(value, frozenset):
        return f"s({','.join(f'{len(part)}:{part}' for part in sorted(value))})"
    if isinstance(value, list | dict):  # repr() would double the backslashes at each level of nesting
        raise TypeError("no key is a list or a dict")
    return f"str:{value}" if isinstance(value, str) else f"{type(value).__name__}:{value!r}"


def shown(answer: bytes) -> str:
    """Return a tagged value as text for readers."""
    value = decoded(answer)
    if isinstance(value, _Other):
        return f"<{value.name}>"
    try:
        text = json.dumps(json.loads(answer), ensure_ascii=False)
    except (ValueError, RecursionError):
        return "<a value that cannot be shown>"
    return text.encode(errors="backslashreplace").decode()


def check_expected(kind: str, output: str) -> None:
    """Raise DataError if an expected output cannot be read, because every program would fail.

    Args:
        kind: as in programs.Kind.
    """
    try:
        if kind == "functional":
            _plain(_json(output))
        elif kind == "assert" and output:
            _plain(ast.literal_eval(output))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        wanted = "JSON" if kind == "functional" else "a Python literal"
        raise DataError(f"the expected output {_cut(output)!r} is not {wanted}: {error}") from None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _json(text: str) -> Any:
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """Return an integer of up to 100,000 digits. int() refuses more than 4,300."""
    try:
        return int(digits)
    except ValueError:
        if len(digits) > _LONGEST_NUMBER:
            raise
        return int(Decimal(digits))


def check_tests(kind: Kind, checks: Sequence[Check]) -> None:
    """Raise DataError if there is no test, or an input or an expected output cannot be read."""
    if not checks:
        raise DataError("there are no tests: every program would pass")
    for number, check in enumerate(checks, start=1):
        try:
            check_expected(kind, check.output)
            _check_input(kind, check.input)
        except DataError as error:
            raise DataError(f"test {number}: {error}") from None


def _check_input(kind: Kind, text: str) -> None:
    try:
        if kind == "functional":
            for line in text.split("\n"):
                json.loads(line)
        elif kind == "assert":
            ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        wanted = "JSON on each line" if kind == "functional" else "Python"
        raise DataError(f"the input {_cut(text)!r} is not {wanted}: {error}") from None
