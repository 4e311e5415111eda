"""Numbers as they are printed."""

from __future__ import annotations

import pytest

from genbench.reports.numbers import interval, p_text, points
from genbench.reports.table import aligned


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0"), (0.4726, "47.3"), (1.0, "100.0"), (-0.031, "-3.1")]
)
def test_a_fraction_is_printed_in_points_of_100(value: float, text: str) -> None:
    assert points(value) == text


def test_an_interval_has_both_bounds_in_points() -> None:
    assert interval((0.419, 0.527)) == "[41.9, 52.7]"
    assert interval(None) == "-"


@pytest.mark.parametrize(
    ("p", "text"), [(None, "-"), (1.0, "1"), (0.14159, "0.14"), (0.00123, "0.0012"), (1e-9, "<0.0001")]
)
def test_a_p_value_has_two_digits_and_is_never_zero(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_numbers_of_a_table_end_flush_and_words_begin_so() -> None:
    text = aligned(("task", "n"), [("a", "1"), ("longer", "12")], {"n"}, indent="  ")
    assert text.splitlines() == ["  task     n", "  ----------", "  a        1", "  longer  12"]


def test_a_row_of_another_length_is_a_mistake() -> None:
    with pytest.raises(IndexError):
        aligned(("task", "n"), [("a",)], {"n"})
