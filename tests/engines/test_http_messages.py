"""What a server is sent for one request, and what its reply says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from genbench.engines.http.engine import Reply, body, read_reply
from genbench.engines.http.kind import HttpConfig, HttpSettings
from genbench.engines.http.server import Transient
from genbench.errors import EngineError
from genbench.suite.config import Decoding
from genbench.types import Message, Request, SampleId

DECODING = Decoding(stop=("END",), stop_token_ids=(7,), top_k=20, min_tokens=2)
SETTINGS = HttpSettings(HttpConfig(), ("http://h/v1",), "tuned", {"t": DECODING}, {})
CHAT = replace(
    SETTINGS,
    config=HttpConfig(prompts="chat"),
    trace_tags=("<a>", "</a>"),
    chat_template_kwargs={"enable_thinking": False},
)
REQUEST = Request(SampleId("t", "p", 0), 0, (5, 6, 8), 11, 32, "digest", messages=(Message("user", "2+2?"),))


def reply(**choice: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return {"choices": [{"text": "4", "finish_reason": "stop", **choice}], "usage": usage}


def test_token_ids_are_sent_as_they_are() -> None:
    sent = body(SETTINGS, REQUEST)
    assert sent["prompt"] == [5, 6, 8] and "messages" not in sent and sent["add_special_tokens"] is False
    assert (sent["seed"], sent["max_tokens"], sent["stop"], sent["top_k"]) == (11, 32, ["END"], 20)


def test_a_chat_is_sent_as_messages_with_the_templates_arguments() -> None:
    sent = body(CHAT, REQUEST)
    assert sent["messages"] == [{"role": "user", "content": "2+2?"}] and "prompt" not in sent
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}


def test_openais_api_gets_none_of_vllms_fields() -> None:
    sent = body(replace(CHAT, config=HttpConfig(api="openai", prompts="chat")), REQUEST)
    assert not sent.keys() & {"top_k", "min_p", "stop_token_ids", "ignore_eos", "chat_template_kwargs"}


def test_the_end_token_is_sent_so_that_the_server_adds_no_other() -> None:
    assert body(SETTINGS, REQUEST)["ignore_eos"] is False
    sent = body(replace(SETTINGS, eos_token_id=2), REQUEST)
    assert sent["stop_token_ids"] == [2, 7] and sent["ignore_eos"] is True
    endless = {"t": DECODING.model_copy(update={"ignore_eos": True})}
    assert body(replace(SETTINGS, eos_token_id=2, decodings=endless), REQUEST)["stop_token_ids"] == [7]


def test_a_budget_of_thinking_is_sent_if_there_is_one() -> None:
    assert "thinking_token_budget" not in body(SETTINGS, REQUEST)
    budget = {"t": DECODING.model_copy(update={"thinking_token_budget": 9})}
    assert body(replace(SETTINGS, decodings=budget), REQUEST)["thinking_token_budget"] == 9


def test_a_whole_reply_has_text_end_and_counts() -> None:
    assert read_reply(SETTINGS, reply(), REQUEST) == Reply("4", "stop", 3, 2)
    assert read_reply(SETTINGS, reply(finish_reason="length"), REQUEST).finish == "length"
    without = {key: value for key, value in reply().items() if key != "usage"}
    assert read_reply(SETTINGS, without, REQUEST) == Reply("4", "stop", None, None)


@pytest.mark.parametrize(
    "broken",
    [{"finish_reason": "abort"}, {"finish_reason": None}, {"text": None}, {"finish_reason": "error"}],
)
def test_half_a_reply_is_asked_for_again(broken: dict[str, Any]) -> None:
    with pytest.raises(Transient, match="half a reply"):
        read_reply(SETTINGS, reply(**broken), REQUEST)


def test_a_server_that_counts_another_prompt_is_an_error() -> None:
    record = reply()
    record["usage"]["prompt_tokens"] = 4
    with pytest.raises(EngineError, match="counts 4 prompt tokens where 3 were sent"):
        read_reply(SETTINGS, record, REQUEST)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "four"}, "four"),
        ({"content": None}, ""),
        ({"content": "four", "reasoning_content": "hm"}, "<a>hm</a>four"),
        ({"content": None, "reasoning": "hm"}, "<a>hm"),
    ],
)
def test_a_trace_that_was_parsed_out_is_put_back(message: dict[str, Any], text: str) -> None:
    assert read_reply(CHAT, reply(message=message), REQUEST).text == text


def test_a_message_without_content_is_half_a_reply() -> None:
    with pytest.raises(Transient):
        read_reply(CHAT, reply(message={"role": "assistant"}), REQUEST)
