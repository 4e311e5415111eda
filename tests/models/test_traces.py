"""What is scored after a trace is taken off, in every format that the package knows."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.models.traces import (
    FORMATS,
    Reasoning,
    TraceFormat,
    detect,
    from_response_template,
    opened_by_prompt,
    resolve,
    split,
)
from genbench.store.manifest import ReasoningRecord
from genbench.tools.calls import Call
from genbench.tools.families import parse
from genbench.types import Answer, FinishReason
from tests.table import each_row

THINK = FORMATS["think"]
HARMONY = FORMATS["gpt-oss"]
TAGGED = [entry for entry in FORMATS.values() if entry.channels is None]


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


VLLM_PARSERS = [
    "deepseek_r1", "deepseek_v3", "deepseek_v4", "deepseek_v41", "poolside_v1", "cohere_command3",
    "cohere_command4", "ernie45", "gemma4", "glm45", "glm47", "ling3", "openai_gptoss", "granite",
    "granite_thinking_parser", "hf", "holo2", "hunyuan_a13b", "hy_v3", "hy_v4", "kimi_k2",
    "kimi_k3", "k2_horizon", "mimo", "minicpmv", "minimax_m2", "minimax_m2_append_think",
    "minimax_m3", "mistral", "nemotron_v3", "olmo3", "plamo3", "muse_glimmer", "qwen3", "seed_oss",
    "step3", "step3p5", "inkling",
]  # fmt: skip
"""The reasoning parsers of vLLM 0.32."""

# Open tag, close tag, and the marks before and after an answer. Everything else writes <think>…</think>.
TAGS = {
    "cohere_command3": ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "cohere_command4": ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    "gemma4": ("<|channel>", "<channel|>", "", ""),
    "granite": ("Here is my thought process:", "Here is my response:", "", ""),
    "hunyuan_a13b": ("<think>", "</think>", "\n<answer>\n", "\n</answer>"),
    "hy_v3": ("<think:6124c78e>", "</think:6124c78e>", "", ""),
    "hy_v4": ("<think:0ab>", "</think:0ab>", "", ""),
    "k2_horizon": ("<ifm|think_fast>", "</ifm|think_fast>", "", ""),
    "kimi_k3": (
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|><|close|>message<|sep|>",
    ),
    "minimax_m3": ("<mm:think>", "</mm:think>", "", ""),
    "mistral": ("[THINK]", "[/THINK]", "", ""),
    "plamo3": ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", "", ""),
    "seed_oss": ("<seed:think>", "</seed:think>", "", ""),
}
MESSAGES = {"openai_gptoss", "inkling", "muse_glimmer"}


def outputs(o: str, c: str, a: str, e: str, nests: bool) -> list[tuple[str, bool, FinishReason, str, str]]:
    """Return 40 completions: text, opened by the prompt, finish reason, answer, status of the trace.

    Args:
        o, c: the tags of a trace.
        a, e: the marks of an answer.
        nests: whether a block may be inside another.
    """
    inner = f"{o}s{c} u" if nests else f"s {o} u"
    code = f"```xml\n{o}x{c}\n```"
    return [
        # As the template means it.
        (f"{o}t{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"{o}\nt\n{c}\n{a}x{e}", False, "stop", "x", "closed"),
        (f"t{c}{a}x{e}", True, "stop", "x", "closed"),
        (f"t{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"{o}t{c}{a}x{e}", True, "stop", "x", "closed"),
        (f"{o}{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"{c}{a}x{e}", True, "stop", "x", "closed"),
        (f"{a}x{e}", False, "stop", "x", "absent"),
        ("plain", False, "stop", "plain", "absent"),
        ("", False, "stop", "", "absent"),
        (f"{o}t{c}{a}x\n\ny{e}", False, "stop", "x\n\ny", "closed"),
        (f"  {o}t{c}{a}x{e}", False, "stop", "x", "closed"),
        # Several blocks, and blocks in blocks.
        (f"{o}t{c}x{o}u{c}y", False, "stop", "xy", "closed"),
        (f"{o}t{c}{o}u{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"x {o}t{c}y", False, "stop", "x y", "closed"),
        (f"{o}t {inner}{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"t {inner}{c}{a}x{e}", True, "stop", "x", "closed"),
        (f"{o}{o}t{c}{a}x{e}", False, "stop", "x", "closed"),
        # Cut off.
        (f"{o}t", False, "length", "", "unclosed"),
        ("t", True, "length", "", "unclosed"),
        (f"{o}t `", False, "length", "", "unclosed"),
        (f"{o}t\n```python\nx = 1", False, "length", "", "unclosed"),
        (f"{o}t{c}{a}x", False, "length", "x", "closed"),
        (f"t{c}{a}x", True, "length", "x", "closed"),
        (f"{o}t{c}", False, "length", "", "closed"),
        (f"{o}t{c}x{o}u", False, "length", "", "unclosed"),
        (f"{a}x", False, "length", "x", "absent"),
        (f"{o}", False, "length", "", "unclosed"),
        # Tags that are missing or too many.
        (f"{o}t", False, "stop", "", "unclosed"),
        ("t", True, "stop", "", "unclosed"),
        (f"{o}t{c}x{c}y", False, "stop", "xy", "closed"),
        (f"t{c}x{c}y", True, "stop", "xy", "closed"),
        (f"{o}t{c}{a}x without end", False, "stop", "x without end", "closed"),
        # Tags in code: those of a trace count, those of an answer are text.
        (f"{o}t{c}{a}Write `{o}` first{e}", False, "stop", f"Write `{o}` first", "closed"),
        (f"{o}t{c}{a}Write `{c}` last{e}", False, "stop", f"Write `{c}` last", "closed"),
        (f"{o}t{c}{a}{code}{e}", False, "stop", code, "closed"),
        (f"{a}Write `{o}` and `{c}`{e}", False, "stop", f"Write `{o}` and `{c}`", "absent"),
        (f"{o}an odd ` t{c}{a}x `y`{e}", False, "stop", "x `y`", "closed"),
        (f"{o}t\n```python\nx = 1\n{c}{a}x{e}", False, "stop", "x", "closed"),
        (f"{o}t{c}{a}x ``{o}`` y{e}", False, "stop", f"x ``{o}`` y", "closed"),
    ]  # fmt: skip


def messages(o: str, c: str, a: str, e: str, again: str) -> list[tuple[str, bool, FinishReason, str, str]]:
    """Return 40 completions of a family whose messages name their channel.

    Args:
        o, c: what begins and ends a message of the trace.
        a, e: what begins and ends a message of the answer.
        again: what comes before a message that is not the first.
    """
    then = f"{again}{a}"
    code = f"```xml\n{o}x{c}\n```"
    return [
        (f"{o}t{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"{o}\nt\n{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"t{c}{then}x{e}", True, "stop", "x", "closed"),
        (f"{o}t{c}{then}x{e}", True, "stop", "x", "closed"),
        (f"{o}{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"{c}{then}x{e}", True, "stop", "x", "closed"),
        (f"{a}x{e}", False, "stop", "x", "absent"),
        (f"{a}x{e}", True, "stop", "x", "absent"),
        ("plain", False, "stop", "plain", "absent"),
        ("", False, "stop", "", "absent"),
        (f"x{e}", False, "stop", "x", "absent"),
        (f"{o}t{c}{then}x\n\ny{e}", False, "stop", "x\n\ny", "closed"),
        (f"{o}t{c}{again}{o}u{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"{a}x{e}{again}{o}t{c}{then}y{e}", False, "stop", "xy", "closed"),
        (f"{o}t{c}{then}x{e}{then}y{e}", False, "stop", "xy", "closed"),
        (f"{o}t{c}{then}x{e}{again}{o}u{c}{then}y{e}", False, "stop", "xy", "closed"),
        (f"t{c}{again}{o}u{c}{then}x{e}", True, "stop", "x", "closed"),
        (f"{o}t {{}} <b>{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"{o}t", False, "length", "", "unclosed"),
        ("t", True, "length", "", "unclosed"),
        (f"{o}t `", False, "length", "", "unclosed"),
        (f"{o}t\n```python\nx = 1", False, "length", "", "unclosed"),
        (f"{o}t{c}{then}x", False, "length", "x", "closed"),
        (f"t{c}{then}x", True, "length", "x", "closed"),
        (f"{o}t{c}{then}x{e}{again}{o}u", False, "length", "", "unclosed"),
        (f"{a}x", False, "length", "x", "absent"),
        (f"{o}", False, "length", "", "unclosed"),
        (f"{o}t{c}{then}x", False, "stop", "x", "closed"),
        (f"{o}t", False, "stop", "", "unclosed"),
        ("t", True, "stop", "", "unclosed"),
        (f"{o}t{again}{a}x{e}", False, "stop", "x", "closed"),
        (f"t{again}{a}x{e}", True, "stop", "x", "closed"),
        (f"{a}Write `{o}` first{e}", False, "stop", f"Write `{o}` first", "absent"),
        (f"{o}t{c}{then}Write `{o}` first{e}", False, "stop", f"Write `{o}` first", "closed"),
        (f"{o}t{c}{then}Write `{c}` last{e}", False, "stop", f"Write `{c}` last", "closed"),
        (f"{o}t{c}{then}{code}{e}", False, "stop", code, "closed"),
        (f"{o}an odd ` t{c}{then}x `y`{e}", False, "stop", "x `y`", "closed"),
        (f"{o}t\n```python\nx = 1\n{c}{then}x{e}", False, "stop", "x", "closed"),
        (f"{o}an odd `` t{c}{then}x ``{o}`` y{e}", False, "stop", f"x ``{o}`` y", "closed"),
        (f"{o}t{c}{then}```python\n# {c} y", False, "length", f"```python\n# {c} y", "closed"),
    ]  # fmt: skip


def family(name: str) -> list[tuple[str, bool, FinishReason, str, str]]:
    """Return the 40 outputs of a parser's family."""
    if name == "openai_gptoss":
        final = "<|channel|>final<|message|>"
        return messages(
            "<|channel|>analysis<|message|>", "<|end|>", final, "<|return|>", "<|start|>assistant"
        )
    if name == "muse_glimmer":
        return messages(
            "to=self<|message|>", "<|eom|>", "to=user<|message|>", "<|eot|>", "<|start|>assistant "
        )
    if name == "inkling":
        end = "<|end_message|>"
        return messages("<|content_thinking|>", end, "<|content_text|>", end, "<|message_model|>")
    return outputs(*TAGS.get(name, ("<think>", "</think>", "", "")), nests=name != "granite")


