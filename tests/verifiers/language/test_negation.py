"""What is said before an answer and denies it."""

from __future__ import annotations

import pytest

from genbench.verifiers.language.negation import doubts_value, is_doubted
from tests.table import each_row


@each_row(
    "before",
    [
        *(
            "I doubt that the ",
            "I disagree that the ",
            "I don't think the ",
            "It is not true that the correct ",
            "If the ",
            "Suppose that the ",
        ),
        *("My friend says the ", "It would be a mistake to say that the ", "Je ne crois pas que la "),
        *("Ich bezweifle, dass die ", "No creo que la ", "我不认为"),
    ],
)
def test_announcements_are_doubted(before: str) -> None:
    assert is_doubted(before)


@each_row(
    "before",
    [
        *(
            "",
            "So the ",
            "I have no doubt that the ",
            "I don't doubt that the ",
            "It is hard to doubt that the ",
            "It is not hard to see that the ",
        ),
        *(
            "It is not wrong to say that the ",
            "I am not sure. The ",
            "I doubt it, but the ",
            "My friend says no; the ",
        ),
        *("Ich bezweifle nicht, dass die ", "No dudo que la ", "I am not sure\n"),
    ],
)
def test_other_announcements_are_not(before: str) -> None:
    assert not is_doubted(before)


@pytest.mark.parametrize(
    "before", ["I doubt that it is ", "I don't think x = ", "Dudo que la respuesta sea "]
)
def test_values_are_doubted(before: str) -> None:
    assert doubts_value(before)


@pytest.mark.parametrize(
    "before", ["It is true if and only if $x = ", "They agree to split it with ", "I think it is "]
)
def test_conditions_and_what_others_do_deny_no_value(before: str) -> None:
    assert not doubts_value(before)
