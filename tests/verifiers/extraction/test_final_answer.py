"""Where the answer of a response is."""

from __future__ import annotations

import pytest

from genbench.verifiers.extraction.final_answer import final_answer
from tests.table import each_row


@each_row(
    "text, answer, how",
    [
        ("\\boxed{7}", "7", "boxed"),
        ("The answer is 7.", "7", "stated"),
        ("7", "7", "bare"),
        ("We get 3 and then 7.", "3, 7"[3:], "last"),
        ('{"answer": 7}', "7", "stated"),
        ("\\boxed{4}. The answer is 5.", "4", "boxed"),
        ("\\boxed{4}. The final answer is 5.", "5", "stated"),
        ("\\boxed{4}. Wait, that is wrong. It should be 5.", "5", "stated"),
        ("\\boxed{4}. The final answer is in the box.", "4", "boxed"),
        ("The answer is 3. Wait, the answer is 4.", "4", "stated"),
        ("答案是42，不是17。", "42", "stated"),
        ("答案是42，而不是17。", "42", "stated"),
        ("Ответ: 42. Проверка: подходит.", "42", "stated"),
        ("정답: 42. 확인했습니다.", "42", "stated"),
    ],
)
def test_the_answer_is_found(text: str, answer: str, how: str) -> None:
    found = final_answer(text)
    assert found is not None
    assert (found.text, found.how, found.withheld) == (answer, how, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The answer is not 7.", "negated"),
        ("It is at most 7.", "bound"),
        ("The answer is not \\boxed{7}.", "negated"),
        ("\\boxed{7}. Scratch that.", "retracted"),
        ("maybe 7", "hedged"),
    ],
)
def test_a_withheld_answer_says_why(text: str, why: str) -> None:
    found = final_answer(text)
    assert found is not None
    assert found.withheld == why


def test_nothing_is_guessed_if_not_allowed() -> None:
    assert final_answer("We get 3 plus 4 in total here, so 7.", guess=False) is None
