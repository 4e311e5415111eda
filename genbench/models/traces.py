"""Reasoning traces: how families of models mark them, and how a completion is split into trace and answer.

Tags within code are not tags.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.store.manifest import ReasoningRecord
from genbench.types import CUT_OFF, Answer, Completion, FinishReason, TraceStatus


@dataclass(frozen=True, slots=True)
class Channels:
    """A grammar of messages that each name their channel, instead of tags around a trace.

    `header` and `end` are regular expressions of what begins and what ends a message. `header` has a group
    `name`. Inside a trace only `end` counts.

    Args:
        start: the token before a header's role or name, which are part of no message.
        trace, answer: the names of the channels of the trace and of the answer.
        call: the pattern of a whole call of a function, which is the answer if nothing else is.
        call_start: a token that ends a message and begins a call.
        loose: whether text outside all messages is part of the answer.
        nests: whether a header inside an answer is text.
        needs_answer: whether a completion without an answer counts as unclosed.
    """

    header: str
    end: str
    start: str
    trace: str
    answer: str
    call: str
    call_start: str = ""
    loose: bool = False
    nests: bool = False
    needs_answer: bool = False


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How one family of models marks its traces.

    `opens` and `closes` are spellings of one tag each. The first ones are what a server's trace is put back
    between.
    """

    name: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    """Other names of the family. They are the names of vLLM's reasoning parsers."""
    suffix: str = ""
    """Regular expression of what a checkpoint may add to the names of both tags: `<think:6124c78e>`."""
    answer_marks: tuple[str, ...] = ()
    """Special tokens around the parts of an answer. They are taken off everywhere but in code."""
    answer_opens: str = ""
    answer_close: str = ""
    """Tags that are plain text. One is taken off the front of the answer, and one off its end."""
    calls: tuple[str, ...] = ()
    """Special tokens that begin a call of a function. A trace that was not closed before one ends there."""
    channels: Channels | None = None
    shown_by: tuple[str, ...] = ()
    """What a chat template of the family contains. By default these are the tags."""

    @property
    def nests(self) -> bool:
        """Whether a block can be inside another: tags can, phrases cannot."""
        return not self.opens[0][0].isalnum()


def _plain(name: str, open_tag: str, close_tag: str, *aliases: str) -> TraceFormat:
    return TraceFormat(name, (open_tag,), (close_tag,), aliases)


def _cohere(name: str) -> TraceFormat:
    # Command A writes RESPONSE around its answers, Command A+ TEXT. Models with images know both.
    kinds = ("RESPONSE", "TEXT")
    marks = tuple(f"<|{edge}_{kind}|>" for kind in kinds for edge in ("START", "END"))
    return TraceFormat(name, ("<|START_THINKING|>",), ("<|END_THINKING|>",), answer_marks=marks)


_HARMONY = Channels(
    # A header may go on after the name: `final <|constrain|>json`.
    header=r"<\|channel\|>\s*(?P<name>\w*)(?:(?!<\|(?:channel|message|end|return|call|start)\|>).)*+<\|message\|>",
    end=r"<\|(?:end|return|call|start)\|>",
    start="<|start|>",
    trace="analysis",
    answer="final",
    # A call is not a text for people, so it is in no `final` channel.
    call=(
        r"<\|(?:channel|start)\|>(?:commentary|assistant) to=functions\.[^<]*"
        r"(?:<\|(?:channel|constrain)\|>[^<]*)*"
        r"<\|message\|>.*?(?:<\|call\|>|<\|end\|>|\Z)"
    ),
    nests=True,
    needs_answer=True,
)

# A message is `<|message_model|>`, the name of a function or nothing, a kind of content, and the content.
_INKLING = Channels(
    header=r"<\|content_(?P<name>text|thinking)\|>",
    # `<|message_model|>` begins another message, and a call breaks a trace off.
    end=(
        r"<\|(?:end_message|content_model_end_sampling|message_model)\|>"
        r"|<\|content_(?:invoke_tool_json|invoke_tool_text|tool_error)\|>"
    ),
    start="<|message_model|>",
    trace="thinking",
    answer="text",
    call_start="<|content_invoke_tool_json|>",
    call=r"<\|content_invoke_tool_json\|>.*?(?:<\|(?:end_message|content_model_end_sampling)\|>|\Z)",
    loose=True,
)

