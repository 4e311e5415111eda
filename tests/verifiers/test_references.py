"""References as texts, and malformed ones."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.references import acceptable_texts, malformation
from tests.table import each_row

MALFORMED = [
    "\\frac{1}{",
    "\\frac{1}",
    "\\frac{}{2}",
    "\\sqrt",
    "\\sqrt{}",
    "{1",
    "1}",
    "",
    "  ",
    "$$",
    "\\text{}",
    "\\begin{pmatrix} 1 \\\\ 2",
    "\\end{pmatrix}",
    "\\begin{pmatrix} 1 \\end{bmatrix}",
    "\\binom{5}",
    "\\boxed{7",
]
WELL_FORMED = [
    "7",
    "\\frac{1}{2}",
    "\\frac12",
    "\\frac 1 2",
    "\\frac{\\sqrt{3}}{2}",
    "\\sqrt[3]{2}",
    "\\sqrt2",
    "\\text{east}",
    "[0,1)",
    "\\{1,2\\}",
    "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
    "$7$",
    "x=\\boxed{3}$ or $x=\\boxed{5}",
    "\\frac\\pi2",
    "\\left\\{ 1 \\right\\}",
    "70^\\circ",
]


@each_row("reference", MALFORMED)
def test_a_malformed_reference_is_refused_before_anything_is_drawn(reference: str) -> None:
    assert malformation(reference)
    with pytest.raises(DataError, match="math reference"):
        MathVerifier().check(reference)


@each_row("reference", WELL_FORMED)
def test_a_well_formed_reference_passes_the_check(reference: str) -> None:
    assert malformation(reference) is None
    MathVerifier().check(reference)


def test_each_of_several_references_is_checked() -> None:
    with pytest.raises(DataError, match="never closed"):
        MathVerifier().check(["7", "\\frac{1}{"])


@pytest.mark.parametrize(
    ("reference", "texts"), [("7", ["7"]), (7, ["7"]), (0.5, ["0.5"]), (["7", 8], ["7", "8"])]
)
def test_references_become_texts(reference: Any, texts: list[str]) -> None:
    assert acceptable_texts(reference, "math") == texts


@pytest.mark.parametrize("reference", [None, True, {}, [], [None]])
def test_other_references_are_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="want text"):
        acceptable_texts(reference, "math")


@pytest.mark.parametrize("number", ["7", "-3", "1/2", "0.5"])
def test_plain_numbers_are_well_formed(number: str) -> None:
    assert malformation(number) is None
