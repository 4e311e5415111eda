"""Documents of functions as tool schemas and as text."""

from __future__ import annotations

from typing import Any

from genbench.tools.documents import in_language, prompt_text, tool_schema

DOCUMENT: dict[str, Any] = {
    "name": "math.area",
    "description": "Return an area.",
    "parameters": {
        "type": "dict",
        "properties": {
            "side": {"type": "float", "description": "Length.", "default": 1.0},
            "points": {"type": "tuple", "items": {"type": "integer"}},
            "unit": {"type": "dict", "properties": {"name": {"type": "any"}}},
        },
        "required": ["side"],
    },
}


def test_a_tool_schema_has_json_types_and_no_dots_in_its_name() -> None:
    found = tool_schema(DOCUMENT)["function"]
    assert found["name"] == "math_area"
    assert found["parameters"] == {
        "type": "object",
        "properties": {
            "side": {"type": "number", "description": "Length.", "default": 1.0},
            "points": {"type": "array", "items": {"type": "integer"}},
            "unit": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
        "required": ["side"],
    }


def test_parameters_of_java_are_strings_of_code() -> None:
    found = in_language(DOCUMENT, "java")
    assert found["description"] == "Return an area. The function is in Java 8 SDK syntax."
    points = found["parameters"]["properties"]["points"]
    assert points["type"] == "string"
    assert "type tuple with elements of type integer" in points["description"]
    assert in_language(DOCUMENT, "python")["parameters"] is DOCUMENT["parameters"]


def test_the_prompt_lists_the_functions_and_the_format_of_calls() -> None:
    text = prompt_text([DOCUMENT])
    assert "[func_name1(params_name1=params_value1" in text
    assert '"name": "math.area"' in text
