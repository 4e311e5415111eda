"""What a clause says of the answer that it names, for letters, numbers and words alike."""

from __future__ import annotations

import pytest

from genbench.verifiers.language.commitment import (
    doubts_value,
    is_doubted,
    later_role,
    read_claim,
    turns_down,
    verdict,
)
from tests.table import each_row

NAME = "@"
"""Where the name of the answer is in a row."""
ROWS = [
    ("The answer is @.", "answer"),
    ("@ is correct.", "answer"),
    ("@ fits better than 7.", "answer"),
    ("The option that is NOT caused by resonance is (@).", "answer"),
    ("@ is the only one that does not fit.", "answer"),
    ("The answer is @, which is not a planet.", "answer"),
    ("All of them except @ are true.", "answer"),
    ("Die Aussage, die nicht stimmt, ist @.", "mention"),
    ("L'option qui n'est pas vraie est @.", "answer"),
    ("不正确的是@。", "answer"),
    ("It is not @.", "rejected"),
    ("I do not think that it is @.", "rejected"),
    ("@ is wrong.", "rejected"),
    ("@ does not fit.", "rejected"),
    ("The answer is @, which is wrong.", "rejected"),
    ("The one that I would not choose is @.", "rejected"),
    ("@ ist falsch.", "rejected"),
    ("@不对。", "rejected"),
    ("7 rather than @", "alternative"),
    ("The second best answer is @.", "alternative"),
    ("@ is another possibility.", "alternative"),
    ("If it is @, then we are done.", "hypothetical"),
    ("My friend says that the answer is @.", "hypothetical"),
    ("@ would be right for the largest city.", "hypothetical"),
    ("It might be @.", "hypothetical"),
    ("We looked at @ before.", "mention"),
]


@each_row("text, role", ROWS)
def test_a_clause_says_what_it_makes_of_a_name(text: str, role: str) -> None:
    before, after = text.split(NAME)
    announced = before.endswith(("answer is ",)) and not before.startswith("The second")
    assert read_claim(before, after, announced=announced).role == role


def test_a_question_only_supposes() -> None:
    assert read_claim("Is it ", "?", asked=True).role == "hypothetical"


def test_wrong_in_so_many_words_is_told_from_other_denials() -> None:
    assert read_claim("", " is not correct.").plain
    assert not read_claim("", " is not a planet.").plain
    assert read_claim("", " is the false statement.").exception


@each_row(
    "after, role",
    [
        ("$ Wait: it is not 6.", "rejected"),
        (" Actually, 6 is wrong. It is 7.", "rejected"),
        (" So 6 is correct.", "answer"),
        (" Hmm, is it 6? Yes, it is 6.", "answer"),
        (" It is not 16, nor 6.5.", None),
        (" That is all.", None),
    ],
)
def test_a_later_clause_rejects_or_repeats_an_answer_by_name(after: str, role: str | None) -> None:
    assert later_role(after, "6") == role


def test_a_line_gives_a_verdict_of_the_option_that_heads_it() -> None:
    assert (verdict(") No"), verdict(": True"), verdict(" ❌"), verdict(") Paris")) == (
        "wrong",
        "right",
        "wrong",
        "",
    )
    assert turns_down(") Wrong: it is hot") and not turns_down("): nothing else fits")


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