@each_row("name", VLLM_PARSERS)
def test_forty_outputs_of_every_family_are_split_as_its_template_means_it(name: str) -> None:
    rows, fmt = family(name), resolve(name)
    assert len(rows) == len(set(rows)) == 40
    wrong = []
    for text, opened, finish, answer, status in rows:
        found = split(text, fmt, opened, finish, ("<eos>",))
        if (found.text.strip(), found.trace_status, found.truncated) != (answer, status, finish == "length"):
            wrong.append((text, opened, finish, found))
    assert not wrong


@pytest.mark.engine
def test_every_reasoning_parser_of_the_installed_vllm_is_a_name_of_a_format() -> None:
    spec = importlib.util.find_spec("vllm")
    assert spec is not None and spec.submodule_search_locations
    source = (Path(spec.submodule_search_locations[0]) / "reasoning" / "__init__.py").read_text()
    names = re.findall(r'^    "(\w+)": \(', source, re.MULTILINE)
    assert set(VLLM_PARSERS) <= set(names)
    for name in names:
        assert resolve(name).name in FORMATS


@each_row(
    "name, text, answer, trace",
    [
        # Both spellings of the marks of an answer, since models with images know both.
        (
            "cohere_command4",
            "<|START_THINKING|>a<|END_THINKING|>\n<|START_RESPONSE|>b<|END_RESPONSE|>",
            "b",
            "a",
        ),
        ("cohere_command3", "<|START_TEXT|>b<|END_TEXT|>", "b", ""),
        ("cohere_command4", "<|START_TEXT|>one<|END_TEXT|><|START_TEXT|>two<|END_TEXT|>", "onetwo", ""),
        (
            "cohere_command4",
            "<|START_TEXT|>Write `<|START_TEXT|>`<|END_TEXT|>",
            "Write `<|START_TEXT|>`",
            "",
        ),
        ("kimi_k3", "<|open|>response<|sep|>b<|close|>response<|sep|><|close|>message<|sep|>", "b", ""),
        # A name of a function between the role and the kind of content is part of no message.
        ("inkling", "<|message_model|>f<|content_text|>b<|end_message|>", "b", ""),
        ("inkling", "Hello<|end_message|>", "Hello", ""),
        ("inkling", "<|content_thinking|>a<|content_model_end_sampling|>", "", "a"),
        (
            "inkling",
            '<|content_thinking|>a<|end_message|><|message_model|>f<|content_invoke_tool_json|>{"name":"f"}'
            "<|end_message|>",
            '<|content_invoke_tool_json|>{"name":"f"}',
            "a",
        ),
        # A call ends a trace that was not closed before it.
        ("k2_horizon", "<ifm|think>a<ifm|tool_calls>b", "<ifm|tool_calls>b", "a"),
        ("k2_horizon", "<ifm|think_faster>a</ifm|think_faster>b", "b", "a"),
        (
            "kimi_k2",
            "<think>a<|tool_calls_section_begin|>b",
            "<|tool_calls_section_begin|>b",
            "a",
        ),
        (
            "muse_glimmer",
            "to=self<|message|>a<|eom|><|start|>assistant to=fs.read<|message|><atem:invoke><|eom|>",
            "to=fs.read<|message|><atem:invoke>",
            "a",
        ),
        ("muse_glimmer", " to=self<|message|>a to=fs.read<|message|>b", "to=fs.read<|message|>b", "a "),
        ("hy_v3", "<think>a</think>b", "b", "a"),
        ("qwen3", "Use <thinking:x> or <think/:x> here", "Use <thinking:x> or <think/:x> here", ""),
    ],
)
def test_marks_of_single_families(name: str, text: str, answer: str, trace: str) -> None:
    found = split(text, resolve(name), False, "stop")
    assert (found.text, found.trace) == (answer, trace)


