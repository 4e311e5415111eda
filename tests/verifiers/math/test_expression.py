"""An answer in the forms that a comparison needs."""

from __future__ import annotations

import pytest

from genbench.verifiers.math.expression import read_expression
from genbench.verifiers.math.verifier import read_reference


def test_a_number_is_read() -> None:
    expression = read_expression("\\dfrac{140}{2}")
    assert expression.number is not None
    assert expression.number.value == 70
    assert expression.vote == "70"


def test_words_have_no_case_and_no_article() -> None:
    assert read_expression("\\text{Even}").word == "even"
    assert read_expression("an ellipse").word == "ellipse"
    assert read_expression("xyz").word is None


def test_modulus_and_base_are_set_apart() -> None:
    assert read_expression("204 \\pmod{7}").modulus == "7"
    assert read_expression("204_5").based is not None


def test_too_many_digits_are_noted() -> None:
    assert read_expression("9^{9^{9}}").too_large
    assert not read_expression("9^{9}").too_large


@pytest.mark.parametrize("text", ["x=5", "5=x", "n=2+3=5", "5.0", "\\frac{10}{2}"])
def test_an_equation_votes_for_its_value(text: str) -> None:
    assert read_expression(text).vote == "5"


@pytest.mark.parametrize("text", ["x^2=4", "4,5", "(4,5)"])
def test_other_texts_vote_for_themselves(text: str) -> None:
    assert read_expression(text).vote not in {"4", "5"}


def test_a_sample_is_a_plain_fraction_if_the_answer_is_a_number() -> None:
    assert read_expression("1\\frac{1}{2}").sample == "\\frac{3}{2}"
    assert read_expression("\\sqrt{2}").sample == "\\sqrt{2}"
    assert len(read_expression("20000!").sample) < 50


def test_a_delimited_reference_loses_its_text() -> None:
    assert read_reference("The answer is $7$.").expression.key == "7"
    assert read_reference("First \\boxed{3}, and in the end \\boxed{5}").expression.key == "5"
    assert read_reference("$x=\\boxed{3}$ or $x=\\boxed{5}$").expression.key == "3,5"
