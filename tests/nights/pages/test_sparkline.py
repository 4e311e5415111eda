"""Lines of block characters."""

from __future__ import annotations

from genbench.nights.pages.text import sparkline


def test_values_are_blocks_from_the_smallest_to_the_largest() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"


def test_a_line_that_never_moves_stays_in_the_middle() -> None:
    assert sparkline([0.5, 0.5, 0.5]) == "▄▄▄"


def test_a_missing_value_is_a_dot() -> None:
    assert sparkline([0, None, 1]) == "▁·█"
    assert sparkline([None, None]) == "··"


def test_only_the_newest_values_are_shown() -> None:
    assert sparkline([9, 0, 1], width=2) == "▁█"


def test_a_new_epoch_has_a_bar_before_it() -> None:
    assert sparkline([0, 1, 0, 1], [False, False, True, False]) == "▁█│▁█"


def test_an_epoch_that_begins_before_the_line_has_no_bar() -> None:
    assert sparkline([0, 1, 0], [False, True, False], width=2) == "█▁"


def test_nothing_is_an_empty_line() -> None:
    assert sparkline([]) == ""
