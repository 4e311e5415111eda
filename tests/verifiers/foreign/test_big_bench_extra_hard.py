"""Answers as BIG-Bench Extra Hard compares them."""

from __future__ import annotations

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.foreign.big_bench_extra_hard import BBEHVerifier
from tests.table import each_row

RIGHT = [
    ("So.\nThe answer is: (B).", "(B)"),
    ("The answer is: b", "(B)"),
    ("The final answer is (H)", "H"),  # golds of hyperbaton are bare letters
    ("The answer is: **0, 0, 1**\nThat is all.", "0,0,1"),
    ("The final answer is: $\\boxed{26.10}$.", "26.1"),
    ("The answer is: \\text{Jigsaw Puzzle}", "jigsaw puzzle"),
    ("The answer is: 3. No: The answer is 4.", "4"),
    ("proved", "proved"),
    ("The answer is: children's", "childrens"),
    ("The answer is: [yes]", "yes"),
    ("The answer is: who?", "who"),
]
WRONG = [
    ("The answer is: (C)", "(B)"),
    ("The answer is: $\\boxed{5}$\nas shown.", "5"),  # a box with lines after it stays
    ("the answer is: 5", "5"),  # the source looks for a capital T, so the whole reply is compared
    ("I think it is proved", "proved"),
    ("The answer is: A, A, D", "A, B, D"),
    ("", "no"),
    ("The answer is: 26.2", "26.1"),
]


@each_row("text, reference, score", [(*row, 1) for row in RIGHT] + [(*row, 0) for row in WRONG])
def test_an_answer_is_compared_as_the_source_compares_it(text: str, reference: str, score: int) -> None:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    assert BBEHVerifier().verify(case).score == score
