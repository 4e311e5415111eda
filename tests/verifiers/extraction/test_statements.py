"""The value of a statement."""

from __future__ import annotations

import pytest

from genbench.verifiers.extraction.statements import (
    Value,
    is_prose,
    last_value,
    read_statement,
    reads_as_mathematics,
)
from tests.table import each_row


@each_row(
    "statement, value",
    [
        ("12.", "12"),
        ("$\\frac12$ because", "\\frac12"),
        ("5π.", "5π"),
        ("approximately 12.", "12"),
        ("12, not 7.", "12"),
        ("not 7 but 12.", "12"),
        ("$3$ and $5$.", "3, 5"),
        ("3 and 5 are the two numbers that we wanted", "3, 5"),
        ("x^2+1, y^3-2 and z+4 are the three roots of it", "x^2+1, y^3-2, z+4"),
        ("the number 12.", "12"),
        ("Evelyn", "Evelyn"),
        ("12 apples in all", "12"),
        ("50% of it", "50%"),
        ("x = 5", "x = 5"),
    ],
)
def test_the_value_of_a_statement_is_read(statement: str, value: str) -> None:
    assert read_statement(statement) == Value(value)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("not 12.", "negated"),
        ("at most 12.", "bound"),
        ("either 7 or 12.", "hedged"),
        ("12 or more apples", "bound"),
        ("perhaps 12", "hedged"),
    ],
)
def test_a_statement_may_withhold_its_value(statement: str, why: str) -> None:
    value = read_statement(statement)
    assert value is not None
    assert value.withheld == why


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("We add 3 and 4. The sum is 7.", "7"),
        ("First 3.\nThen the area is 5π.", "5π"),
        ("The roots are 5 and 7.", "5, 7"),
        ("The values are 3, 5.", "3, 5"),
        ("It gets 5, 10 in total.", "10"),
        ("So $x^2$ holds.", "x^2"),
        ("Thus $3$ and $5$ remain.", "3, 5"),
    ],
)
def test_the_last_value_is_read(text: str, value: str) -> None:
    found = last_value(text)
    assert found is not None
    assert found.text == value


def test_a_loop_has_no_last_value() -> None:
    assert last_value("204\n" * 100) is None
    assert last_value("204 " * 100) is None


def test_prose_is_no_mathematics() -> None:
    assert reads_as_mathematics("sqrt(3) + 1")
    assert not reads_as_mathematics("the sum is 5")
    assert is_prose("costs 5 and later 7")
    assert not is_prose("\\frac{1}{2}")
