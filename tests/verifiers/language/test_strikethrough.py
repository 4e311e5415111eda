"""What an answer shows as crossed out."""

from __future__ import annotations

import time

import pytest

from genbench.verifiers.language.retraction import without_strikethrough


@pytest.mark.parametrize(
    "text", ["a ~~C~~ b", "a <s>C</s> b", "a <del>C</del> b", "a <strike>C</strike> b", "a ~~\\boxed{C}~~ b"]
)
def test_what_is_crossed_out_is_left_out(text: str) -> None:
    assert without_strikethrough(text).split() == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["$3~~5~~7$", "x = 3,~~y = 4,~~z = 5", "$x=3 ~~\\text{or}~~ y=4$", "~~~\ncode\n~~~", "~~a\nb~~", "<s>C"],
)
def test_blanks_of_latex_and_open_marks_stay(text: str) -> None:
    assert without_strikethrough(text) == text


@pytest.mark.parametrize("unit", ["~~", "~~a ", "<s>", "<s>a</s", " ~~x"])
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit)) + "</"
    start = time.process_time()
    without_strikethrough(text)
    assert time.process_time() - start < 1.0
