"""Text of models that is printed without steering a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from genbench.safetext.printable import one_line, printable


def test_terminal_escapes_and_bidi_marks_become_visible() -> None:
    assert printable("a\x1b[31mb\u202ec\x00") == "a\\x1b[31mb\\u202ec\\x00"


def test_newlines_tabs_and_letters_of_all_scripts_stay() -> None:
    assert printable("é\n\t中文 العربية 🙂") == "é\n\t中文 العربية 🙂"


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert printable("x" * 10, limit=4) == "xxxx … (6 more characters)"


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    assert all(char in "\n\t" or unicodedata.category(char)[0] != "C" for char in printable(text))
    assert "\n" not in one_line(text)
