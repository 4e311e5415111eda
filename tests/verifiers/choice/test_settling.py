"""The option that is left in the end, of what a text says of its options."""

from __future__ import annotations

from genbench.verifiers.choice.context import Sentences
from genbench.verifiers.choice.verifier import Statement, concluded_near_end, only_mention, settled

TEXT = Sentences("The answer is A. Wait, it is B.")
A = Statement(14, 15, "A", "stated")
B = Statement(29, 30, "B", "concluded")


def test_a_conclusion_after_a_pause_replaces_a_statement() -> None:
    assert settled([A, B], TEXT, ()) == "B"
    assert settled([A, Statement(29, 30, "B", "mentioned")], TEXT, ()) == "A"


def test_a_statement_that_adds_is_joined_with_the_one_before() -> None:
    assert settled([A, Statement(29, 30, "B", "stated", adds=True)], TEXT, ()) == "AB"


def test_what_is_taken_back_leaves_nothing() -> None:
    assert settled([A], Sentences("The answer is A. Just kidding."), ()) == ""
    assert settled([], TEXT, ()) is None
    taken_back = Sentences("So A. Just kidding.")
    assert concluded_near_end([Statement(3, 4, "A", "concluded")], taken_back, ()) == ""
    assert only_mention([Statement(3, 4, "A", "mentioned")], taken_back, ()) == ""


def test_only_one_mention_counts() -> None:
    one, two = Statement(14, 15, "A", "mentioned"), Statement(29, 30, "B", "mentioned")
    assert (only_mention([one], TEXT, ()), only_mention([one, two], TEXT, ())) == ("A", "")
