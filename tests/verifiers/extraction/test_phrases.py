"""Values in phrases."""

from __future__ import annotations

import pytest

from genbench.verifiers.extraction.statements import Value, is_phrase, value_in_phrase


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        ("\\text{The answer is } 5", "5"),
        ("\\text{There are } 12", "12"),
        ("\\text{Area} = 12", "12"),
        ("\\text{the sum of } 3 \\text{ and } 4 \\text{ is } 7", "7"),
        ("\\text{not } 7 \\text{ but } 5", "5"),
        ("The final answer is \\frac{1}{2}", "\\frac{1}{2}"),
    ],
)
def test_the_one_value_of_a_phrase_is_read(latex: str, value: str) -> None:
    assert is_phrase(latex)
    assert value_in_phrase(latex) == Value(value)


@pytest.mark.parametrize(
    "latex", ["3 \\text{ apples and } 4 \\text{ pears}", "\\text{from } 3 \\text{ via } 4"]
)
def test_a_phrase_with_several_values_has_none(latex: str) -> None:
    assert value_in_phrase(latex) is None


@pytest.mark.parametrize(
    "latex", ["\\text{at most } 5", "\\text{not } 5", "\\text{either } 5 \\text{ or } 7", "more than 5"]
)
def test_a_phrase_may_withhold_its_value(latex: str) -> None:
    value = value_in_phrase(latex)
    assert value is not None
    assert value.withheld


@pytest.mark.parametrize(
    "latex",
    [
        "5",
        "x+1",
        "\\text{east}",
        "3 \\text{ and } 5",
        "xyz",
        "\\sin x",
        "\\begin{pmatrix}1\\\\2\\end{pmatrix}",
    ],
)
def test_mathematics_and_single_words_are_no_phrases(latex: str) -> None:
    assert not is_phrase(latex)
