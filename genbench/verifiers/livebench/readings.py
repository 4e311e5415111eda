"""What LiveBench's code reads out of an answer: tags, boxes and bold words, with the quirks of that code.

Facts: livebench/process_results at b0fb577 (2026-08-22). All readers here take time that is linear in the
text, which the regular expressions of that code do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genbench.verifiers.extraction.boxes import last_boxed

_OPENING, _CLOSING, _STARS = "<solution>", "</solution>", "**"
_BOX, _LOOSE_BOX, _FRAME = "\\boxed", "\\boxed ", "\\fbox"
_LONG_RUN = re.compile(r"\*{7,}")
_RUN = re.compile(r"(\*{2,})(.*?)\1")
_ANNOUNCED = re.compile(r"^(?:(?:final |the )?answer(?: is)?\s*:?|solution\s*:)\s*", re.IGNORECASE)
_EDGES = " \t\r\n*_`\"'.$"
_LONGEST = 2_000
"""Characters of a last line that may still be an answer."""


class OfficialCrashError(Exception):
    """LiveBench's code raises for this answer, which ends its whole evaluation."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The one answer that a text commits to, None if there is none, and its score."""

    text: str | None
    score: float


def between(text: str, opening: str, closing: str, *, across_lines: bool = False) -> list[str]:
    """Return what is between pairs of marks, the shortest from the left, without overlaps."""
    found: list[str] = []
    end, at = -1, text.find(opening)
    while at >= 0:
        inner = at + len(opening)
        if end < inner and (end := text.find(closing, inner)) < 0:
            break
        if not across_lines and text.find("\n", inner, end) >= 0:
            at = text.find(opening, at + 1)
            continue
        found.append(text[inner:end])
        at = text.find(opening, end + len(closing))
    return found


def tagged(text: str) -> list[str]:
    """Return the contents of the tags `solution`, each on one line."""
    return between(text, _OPENING, _CLOSING)


def tagged_or_closed_twice(text: str) -> list[str]:
    """Return the contents of the tags, or what is between two closing tags if no tag was opened well."""
    return tagged(text) or between(text, _CLOSING, _CLOSING)


def tagged_anyhow(text: str) -> list[str]:
    """Return the contents of the tags in any case, over several lines too."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower case is longer, as İ
        lower = text
    found: list[str] = []
    at = lower.find(_OPENING)
    while at >= 0:
        inner = at + len(_OPENING)
        if (end := lower.find(_CLOSING, inner)) < 0:
            break
        found.append(text[inner:end])
        at = lower.find(_OPENING, end)
    return found


def bold(text: str) -> list[str]:
    """Return what is between two stars on one line."""
    return between(text, _STARS, _STARS)


def bold_runs(text: str) -> list[tuple[str, str]]:
    """Return each run of stars that is closed by as many, and what is between."""
    return _RUN.findall(_LONG_RUN.sub("*" * 6, text))


def box(text: str) -> str | None:
    """Return the content of the last box, or None if there is none that is closed.

    Raises:
        OfficialCrashError: the last box is followed by something other than a brace.
    """
    text = text.replace("\\\\fbox{", "\\\\boxed{")
    if _LOOSE_BOX in text:
        return text.rsplit(_LOOSE_BOX, 1)[1].split("$", 1)[0]
    start = text.rfind(_BOX)
    start = text.rfind(_FRAME) if start < 0 else start
    if start < 0:
        return None
    end = _end_of_braces(text, start)
    if end is None:
        return None
    found = text[start:end].replace("$", "").replace("fbox", "boxed")
    if not found.startswith(_BOX + "{"):
        raise OfficialCrashError("a box without a brace at once")
    return found[len(_BOX) + 1 : -1]


def _end_of_braces(text: str, start: int) -> int | None:
    """Return the place after the brace that closes the first one from `start` on."""
    depth = 0
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return start + match.end()
    return None


def plain_box(text: str) -> str | None:
    """Return the content of the last box without `\\text{`, braces and backslashes."""
    found = box(text)
    return None if found is None else without_tex(found)


def without_tex(text: str) -> str:
    """Return a text without `\\text{`, closing braces and backslashes."""
    return text.replace("\\text{", "").replace("}", "").replace("\\", "")


def last_line(text: str) -> str:
    """Return the last line that is not blank."""
    return text.strip().split("\n")[-1]


def committed(text: str) -> str | None:
    """Return the one answer that a text commits to: its last tag, else its last box, bold text or short line.

    Return None if there is none of these.
    """
    for found in (tagged_anyhow(text), _boxed(text), bold(text)):
        if found and found[-1].strip():
            return cleaned(found[-1])
    line = last_line(text).replace(_OPENING, "").replace(_CLOSING, "")
    return cleaned(_ANNOUNCED.sub("", line.strip(_EDGES))) or None if len(line) <= _LONGEST else None


def _boxed(text: str) -> list[str]:
    found = last_boxed(text)
    return (
        [] if found is None else [re.sub(r"\\(?:text|textbf|mathbf|mathrm)\{([^{}]*)\}", r"\1", found.text)]
    )


def cleaned(text: str) -> str:
    """Return a text in one line without marks of emphasis and white space at its ends."""
    return " ".join(text.split()).strip(_EDGES)


def edit_distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return the least number of insertions, deletions and replacements between two sequences."""
    row = list(range(len(other) + 1))
    for place, item in enumerate(one, start=1):
        before, row[0] = row[0], place
        for at, wanted in enumerate(other, start=1):
            kept = before if item == wanted else 1 + min(before, row[at], row[at - 1])
            before, row[at] = row[at], kept
    return row[-1]