@each_row(
    "text, answer",
    [
        ("<|open|>response<|sep|>b<|close|>", "b"),
        ("<|open|>response<|sep|>b<|close|>response", "b"),
        ("<|open|>response<|sep|>b response", "b response"),
    ],
)
def test_a_mark_of_several_tokens_that_the_limit_cut_is_no_text(text: str, answer: str) -> None:
    assert split(text, FORMATS["kimi_k3"], False, "length").text == answer


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
    assert (found.opens, found.closes, found.channels) == (entry.opens, entry.closes, entry.channels)


def test_a_template_says_more_than_added_tokens_and_think_is_the_fallback() -> None:
    tokens = ["<s>", "[THINK]", "[/THINK]"]
    assert detect(None, tokens).name == "mistral"
    assert detect("{{ x.split('</think>') }}<think>", tokens).name == "think"
    assert detect("{{ x.split('</think>')[-1] }}", tokens).name == "think"
    assert detect("{{ messages }}", ["<|channel|>", "<|message|>", "<|end|>"]).name == "gpt-oss"
    assert detect(None, ()).name == "think"
    assert detect("{{ '<|im_start|>' + message['role'] + message.content }}", ()).name == "think"


def test_a_suffix_of_the_tags_is_found_in_the_vocabulary() -> None:
    tokens = ["<think:6124c78e>", "</think:6124c78e>", "<tool_call:6124c78e>"]
    template = "{{ '<think' ~ suffix ~ '>' ~ message.reasoning_content ~ '</think' ~ suffix ~ '>' }}"
    found = detect(template, tokens)
    assert (found.name, found.opens[0], found.closes[0]) == ("think", tokens[0], tokens[1])
    assert opened_by_prompt("<user>hi<assistant><think:6124c78e>", found)
    assert not opened_by_prompt("<user>hi<assistant><think:6124c78e></think:6124c78e>", found)
    assert cut("a</think:6124c78e>b", found, opened=True) == ("b", "closed")


