"""Values of arguments written as Java and JavaScript."""

from __future__ import annotations

from typing import Any

from genbench.verifiers.tools.call_check import java_value, javascript_value
from tests.table import each_row


@each_row(
    "text, kind, inner, value",
    [
        ("7", "integer", None, 7),
        ("7.0", "integer", None, "7.0"),
        ("7L", "long", None, 7),
        ("7", "long", None, "7"),
        ("1.5f", "float", None, 1.5),
        ("1.5e2", "double", None, 150.0),
        ("true", "boolean", None, True),
        ("True", "boolean", None, "True"),
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("[1, 2]", "Array", "integer", "[1, 2]"),
        ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<Integer>() {{ add(1); add(2); }}", "ArrayList", "integer", [1, 2]),
        ("new ArrayList<>()", "ArrayList", "any", []),
        (
            'new HashMap<String, Object>() {{ put("k", 1); put("b", true); }}',
            "HashMap",
            None,
            {"k": 1, "b": True},
        ),
        ("new HashMap<>()", "HashMap", None, {}),
        ("x", "any", None, "x"),
    ],
)
def test_java(text: str, kind: str, inner: str | None, value: Any) -> None:
    found = java_value(text, kind, inner)
    assert (found, type(found)) == (value, type(value))


@each_row(
    "text, kind, inner, value",
    [
        ("'a'", "String", None, "a"),
        ("7", "integer", None, 7),
        ("7.5", "float", None, 7.5),
        ("7n", "Bigint", None, 7),
        ("false", "Boolean", None, False),
        ("['a', 'b']", "array", "String", ["a", "b"]),
        ("[]", "array", "String", []),
        ("[[1, 2], [3]]", "array", "array", [[1, 2], [3]]),
        ("new Array(1, true)", "array", None, [1, True]),
        ("{'a': 1, 'b': ['x'], 'c': true}", "dict", None, {"a": 1, "b": ["x"], "c": True}),
        ("{}", "dict", None, {}),
        ("options", "dict", None, "options"),
    ],
)
def test_javascript(text: str, kind: str, inner: str | None, value: Any) -> None:
    found = javascript_value(text, kind, inner)
    assert (found, type(found)) == (value, type(value))
