"""How each verifier says that it read an answer, and what it does without a guess."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.types import READ_BY, Answer, Case, SampleId
from genbench.verifiers.base import BaseVerifier, Guess
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.text.exact import ExactVerifier
from genbench.verifiers.text.set_match import SetVerifier
from genbench.verifiers.text.short_answer import ShortAnswerVerifier
from tests.table import each_row

OPTIONS = {"letter": "B", "options": ["red", "green", "blue"]}


def _verifiers(guess: Guess) -> dict[str, tuple[BaseVerifier, Any]]:
    """Return the verifiers that read a final answer, with a reference that the rows below give."""
    return {
        "math": (MathVerifier(guess=guess), "7"),
        "choice": (ChoiceVerifier(guess=guess), OPTIONS),
        "stated": (ExactVerifier("stated", guess=guess), "fox"),
        "final": (ExactVerifier("final", guess=guess), "fox"),
        "text": (ShortAnswerVerifier(guess=guess), "fox"),
        "option": (ShortAnswerVerifier(guess=guess), OPTIONS),
        "words": (ShortAnswerVerifier(guess=guess), {"words": "a fox"}),
        "set": (SetVerifier(), ["a", "b"]),
    }


LAST, OFF, JUDGED = _verifiers("last"), _verifiers("off"), _verifiers("judge")


def _read_by(verifiers: dict[str, tuple[BaseVerifier, Any]], name: str, text: str, cut: bool = False) -> str:
    verifier, reference = verifiers[name]
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", cut),), reference)
    found = verifier.verify(case)
    assert found.detail["read_by"] in READ_BY
    assert (found.detail["read_by"] == "nothing") <= (found.reason == "no_answer" and found.score == 0)
    return str(found.detail["read_by"])


@each_row(
    "name, text, read_by",
    [
        ("math", "So it is \\boxed{7}.", "box"),
        ("math", "The answer is 7.", "announcement"),
        ("math", "7", "whole"),
        ("math", "We add 3 and 4.\nThat makes 7 of them.", "guess"),
        ("math", "I cannot tell.", "nothing"),
        ("math", "", "nothing"),
        ("choice", "The answer is B.", "announcement"),
        ("choice", "B", "whole"),
        ("choice", "Let me look at them.\nB", "guess"),
        ("choice", "I cannot tell.", "nothing"),
        ("stated", "It is \\boxed{fox}.", "box"),
        ("stated", "fox", "whole"),
        ("stated", "It runs and hides.\nfox", "guess"),
        ("stated", "", "nothing"),
        ("final", "It is \\boxed{fox}.", "box"),
        ("final", "fox", "whole"),
        ("final", "It runs and hides.\nfox", "guess"),
        ("text", "It runs and hides.\nfox", "guess"),
        ("option", "B", "whole"),
        ("words", "It is this one:\na fox", "guess"),
        ("set", "Final Answer: [a, b]", "label"),
        ("set", "It is a and b.", "nothing"),
    ],
)
def test_a_finding_says_how_the_answer_was_read(name: str, text: str, read_by: str) -> None:
    assert _read_by(LAST, name, text) == read_by
    without = "nothing" if read_by == "guess" else read_by
    assert (_read_by(OFF, name, text), _read_by(JUDGED, name, text)) == (without, without)


@pytest.mark.parametrize("name", ["math", "choice", "stated", "text", "words"])
def test_nothing_is_guessed_from_a_reply_that_was_cut_off(name: str) -> None:
    text = "We add 3 and 4.\nThat makes 7 of them, which"
    assert _read_by(LAST, name, text, cut=True) == "nothing"


@pytest.mark.parametrize("kind", [MathVerifier, ChoiceVerifier, ShortAnswerVerifier, ExactVerifier])
def test_an_unknown_guess_is_refused_with_the_valid_ones(kind: Any) -> None:
    with pytest.raises(ConfigError, match="guess is 'of'"):
        kind(guess="of")
