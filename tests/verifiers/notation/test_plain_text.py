"""Plain text and program code as LaTeX."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.verifiers.notation.latex import canonical, from_plain_text
from tests.table import each_row


@each_row(
    "plain, latex",
    [
        ("sqrt(3)", "\\sqrt{3}"),
        ("1 + sqrt(3)", "1+\\sqrt{3}"),
        ("sqrt(1+sqrt(2))", "\\sqrt{1+\\sqrt{2}}"),
        ("sqrt3", "\\sqrt{3}"),
        ("sqrt 3", "\\sqrt{3}"),
        ("cbrt(5)", "\\sqrt[3]{5}"),
        ("pi", "\\pi"),
        ("3*pi/4", "3\\cdot\\pi/4"),
        ("2**(1/4)", "2^{1/4}"),
        ("2^(1/4)", "2^{1/4}"),
        ("2^10", "2^{10}"),
        ("10^-3", "10^{-3}"),
        ("exp(2)", "e^{2}"),
        ("sin(x)", "\\sin(x)"),
        ("log_2(8)", "\\log_{2}(8)"),
        ("log2(8)", "\\log_{2}(8)"),
        ("asin(1)", "\\arcsin(1)"),
        ("1.5e3", "1.5\\cdot10^{3}"),
        ("3 x 4", "3\\cdot4"),
        ("1 1/2", "1\\frac{1}{2}"),
        ("5 choose 2", "\\binom{5}{2}"),
        ("abs(x)", "|x|"),
        ("factorial(5)", "(5)!"),
        ("x >= 3", "x\\ge3"),
        ("x <= 3", "x\\le3"),
        ("x != 3", "x\\ne3"),
        ("(-inf, 3)", "(-\\infty,3)"),
        ("oo", "\\infty"),
        ("+-3", "\\pm3"),
    ],
)
def test_plain_text_becomes_latex(plain: str, latex: str) -> None:
    assert canonical(from_plain_text(plain)) == canonical(latex)


@each_row(
    "latex",
    [
        "\\sqrt{3}",
        "\\frac{1}{2}",
        "x^2",
        "\\sin x",
        "5!",
        "5! = 120",
        "f(2)",
        "\\pi",
        "C(x, y)",
        "(1,2)",
        "\\text{pi}"[:5],
        "east",
    ],
)
def test_latex_stays_as_it_is(latex: str) -> None:
    assert from_plain_text(latex) == latex


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="sqrt(pi)^*+-/0123 exC,<>=!", max_size=30))
def test_no_text_makes_it_fail(text: str) -> None:
    assert isinstance(from_plain_text(text), str)
