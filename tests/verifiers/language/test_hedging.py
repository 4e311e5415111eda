"""Words that take a value back."""

from __future__ import annotations

import pytest

from genbench.verifiers.language.hedging import (
    corrected_value,
    withheld_after,
    withheld_at_start,
    withheld_before,
    without_contrast,
    without_qualifier,
)
from tests.table import each_row

BEFORE = [
    ("at most 204", "bound"),
    ("at least 204", "bound"),
    ("no more than 204", "bound"),
    ("is less than 204", "bound"),
    ("up to 204", "bound"),
    ("divisible by 204", "bound"),
    ("höchstens 204", "bound"),
    ("au plus 204", "bound"),
    ("cannot be 204", "negated"),
    ("is not 204", "negated"),
    ("isn't 204", "negated"),
    ("nicht 204", "negated"),
    ("不是204", "negated"),
    ("maybe 204", "hedged"),
    ("it could be 204", "hedged"),
    ("either 204", "hedged"),
    ("it is 204", None),
    ("exactly 204", None),
    ("approximately 204", None),
    ("not here. It is 204", None),
    ("I think it is 204", None),
]


@each_row("text, why", BEFORE)
def test_words_before_a_value_may_take_it_back(text: str, why: str | None) -> None:
    assert withheld_before(text, text.index("204")) == why


@each_row(
    "after, why",
    [
        (" or more", "bound"),
        (" at most", "bound"),
        (" is wrong", "negated"),
        (" is not the answer", "negated"),
        (" or maybe 7", "hedged"),
        (" apples", None),
        (".", None),
        (" is correct", None),
    ],
)
def test_words_after_a_value_may_take_it_back(after: str, why: str | None) -> None:
    assert withheld_after("204" + after, 3) == why


def test_a_statement_may_begin_by_withholding() -> None:
    assert withheld_at_start("not 204") == "negated"
    assert withheld_at_start("between 3 and 5") == "bound"
    assert withheld_at_start("204") is None


def test_what_follows_but_is_the_value() -> None:
    assert corrected_value("not 7 but 204") == "204"
    assert corrected_value("not 7") is None
    assert corrected_value("anything but 204") is None


@pytest.mark.parametrize(
    ("text", "kept"), [("204, not 7", "204"), ("204 rather than 7", "204"), ("204 apples", "204 apples")]
)
def test_a_contrast_is_dropped(text: str, kept: str) -> None:
    assert without_contrast(text).strip() == kept


@pytest.mark.parametrize(
    ("text", "kept"), [("approximately 204", "204"), ("exactly 204", "204"), ("east", "east")]
)
def test_a_qualifier_is_dropped(text: str, kept: str) -> None:
    assert without_qualifier(text) == kept
