"""Function calls in the chat messages of a server."""

from __future__ import annotations

import json

from genbench.engines.http.engine import chat_messages
from genbench.tools.calls import tagged_calls
from genbench.tools.families import parse
from genbench.types import Message, Request, SampleId

TEXT = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
MESSAGE = {"tool_calls": [{"id": "x", "function": {"name": "f", "arguments": '{"a": 1}'}}]}


def request(*messages: Message, tools: bool = True) -> Request:
    offered = ({"type": "function", "function": {"name": "f"}},) if tools else ()
    return Request(SampleId("t", "p", 0), 0, (), 1, 9, "d", messages=messages, tools=offered)


def test_calls_that_the_server_parsed_are_text_again() -> None:
    assert tagged_calls(MESSAGE) == TEXT
    assert tagged_calls({"content": "no", "tool_calls": None}) == ""


def test_arguments_that_are_no_json_stay_a_broken_call() -> None:
    text = tagged_calls({"tool_calls": [{"function": {"name": "f", "arguments": '{"a": '}}]})
    assert parse(text).broken is not None


def test_calls_and_results_of_earlier_turns_belong_together() -> None:
    said = [
        Message("user", "q"),
        Message("assistant", f"I look.\n{TEXT}\n{TEXT}"),
        Message("tool", "1", "f"),
        Message("tool", "2", "f"),
    ]
    user, assistant, first, second = chat_messages(request(*said))
    assert user == {"role": "user", "content": "q"}
    assert assistant["content"] == "I look."
    assert [json.loads(call["function"]["arguments"]) for call in assistant["tool_calls"]] == [{"a": 1}] * 2
    assert [first["tool_call_id"], second["tool_call_id"]] == [call["id"] for call in assistant["tool_calls"]]
    assert (first["content"], second["content"]) == ("1", "2")


def test_without_offered_functions_every_message_is_sent_as_it_is() -> None:
    assert chat_messages(request(Message("assistant", TEXT), tools=False)) == [
        {"role": "assistant", "content": TEXT}
    ]
