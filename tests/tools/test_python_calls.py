"""Calls written as Python: what is read, what is refused, and that nothing of the text runs."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.tools.calls import Call, CallError, Parsed
from genbench.tools.python_calls import python_calls
from tests.table import each_row


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("f(a=1, b='x', c=[1, 2.5], d={'k': True})", {"a": 1, "b": "x", "c": [1, 2.5], "d": {"k": True}}),
        ("[f(a=-3)]", {"a": -3}),
        ("f(a=(1, 2))", {"a": (1, 2)}),
        ("f(a=2*3+1, b='x' + 'y')", {"a": 7, "b": "xy"}),
        ("f(a=not True)", {"a": False}),
        ("f()", {}),
    ],
)
def test_plain_values_are_read(text: str, arguments: dict[str, Any]) -> None:
    assert python_calls(text) == (Call("f", arguments),)


def test_several_calls_keep_their_order_and_dotted_names() -> None:
    assert [call.name for call in python_calls("[a.b.c(x=1), d()]")] == ["a.b.c", "d"]
    assert Parsed(python_calls("[d()]")).calls[0].record == {"name": "d", "arguments": {}}


@each_row(
    "text",
    [
        "I would call f(a=1)",
        "[f(a=1), 2]",
        "f(1)",
        "f(**{'a': 1})",
        "f(a=g())",
        "f(a=x[0])",
        "f(a=lambda: 1)",
        "f(a=9**9**9)",
        "f(a='x' * 10**9)",
        "f(a=__import__('os').getpid() + 1)",
        "f(a='%s' % 1)",
        "(" * 500 + "f()" + ")" * 500,
        "\0",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(CallError):
        python_calls(text)


def test_the_official_reading_drops_positional_arguments_and_negates_every_unary_operator() -> None:
    assert python_calls("f(1, a=not True, b=+5)", official=True) == (Call("f", {"a": -1, "b": -5}),)
    assert python_calls("f(a=g(), b=h(c=1), d=e[0])", official=True) == (
        Call("f", {"a": "g()", "b": {"h": {"c": 1}}, "d": "e[0]"}),
    )


def test_the_official_reading_evaluates_no_text_of_the_model() -> None:
    with pytest.raises(CallError):
        python_calls("f(a=__import__('os').getpid() + 1)", official=True)