# A message is `to=self`, `to=user` or the name of a tool, `<|message|>`, and the content.
_MUSE_HEADER = r"to=(?P<name>[^\s<]{1,200})<\|message\|>"
_MUSE = Channels(
    header=_MUSE_HEADER,
    # The model may leave its trace for a call without ending it, so a header ends a message too.
    end=r"<\|(?:eom|eot|start)\|>|(?=to=[^\s<]{1,200}<\|message\|>)",
    start="<|start|>",
    trace="self",
    answer="user",
    call=r"to=(?!(?:self|user)<)[^\s<]{1,200}<\|message\|>.*?(?:<\|eo[mt]\|>|\Z)",
)

# Tags and names as vLLM 0.32's parsers have them. Both spellings of granite's phrases were seen in the wild.
_TABLE = (
    TraceFormat(
        "gpt-oss",
        ("<|channel|>analysis<|message|>",),
        ("<|end|>",),
        ("openai_gptoss",),
        channels=_HARMONY,
    ),
    TraceFormat(
        "hunyuan_a13b", ("<think>",), ("</think>",), answer_opens="<answer>", answer_close="</answer>"
    ),
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
        answer_marks=(
            "<|open|>response<|sep|>",
            "<|close|>response<|sep|>",
            "<|close|>message<|sep|>",
        ),
    ),
    TraceFormat("inkling", ("<|content_thinking|>",), ("<|end_message|>",), channels=_INKLING),
    TraceFormat(
        "muse_glimmer",
        ("to=self<|message|>",),
        ("<|eom|>",),
        channels=_MUSE,
        shown_by=("to=self", "<|message|>", "<|eom|>"),
    ),
    # One pair of tags for each reasoning effort: high, medium, low.
    TraceFormat(
        "k2_horizon",
        ("<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"),
        ("</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"),
        calls=("<ifm|tool_calls>",),
    ),
    _plain("plamo3", "<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    _plain("exaone", "<thought>", "</thought>"),
    TraceFormat(
        "granite",
        ("Here is my thought process:", "Here's my thought process:"),
        ("Here is my response:", "Here's my response:"),
    ),
    TraceFormat(
        "think",
        ("<think>",),
        ("</think>",),
        (
            "deepseek_r1", "deepseek_v3", "deepseek_v4", "deepseek_v41", "ernie45", "glm45", "glm47",
            "granite_thinking", "granite_thinking_parser", "holo2", "hy_v3", "hy_v4", "kimi_k2", "ling3",
            "mimo", "minicpmv", "minimax_m2", "minimax_m2_append_think", "nemotron_v3", "olmo3",
            "poolside_v1", "qwen3", "step3", "step3p5",
        ),
        # hy_v3 and hy_v4 add a suffix of the checkpoint, which is in the vocabulary.
        suffix=r":[^\s<>/]+",
        calls=("<|tool_calls_section_begin|>",),
    ),
    # The tags are those of the model's response template, and think's where no tokenizer is at hand.
    _plain("hf", "<think>", "</think>"),
)  # fmt: skip
FORMATS: Mapping[str, TraceFormat] = {entry.name: entry for entry in _TABLE}
_NAMES: Mapping[str, TraceFormat] = {name: entry for entry in _TABLE for name in (entry.name, *entry.aliases)}


def resolve(name_or_tags: str | Mapping[str, str]) -> TraceFormat:
    """Return the format of that name, or one with tags of its own: `{open: …, close: …}`.

    Raises:
        ConfigError: The name is unknown, or the mapping has not exactly two differing tags.
    """
    if isinstance(name_or_tags, str):
        if name_or_tags not in _NAMES:
            raise ConfigError(f"unknown reasoning format '{name_or_tags}'{nearest(name_or_tags, _NAMES)}")
        return _NAMES[name_or_tags]
    tags = dict(name_or_tags)
    if set(tags) != {"open", "close"} or not all(isinstance(tag, str) and tag for tag in tags.values()):
        raise ConfigError(f"a reasoning format of your own needs two texts, open and close; found {tags}")
    if tags["open"] == tags["close"]:
        raise ConfigError(f"reasoning format: open and close are the same text {tags['open']!r}")
    return _plain("custom", tags["open"], tags["close"])


