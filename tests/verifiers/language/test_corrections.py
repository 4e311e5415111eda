"""What a response says after its answer."""

from __future__ import annotations

import pytest

from genbench.verifiers.language.retraction import correction_start, final_announcements, replacements


@pytest.mark.parametrize(
    "text",
    [
        "The final answer is 5",
        "Final Answer: 5",
        "**Final answer**: 5",
        "Corrected answer: 5",
        "Therefore, the final answer is 5",
        "最终答案是5",
    ],
)
def test_final_announcements_are_found(text: str) -> None:
    (start,) = final_announcements(text)
    assert text[start:] == "5"


@pytest.mark.parametrize("text", ["This is the final answer.", "The answer is 5", "5"])
def test_other_sentences_are_not_final(text: str) -> None:
    assert final_announcements(text) == []


@pytest.mark.parametrize(
    "text", ["Wait, it is 5", "Actually 5", "Sorry, it should be 5", "I made a mistake: it is 5"]
)
def test_corrections_are_found_with_their_value(text: str) -> None:
    start = correction_start(text)
    assert start is not None
    assert any(text[start:][begin:].startswith("5") for begin in replacements(text[start:]))
