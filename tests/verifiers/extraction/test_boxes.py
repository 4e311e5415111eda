"""Boxes of a response, and lists of them."""

from __future__ import annotations

import pytest

from genbench.verifiers.extraction.boxes import boxes, joins_values, last_boxed
from tests.table import each_row


@each_row(
    "text, content",
    [
        ("\\boxed{7}", "7"),
        ("\\fbox{7}", "7"),
        ("\\boxed 7", "7"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\boxed{7}}", "\\boxed{7}"),
        ("<|begin_of_box|>7<|end_of_box|>", "7"),
        ("\\boxed{7} and then \\boxed{8}", "8"),
        ("\\boxed{7}, \\boxed{8}", "7, 8"),
        ("$x=\\boxed{3}$ or $x=\\boxed{5}$", "3, 5"),
        ("$x_1=\\boxed{3}$ and $x_2=\\boxed{5}$", "3, 5"),
        ("\\boxed{7}\n\n\\boxed{8}", "8"),
        ("\\boxed{7}, so we get \\boxed{8}", "8"),
        ("\\boxed{7} and \\boxed{7}", "7"),
    ],
)
def test_the_last_box_or_list_of_boxes_is_read(text: str, content: str) -> None:
    found = last_boxed(text)
    assert found is not None
    assert found.text == content
    assert text[found.start :].startswith(("\\boxed", "\\fbox", "<|begin"))


@pytest.mark.parametrize("text", ["", "7", "\\boxed{", "\\boxed{}", "\\boxed{ }", "\\boxed{7"])
def test_a_text_without_a_closed_box_has_none(text: str) -> None:
    assert last_boxed(text) is None


def test_places_are_given_for_box_and_content() -> None:
    text = "so \\boxed{12}."
    ((start, end, inside, inside_end),) = boxes(text)
    assert (text[start:end], text[inside:inside_end]) == ("\\boxed{12}", "12")


@pytest.mark.parametrize(
    ("gap", "joins"), [(", ", True), (" and ", True), ("$ or $x=", True), (" so ", False), (" ", False)]
)
def test_connectives_join_values(gap: str, joins: bool) -> None:
    assert joins_values(gap) is joins