def detect(
    chat_template: str | None,
    added_tokens: Sequence[str],
    response_template: Mapping[str, Any] | None = None,
) -> TraceFormat:
    """Return the format that a model's chat template shows, else its added tokens, else `think`.

    Args:
        response_template: the tokenizer's description of its replies. It decides if the chat template shows
            no tags that are known.

    Raises:
        ConfigError: the chat template writes traces, and nothing shows between which tags.
    """
    template = chat_template or ""
    shown = _shown(template, False) or _partly_shown(template)
    unknown = _TRACE_MARK.search(template) if shown is None else None
    if shown is None and unknown is None:
        shown = _shown("".join(added_tokens), True)
    found = suffixed(shown or FORMATS["think"], added_tokens)
    # A template may build tags with a suffix from parts, so that only the vocabulary shows them.
    if shown is not None or found is not FORMATS["think"]:
        return found
    unknown = unknown or _TRACE_KEY.search(template)
    if response_template is not None and "thinking" in response_template.get("fields", ()):
        return from_response_template(response_template)
    if unknown is None:
        return found
    raise ConfigError(
        f"the chat template writes reasoning traces ({unknown[0]}) between tags that no known format has; "
        "set reasoning to the two tags, {open: …, close: …}, or to the name of a format "
        "(reasoning: think if the model writes <think>…</think> all the same)"
    )


def writes_traces(found: TraceFormat, chat_template: str | None, added_tokens: Sequence[str]) -> bool:
    """Return whether template or tokenizer show tags of a format, so that the model may write traces.

    `detect` gives models that show none the format `think`.
    """
    shown = (chat_template or "", "".join(added_tokens))
    return any(tag in place for tag in (*found.opens, *found.closes) for place in shown)


def _shown(place: str, special_only: bool) -> TraceFormat | None:
    """Return the first format all of whose marks are in a template, or among the special tokens."""
    entries = (entry for entry in _TABLE if all(mark in place for mark in _marks(entry, special_only)))
    return next(entries, None)


def _partly_shown(template: str) -> TraceFormat | None:
    """Return the first format one of whose tags is in a template.

    Templates that cut off old traces have only the close tag: `content.split('</think>')`.
    """
    tagged = (entry for entry in _TABLE if not (entry.channels or entry.answer_close))
    return next((e for e in tagged if any(tag in template for tag in (*e.opens, *e.closes))), None)


def suffixed(entry: TraceFormat, added_tokens: Sequence[str]) -> TraceFormat:
    """Return the format with the tags of this checkpoint first, if its vocabulary has them with a suffix."""
    if not entry.suffix:
        return entry
    names = ((tag[:-1], re.compile(re.escape(tag[:-1]) + entry.suffix + ">")) for tag in entry.opens)
    found = next((token for _, name in names for token in added_tokens if name.fullmatch(token)), None)
    if found is None:
        return entry
    close = "</" + found[1:]
    if close not in added_tokens:
        return entry
    return replace(entry, opens=(found, *entry.opens), closes=(close, *entry.closes))


# Marks whose name says that they are about a trace: <ponder>, <|begin_of_thought|>, [REASONING].
_TRACE_MARK = re.compile(
    r"</?[\w|:.-]{0,40}(?:think|thought|reason|reflect|ponder|scratchpad|deliberat)[\w|:.-]{0,40}>"
    r"|\[/?[A-Z_]{0,40}(?:THINK|THOUGHT|REASON|REFLECT)[A-Z_]{0,40}\]"
    r"|◁[^◁▷\s]{1,40}▷",
    re.IGNORECASE,
)
# A template that writes a message's trace reads it from one of these keys.
_TRACE_KEY = re.compile(
    r"\.(?:reasoning_content|reasoning|thinking)\b|\[\s*['\"](?:reasoning_content|reasoning|thinking)['\"]\s*\]"
)


