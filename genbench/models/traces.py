"""Completion to answer: what of a text is a reasoning trace and what is not."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from genbench.models.traceformats import TraceFormat
from genbench.types import Answer, FinishReason, TraceStatus

# What ends or begins a turn in the chat templates in use: behind such a mark nobody is thinking yet.
_TURN = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|<\|turn>|<turn\|>"
)


def opened_by_prompt(prompt_text: str, fmt: TraceFormat) -> bool:
    """Whether the rendered prompt ends inside a trace.

    A tag that a message merely mentions is none: after the open tag comes nothing, or, inside a
    chat template, no further mark of a turn.
    """
    last_open = max((match.end() for match in _tag(fmt.opens).finditer(prompt_text)), default=-1)
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
    """The answer of a completion, and what its trace was.

    Without any tag all of it is the answer, unless the prompt opened a trace. A trace that is never
    closed leaves no answer. `end_tokens` are special tokens that end the turn: they are taken off
    the answer's end. Time is linear in the text, whatever the text.
    """
    truncated = finish_reason == "length"
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
    """`text` without the end tokens at its end; white space goes only where a token stood behind it."""
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
    if inner is answer:
        return answer
    close = fmt.answer_close
    return inner.rstrip().removesuffix(close) if close and inner.rstrip().endswith(close) else inner


_HARMONY = re.compile(r"<\|(channel|message|end|return|call|start)\|>")
_HARMONY_ENDS = ("<|end|>", "<|return|>", "<|call|>")


def _split_channels(text: str, opened: bool) -> tuple[TraceStatus, str, str]:
    """Harmony: messages of named channels; `final` is the answer, `analysis` the trace."""
    # A message that begins at once shows that nothing was written into the one that the prompt opened.
    opened = opened and not text.lstrip().startswith("<|channel|>")
    messages = _messages(text, "analysis" if opened else None)
    trace = "".join(content for channel, content in messages if channel == "analysis")
    finals = [content for channel, content in messages if channel == "final"]
    if not messages:
        return "absent", text, ""
    if not finals:
        return "unclosed", "", trace
    thought = any(channel == "analysis" for channel, _ in messages)
    return ("closed" if thought else "absent"), "".join(finals), trace


def _messages(text: str, channel: str | None) -> list[tuple[str, str]]:
    """(channel, content) of each message; `channel` is the one that the prompt has opened already."""
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
    """What stands outside all blocks, and inside them. Blocks do not nest."""
    if not opened and not _has_tag(text, fmt):
        return "absent", text, ""
    patterns = _patterns(fmt)
    lead = None if opened else patterns.leading.match(text)
    if not opened and lead is None:
        return _split_marked(text, fmt, seen=False, close_ends_turn=close_ends_turn)
    # A text that begins in a block: up to the close tag nothing else in it counts, and it may be long.
    start = lead.end() if lead else 0
    close = patterns.close.search(text, start)
    if close is None:
        return "unclosed", _before(lead), text[start:]
    rest = text[close.end() :]
    inside = text[start : close.start()]
    if not _has_tag(rest, fmt):
        return "closed", _before(lead) + rest, inside
    status, outside, more = _split_marked(rest, fmt, seen=True, close_ends_turn=close_ends_turn)
    return status, _before(lead) + outside, inside + more


def _has_tag(text: str, fmt: TraceFormat) -> bool:
    return any(tag in text for tag in (*(o.rstrip(">") for o in fmt.opens), *fmt.closes))


def _before(lead: re.Match[str] | None) -> str:
    """The white space before a block that begins the text."""
    return lead["blank"] if lead else ""


def _split_marked(
    text: str, fmt: TraceFormat, *, seen: bool, close_ends_turn: bool
) -> tuple[TraceStatus, str, str]:
    """A text outside any block, tag by tag; `seen`: a block came before it."""
    marks = _Marks(text, fmt)
    outside: list[str] = []
    inside: list[str] = []
    in_block = False
    position = index = 0
    while (index := marks.next_tag(index, in_block, seen)) < len(marks.found):
        mark = marks.found[index]
        piece = text[position : mark.start()]
        is_open = mark.lastgroup == "open"
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
    """The text begins with the mark of an answer, so that no trace can have been open."""
    return bool(fmt.answer_opens) and text[:200].lstrip().startswith(fmt.answer_opens[-1])


def _tag(spellings: Sequence[str]) -> re.Pattern[str]:
    """An open tag; one in angle brackets may carry attributes (`<think signature="…">`)."""
    return re.compile("|".join(_tag_source(tag) for tag in spellings))


def _tag_source(tag: str) -> str:
    if re.fullmatch(r"<[\w:.-]+>", tag):
        return re.escape(tag[:-1]) + r"(?:\s[^<>]*+)?(?<!/)>"
    return re.escape(tag)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The regular expressions of a format: its tags alone, and with the code marks around them."""

    leading: re.Pattern[str]
    close: re.Pattern[str]
    marks: re.Pattern[str]


# A format is written once and used for a million samples; building its patterns costs as much as a short one.
@lru_cache(64)
def _patterns(fmt: TraceFormat) -> _Patterns:
    opens = _tag(fmt.opens).pattern
    closes = "|".join(re.escape(tag) for tag in fmt.closes)
    behind = "|".join(f"(?<={re.escape(tag)})" for tag in fmt.closes)
    marks = (
        rf"(?P<open>{opens})|(?P<close>{closes})"
        rf"|(?P<fence>(?:^|{behind})[ \t]*+(?:`{{3,}}+(?=[^`\n]*$)|~{{3,}}+))"
        r"|(?P<ticks>`++)|(?P<blank>\n(?:[ \t]*+\n)++)"
    )
    return _Patterns(
        re.compile(rf"(?P<blank>\s*)(?:{opens})"), re.compile(closes), re.compile(marks, re.MULTILINE)
    )


class _Marks:
    """The tags and code marks of a text in order; tells which tags are meant and which are code."""

    def __init__(self, text: str, fmt: TraceFormat) -> None:
        self.text = text
        self.found = list(_patterns(fmt).marks.finditer(text))
        self.tags = [i for i, mark in enumerate(self.found) if mark.lastgroup in ("open", "close")]
        self.fences = [i for i, mark in enumerate(self.found) if mark.lastgroup == "fence"]
        self.fence_number = {index: number for number, index in enumerate(self.fences)}
        self.partner = self._pair_ticks()

    def _pair_ticks(self) -> dict[int, int]:
        """Each run of backticks to the next one of its length in the same paragraph."""
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
        """The next mark from `index` on that is a tag: a close tag in a block, any outside of code else."""
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
        """The first mark behind the fenced code that begins at `index`; an open end is the text's end.

        Before any tag was seen the text may be a trace whose open tag stood in the prompt, and traces
        hold odd fences: there a fence that meets another opening one, or that never ends while a
        close tag follows, is no code.
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
