"""The check that a problem's tests can be read, before any program is run against them."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from genbench.errors import DataError
from genbench.sandbox.compare import check_expected
from genbench.sandbox.programs import Check, Kind

_SHOWN = 80


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
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise DataError(f"the input {shown!r} is not {wanted}: {error}") from None