def from_response_template(template: Mapping[str, Any] | None) -> TraceFormat:
    """Return the format that a tokenizer's `response_template` describes.

    Its field `thinking` has the tags of the trace, and `content` the marks around the answer.

    Raises:
        ConfigError: it has no such field, or describes the tags by a pattern instead of a text.
    """
    wanted = "set reasoning to the two tags, {open: …, close: …}, or to the name of another format"
    fields = (template or {}).get("fields")
    thinking = fields.get("thinking") if isinstance(fields, Mapping) else None
    if not isinstance(fields, Mapping) or not isinstance(thinking, Mapping):
        lacks = "no response_template" if template is None else "a response_template without 'thinking'"
        raise ConfigError(f"the format hf reads the tags from the tokenizer, which has {lacks}; {wanted}")
    closes = _literals(thinking, "close")
    # A field without `open` begins with the reply, as if the prompt had written the tag.
    opens = _literals(thinking, "open") or tuple(tag.replace("</", "<", 1) for tag in closes)
    if not opens or not closes or set(opens) & set(closes):
        raise ConfigError(
            f"the tokenizer's response_template describes traces by {dict(thinking)}, which is not a pair of "
            f"two differing texts; {wanted}"
        )
    content = fields.get("content")
    marks: tuple[str, ...] = ()
    if isinstance(content, Mapping):
        found = (*_literals(content, "open"), *_literals(content, "close"))
        marks = tuple(mark for mark in found if mark.strip() and mark not in (*opens, *closes))
    return TraceFormat("hf", opens, closes, answer_marks=marks)


