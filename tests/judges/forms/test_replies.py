"""Patterns of replies, and how a reply is matched."""

from __future__ import annotations

import re

import pytest

from genbench.judges.forms.protocol import (
    REASON,
    UnreadableReplyError,
    line_pattern,
    matched,
    one_of,
    word_pattern,
)


def test_words_are_a_choice_unless_a_reason_goes_first() -> None:
    assert one_of(("A", "B"), reason=False) == {"choice": ["A", "B"]}
    assert one_of(("A", "B"), reason=True) == {"regex": word_pattern(("A", "B"), reason=True)}


def test_a_reason_is_one_short_line() -> None:
    assert re.fullmatch(REASON, "Reason: because\n")
    assert not re.fullmatch(REASON, "Reason: because\nit is\n")
    assert not re.fullmatch(REASON, f"Reason: {'x' * 301}\n")


def test_lines_are_matched_in_their_order() -> None:
    pattern = line_pattern(["a: (1|2)", "b: (1|2)"], reason=False)
    assert matched(pattern, "\n a: 1\nb: 2 ") == ("1", "2")
    with pytest.raises(UnreadableReplyError):
        matched(pattern, "b: 2\na: 1")


def test_an_unreadable_reply_is_quoted_to_200_characters() -> None:
    with pytest.raises(UnreadableReplyError) as caught:
        matched("(YES)", "n" * 500)
    assert str(caught.value).count("n" * 200) == 1 and "n" * 201 not in str(caught.value)
