"""Rules on marks: bullets, highlights, sections, titles, placeholders, a postscript, JSON."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import AfterValidator

from genbench.verifiers.constraints.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Rule,
    Rules,
    TrimmedPattern,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.constraints.text import Text

INK = re.compile(r"\S")
STAR_BULLET = re.compile(r"\*[^*].*")
DASH_BULLET = re.compile(r"-.*")
SINGLE_STARS = re.compile(r"\*[^\n*]*\*")
DOUBLE_STARS = re.compile(r"\*\*[^\n*]*\*\*")
OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
FENCES = ("```json", "```Json", "```JSON", "```")
POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}


class NumberPlaceholders(Kwargs):
    """The kwargs of `detectable_content:number_placeholders`."""

    num_placeholders: Count


def number_placeholders(text: Text, want: NumberPlaceholders) -> Fault:
    """Count texts in square brackets."""
    found = sum(_placeholders(line) for line in text.lines)
    return compared(found, "at least", want.num_placeholders, "placeholders in square brackets")


def _placeholders(line: str) -> int:
    """Count the shortest matches of `[…]`. A regex would be quadratic on a line of opening brackets."""
    count, end = 0, 0
    while (start := line.find("[", end)) >= 0 and (close := line.find("]", start + 1)) >= 0:
        count, end = count + 1, close + 1
    return count


def _lower_pattern(marker: str) -> str:
    re.compile(marker.lower())
    return marker


class Postscript(Kwargs):
    """The kwargs of `detectable_content:postscript`."""

    postscript_marker: Annotated[TrimmedPattern, AfterValidator(_lower_pattern)]


def postscript(text: Text, want: Postscript) -> Fault:
    """Look for the marker anywhere in the text. "P.P.S." satisfies "P.S." (defect D6)."""
    pattern = POSTSCRIPTS.get(want.postscript_marker, want.postscript_marker.lower())
    return None if re.search(pattern, text.lower) else postscript_fault(want)


def postscript_fault(want: Postscript) -> str:
    """Return the fault of a text without the postscript."""
    return f"no postscript marked {quoted(want.postscript_marker)}"


class NumberBulletLists(Kwargs):
    """The kwargs of `detectable_format:number_bullet_lists`."""

    num_bullets: Count


def number_bullet_lists(text: Text, want: NumberBulletLists) -> Fault:
    """Count bullets. `---` rules count, and a lone `*` takes the next line into its bullet (defect D4)."""
    found = _bullets(text.raw, STAR_BULLET) + _bullets(text.raw, DASH_BULLET)
    return equal(found, want.num_bullets, "bullet points")


def _bullets(text: str, bullet: re.Pattern[str]) -> int:
    """Count non-overlapping matches of `^\\s*` and `bullet`, with `^` at line starts.

    By hand, since the regex tries every blank line anew against all that follow: quadratic.
    """
    count, start = 0, 0
    while start >= 0:
        if start == 0 or text[start - 1] == "\n":
            ink = INK.search(text, start)
            if ink is None:
                break
            match = bullet.match(text, ink.start())
            count += match is not None
            start = match.end() if match else ink.end()
        else:
            start = text.find("\n", start) + 1 or -1
    return count


def constrained_response(text: Text, _: NoKwargs) -> Fault:
    """Look for one of the sentences anywhere in the text (defect D5)."""
    return None if any(option in text.stripped for option in OPTIONS) else "none of the three allowed answers"


class NumberHighlights(Kwargs):
    """The kwargs of `detectable_format:number_highlighted_sections`."""

    num_highlights: Count


def number_highlighted_sections(text: Text, want: NumberHighlights) -> Fault:
    """Count `*x*` and `**x**` in two scans that overlap: `***x***` is two (defect D10)."""
    single = sum(1 for found in SINGLE_STARS.findall(text.raw) if found.strip("*").strip())
    double = sum(
        1 for found in DOUBLE_STARS.findall(text.raw) if found.removeprefix("**").removesuffix("**").strip()
    )
    return compared(single + double, "at least", want.num_highlights, "highlighted sections")


class MultipleSections(Kwargs):
    """The kwargs of `detectable_format:multiple_sections`."""

    section_spliter: TrimmedPattern
    num_sections: Count


def multiple_sections(text: Text, want: MultipleSections) -> Fault:
    """Count markers that a number follows."""
    found = sum(1 for _ in re.finditer(rf"{want.section_spliter}\s?\d+", text.raw))
    return compared(found, "at least", want.num_sections, f"sections marked {quoted(want.section_spliter)}")


def json_format(text: Text, _: NoKwargs) -> Fault:
    """Accept any JSON value, and `NaN` too (defect D9)."""
    try:
        json.loads(unfenced(text.raw))
    except RecursionError:
        return "not JSON: nested too deeply"
    except ValueError as error:
        return f"not JSON: {error}"
    return None


def unfenced(text: str) -> str:
    """Return `text` without a code fence around it."""
    body = text.strip()
    for fence in FENCES:
        body = body.removeprefix(fence)
    return body.removesuffix("```").strip()


def title(text: Text, _: NoKwargs) -> Fault:
    """Look for a line with a title in double angular brackets."""
    titles = (_title(line) for line in text.lines)
    return None if any(titles) else "no title in <<double angular brackets>>"


def _title(line: str) -> str:
    """Return what is inside the longest `<<…>>` of a line. A regex would be quadratic on a line of `<`."""
    start, end = line.find("<<"), line.rfind(">>")
    return line[start : end + 2].lstrip("<").rstrip(">").strip() if 0 <= start < end - 2 else ""


RULES: Rules = (
    Rule("detectable_content:number_placeholders", NumberPlaceholders, number_placeholders),
    Rule("detectable_content:postscript", Postscript, postscript),
    Rule("detectable_format:number_bullet_lists", NumberBulletLists, number_bullet_lists),
    Rule("detectable_format:constrained_response", NoKwargs, constrained_response),
    Rule("detectable_format:number_highlighted_sections", NumberHighlights, number_highlighted_sections),
    Rule("detectable_format:multiple_sections", MultipleSections, multiple_sections),
    Rule("detectable_format:json_format", NoKwargs, json_format),
    Rule("detectable_format:title", NoKwargs, title),
)