def _literals(field: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the texts that `open` or `close` of a field stands for. A pattern counts if it is one text."""
    found = field.get(key)
    texts = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    pattern = field.get(f"{key}_pattern")
    if isinstance(pattern, str):
        text = re.sub(r"\\([^\w\s]|\s)", r"\1", pattern)
        texts = [text] if re.escape(text) == pattern or not re.search(r"[\\.^$*+?{}\[\]()]", pattern) else []
    return tuple(text for text in texts if isinstance(text, str) and text.strip())


def _marks(entry: TraceFormat, special_only: bool) -> list[str]:
    """Return the texts that together show a format, or with `special_only` the special tokens in them."""
    marks = [*(entry.shown_by or (entry.opens[0], entry.closes[0]))]
    if entry.answer_close:
        marks.append(entry.answer_close)
    if not special_only:
        return marks
    return [piece for mark in marks for piece in re.findall(r"<\|[^|<>]+\|>", mark) or [mark]]


def tag_pattern(spellings: Sequence[str], suffix: str = "") -> re.Pattern[str]:
    """Return the pattern of an open tag, which may have attributes: `<think signature="…">`.

    Args:
        suffix: regular expression of what may follow the tag's name.
    """
    return re.compile("|".join(_tag_source(tag, suffix) for tag in spellings))


def _tag_source(tag: str, suffix: str = "") -> str:
    if re.fullmatch(r"<[\w:.-]+>", tag):
        # Attributes may follow the name: <think signature="x">. <think/> closes itself and opens nothing.
        return re.escape(tag[:-1]) + _optional(suffix) + r"(?:\s[^<>]*+)?(?<!/)>"
    return re.escape(tag)


def _close_source(tags: Sequence[str], suffix: str) -> str:
    return "|".join(
        re.escape(tag[:-1]) + _optional(suffix) + ">" if suffix else re.escape(tag) for tag in tags
    )


def _optional(suffix: str) -> str:
    return f"(?:{suffix})?" if suffix else ""


@dataclass(frozen=True, slots=True)
class TracePatterns:
    """The regular expressions of a format: its tags, and its tags with the marks of code."""

    leading: re.Pattern[str]
    open: re.Pattern[str]
    close: re.Pattern[str]
    tags: re.Pattern[str]
    marks: re.Pattern[str]


# A format is used for a million samples, and building its patterns costs as much as splitting one.
@lru_cache(64)
def patterns_of(fmt: TraceFormat) -> TracePatterns:
    """Return the regular expressions of a format."""
    opens = tag_pattern(fmt.opens, fmt.suffix).pattern
    closes = _close_source(fmt.closes, fmt.suffix)
    before_answer = filter(None, (*fmt.closes, *fmt.answer_marks, fmt.answer_opens))
    behind = "|".join(f"(?<={re.escape(tag)})" for tag in before_answer)
    return TracePatterns(
        re.compile(rf"(?P<blank>\s*)(?:{opens})"),
        re.compile(opens),
        re.compile(closes),
        re.compile(rf"(?P<open>{opens})|(?P<close>{closes})"),
        _marks_pattern(f"(?P<open>{opens})|(?P<close>{closes})", f"(?:^|{behind})"),
    )


@lru_cache(64)
def _channel_marks(channels: Channels) -> re.Pattern[str]:
    """Return the pattern of the headers and ends of messages, with the marks of code."""
    # An end may be the empty text before a header. So it comes first.
    return _marks_pattern(f"(?P<close>{channels.end})|(?P<open>{channels.header})", r"(?:^|(?<=\|>))")


def _marks_pattern(tags: str, line_start: str) -> re.Pattern[str]:
    return re.compile(
        tags
        # ```python or ~~~ at the beginning of a line, or right behind a close tag: </think>```python
        + rf"|(?P<fence>{line_start}[ \t]*+(?:`{{3,}}+(?=[^`\n]*$)|~{{3,}}+))"
        # `code` ends at a run of as many backticks in the same paragraph. ++ keeps the time linear.
        r"|(?P<ticks>`++)|(?P<blank>\n(?:[ \t]*+\n)++)",
        re.MULTILINE,
    )


class Marks:
    """The tags and code marks of a text in order; tells tags that are meant from those in code."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self.text = text
        self.found = list(pattern.finditer(text))
        self.tags = [i for i, mark in enumerate(self.found) if mark.lastgroup in ("open", "close")]
        self.fences = [i for i, mark in enumerate(self.found) if mark.lastgroup == "fence"]
        self.fence_number = {index: number for number, index in enumerate(self.fences)}
        self.partner = self._pair_ticks()
        self.closing = self._pair_tags()

    def _pair_tags(self) -> dict[int, int]:
        """Return open tag -> the close tag that matches it, for blocks inside blocks."""
        closing: dict[int, int] = {}
        opened: list[int] = []
        for index in self.tags:
            if self.found[index].lastgroup == "open":
                opened.append(index)
            elif opened:
                closing[opened.pop()] = index
        return closing

    def _pair_ticks(self) -> dict[int, int]:
        """Return run of backticks -> the next run of its length in the same paragraph."""
        partner: dict[int, int] = {}
        following: dict[int, int] = {}
        for index in range(len(self.found) - 1, -1, -1):
            mark = self.found[index]
            if mark.lastgroup in ("blank", "fence"):
                following.clear()
            elif mark.lastgroup == "ticks":
                length = mark.end() - mark.start()
                if length in following:
                    partner[index] = following[length]
                following[length] = index
        return partner

    def next_tag(self, index: int, in_block: bool, seen: bool) -> int:
        """Return the next mark from `index` on that is a tag: a close tag in a block, else any."""
        while index < len(self.found):
            kind = self.found[index].lastgroup
            if kind == "close" or (kind == "open" and not in_block):
                return index
            if in_block or kind in ("blank", "open"):
                index += 1
            elif kind == "ticks":
                index = self.partner.get(index, index) + 1
            else:
                index = self._behind_fence(index, seen)
        return index

    def _behind_fence(self, index: int, seen: bool) -> int:
        """Return the first mark after the fenced code that begins at `index`, or the end of the text.

        Before any tag was seen the text may be a trace whose open tag stood in the prompt, and traces
        have odd fences: there a fence before another opening one, or one that never ends while a close tag
        follows, is not a code.
        """
        fence = self.found[index][0].lstrip()
        for number in range(self.fence_number[index] + 1, len(self.fences)):
            other = self.fences[number]
            mark = self.found[other]
            if not mark[0].lstrip().startswith(fence):
                continue
            if self._is_bare(mark):
                return other + 1
            if not seen:
                return index + 1
        return index + 1 if not seen and self._next_is_close(index) else len(self.found)

    def _is_bare(self, mark: re.Match[str]) -> bool:
        line_end = self.text.find("\n", mark.end())
        return not self.text[mark.end() : line_end if line_end >= 0 else None].strip()

    def _next_is_close(self, index: int) -> bool:
        number = bisect_left(self.tags, index)
        return number < len(self.tags) and self.found[self.tags[number]].lastgroup == "close"


# What ends or begins a turn in the chat templates in use: after such a mark nobody is thinking yet.
_TURN = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|<\|turn>|<turn\|>"
    r"|</?(?:assistant|user|system)>"
)


def opened_by_prompt(prompt_text: str, fmt: TraceFormat) -> bool:
    """Return whether the rendered prompt ends inside a trace.

    A tag that a message merely mentions does not count: after the open tag comes nothing, or in a chat
    template no further mark of a turn.
    """
    patterns = patterns_of(fmt)
    last_open = max((match.end() for match in patterns.open.finditer(prompt_text)), default=-1)
    last_close = max((match.start() for match in patterns.close.finditer(prompt_text)), default=-1)
    if last_open < 0 or last_close >= last_open:
        return False
    tail = prompt_text[last_open:]
    if not tail.strip():
        return True
    return _TURN.search(prompt_text) is not None and _TURN.search(tail) is None


