"""Names of quantities, and expressions that an equation is about."""

from __future__ import annotations

from genbench.verifiers.notation.latex import has_letters, is_name, is_quantity
from tests.table import each_row

QUANTITIES = [
    "x",
    "n",
    "x_{1}",
    "\\theta",
    "S_{n}",
    "m+n",
    "a+b+c",
    "100m+n",
    "AB",
    "AB+CD",
    "AB^{2}",
    "f(2)",
    "f(x)",
    "P(A)",
    "\\sin\\theta",
    "\\angle ABC",
    "|z|",
    "(x,y)",
    "2+3",
    "\\binom{5}{2}",
    "\\frac{m}{n}",
    "abc",
    "Area",
    "a^{2}+b^{2}",
    "[ABC]",
    "x+y",
    "\\overline{AB}",
]
ABOUT = [
    "x^{2}",
    "2x",
    "x+5",
    "x^{2}+1",
    "\\sqrt{x}",
    "2^{x}",
    "\\frac{x}{2}",
    "x^{2}+y^{2}",
    "(x+y)^{2}",
    "2x+3y",
    "|x|",
    "",
]


@each_row("text", QUANTITIES)
def test_a_quantity_has_the_value_of_the_other_side(text: str) -> None:
    assert is_quantity(text)


@each_row("text", ABOUT)
def test_an_expression_of_an_unknown_is_no_quantity(text: str) -> None:
    assert not is_quantity(text)


def test_constants_are_no_names() -> None:
    assert is_name("x")
    assert not is_name("e")
    assert not is_name("\\pi")
    assert not is_name("x^{2}")


def test_letters_are_variables_only() -> None:
    assert has_letters("2x")
    assert not has_letters("2\\pi")
    assert not has_letters("\\frac{1}{2}")
    assert not has_letters("\\ln2")
