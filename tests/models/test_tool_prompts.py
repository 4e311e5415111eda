"""How chat templates take functions, and how results of functions reach templates without a role for them."""

from __future__ import annotations

import json

from genbench.models.prompts import template_tools, tool_variable, without_tool_roles
from genbench.types import Message

SCHEMA = {"type": "function", "function": {"name": "add"}}


def test_a_template_takes_functions_under_the_variable_that_it_reads() -> None:
    assert tool_variable("{% if tools %}{{ tools }}{% endif %}") == "tools"
    assert tool_variable("{{ xml_tools }} {{ tools }}") == "xml_tools"
    assert tool_variable("{{ messages }} mytools") is None
    assert tool_variable(None) is None


def test_a_template_with_xml_tools_gets_the_functions_themselves() -> None:
    assert template_tools("{{ xml_tools }}", [SCHEMA]) == {"xml_tools": [{"name": "add"}]}
    assert template_tools("{{ tools }}", [SCHEMA]) == {"tools": [SCHEMA]}


def test_without_functions_or_without_a_variable_the_template_gets_no_argument() -> None:
    assert template_tools("{{ tools }}", []) == {}
    assert template_tools("{{ messages }}", [SCHEMA]) == {}


def test_results_in_a_row_become_one_message_of_the_user() -> None:
    chat = [
        Message("user", "2 + 3?"),
        Message("assistant", "add"),
        Message("tool", "5", "add"),
        Message("tool", "6", "mul"),
    ]
    *before, last = without_tool_roles(chat)
    assert before == chat[:2]
    assert last.role == "user"
    assert [(entry["name"], entry["content"]) for entry in json.loads(last.content)] == [
        ("add", "5"),
        ("mul", "6"),
    ]