def split(
    text: str,
    fmt: TraceFormat,
    opened_by_prompt: bool,
    finish_reason: FinishReason,
    end_tokens: Sequence[str] = (),
) -> Answer:
    """Return the answer of a completion, and what its trace was.

    Without any tag all of it is the answer, unless the prompt opened a trace. A trace that is never
    closed leaves no answer. `end_tokens` are special tokens that end the turn: they are taken off
    the answer's end. The time is linear in the length of any text.
    """
    truncated = finish_reason in CUT_OFF
    if fmt.channels is not None:
        status, outside, trace = _split_channels(text, fmt.channels, opened_by_prompt)
        end_tokens = (*end_tokens, *_ENDS_OF_MESSAGES)
    else:
        status, outside, trace = _split_blocks(text, fmt, opened_by_prompt)
    if status == "unclosed":
        return Answer("", status, trace, truncated)
    answer = _unwrap(_cut_end(outside, end_tokens), fmt)
    return Answer(_without_marks(answer, fmt.answer_marks, truncated), status, trace, truncated)


def _cut_end(text: str, end_tokens: Sequence[str]) -> str:
    """Return `text` without the end tokens at its end, and without the white space before them."""
    tokens = tuple(token for token in end_tokens if token)
    keep = end = len(text)
    while tokens:
        while end and text[end - 1].isspace():
            end -= 1
        token = next((token for token in tokens if text.endswith(token, 0, end)), None)
        if token is None:
            break
        keep = end = end - len(token)
    return text[:keep]


def _unwrap(answer: str, fmt: TraceFormat) -> str:
    """Take off one pair of text tags around an answer. The close tag may be missing."""
    inner = answer.lstrip()
    if not fmt.answer_opens or not inner.startswith(fmt.answer_opens):
        return answer
    inner = inner.removeprefix(fmt.answer_opens)
    return (
        inner.rstrip().removesuffix(fmt.answer_close) if inner.rstrip().endswith(fmt.answer_close) else inner
    )


def _without_marks(text: str, marks: tuple[str, ...], truncated: bool) -> str:
    """Take the special tokens around the parts of an answer off, but not those that code shows."""
    if truncated:
        text = _without_begun_mark(text, marks)
    if not any(mark in text for mark in marks):
        return text
    # At both ends white space next to a mark is not a part of the answer, and a mark is never code.
    inner = text
    while inner.lstrip().startswith(marks):
        edge = next(mark for mark in marks if inner.lstrip().startswith(mark))
        inner = inner.lstrip().removeprefix(edge)
    while inner.rstrip().endswith(marks):
        edge = next(mark for mark in marks if inner.rstrip().endswith(mark))
        inner = inner.rstrip().removesuffix(edge)
    found = Marks(inner, patterns_of(TraceFormat("answer", marks, marks)).marks)
    kept: list[str] = []
    position = index = 0
    while (index := found.next_tag(index, in_block=False, seen=True)) < len(found.found):
        mark = found.found[index]
        kept.append(inner[position : mark.start()])
        position, index = mark.end(), index + 1
    return "".join((*kept, inner[position:]))


def _without_begun_mark(text: str, marks: Sequence[str]) -> str:
    """Take a mark of several tokens off that the end of the completion cut."""
    for mark in marks:
        pieces = re.findall(r"<\|[^|<>]+\|>|[^<]+", mark)
        for count in range(len(pieces) - 1, 0, -1):
            if text.endswith("".join(pieces[:count])):
                return text.removesuffix("".join(pieces[:count]))
    return text


_ENDS_OF_MESSAGES = (
    *("<|end|>", "<|return|>", "<|call|>"),
    *("<|end_message|>", "<|content_model_end_sampling|>", "<|eom|>", "<|eot|>"),
)


