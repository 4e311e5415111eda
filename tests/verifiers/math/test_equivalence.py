"""Computer algebra: equality, refusals and failures of its own."""

from __future__ import annotations

import sympy

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.math.algebra import ComparisonError, Equivalence, is_bounded, is_plain, values_agree
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row

ALGEBRA = Equivalence()


@each_row(
    "reference, answer, outcome",
    [
        ("2\\sqrt{3}", "\\sqrt{12}", "equal"),
        ("x^2-4", "(x-2)(x+2)", "equal"),
        ("\\sqrt{2}", "\\sqrt{3}", "different"),
        ("10^{(\\sqrt{13}-5)/6}", "10^{(-5+\\sqrt{13})/6}", "equal"),
        ("2^{2024}-\\sqrt{2}", "-\\sqrt{2}+2^{2024}", "equal"),
        ("2^{2024}-\\sqrt{2}", "2^{2024}-\\sqrt{3}", "different"),
        ("70", "9^{9^{9^{9}}}", "refused"),
        ("70", "1/0", "different"),
    ],
)
def test_expressions_are_compared(reference: str, answer: str, outcome: str) -> None:
    assert ALGEBRA.compare(reference, answer) == outcome


def test_a_failing_comparison_is_our_defect_and_no_wrong_answer() -> None:
    class Failing(Equivalence):
        def compare(self, reference: str, answer: str) -> str:  # type: ignore[override]
            raise ComparisonError("OverflowError")

    verifier = MathVerifier()
    verifier._comparison.algebra = Failing()
    answer = Answer("\\boxed{\\sqrt{12}}", "absent", "", False)
    finding = verifier.verify(Case(SampleId("t", "p", 0), (answer,), "2\\sqrt{3}"))
    assert (finding.score, finding.reason) == (0, "verifier_error")
    assert "OverflowError" in finding.detail["why"]


def test_size_is_bounded_by_value_not_by_looks() -> None:
    x = sympy.Symbol("x")
    ten = sympy.Integer(10)
    assert is_bounded(sympy.Pow(ten, (sympy.sqrt(13) - 5) / 6, evaluate=False))
    assert is_bounded(sympy.Pow(ten, 2024, evaluate=False))
    assert not is_bounded(sympy.Pow(ten, sympy.Pow(ten, 9, evaluate=False), evaluate=False))
    assert not is_bounded(sympy.Pow(x + 1, 5_000, evaluate=False))
    assert not is_bounded(sympy.factorial(100_000, evaluate=False))


def test_values_decide_plain_expressions() -> None:
    x = sympy.Symbol("x")
    assert values_agree(x**2 - 1, (x - 1) * (x + 2)) is False
    assert values_agree(x**2 - 1, (x - 1) * (x + 1)) is True
    assert ALGEBRA.compare("x^2-1", "(x-1)(x+1)") == "equal"
    assert values_agree(x**2, x**3) is False
    assert values_agree(sympy.sqrt(2), sympy.Float("1.414214")) is None
    assert values_agree(sympy.sqrt(2), sympy.sqrt(2) + sympy.Rational(1, 10**9)) is False
    assert values_agree(sympy.Integer(2) ** 300, sympy.Integer(2) ** 300 + 1) is not True
    assert values_agree(sympy.sqrt(2) - sympy.sqrt(2), sympy.Integer(0)) is True


def test_names_and_sets_have_no_plain_value() -> None:
    assert is_plain(sympy.sqrt(2))
    assert not is_plain(sympy.Symbol("x"))
    assert not is_plain(sympy.FiniteSet(1, 2))
