"""Reasoning traces: how families of models mark them, and how a completion is split into trace and answer.

Tags within code are no tags.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.store.manifest import ReasoningRecord
from genbench.types import Answer, Completion, FinishReason, TraceStatus


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


def tag_pattern(spellings: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of an open tag, which may have attributes: `<think signature="…">`."""
    return re.compile("|".join(_tag_source(tag) for tag in spellings))


def _tag_source(tag: str) -> str:
    if re.fullmatch(r"<[\w:.-]+>", tag):
        # Attributes may follow the name: <think signature="x">. <think/> closes itself and opens nothing.
        return re.escape(tag[:-1]) + r"(?:\s[^<>]*+)?(?<!/)>"
    return re.escape(tag)


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
    opens = tag_pattern(fmt.opens).pattern
    closes = "|".join(re.escape(tag) for tag in fmt.closes)
    behind = "|".join(f"(?<={re.escape(tag)})" for tag in fmt.closes)
    marks = (
        rf"(?P<open>{opens})|(?P<close>{closes})"
        # ```python or ~~~ at the beginning of a line, or right behind a close tag: </think>```python
        rf"|(?P<fence>(?:^|{behind})[ \t]*+(?:`{{3,}}+(?=[^`\n]*$)|~{{3,}}+))"
        # `code` ends at a run of as many backticks in the same paragraph. ++ keeps the time linear.
        r"|(?P<ticks>`++)|(?P<blank>\n(?:[ \t]*+\n)++)"
    )
    return TracePatterns(
        re.compile(rf"(?P<blank>\s*)(?:{opens})"),
        re.compile(opens),
        re.compile(closes),
        re.compile(rf"(?P<open>{opens})|(?P<close>{closes})"),
        re.compile(marks, re.MULTILINE),
    )


class Marks:
    """The tags and code marks of a text in order; tells tags that are meant from those in code."""

    def __init__(self, text: str, fmt: TraceFormat) -> None:
        self.text = text
        self.found = list(patterns_of(fmt).marks.finditer(text))
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
        follows, is no code.
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
)


def opened_by_prompt(prompt_text: str, fmt: TraceFormat) -> bool:
    """Return whether the rendered prompt ends inside a trace.

    A tag that a message merely mentions does not count: after the open tag comes nothing, or in a chat
    template no further mark of a turn.
    """
    last_open = max((match.end() for match in tag_pattern(fmt.opens).finditer(prompt_text)), default=-1)
    last_close = max((prompt_text.rfind(tag) for tag in fmt.closes), default=-1)
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
    truncated = finish_reason in ("length", "content_filter")
    if fmt.harmony:
        status, outside, trace = _split_channels(text, opened_by_prompt)
        end_tokens = (*end_tokens, *_HARMONY_ENDS)
    else:
        ends_turn = fmt.close_ends_any_message and any(tag in end_tokens for tag in fmt.closes)
        status, outside, trace = _split_blocks(text, fmt, opened_by_prompt, ends_turn)
    if status == "unclosed":
        return Answer("", status, trace, truncated)
    return Answer(_unwrap(_cut_end(outside, end_tokens), fmt), status, trace, truncated)


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
    if not fmt.answer_opens:
        return answer
    inner = answer
    for mark in fmt.answer_opens:
        inner = inner.lstrip().removeprefix(mark) if inner.lstrip().startswith(mark) else inner
    close = fmt.answer_close
    # The prompt may have opened the answer; a special token at its end is no part of it.
    if inner is answer and not close.startswith("<|"):
        return answer
    return inner.rstrip().removesuffix(close) if close and inner.rstrip().endswith(close) else inner


_HARMONY = re.compile(r"<\|(channel|message|end|return|call|start)\|>")
_HARMONY_CALL = re.compile(
    r"<\|(?:channel|start)\|>(?:commentary|assistant) to=functions\.[^<]*"
    r"(?:<\|(?:channel|constrain)\|>[^<]*)*"
    r"<\|message\|>.*?(?:<\|call\|>|<\|end\|>|\Z)",
    re.DOTALL,
)
"""A call of a function. It is no text for people, so it is in no `final` channel."""
_HARMONY_ENDS = ("<|end|>", "<|return|>", "<|call|>")


def _split_channels(text: str, opened: bool) -> tuple[TraceStatus, str, str]:
    """Split harmony's messages of named channels: `final` is the answer, `analysis` the trace.

    Without a `final` message, calls of functions are the answer, with their headers.
    """
    # A message that begins at once shows that nothing was written into the one that the prompt opened.
    opened = opened and not text.lstrip().startswith("<|channel|>")
    messages = _messages(text, "analysis" if opened else None)
    trace = "".join(content for channel, content in messages if channel == "analysis")
    finals = [content for channel, content in messages if channel == "final"]
    if not messages:
        return "absent", text, ""
    finals = finals or [call[0] for call in _HARMONY_CALL.finditer(text)]
    if not finals:
        return "unclosed", "", trace
    thought = any(channel == "analysis" for channel, _ in messages)
    return ("closed" if thought else "absent"), "".join(finals), trace


