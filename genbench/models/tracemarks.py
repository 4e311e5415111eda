"""Where the tags of a trace format are in a text, and which of them are code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from genbench.models.traceformats import TraceFormat


def tag_pattern(spellings: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of an open tag, which may have attributes: `<think signature="…">`."""
    return re.compile("|".join(_tag_source(tag) for tag in spellings))


def _tag_source(tag: str) -> str:
    if re.fullmatch(r"<[\w:.-]+>", tag):
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
        rf"|(?P<fence>(?:^|{behind})[ \t]*+(?:`{{3,}}+(?=[^`\n]*$)|~{{3,}}+))"
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
