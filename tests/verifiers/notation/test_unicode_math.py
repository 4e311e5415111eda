"""Unicode mathematics as LaTeX."""

from __future__ import annotations

from genbench.verifiers.notation.latex import canonical, from_unicode
from tests.table import each_row


@each_row(
    "text, latex",
    [
        ("√2", "\\sqrt{2}"),
        ("√(x+1)", "\\sqrt{x+1}"),
        ("x²", "x^{2}"),
        ("x₁", "x_{1}"),
        ("2π", "2\\pi"),
        ("3≤x", "3\\le x"),
        ("½", "\\frac{1}{2}"),
        ("−5", "-5"),
        ("７", "7"),
        ("70°", "70^{\\circ}"),
        ("∅", "\\emptyset"),
        ("10⁻³", "10^{-3}"),
        ("a×b", "a\\cdot b"),
    ],
)
def test_unicode_becomes_latex(text: str, latex: str) -> None:
    assert canonical(from_unicode(text)) == canonical(latex)


def test_ascii_stays_as_it_is() -> None:
    assert from_unicode("\\frac{1}{2}") == "\\frac{1}{2}"