def _messages(text: str, channel: str | None) -> list[tuple[str, str]]:
    """Return (channel, content) of each message. `channel` is the one that the prompt opened."""
    found: list[tuple[str, str]] = []
    header = None
    start = 0
    for mark in _HARMONY.finditer(text):
        kind = mark[1]
        if channel is not None and kind in ("channel", "message"):
            continue  # inside a message these are text
        if channel is not None:
            found.append((channel, text[start : mark.start()]))
            channel = header = None
        elif kind == "channel":
            header = mark.end()
        elif kind == "message" and header is not None:
            # A header may go on after the name: `final <|constrain|>json`.
            name = re.match(r"\s*(\w*)", text[header : mark.start()])
            channel = name[1] if name else ""
            start = mark.end()
        else:
            header = None
    if channel is not None:
        found.append((channel, text[start:]))
    return found


def _split_blocks(
    text: str, fmt: TraceFormat, opened: bool, close_ends_turn: bool
) -> tuple[TraceStatus, str, str]:
    """Return the status, what is outside all blocks, and what is inside them.

    A block ends with the close tag that matches its open tag, so that a block inside a block is trace too. If
    there is no such tag, the next close tag ends it.
    """
    if not opened and not _has_tag(text, fmt):
        return "absent", text, ""
    patterns = patterns_of(fmt)
    lead = None if opened else patterns.leading.match(text)
    if not opened and lead is None:
        return _split_marked(text, fmt, seen=False, close_ends_turn=close_ends_turn)
    # A text that begins in a block: up to the close tag nothing else in it counts, and it may be long.
    start = lead.end() if lead else 0
    close = _end_of_block(text, start, patterns) if fmt.nests else patterns.close.search(text, start)
    if close is None:
        return "unclosed", _before(lead), text[start:]
    rest = text[close.end() :]
    inside = text[start : close.start()]
    if not _has_tag(rest, fmt):
        return "closed", _before(lead) + rest, inside
    status, outside, more = _split_marked(rest, fmt, seen=True, close_ends_turn=close_ends_turn)
    return status, _before(lead) + outside, inside + more


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
    return any(tag in text for tag in (*(o.rstrip(">") for o in fmt.opens), *fmt.closes))


def _before(lead: re.Match[str] | None) -> str:
    """Return the white space before a block that begins the text."""
    return lead["blank"] if lead else ""


def _split_marked(
    text: str, fmt: TraceFormat, *, seen: bool, close_ends_turn: bool
) -> tuple[TraceStatus, str, str]:
    """Split a text that begins outside any block. `seen` says that a block came before it."""
    marks = Marks(text, fmt)
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
        implied = not (seen or is_open or close_ends_turn or _begins_answer(text, fmt))
        (inside if in_block or implied else outside).append(piece)
        seen = seen or is_open or implied
        in_block = is_open
        position = mark.end()
        index += 1
    (inside if in_block else outside).append(text[position:])
    status: TraceStatus = "unclosed" if in_block else "closed" if seen else "absent"
    return status, "".join(outside), "".join(inside)


def _begins_answer(text: str, fmt: TraceFormat) -> bool:
    """Return whether the text begins with the mark of an answer, so that no trace was open."""
    return bool(fmt.answer_opens) and text[:200].lstrip().startswith(fmt.answer_opens[-1])


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a completion is split into trace and answer, as the manifest records it."""

    format: TraceFormat
    end_tokens: tuple[str, ...]

    @property
    def record(self) -> dict[str, Any]:
        """Return the JSON of the manifest."""
        return {
            "format": self.format.name,
            "open": list(self.format.opens),
            "close": list(self.format.closes),
            "end_tokens": list(self.end_tokens),
        }

    @classmethod
    def from_record(cls, record: ReasoningRecord) -> Reasoning:
        """Return what `record` was made from. A format without a registered name is made from its tags."""
        if record.format in FORMATS:
            return cls(FORMATS[record.format], record.end_tokens)
        tags = {"open": record.open[0], "close": record.close[0]}
        return cls(resolve(tags), record.end_tokens)

    def split(self, item: Completion) -> Answer:
        """Return the completion's trace and answer. Scores of given texts have neither."""
        if item.choices:
            return Answer("", "absent", "", False, item.choices)
        return split(item.text, self.format, item.trace_opened, item.finish_reason, self.end_tokens)


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
