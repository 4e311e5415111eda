"""The official decoders of BFCL."""

from __future__ import annotations

import pytest

from genbench.tools.call_lists import official_prompt_calls, official_tagged_calls
from genbench.tools.calls import Call, CallError

TAGGED = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@pytest.mark.parametrize("text", ["[f(a=1)]", "f(a=1)", "`[f(a=1)]`", "'[f(a=1)]'", "\n [f(a=1)] \n"])
def test_brackets_backticks_and_quotes_around_the_calls_do_not_count(text: str) -> None:
    assert official_prompt_calls(text) == (Call("f", {"a": 1}),)


@pytest.mark.parametrize("text", ["Sure! [f(a=1)]", "```python\n[f(a=1)]\n```", "[]", "", "42", "[f(a=1"])
def test_prose_and_fences_do_not_decode(text: str) -> None:
    with pytest.raises(CallError):
        official_prompt_calls(text)


def test_arguments_of_java_are_texts() -> None:
    assert official_prompt_calls("[A.b(x=1L, y=true)]", "java") == (Call("A.b", {"x": "1L", "y": "true"}),)


def test_tags_need_their_line_breaks_and_broken_json_is_passed_over() -> None:
    assert official_tagged_calls(f"Let me see.\n{TAGGED}") == (Call("f", {"a": 1}),)
    assert official_tagged_calls(TAGGED.replace("\n", "")) == ()
    assert official_tagged_calls(TAGGED.replace("}}", "}")) == ()
    with pytest.raises(CallError):
        official_tagged_calls('<tool_call>\n{"name": "f"}\n</tool_call>')
