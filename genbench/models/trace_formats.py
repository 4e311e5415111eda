"""How families of models mark their reasoning traces, and which of them a model is of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from genbench.errors import ConfigError, nearest


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How one family of models marks its traces.

    `opens` and `closes` are spellings of one tag each. `answer_opens`, taken off the front of the
    answer one after the other, and `answer_close`, taken off its end, wrap the answer itself.
    """

    name: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    answer_opens: tuple[str, ...] = ()
    answer_close: str = ""
    harmony: bool = False
    """Channels instead of tags: the answer is the content of the `final` channel."""
    close_ends_any_message: bool = False
    """The close tag ends answers too. If it is an end token, it is no sign of a trace by itself."""

    @property
    def nests(self) -> bool:
        """Whether a block can be inside another: tags can, phrases and ends of messages cannot."""
        return not self.close_ends_any_message and not self.opens[0][0].isalnum()


def _plain(name: str, open_tag: str, close_tag: str) -> TraceFormat:
    return TraceFormat(name, (open_tag,), (close_tag,))


def _cohere(name: str) -> TraceFormat:
    tags = (("<|START_THINKING|>",), ("<|END_THINKING|>",))
    return TraceFormat(name, *tags, answer_opens=("<|START_RESPONSE|>",), answer_close="<|END_RESPONSE|>")


# Tags as vLLM 0.32's parsers have them; both spellings of the granite phrases were seen in the wild.
_TABLE = (
    TraceFormat("gpt-oss", ("<|channel|>analysis<|message|>",), ("<|end|>",), harmony=True),
    TraceFormat("hunyuan_a13b", ("<think>",), ("</think>",), ("<answer>",), "</answer>"),
    _plain("seed_oss", "<seed:think>", "</seed:think>"),
    _plain("minimax_m3", "<mm:think>", "</mm:think>"),
    _plain("mistral", "[THINK]", "[/THINK]"),
    _plain("magistral", "[THINK]", "[/THINK]"),
    _cohere("cohere_command3"),
    _cohere("cohere_command4"),
    _plain("gemma4", "<|channel>", "<channel|>"),
    _plain("kimi", "◁think▷", "◁/think▷"),
    TraceFormat(
        "kimi_k3",
        ("<|open|>think<|sep|>",),
        ("<|close|>think<|sep|>",),
        answer_opens=("<|open|>response<|sep|>",),
        answer_close="<|close|>response<|sep|>",
    ),
    TraceFormat(
        "inkling",
        ("<|content_thinking|>",),
        ("<|end_message|>",),
        answer_opens=("<|message_model|>", "<|content_text|>"),
        close_ends_any_message=True,
    ),
    _plain("plamo3", "<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    _plain("exaone", "<thought>", "</thought>"),
    TraceFormat(
        "granite",
        ("Here is my thought process:", "Here's my thought process:"),
        ("Here is my response:", "Here's my response:"),
    ),
    _plain("think", "<think>", "</think>"),
)
FORMATS: Mapping[str, TraceFormat] = {entry.name: entry for entry in _TABLE}

_THINK_FAMILY = frozenset({
    "deepseek_r1", "deepseek_v3", "deepseek_v4", "ernie45", "glm45", "glm47", "granite_thinking", "holo2",
    "hy_v3", "hy_v4", "kimi_k2", "ling3", "mimo", "minicpmv", "minimax_m2", "nemotron_v3", "olmo3", "qwen3",
    "step3", "step3p5",
})  # fmt: skip
"""Parser names that people know from vLLM and that all mean `think`."""


def resolve(name_or_tags: str | Mapping[str, str]) -> TraceFormat:
    """Return the format of that name, or one with tags of its own: `{open: …, close: …}`.

    Raises:
        ConfigError: The name is unknown, or the mapping has not exactly two differing tags.
    """
    if isinstance(name_or_tags, str):
        if name_or_tags in _THINK_FAMILY:
            return FORMATS["think"]
        if name_or_tags not in FORMATS:
            hint = nearest(name_or_tags, {*FORMATS, *_THINK_FAMILY})
            raise ConfigError(f"unknown reasoning format '{name_or_tags}'{hint}")
        return FORMATS[name_or_tags]
    tags = dict(name_or_tags)
    if set(tags) != {"open", "close"} or not all(isinstance(tag, str) and tag for tag in tags.values()):
        raise ConfigError(f"a reasoning format of your own needs two texts, open and close; found {tags}")
    if tags["open"] == tags["close"]:
        raise ConfigError(f"reasoning format: open and close are the same text {tags['open']!r}")
    return _plain("custom", tags["open"], tags["close"])


def detect(chat_template: str | None, added_tokens: Sequence[str]) -> TraceFormat:
    """Return the format that a model's chat template shows, else its added tokens, else `think`."""
    template = chat_template or ""
    tokens = "".join(added_tokens)
    for place in (template, tokens):
        for entry in FORMATS.values():
            if all(mark in place for mark in _marks(entry, special_only=place is tokens)):
                return entry
    return FORMATS["think"]


def _marks(entry: TraceFormat, special_only: bool) -> list[str]:
    """Return the texts that together show a format, or with `special_only` the special tokens in them."""
    marks = [entry.opens[0], entry.closes[0]]
    if entry.answer_close.startswith("</"):
        marks.append(entry.answer_close)
    if not special_only:
        return marks
    return [piece for mark in marks for piece in re.findall(r"<\|[^|<>]+\|>", mark) or [mark]]
