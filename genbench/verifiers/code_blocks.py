"""Reads the fenced code blocks of an answer, as Markdown renders them."""

from __future__ import annotations

import re

_FENCE = re.compile(r"([ \t]*)(?:```+|~~~+)([^`]*)$")
_LANGUAGE = re.compile(r"\s*[\w+#.-]+\s*")


def code_blocks(text: str, *, truncated: bool = False) -> list[str]:
    """Return the texts of the code blocks in their order.

    A block in a list is indented as its fence is. A last block without its closing fence ends with the
    answer, unless the answer is `truncated`. If the only fence is the last line, the prompt opened the block
    (EleutherAI/lm-evaluation-harness#3710).
    """
    lines = text.rstrip().split("\n")
    fences = [_FENCE.match(line) for line in lines]
    if fences[-1] is not None and not any(fences[:-1]) and not fences[-1][2].strip():
        return [_text(lines[:-1])] if lines[:-1] else []
    blocks: list[str] = []
    body: list[str] = []
    indent: int | None = None
    for line, fence in zip(lines, fences, strict=True):
        if fence is None:
            body.append(line)
        elif indent is None or _LANGUAGE.fullmatch(fence[2]):
            # A fence with a language opens a block, also if the one before it was not closed.
            body, indent = [], len(fence[1])
        else:
            blocks.append(_text(dedented(body, indent)))
            indent = None
    if indent is not None and not truncated and any(map(str.strip, body)):
        blocks.append(_text(dedented(body, indent)))
    return blocks


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def dedented(lines: list[str], indent: int) -> list[str]:
    """Return the lines of a block without the `indent` blanks of its fence, if its first line has them."""
    first = next(filter(str.strip, lines), "")
    if not first.startswith((" " * indent, "\t")):
        return lines
    return [line[min(indent, len(line) - len(line.lstrip(" \t"))) :] for line in lines]
