"""What is scored after a trace is taken off, in every format that the package knows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.models.traces import FORMATS, TraceFormat, detect, opened_by_prompt, resolve, split
from genbench.tools.calls import Call
from genbench.tools.families import parse
from genbench.types import Answer, FinishReason
from tests.table import each_row

THINK = FORMATS["think"]
HARMONY = FORMATS["gpt-oss"]
TAGGED = [entry for entry in FORMATS.values() if not entry.harmony]


def cut(
    text: str,
    fmt: TraceFormat = THINK,
    opened: bool = False,
    finish: FinishReason = "stop",
    ends: tuple[str, ...] = (),
) -> tuple[str, str]:
    """(answer, trace status), the two things that decide a verdict."""
    answer = split(text, fmt, opened, finish, ends)
    return answer.text, answer.trace_status


@pytest.mark.gold
def test_all_golden_cases_come_out_as_their_origins_say(gold: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = gold("reasoning")
    assert len(rows) == 96
    for row in rows:
        known = row["opened_by_prompt"]
        for opened in [known] if known is not None else [False, True]:
            answer = split(row["text"], resolve(row["format"]), opened, row["finish_reason"])
            found = (answer.text.strip(), answer.trace_status)
            assert found == (row["expected"]["answer"].strip(), row["expected"]["trace_status"]), row


@each_row("fmt", TAGGED)
@each_row("spelling", [0, -1])
def test_every_tagged_format_follows_the_same_rules(fmt: TraceFormat, spelling: int) -> None:
    o, c = fmt.opens[spelling], fmt.closes[spelling]
    assert cut("plain", fmt) == ("plain", "absent")
    assert cut("plain", fmt, opened=True) == ("", "unclosed")
    assert cut(f"{o}a{c}b", fmt) == ("b", "closed")
    assert cut(f"{o}a{c}b", fmt, opened=True) == ("b", "closed")
    assert cut(f"a{c}b", fmt) == ("b", "closed")
    assert cut(f"a{c}b", fmt, opened=True) == ("b", "closed")
    assert cut(f"{o}a", fmt) == ("", "unclosed")
    assert cut(f"{o}a{c}b{o}x{c}d", fmt) == ("bd", "closed")
    assert cut(f"{o}a{c}b{o}x", fmt) == ("", "unclosed")
    assert cut(f"{o}{c}b", fmt) == ("b", "closed")
    assert cut(f"before{o}a{c}b", fmt) == ("beforeb", "closed")
    assert cut(f"{o}a{o}x{c}b", fmt) == ("b", "closed")
    assert cut(f"{o}a{c}b{c}d", fmt) == ("bd", "closed")
    assert cut(f"{o}a{c}use `{c}` here", fmt) == (f"use `{c}` here", "closed")


def test_the_trace_is_kept_for_people() -> None:
    assert split("<think>a</think>b<think>c</think>d", THINK, False, "stop").trace == "ac"
    assert split("x<think>cut off", THINK, False, "length") == Answer("", "unclosed", "cut off", True)
    assert split("a</think>b", THINK, False, "length") == Answer("b", "closed", "a", True)


@pytest.mark.parametrize(
    "code", ["`<think>`", "``<think> ` x``", "```\n<think>\n```", "~~~xml\n<think>\n~~~\n"]
)
def test_a_tag_in_code_of_the_answer_is_text(code: str) -> None:
    assert cut(f"Write {code}" if code.startswith("`<") else code) == (
        f"Write {code}" if code.startswith("`<") else code,
        "absent",
    )
    text = f"<think>a</think>\n{code}\nand <think>b</think>."
    assert cut(text) == (f"\n{code}\nand .", "closed")


def test_a_fence_right_behind_the_close_tag_is_a_fence() -> None:
    assert cut("a</think>```\n<think>\n```\nb", opened=True) == ("```\n<think>\n```\nb", "closed")


def test_a_cut_off_fence_in_the_answer_still_holds_text() -> None:
    text = "<think>a</think>```python\n# <think>"
    assert cut(text, finish="length") == ("```python\n# <think>", "closed")
    assert cut("```python\n# <think>", finish="length") == ("```python\n# <think>", "absent")


@each_row("opened", [False, True])
@each_row("odd", ["```\nx", "```python\nx\n", "~~~\n", "`x", "\n\n`x\n\n"])
def test_odd_code_marks_in_a_trace_hide_no_close_tag(odd: str, opened: bool) -> None:
    assert cut(f"<think>{odd}</think>b", opened=opened) == ("b", "closed")
    assert cut(f"{odd}</think>b", opened=opened) == ("b", "closed")
    answer = "b\n\n```python\nprint()\n```"
    assert cut(f"{odd}\n</think>{answer}", opened=opened) == (answer, "closed")


def test_inline_code_ends_with_its_paragraph() -> None:
    assert cut("an odd ` here\n\n</think>a ` there") == ("a ` there", "closed")


def test_an_odd_fence_before_an_answer_with_code_hides_no_close_tag() -> None:
    answer = "\n\n```python\nprint()\n```"
    assert cut(f"Let me try\n```python\nx = 1\n</think>{answer}") == (answer, "closed")


def test_a_close_tag_in_code_is_no_end_of_a_trace_that_nobody_opened() -> None:
    assert cut("End it with `</think>`.") == ("End it with `</think>`.", "absent")
    assert cut("```\n</think>\n```\n42") == ("```\n</think>\n```\n42", "absent")
    assert cut("I end it with `</think>`.</think>42", opened=True) == ("`.42", "closed")


def test_attributes_and_look_alikes() -> None:
    assert cut('<think type="a b">x</think>y') == ("y", "closed")
    for text in ("<thinking>x</thinking>y", "<think/>y", "<think />y", "<Think>y"):
        assert cut(text) == (text, "absent")


def test_end_tokens_leave_the_end_of_the_answer_only() -> None:
    ends = ("<|im_end|>", "</s>")
    assert cut("<think>a</think>b</s> c<|im_end|>\n</s>", ends=ends) == ("b</s> c", "closed")
    assert cut("b <|im_end|>", ends=ends) == ("b ", "absent")
    assert cut("b \n", ends=ends) == ("b \n", "absent")


def test_a_close_tag_that_also_ends_the_turn_opens_nothing_backwards() -> None:
    inkling = FORMATS["inkling"]
    assert cut("Hello<|end_message|>", inkling, ends=("<|end_message|>",)) == ("Hello", "absent")
    assert cut("<|content_text|>Hello<|end_message|>", inkling) == ("Hello", "absent")
    text = "<|content_thinking|>a<|end_message|><|message_model|><|content_text|>b<|end_message|>"
    assert cut(text, inkling) == ("b", "closed")


def test_trace_tags_among_the_special_tokens_change_nothing() -> None:
    ends = ("</s>", "[THINK]", "[/THINK]")
    assert cut("a[/THINK]b</s>", FORMATS["mistral"], ends=ends) == ("b", "closed")


@pytest.mark.parametrize("name", ["cohere_command3", "cohere_command4"])
def test_the_wrapping_of_a_cohere_answer_is_taken_off(name: str) -> None:
    text = "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|><|END_OF_TURN_TOKEN|>"
    assert cut(text, FORMATS[name], ends=("<|END_OF_TURN_TOKEN|>",)) == ("b", "closed")
    assert cut("<|START_RESPONSE|>b", FORMATS[name], finish="length") == ("b", "absent")


def test_hunyuan_loses_one_leading_and_one_trailing_answer_tag() -> None:
    hunyuan = FORMATS["hunyuan_a13b"]
    assert cut("<think>a</think>\n<answer><answer>b</answer></answer>\n", hunyuan) == (
        "<answer>b</answer>",
        "closed",
    )
    assert cut("<think>a</think><answer>b", hunyuan) == ("b", "closed")
    assert cut("<think>a</think>b <answer>c</answer>", hunyuan) == ("b <answer>c</answer>", "closed")
    assert cut("<think>a</think><answer>b</answer>") == ("<answer>b</answer>", "closed")


def test_granite_phrases_in_both_spellings() -> None:
    text = "Here's my thought process: a\n\nHere is my response: b"
    assert cut(text, FORMATS["granite"]) == (" b", "closed")


def test_harmony_takes_the_final_channels() -> None:
    think, end = "<|channel|>analysis<|message|>a<|end|>", "<|start|>assistant"
    final = "<|channel|>final<|message|>b<|return|>"
    aside = "<|channel|>commentary to=x<|message|>c<|call|>"
    assert cut(think + end + final, HARMONY) == ("b", "closed")
    assert cut(think + end + aside + end + final + end + final, HARMONY) == ("bb", "closed")
    assert cut("a<|end|>" + end + final, HARMONY, opened=True) == ("b", "closed")
    assert cut(final, HARMONY) == ("b", "absent")
    assert cut("plain", HARMONY) == ("plain", "absent")
    assert cut("<|channel|>final<|message|>say <|channel|> twice", HARMONY) == (
        "say <|channel|> twice",
        "absent",
    )
    assert cut("plain<|return|>", HARMONY) == ("plain", "absent")


def test_harmony_without_a_final_channel_has_no_answer() -> None:
    assert cut("<|channel|>analysis<|message|>a", HARMONY, finish="length") == ("", "unclosed")
    assert cut("<|channel|>commentary<|message|>a<|end|>", HARMONY) == ("", "unclosed")
    assert cut("still thinking", HARMONY, opened=True) == ("", "unclosed")
    assert split("<|channel|>analysis<|message|>a<|end|>", HARMONY, False, "stop").trace == "a"


@each_row(
    "prompt, opened",
    [
        ("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n<think>\nOkay, so", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<|im_start|>user\nWhat is <think>?<|im_end|>\n<|im_start|>assistant\n", False),
        ("<|im_start|>user\nWhat is <think>?<|im_end|>\n<|im_start|>assistant\n<think>", True),
        ("Question: what does <think> mean?\nAnswer:", False),
        ("Question: 2+2?\n<think>\n", True),
        ("", False),
    ],
)
def test_whether_the_prompt_ends_inside_a_trace(prompt: str, opened: bool) -> None:
    assert opened_by_prompt(prompt, THINK) is opened


def test_a_prompt_may_open_a_trace_of_harmony_or_of_phrases() -> None:
    assert opened_by_prompt("<|start|>assistant<|channel|>analysis<|message|>", HARMONY)
    assert not opened_by_prompt("<|start|>assistant", HARMONY)
    assert opened_by_prompt("Here is my thought process:\n", FORMATS["granite"])


def test_a_format_is_found_by_name_by_model_family_or_by_its_tags() -> None:
    assert resolve("mistral").opens == ("[THINK]",)
    assert resolve("qwen3") is THINK
    assert cut("<a>x</a>y", resolve({"open": "<a>", "close": "</a>"})) == ("y", "closed")
    with pytest.raises(ConfigError, match="did you mean 'mistral'"):
        resolve("mistrall")
    for tags in ({"open": "<a>"}, {"open": "<a>", "close": "<a>"}, {"open": "", "close": "b"}):
        with pytest.raises(ConfigError, match="open and close"):
            resolve(tags)


@each_row("entry", list(FORMATS.values()))
def test_a_template_that_writes_the_tags_shows_its_format(entry: TraceFormat) -> None:
    found = detect(f"{{{{ '{entry.opens[0]}' + x + '{entry.closes[0]}{entry.answer_close}' }}}}", ())
    assert (found.opens, found.closes, found.harmony) == (entry.opens, entry.closes, entry.harmony)


def test_a_template_says_more_than_added_tokens_and_think_is_the_fallback() -> None:
    tokens = ["<s>", "[THINK]", "[/THINK]"]
    assert detect(None, tokens).name == "mistral"
    assert detect("{{ x.split('</think>') }}<think>", tokens).name == "think"
    assert detect("{{ messages }}", ["<|channel|>", "<|message|>", "<|end|>"]).name == "gpt-oss"
    assert detect(None, ()).name == "think"


def hostile_texts(size: int) -> dict[str, str]:
    decreasing = "\n".join("`" * n for n in range(int((size // 2) ** 0.5), 2, -1))
    parts = [
        "<think>",
        "</think>",
        "<think ",
        "` `` ",
        "```\n",
        "```a\n",
        "~~~a </think>\n",
        "\n",
        "</s> ",
        " ",
    ]
    texts = {part: part * (size // len(part)) for part in parts}
    texts["fences of falling length"] = decreasing + "` " * (size // 3) + "</think>"
    texts["channels"] = "<|channel|>final<|message|>" * (size // 27)
    return texts


@pytest.mark.slow
@each_row("name", list(hostile_texts(100)))
def test_hostile_text_takes_linear_time(name: str) -> None:
    text = hostile_texts(1_000_000)[name]
    started = time.process_time()
    for fmt in (THINK, HARMONY):
        for prefix in ("", "x</think>"):
            split(prefix + text, fmt, False, "stop", ("</s>",))
        opened_by_prompt(text, fmt)
    # About 2 s at worst on a slow core; anything quadratic takes minutes.
    assert time.process_time() - started < 15


@pytest.mark.parametrize(
    ("text", "answer", "trace"),
    [
        ("<think>a <think>b</think> continues</think>rest", "rest", "a <think>b</think> continues"),
        ("<think>a<think>b<think>c</think></think></think>rest", "rest", "a<think>b<think>c</think></think>"),
        ("<think>a<think>b</think>c<think>d</think>e</think>rest", "rest", None),
        ("hello <think>a <think>b</think> c</think> rest", "hello  rest", "a <think>b</think> c"),
        ("<think>a</think>one<think>b<think>c</think>d</think>two", "onetwo", None),
        ("<think>Outer <think> inner </think>visible", "visible", "Outer <think> inner "),
        ("<think>a <think>b</think> one <think>c</think> two", " one  two", None),
    ],
)
def test_a_block_inside_a_block_is_trace_too(text: str, answer: str, trace: str | None) -> None:
    found = split(text, FORMATS["think"], False, "stop")
    assert (found.text, found.trace_status) == (answer, "closed")
    assert trace is None or found.trace == trace


def test_a_block_inside_the_block_that_the_prompt_opened_is_trace_too() -> None:
    found = split("a <think>b</think> c</think>rest", FORMATS["think"], True, "stop")
    assert (found.text, found.trace) == ("rest", "a <think>b</think> c")


def test_an_open_tag_that_repeats_the_prompts_opens_nothing_further() -> None:
    found = split("<think>a</think>rest", FORMATS["think"], True, "stop")
    assert (found.text, found.trace_status) == ("rest", "closed")


@pytest.mark.parametrize("name", ["granite", "inkling"])
def test_phrases_and_ends_of_messages_do_not_nest(name: str) -> None:
    fmt = FORMATS[name]
    opened, closed = fmt.opens[0], fmt.closes[0]
    found = split(f"{opened}a {opened}b{closed}answer", fmt, False, "stop")
    assert (fmt.nests, found.text) == (False, "answer")


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        (
            "<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>42<|close|>response<|sep|>",
            False,
        ),
        ("a<|close|>think<|sep|><|open|>response<|sep|>42<|close|>response<|sep|>", True),
        ("a<|close|>think<|sep|>\n<|open|>response<|sep|>42", True),
        ("a<|close|>think<|sep|>42<|close|>response<|sep|>", True),
        ("<|open|>response<|sep|>42<|close|>response<|sep|>", False),
        ("42<|close|>response<|sep|>", False),
        ("42", False),
    ],
)
def test_kimi_k3_has_no_marks_of_the_response_in_its_answer(text: str, opened: bool) -> None:
    assert split(text, FORMATS["kimi_k3"], opened, "stop").text.strip() == "42"


def test_many_nested_blocks_are_split_in_time() -> None:
    began = time.process_time()
    for text in ("<think>" * 30_000, "<think><think></think>" * 20_000, "a</think>" * 30_000):
        split(text, FORMATS["think"], False, "stop")
    assert time.process_time() - began < 10


def test_a_call_of_a_function_is_the_answer_of_gpt_oss_with_its_header() -> None:
    call = (
        '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>'
    )
    text = f"<|channel|>analysis<|message|>I call to=functions.g now.<|end|>{call}"
    answer = split(text, FORMATS["gpt-oss"], False, "stop", ())
    assert (answer.trace_status, answer.trace) == ("closed", "I call to=functions.g now.")
    assert parse(answer.text).calls == (Call("f", {"a": 1}),)