def _split_channels(text: str, channels: Channels, opened: bool) -> tuple[TraceStatus, str, str]:
    """Return the status, the answer and the trace of a text of messages.

    Without an answer, calls of functions are the answer, with their headers.
    """
    # A message that begins at once shows that nothing was written into the one that the prompt opened.
    opened = opened and re.match(r"\s*(?:" + channels.header + ")", text, re.DOTALL) is None
    messages, is_open = _messages(text, channels, channels.trace if opened else None)
    if all(channel is None for channel, _ in messages):
        return "absent", "".join(content for _, content in messages) if channels.loose else text, ""
    trace = "".join(content for channel, content in messages if channel == channels.trace)
    said = (channels.answer, None) if channels.loose else (channels.answer,)
    answers = [content for channel, content in messages if channel in said]
    if not "".join(answers).strip():
        answers = [call[0] for call in re.finditer(channels.call, text, re.DOTALL)] or answers
    thought = any(channel == channels.trace for channel, _ in messages)
    if (is_open and messages[-1][0] == channels.trace) or (channels.needs_answer and not answers):
        return "unclosed", "", trace
    return ("closed" if thought else "absent"), "".join(answers), trace


def _messages(
    text: str, channels: Channels, channel: str | None
) -> tuple[list[tuple[str | None, str]], bool]:
    """Return (channel, content) of each message, and whether the last one has no end.

    Text between messages has the channel None.

    Args:
        channel: the one that the prompt opened.
    """
    marks = Marks(text, _channel_marks(channels))
    found: list[tuple[str | None, str]] = []
    position = index = 0
    # The prompt ends with the token that begins a header.
    in_header, seen = channel is None, False
    while True:
        # Code hides marks only in what people read. In a trace its marks may be odd.
        hides = channel is None or channel == channels.answer
        index = marks.next_tag(index, not hides, seen)
        if index >= len(marks.found):
            break
        mark, index = marks.found[index], index + 1
        begins = mark.lastgroup == "open"
        if begins and channel is not None and channels.nests:
            continue
        content = text[position : mark.start()]
        calls = bool(mark[0]) and mark[0] == channels.call_start
        if channel is not None or (content and not (in_header and (begins or calls))):
            found.append((channel, content))
        channel = mark["name"] if begins else "call" if calls else None
        seen, in_header, position = True, mark[0] == channels.start, mark.end()
    if channel is not None or position < len(text):
        found.append((channel, text[position:]))
    return found, channel is not None


def _split_blocks(text: str, fmt: TraceFormat, opened: bool) -> tuple[TraceStatus, str, str]:
    """Return the status, what is outside all blocks, and what is inside them.

    A block ends with the close tag that matches its open tag, so that a block inside a block is trace too. If
    there is no such tag, the next close tag ends it, or else the next call of a function.
    """
    if not opened and not _has_tag(text, fmt):
        return "absent", text, ""
    patterns = patterns_of(fmt)
    lead = None if opened else patterns.leading.match(text)
    if not opened and lead is None:
        return _split_marked(text, fmt, seen=False)
    # A text that begins in a block: up to the close tag nothing else in it counts, and it may be long.
    start = lead.end() if lead else 0
    close = _end_of_block(text, start, patterns) if fmt.nests else patterns.close.search(text, start)
    if close is None:
        call = _first_call(text, start, fmt)
        status: TraceStatus = "unclosed" if call == len(text) else "closed"
        return status, _before(lead) + text[call:], text[start:call]
    rest = text[close.end() :]
    inside = text[start : close.start()]
    if not _has_tag(rest, fmt):
        return "closed", _before(lead) + rest, inside
    status, outside, more = _split_marked(rest, fmt, seen=True)
    return status, _before(lead) + outside, inside + more


def _first_call(text: str, start: int, fmt: TraceFormat) -> int:
    """Return where the first call of a function begins, or the end of the text."""
    found = (text.find(mark, start) for mark in fmt.calls)
    return min((at for at in found if at >= 0), default=len(text))


def _end_of_block(text: str, start: int, patterns: TracePatterns) -> re.Match[str] | None:
    """Return the close tag of the block that `start` is in: the matching one, else the next one."""
    first = patterns.close.search(text, start)
    repeated = patterns.leading.match(text, start)
    inner = repeated.end() if repeated else start
    if first is None or patterns.open.search(text, inner, first.start()) is None:
        return first
    depth = 1
    for tag in patterns.tags.finditer(text, inner):
        depth += 1 if tag.lastgroup == "open" else -1
        if depth == 0:
            return tag
    return first


def _has_tag(text: str, fmt: TraceFormat) -> bool:
    return any(tag.rstrip(">") in text for tag in (*fmt.opens, *fmt.closes))


