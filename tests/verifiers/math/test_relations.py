"""The value that an equation states."""

from __future__ import annotations

import pytest

from genbench.verifiers.math.expression import equation_sides, is_equation, stated_values, system_values
from tests.table import each_row


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("x=5", "5"),
        ("5=x", "5"),
        ("n=2+3=5", "5"),
        ("m+n=70", "70"),
        ("f(2)=5", "5"),
        ("2+3=5", "5"),
        ("y=2x+3", "2x+3"),
    ],
)
def test_an_equation_of_a_quantity_states_its_value(key: str, value: str) -> None:
    assert stated_values(key)[0] == value


@each_row("key", ["x^{2}=4", "x^{2}+1=0", "2x=6", "x+5=7", "5", "x=1,y=5", "x<5", "x=3orx=5"])
def test_other_texts_state_no_value(key: str) -> None:
    assert stated_values(key) == []


def test_a_rounded_value_leaves_the_exact_one() -> None:
    assert stated_values("\\ln2=0.69") == ["0.69", "\\ln2"]


def test_equations_are_recognised() -> None:
    assert is_equation("x=5")
    assert not is_equation("\\sum_{n=1}^{5}n")
    assert not is_equation("x\\le5")


def test_sides_are_name_and_value() -> None:
    assert equation_sides("x=5") == ("x", "5")
    assert equation_sides("5=x") == ("x", "5")
    assert equation_sides("7=11a+c") is None


def test_systems_have_one_value_for_each_name() -> None:
    assert system_values("x=1,y=5") == (["1", "5"], False)
    assert system_values("x=3,x=5") == (["3", "5"], True)
    assert system_values("x=3orx=5") == (["3", "5"], True)
    assert system_values("x=3,5") == (["3", "5"], True)
    assert system_values("3,5") is None
