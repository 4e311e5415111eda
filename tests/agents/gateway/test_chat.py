"""What the gateway reads of requests, and what it replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench.agents.gateway.chat import ChatError, ChatReply, ContextOverflowError, read_request
from genbench.models.prompts import Renderer
from genbench.tools.calls import Call
from genbench.types import Answer, Completion, Message, SampleId

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
BASH = {"type": "function", "function": {"name": "bash", "description": "runs", "parameters": {}}}


def completion(text: str, reason: Any = "stop") -> Completion:
    return Completion(
        sample=SampleId("t", "p", 0),
        turn=2,
        seed=1,
        prompt_digest="d",
        text=text,
        finish_reason=reason,
        prompt_tokens=10,
        completion_tokens=4,
        trace_tokens=0,
        max_tokens=8,
        attempt=1,
        seconds=0.1,
    )


def test_fields_of_the_decoding_are_noted_and_no_others_are_let_through() -> None:
    found = read_request({**HELLO, "temperature": 0, "seed": 5, "max_tokens": 3, "user": "x"}, {})
    assert dict(found.asked) == {"temperature": 0, "seed": 5, "max_tokens": 3}
    assert found.messages == (Message("user", "hello"),)
    assert found.offer is None
    assert not found.stream


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "not a JSON object"),
        ({}, "'messages' is missing"),
        ({"messages": []}, "'messages' is missing"),
        ({"messages": [{"role": "robot", "content": ""}]}, "messages[0] has no role"),
        ({"messages": ["hello"]}, "messages[0] has no role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0] has a content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "a part of type 'image_url'",
        ),
        ({**HELLO, "n": 2}, "'n' is 2"),
        ({**HELLO, "stop": ["x"]}, "'stop' is"),
        ({**HELLO, "tool_choice": "required"}, "'tool_choice' is"),
        ({**HELLO, "response_format": {"type": "json_object"}}, "'response_format' is"),
        ({**HELLO, "logprobs": True}, "'logprobs' is true"),
        ({**HELLO, "chat_template_kwargs": {"enable_thinking": False}}, "'chat_template_kwargs' is"),
        ({**HELLO, "tools": [{"name": "bash"}]}, "'tools' has an entry"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(body: Any, said: str) -> None:
    with pytest.raises(ChatError, match=said.replace("[", r"\[").replace("(", r"\(")) as error:
        read_request(body, {})
    assert error.value.status == 400
    assert error.value.body["error"]["message"] == str(error.value)


def test_values_that_ask_for_nothing_are_no_reason_to_refuse() -> None:
    idle = {
        "n": 1,
        "stop": None,
        "response_format": {"type": "text"},
        "logprobs": False,
        "tool_choice": "auto",
    }
    assert read_request({**HELLO, **idle}, {}).messages == (Message("user", "hello"),)


def test_texts_in_parts_are_one_text_and_developers_are_the_system() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    body = {"messages": [{"role": "developer", "content": "be kind"}, {"role": "user", "content": parts}]}
    assert read_request(body, {}).messages == (Message("system", "be kind"), Message("user", "one\ntwo"))


def test_a_reply_that_comes_back_is_the_text_as_it_was_drawn() -> None:
    drawn = 'I look.\n<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}\n</tool_call>'
    call = {
        "id": "call_0_0",
        "type": "function",
        "function": {"name": "bash", "arguments": '{"command": "ls"}'},
    }
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0_0", "content": "a.txt"},
    ]
    found = read_request({"messages": messages, "tools": [BASH]}, {"call_0_0": drawn})
    assert found.messages[1:] == (Message("assistant", drawn), Message("tool", "a.txt", "bash"))
    assert found.offer is not None
    assert [document["name"] for document in found.offer.documents] == ["bash"]
    assert found.assistant_turns == 1


def test_functions_are_shown_to_the_model_as_the_harness_describes_them() -> None:
    """`anyOf` and further keys are JSON schema, which the documents of BFCL do not have."""
    value = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    parameters = {"type": "object", "properties": {"n": value}, "additionalProperties": False}
    function = {"name": "count", "description": "counts", "parameters": parameters, "strict": True}
    offer = read_request({**HELLO, "tools": [{"type": "function", "function": function}]}, {}).offer
    assert offer is not None
    rendered = Renderer(None).render([Message("user", "hello")], offer)
    assert rendered.tools == ({"type": "function", "function": function},)


def test_what_is_said_in_front_of_a_call_is_the_content_in_every_family() -> None:
    texts = {
        'I look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>': "I look.",
        'I look. [TOOL_CALLS][{"name": "f", "arguments": {}}]': "I look.",
        '{"name": "f", "parameters": {}}': None,
    }
    for text, said in texts.items():
        reply = ChatReply(completion(text), Answer(text, "absent", "", False), (Call("f", {}),), "m", "w")
        assert reply.message["content"] == said


def test_a_call_that_the_model_did_not_write_is_written_as_text() -> None:
    call = {"id": "own", "function": {"name": "bash", "arguments": {"command": "ls"}}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "x"},
    ]
    first = read_request({"messages": messages}, {}).messages[0]
    assert isinstance(first, Message)
    text = first.content
    assert text == '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'


def test_a_full_context_is_said_in_the_words_that_clients_look_for() -> None:
    error = ContextOverflowError(4096, 5000)
    assert "This model's maximum context length is 4096 tokens. However, your messages have 5000" in str(
        error
    )
    assert error.body["error"]["code"] == "context_length_exceeded"
    assert error.status == 400


def test_calls_get_ids_that_follow_from_their_place() -> None:
    text = 'I look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
    calls = (Call("bash", {"command": "ls"}), Call("bash", {"command": "pwd"}))
    reply = ChatReply(completion(text), Answer(text, "closed", "hm", False), calls, "genbench", "weights-1")
    choice = reply.body["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I look."
    assert choice["message"]["reasoning"] == choice["message"]["reasoning_content"] == "hm"
    assert [call["id"] for call in choice["message"]["tool_calls"]] == ["call_2_0", "call_2_1"]
    assert json.loads(choice["message"]["tool_calls"][1]["function"]["arguments"]) == {"command": "pwd"}
    assert reply.body["usage"] == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert reply.body["system_fingerprint"] == "weights-1"


def test_a_stream_has_the_parts_of_the_whole_reply() -> None:
    reply = ChatReply(completion("hi", "length"), Answer("hi", "absent", "", True), (), "genbench", "w")
    chunks = list(reply.chunks(with_usage=True))
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": "hi"}
    assert [part["choices"][0]["finish_reason"] for part in chunks[:-1]] == [None, "length"]
    assert chunks[-1]["usage"]["total_tokens"] == 14
    assert {part["object"] for part in chunks} == {"chat.completion.chunk"}
