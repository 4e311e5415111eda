"""Calls written as Java and JavaScript: arguments stay text."""

from __future__ import annotations

import pytest

from genbench.tools.calls import UNNAMED, CallError
from genbench.tools.code_calls import CodeLanguage, code_calls
from tests.table import each_row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"a, (b"', "a, (b"),
        ("'c'", "c"),
        ("5L", "5L"),
        ("new int[] {1, 2}", "new int[]{1,2}"),
        ('new HashMap<String, Object>() {{ put("k", 1); }}', "new HashMap<String,Object>()"),
        ('new ArrayList<>(Arrays.asList("a", "b"))', 'new ArrayList<>(Arrays.asList("a","b"))'),
        ("Maps.of(1, 2)", "Maps.of(1, 2)"),
    ],
)
def test_an_argument_of_java_is_its_text_without_the_quotes_around_it(value: str, text: str) -> None:
    (call,) = code_calls(f"A.b(x={value}, y=1)", "java")
    assert (call.name, call.arguments) == ("A.b", {"x": text, "y": "1"})


def test_lists_and_objects_are_values_of_javascript() -> None:
    (call,) = code_calls("f(a=[1, 2], b={'k': g(1)}, c=x => x + 1);", "javascript")
    assert call.arguments == {"a": "[1, 2]", "b": "{'k': g(1)}", "c": "x => x + 1"}


@each_row("language", ["java", "javascript"])
@each_row(
    "text",
    [
        "Sure! f(a=1)",
        "f(a=1",
        "f(a=1))",
        "f(a=LED TV)",
        "f(a='x)",
        "f(a=1, a=2)",
        "f(a=)",
        "f(1)",
        "f(a=1), f(a=2)",
    ],
)
def test_what_is_no_call_with_named_arguments_is_refused(text: str, language: CodeLanguage) -> None:
    with pytest.raises(CallError):
        code_calls(text, language)


@pytest.mark.parametrize("value", ["[1]", "{'a': 1}", "('a', 'b')", "new int[3]"])
def test_values_that_java_does_not_have_are_refused(value: str) -> None:
    with pytest.raises(CallError):
        code_calls(f"f(a={value})", "java")


def test_the_official_reading_keeps_a_bare_name_and_drops_other_positional_arguments() -> None:
    (call,) = code_calls("f(x, 1)", "java", official=True)
    assert call.arguments == {UNNAMED: "x"}
