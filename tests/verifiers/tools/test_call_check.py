"""The check of calls: names, parameters, types, values, and the matching of parallel calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.tools.calls import Call
from genbench.tools.documents import tool_name
from genbench.verifiers.tools.call_check import CallRules
from tests.table import each_row

PROPERTIES = {
    "s": {"type": "string"},
    "i": {"type": "integer"},
    "f": {"type": "float"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "string"}},
    "n": {"type": "array", "items": {"type": "integer"}},
    "t": {"type": "tuple", "items": {"type": "integer"}},
    "d": {"type": "dict"},
    "o": {"type": "array", "items": {"type": "dict"}},
}
DOCUMENT = {"name": "m.f", "parameters": {"properties": PROPERTIES, "required": []}}


def error(given: Mapping[str, Any], accepted: Mapping[str, Any], **rules: Any) -> str | None:
    return CallRules(**rules).error([Call("m.f", given)], [DOCUMENT], [{"m.f": accepted}], "simple")


@each_row(
    "given, accepted",
    [
        ({"s": "New-York, "}, {"s": ["new york"]}),
        ({"i": 3}, {"i": [2, 3]}),
        ({"f": 3}, {"f": [3.0]}),
        ({"b": True}, {"b": [True]}),
        ({"l": ["A.b"]}, {"l": [["ab"]]}),
        ({"n": [1]}, {"n": [[2], [1]]}),
        ({"t": (1, 2)}, {"t": [[1, 2]]}),
        ({"d": {"k": "X"}}, {"d": [{"k": ["x"], "m": ["y", ""]}]}),
        ({"o": [{"k": 1}]}, {"o": [[{"k": [1]}]]}),
        ({"i": "size"}, {"i": ["size"]}),
        ({}, {"s": ["a", ""]}),
    ],
)
def test_right_calls(given: dict[str, Any], accepted: dict[str, Any]) -> None:
    assert error(given, accepted) is None


@each_row(
    "given, accepted, wanted",
    [
        ({"s": "Rom"}, {"s": ["rome"]}, "value_error:string"),
        ({"i": 4}, {"i": [2, 3]}, "value_error:others"),
        ({"i": 3.0}, {"i": [3]}, "type_error:simple"),
        ({"i": True}, {"i": [1]}, "type_error:simple"),
        ({"b": 1}, {"b": [True]}, "type_error:simple"),
        ({"l": ("a",)}, {"l": [["a"]]}, "type_error:simple"),
        ({"n": ["1"]}, {"n": [[1]]}, "type_error:nested"),
        ({"l": ["b", "a"]}, {"l": [["a", "b"]]}, "value_error:list/tuple"),
        ({"d": {"z": 1}}, {"d": [{"k": [1]}]}, "value_error:dict_key"),
        ({"d": {"k": 2}}, {"d": [{"k": [1]}]}, "value_error:dict_value"),
        ({"o": [{"k": 1}, {"k": 1}]}, {"o": [[{"k": [1]}]]}, "value_error:list_dict_count"),
        ({"s": "a", "i": 1}, {"s": ["a"]}, "simple_function_checker:unexpected_param"),
        ({}, {"s": ["a"]}, "simple_function_checker:missing_optional"),
    ],
)
def test_wrong_calls_and_the_official_name_of_their_first_error(
    given: dict[str, Any], accepted: dict[str, Any], wanted: str
) -> None:
    assert error(given, accepted) == wanted


def test_a_required_parameter_and_the_name_come_first() -> None:
    document = {**DOCUMENT, "parameters": {"properties": PROPERTIES, "required": ["s"]}}
    rules = CallRules()
    wanted = [{"m.f": {"s": ["a"]}}]
    assert (
        rules.error([Call("m.f")], [document], wanted, "simple") == "simple_function_checker:missing_required"
    )
    assert rules.error([Call("g")], [document], wanted, "simple") == "simple_function_checker:wrong_func_name"
    assert rules.error([], [document], wanted, "simple") == "simple_function_checker:wrong_count"
    assert rules.error([Call("m_f", {"s": "a"})], [document], wanted, "simple") is not None
    by_schema = CallRules(spelling=tool_name)
    assert by_schema.error([Call("m_f", {"s": "a"})], [document], wanted, "simple") is None


def test_truth_values_inside_a_dictionary_are_no_numbers_under_exact_types() -> None:
    given, accepted = {"d": {"k": True}}, {"d": [{"k": [1]}]}
    assert error(given, accepted) is None
    assert error(given, accepted, exact_types=True) == "value_error:dict_value"


def test_parallel_calls_are_matched_in_order_officially_and_completely_under_best_match() -> None:
    wanted = [{"m.f": {"i": [1, 2]}}, {"m.f": {"i": [1]}}]
    calls = [Call("m.f", {"i": 1}), Call("m.f", {"i": 2})]
    greedy, complete = (
        CallRules(best_match=best).error(calls, [DOCUMENT], wanted, "parallel") for best in (False, True)
    )
    assert greedy == "parallel_function_checker_no_order:cannot_find_match"
    assert complete is None
    one_short = CallRules().error(calls[:1], [DOCUMENT], wanted, "parallel")
    assert one_short == "parallel_function_checker_no_order:wrong_count"


def test_arguments_of_java_must_be_texts_of_their_type() -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": "long"}}, "required": []}}
    errors = [
        CallRules("java").error([Call("f", {"x": value})], [document], [{"f": {"x": [5]}}], "simple")
        for value in ("5L", "5", 5)
    ]
    assert errors == [None, "type_error:simple", "type_error:java"]
