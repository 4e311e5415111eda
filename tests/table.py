"""Tables of cases: one test with rows as data, and a failure that names every row that is wrong."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test with each row of a table, as `pytest.mark.parametrize` does, but within one test.

    A parameter is collected, set up and reported as a test of its own, by every worker. For a check of some
    microseconds that is nearly all of its time. All rows share the fixtures of the test, so use this for
    tests whose fixtures a row does not change. Stacked tables give all combinations.

    Args:
        names: names of the test's arguments that a row gives, separated by commas.
        rows: one value for each name, or the value itself if there is one name.
    """
    keys, table = [name.strip() for name in names.split(",")], list(rows)
    assert table, "the table has no rows"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for row in table:
                values = row if len(keys) > 1 else (row,)
                try:
                    test(**dict(zip(keys, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the row {_shown(row)}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows are wrong", failures)

        rest = [item for name, item in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return decorate


def _shown(row: Any) -> str:
    text = repr(row)
    return text if len(text) <= 300 else f"{text[:300]}…"