def _before(lead: re.Match[str] | None) -> str:
    """Return the white space before a block that begins the text."""
    return lead["blank"] if lead else ""


def _split_marked(text: str, fmt: TraceFormat, *, seen: bool) -> tuple[TraceStatus, str, str]:
    """Split a text that begins outside any block. `seen` says that a block came before it."""
    marks = Marks(text, patterns_of(fmt).marks)
    outside: list[str] = []
    inside: list[str] = []
    in_block = False
    position = index = 0
    while (index := marks.next_tag(index, in_block, seen)) < len(marks.found):
        mark = marks.found[index]
        piece = text[position : mark.start()]
        is_open = mark.lastgroup == "open"
        partner = marks.closing.get(index) if is_open and fmt.nests else None
        if partner is not None:
            outside.append(piece)
            inside.append(text[mark.end() : marks.found[partner].start()])
            seen, position, index = True, marks.found[partner].end(), partner + 1
            continue
        # A close tag before any open tag: the template opened the trace, and its text goes back to the start.
        implied = not (seen or is_open or _begins_answer(text, fmt))
        (inside if in_block or implied else outside).append(piece)
        seen = seen or is_open or implied
        in_block = is_open
        position = mark.end()
        index += 1
    call = _first_call(text, position, fmt) if in_block else position
    inside.append(text[position:call])
    in_block = in_block and call == len(text)
    outside.append(text[call:])
    status: TraceStatus = "unclosed" if in_block else "closed" if seen else "absent"
    return status, "".join(outside), "".join(inside)


def _begins_answer(text: str, fmt: TraceFormat) -> bool:
    """Return whether the text begins with a mark of an answer, so that no trace was open."""
    marks = (*fmt.answer_marks, fmt.answer_opens) if fmt.answer_opens else fmt.answer_marks
    return bool(marks) and text[:200].lstrip().startswith(marks)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a completion is split into trace and answer, as the manifest records it."""

    format: TraceFormat
    end_tokens: tuple[str, ...]

    @property
    def record(self) -> dict[str, Any]:
        """Return the JSON of the manifest."""
        found = {
            "format": self.format.name,
            "open": list(self.format.opens),
            "close": list(self.format.closes),
            "end_tokens": list(self.end_tokens),
        }
        own = FORMATS.get(self.format.name)
        is_listed = own is not None and own.answer_marks == self.format.answer_marks
        return found if is_listed else found | {"answer_marks": list(self.format.answer_marks)}

    @classmethod
    def from_record(cls, record: ReasoningRecord) -> Reasoning:
        """Return what `record` was made from. A format without a registered name is made from its tags."""
        own = FORMATS.get(record.format)
        if own is None:
            tags = {"open": record.open[0], "close": record.close[0]}
            return cls(resolve(tags), record.end_tokens)
        if record.format == "hf" or own.suffix:
            marks = record.answer_marks or own.answer_marks
            own = replace(own, opens=record.open, closes=record.close, answer_marks=marks)
        return cls(own, record.end_tokens)

    def split(self, item: Completion) -> Answer:
        """Return the completion's trace and answer. Scores of given texts have neither."""
        if item.choices:
            return Answer("", "absent", "", False, item.choices)
        found = split(item.text, self.format, item.trace_opened, item.finish_reason, self.end_tokens)
        return found if item.logged is None else replace(found, logged=item.logged)


Count = Callable[[str], Awaitable[int]]
"""Counts the tokens of a text."""


async def trace_tokens(completion: Completion, answer: Answer, count: Count | None) -> int | None:
    """Return the tokens of the trace and its tags: those of the completion without those of the answer.

    The end token belongs to the answer. The answer's text is counted, since it is the shorter part. The
    result is None if the completion's tokens are unknown, or if there is no tokenizer to count with
    (`count` is None). An estimate would not be comparable with counts.
    """
    total = completion.completion_tokens
    if completion.choices:  # given texts, which nobody reasoned about
        return 0
    if total is None or not completion.text or answer.trace_status == "unclosed":
        return total
    if answer.trace_status == "absent":
        return 0
    if count is None:
        return None
    ended = completion.finish_reason == "stop"
    return max(0, total - await count(answer.text) - ended)


async def given_trace_tokens(completion: Completion, answer: Answer) -> int | None:
    """Return the count that came with the completion. Ready responses are not counted again."""
    return completion.trace_tokens
