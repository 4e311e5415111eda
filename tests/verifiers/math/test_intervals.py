"""Inequalities as intervals."""

from __future__ import annotations

from genbench.verifiers.math.comparison import has_inequality, intervals_of, is_interval
from tests.table import each_row


@each_row(
    "inequality, interval",
    [
        ("x>3", "(3,\\infty)"),
        ("x \\ge 3", "[3,\\infty)"),
        ("3 < x", "(3,\\infty)"),
        ("x \\le 3", "(-\\infty,3]"),
        ("-2 \\le x \\le 7", "[-2,7]"),
        ("7 \\ge x > -2", "(-2,7]"),
        ("x<1 \\text{ or } x>3", "(-\\infty,1) \\cup (3,\\infty)"),
        ("x>3 \\text{ or } x<1", "(-\\infty,1) \\cup (3,\\infty)"),
        ("x>1 \\text{ and } x<3", "(1,3)"),
        ("x \\ne 2", "(-\\infty,2) \\cup (2,\\infty)"),
        ("|x|<2", "(-2,2)"),
        ("\\{x \\mid x>3\\}", "(3,\\infty)"),
        ("x \\in (1,2)", "(1,2)"),
        ("0 < f(x) < 1", "(0,1)"),
        ("\\mathbb{R} \\setminus \\{2\\}", "(-\\infty,2) \\cup (2,\\infty)"),
        ("\\theta \\le \\frac{\\pi}{2}", "(-\\infty,\\frac{\\pi}{2}]"),
    ],
)
def test_an_inequality_becomes_an_interval(inequality: str, interval: str) -> None:
    assert intervals_of(inequality) == interval


@each_row("text", ["5", "x=3", "x<y<z", "1<2", "x<3>y", "<204", "x^2<4", "x<1<y", ""])
def test_other_texts_become_none(text: str) -> None:
    assert intervals_of(text) is None


def test_inequalities_are_recognised() -> None:
    assert has_inequality("x \\le 3")
    assert has_inequality("\\neq 204")
    assert not has_inequality("x = 3")
    assert not has_inequality("\\left(3\\right)")


def test_intervals_are_recognised() -> None:
    assert is_interval("[0,1)")
    assert is_interval("(-\\infty,f(2)) \\cup (3,\\infty)")
    assert is_interval("x \\in [0,1]")
    assert not is_interval("3")
    assert not is_interval("1,2")