@each_row(
    "template, sign",
    [
        ("{{ '<ponder>' + message.content + '</ponder>' }}", "<ponder>"),
        ("{{ '<|begin_of_thought|>' + x + '<|end_of_thought|>' }}", "<|begin_of_thought|>"),
        ("{{ '[REASONING]' + x + '[/REASONING]' }}", "[REASONING]"),
        ("{{ '((' + message.reasoning_content + '))' }}", ".reasoning_content"),
        ("{{ '((' + message['reasoning'] + '))' }}", "['reasoning']"),
    ],
)
def test_auto_refuses_a_template_whose_tags_it_does_not_know(template: str, sign: str) -> None:
    with pytest.raises(ConfigError, match=f"{re.escape(sign)}.*set reasoning to the two tags"):
        detect(template, ["<think>", "</think>"] if sign.startswith("<") else ["<s>"])
    described = {"fields": {"thinking": {"open": "<ponder>", "close": "</ponder>"}}}
    assert detect(template, (), described).opens == ("<ponder>",)


def test_hf_takes_the_tags_from_the_response_template() -> None:
    fmt = from_response_template(
        {
            "fields": {
                "thinking": {"open": ["<|r|>", "<|reason|>"], "close_pattern": r"<\|/r\|>"},
                "content": {"open": "<|a|>", "close": ["<|/a|>", "<|im_end|>"]},
            }
        }
    )
    assert cut("<|r|>t<|/r|>\n<|a|>x<|/a|><|im_end|>", fmt) == ("x", "closed")
    assert cut("<|reason|>t", fmt) == ("", "unclosed")
    record = ReasoningRecord.model_validate(Reasoning(fmt, ("</s>",)).record)
    again = Reasoning.from_record(ReasoningRecord.model_validate_json(record.model_dump_json()))
    assert again == Reasoning(fmt, ("</s>",))
    # The close tag shows the open tag, if the prompt writes it.
    assert from_response_template({"fields": {"thinking": {"close": "</r>"}}}).opens == ("<r>",)


@each_row(
    "template, said",
    [
        (None, "no response_template"),
        ({"fields": {"content": {}}}, "without 'thinking'"),
        ({"fields": {"thinking": {"open_pattern": "<r.*?>", "close": "</r>"}}}, None),
        ({"fields": {"thinking": {"open": "|", "close": "|"}}}, "not a pair of two differing texts"),
        ({"fields": {"thinking": {"open_pattern": "a+", "close_pattern": "b+"}}}, "not a pair"),
    ],
)
def test_hf_without_tags_names_the_key_to_set(template: dict[str, Any] | None, said: str | None) -> None:
    if said is None:
        assert from_response_template(template).opens == ("<r>",)
        return
    with pytest.raises(ConfigError, match=f"{said}.*set reasoning to the two tags"):
        from_response_template(template)


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
    assert (found.text, found.trace_status) == ("answer", "closed")


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


@pytest.mark.slow
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
