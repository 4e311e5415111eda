"""Parsers of function calls by model family."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.tools.calls import Call
from genbench.tools.families import FAMILIES, check_family, family_of, parse
from tests.table import each_row

DOCUMENTS = [
    {
        "name": "get.weather",
        "parameters": {
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "hot": {"type": "boolean"},
            }
        },
    }
]
CALL = Call("get_weather", {"city": "Rome", "days": 2})
JSON = '{"name": "get_weather", "arguments": {"city": "Rome", "days": 2}}'
REPLIES = {
    "hermes": f"I look it up.\n<tool_call>\n{JSON}\n</tool_call>",
    "qwen3_coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n"
    "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
    "llama": '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Rome", "days": 2}}<|eom_id|>',
    "mistral": f"[TOOL_CALLS][{JSON}]</s>",
    "pythonic": "[get_weather(city='Rome', days=2)]",
    "gpt_oss": "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    '{"city": "Rome", "days": 2}<|call|>',
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
    '{"city": "Rome", "days": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
}
OTHER_REPLIES = [
    ('{"name": "get_weather", "parameters": {"city": "Rome", "days": 2}}', "llama"),
    (f"[{JSON}]", "llama"),
    ('<function=get_weather>{"city": "Rome", "days": 2}</function>', "llama"),
    ('[TOOL_CALLS]get_weather[ARGS]{"city": "Rome", "days": 2}', "mistral"),
    ("<function_calls>get_weather(city='Rome', days=2)</function_calls>", "pythonic"),
    ("<|python_start|>[get_weather(city='Rome', days=2)]<|python_end|>", "pythonic"),
    ("get_weather(city='Rome', days=2)", "pythonic"),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        '{"city": "Rome", "days": 2}\n```<｜tool▁call▁end｜>',
        "deepseek",
    ),
]


def test_every_family_has_a_reply_here() -> None:
    assert set(REPLIES) == set(FAMILIES)


@each_row("text, family", [*((b, a) for a, b in REPLIES.items()), *OTHER_REPLIES])
def test_a_reply_is_read_by_its_mark_and_by_the_family_that_is_named(text: str, family: str) -> None:
    assert family_of(text) == family
    assert parse(text, "auto", DOCUMENTS).calls == (CALL,)
    assert parse(text, family, DOCUMENTS).calls == (CALL,)


@each_row(
    "text",
    [
        f"<tool_call>\n{JSON}",
        f"<tool_call>\n{JSON[:-1]}\n</tool_call>",
        '<tool_call>{"name": "get_weather"}</tool_call>',
        "<tool_call><function=get_weather><parameter=city>Rome</function></tool_call>",
        f"[TOOL_CALLS][{JSON}",
        "[get_weather(city='Rome'",
        "[get_weather('Rome')]",
        "Sure: get_weather(city='Rome')",
        f"Sure: {JSON}",
        "to=functions.get_weather {}",
    ],
)
def test_a_call_that_does_not_parse_is_broken_and_gives_no_calls(text: str) -> None:
    found = parse(text, "auto", DOCUMENTS)
    assert (found.calls, found.broken is None) == ((), False)


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", "[1, 2]", "42", "Use f(x) as in mathematics.", "{}"]
)
def test_a_reply_without_a_call_is_neither_broken_nor_a_call(text: str) -> None:
    found = parse(text, "auto", DOCUMENTS)
    assert (found.calls, found.broken) == ((), None)


def test_a_reply_of_another_family_than_the_named_one_is_broken() -> None:
    assert parse(REPLIES["mistral"], "hermes").broken is not None


def test_half_of_several_calls_is_no_answer() -> None:
    assert parse(f"{REPLIES['hermes']}\n<tool_call>\n{{broken\n</tool_call>").calls == ()


def test_values_of_qwen3_coder_have_the_declared_types() -> None:
    text = "<tool_call><function=get_weather><parameter=days>3</parameter><parameter=city>3</parameter>"
    text += "<parameter=hot>True</parameter></function></tool_call>"
    assert parse(text, "auto", DOCUMENTS).calls[0].arguments == {"days": 3, "city": "3", "hot": True}


def test_an_unknown_family_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="hermes"):
        check_family("hermez")
