"""What is outside all brackets of an expression."""

from __future__ import annotations

import pytest

from genbench.verifiers.notation.latex import closing_index, is_balanced, split_outside


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2", ["1", "2"]),
        ("(1,2),3", ["(1,2)", "3"]),
        ("[0,1),(2,3]", ["[0,1)", "(2,3]"]),
        ("\\{1,2\\},3", ["\\{1,2\\}", "3"]),
        ("f(a,b)", ["f(a,b)"]),
        ("", [""]),
    ],
)
def test_a_text_is_split_outside_brackets(text: str, parts: list[str]) -> None:
    assert split_outside(text, ",") == parts


@pytest.mark.parametrize(
    ("text", "balanced"), [("(1)", True), ("[0,1)", True), ("(", False), (")(", False), ("", True)]
)
def test_balance_counts_brackets_of_all_kinds(text: str, balanced: bool) -> None:
    assert is_balanced(text) is balanced


def test_the_closing_bracket_is_found() -> None:
    assert closing_index("f(g(x))+1", 1) == 6
    assert closing_index("f(g(x)", 1) is None
