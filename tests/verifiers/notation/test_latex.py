"""One spelling for many."""

from __future__ import annotations

import pytest

from genbench.verifiers.notation.latex import canonical, tidy, unwrap
from tests.table import each_row


@each_row(
    "text, tidied",
    [
        ("$7$", "7"),
        ("\\(7\\)", "7"),
        ("7.", "7"),
        ("\\left(1, 2\\right)", "(1, 2)"),
        ("\\dfrac12", "\\frac{1}{2}"),
        ("70^\\circ", "70"),
        ("7 \\text{ or more}", "7 \\text{ or more}"),
        ("50 \\text{ percent}", "50\\%"),
        ("1,234", "1234"),
        ("x \\approx 11", "x = 11"),
        ("\\pi \\approx 3.14", "\\pi"),
        ("\\approx 11", "11"),
        ("\\operatorname{sin} x", "\\sin x"),
        ("\\dbinom{5}{2}", "\\binom{5}{2}"),
        ("7 \\text{ at most}", "7 \\text{ at most}"),
        ("\\text{east}", "\\text{east}"),
    ],
)
def test_what_does_not_change_the_value_goes(text: str, tidied: str) -> None:
    assert tidy(text) == tidied


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("\\frac12", "\\frac{1}{2}"),
        ("x^2", "x^{2}"),
        ("a \\leq b", "a\\le b"),
        ("(385)", "385"),
        ("\\sqrt 2", "\\sqrt{2}"),
        ("{5}", "5"),
    ],
)
def test_equal_spellings_have_one_key(one: str, two: str) -> None:
    assert canonical(one) == canonical(two)


@pytest.mark.parametrize(
    ("one", "two"), [("2 3", "23"), ("(1,2)", "1,2"), ("[5]", "5"), ("\\cdot x", "\\cdotx")]
)
def test_other_texts_have_other_keys(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)


def test_wrappers_go() -> None:
    assert unwrap("\\textbf{(C)}") == "(C)"
