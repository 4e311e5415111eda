"""What is decided without computer algebra."""

from __future__ import annotations

import pytest

from genbench.verifiers.math.comparison import decide
from genbench.verifiers.math.expression import read_expression
from tests.table import each_row


@each_row(
    "reference, answer, equal",
    [
        ("70", "70.0", True),
        ("70", "71", False),
        ("2^{2024}-1", "-1+2^{2024}", True),
        ("5", "x=5", True),
        ("4", "x^2=4", False),
        ("0", "x^2+1=0", False),
        ("204", "\\le 204", False),
        ("204", "204_8", False),
        ("40_9", "40_8", False),
        ("204_5", "204", True),
        ("4 \\pmod 3", "1 \\pmod 3", True),
        ("4 \\pmod 3", "1 \\pmod 4", False),
        ("(3,\\infty)", "x>3", True),
        ("x>3", "(3,\\infty)", True),
        ("x>3", "3", False),
        ("3,5", "x=3 \\text{ or } x=5", True),
        ("(1,5)", "x=1,y=5", True),
        ("x=5", "y=5", False),
        ("\\text{east}", "East", True),
        ("2x+1", "\\text{east}", False),
        ("204", "204+", False),
        ("204", "204\\pm", False),
        ("204", "204\\mp", False),
        ("204", "204\\times", False),
        ("204", "204\\div", False),
        ("204", "204\\in", False),
        ("204", "204\\cup", False),
        ("204", "204\\to", False),
        ("204", "204\\mid", False),
        ("204", "204\\frac", False),
        ("204", "204\\sqrt", False),
        ("204", "204\\sqrt{}", False),
        ("204", "204\\%", True),
        ("23", "2 3", False),
        ("2.74", "2,74", True),
        ("12:00", "1:00", False),
    ],
)
def test_spellings_numbers_and_relations_are_decided(reference: str, answer: str, equal: bool) -> None:
    assert decide(read_expression(reference), read_expression(answer)) is equal


@pytest.mark.parametrize(
    ("reference", "answer"), [("2\\sqrt{3}", "\\sqrt{12}"), ("x^2-4", "(x-2)(x+2)"), ("2x+3", "y=3+2x")]
)
def test_algebra_is_left_to_algebra(reference: str, answer: str) -> None:
    assert not isinstance(decide(read_expression(reference), read_expression(answer)), bool)
