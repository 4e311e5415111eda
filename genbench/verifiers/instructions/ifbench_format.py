"""IFBench's `format:` rules: on the characters of a text, and on its lines."""

from __future__ import annotations

import re
import string
from collections import defaultdict, deque

from emoji import is_emoji

from genbench.verifiers.instructions.rule import (
    Fault,
    NonEmpty,
    RuleTable,
    Text,
    Trimmed,
    compared,
    quoted,
)
from genbench.verifiers.instructions.word_lists import EDGE, unmarked

RULES = RuleTable()

CLOSES = {")": "(", "]": "[", "}": "{"}
LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]")
TEMPLATE = ("My Answer:", "My Conclusion:", "Future Outlook:")
QUOTED_QUOTE = "'\"'"
NOT_QUOTES = string.digits + string.punctuation.replace('"', "")


@RULES.rule("format:parentheses")
def parentheses(text: Text) -> Fault:
    """Require five levels of matching brackets. A wrong closing bracket starts the count again."""
    stack: list[str] = []
    deepest = 0
    for char in text.raw:
        if char in "([{":
            stack.append(char)
            deepest = max(deepest, len(stack))
        elif char in CLOSES:
            if stack and stack[-1] == CLOSES[char]:
                stack.pop()
                if deepest >= 5:
                    return None
            else:
                stack, deepest = [], 0
    return "brackets are not nested five deep"


@RULES.rule("format:quotes")
def quotes(text: Text) -> Fault:
    """Require three levels of alternating quotes. An apostrophe is a quote too."""
    stack: list[str] = []
    deepest = 0
    for char in text.raw:
        if char not in "\"'":
            continue
        if stack and stack[-1] == char:
            stack.pop()
            if deepest - len(stack) >= 3:
                return None
        else:
            stack.append(char)
            deepest = max(deepest, len(stack))
    return "quotes are not nested three deep"


@RULES.rule("format:options")
def options(text: Text, options: Trimmed) -> Fault:
    """Require one of the options: lettered ones exactly, others up to case and outer marks (defect B13)."""
    choices = [choice.strip() for choice in options.split(_separator(options))]
    if LETTERED.match(options):
        right = text.raw in choices
    else:
        right = text.raw.strip(EDGE).lower() in {choice.strip(EDGE).lower() for choice in choices}
    return None if right else f"{quoted(text.stripped)} is none of the options"


def _separator(options: str) -> str:
    return next((separator for separator in ("/", "or") if separator in options), ",")


@RULES.rule("format:quote_unquote")
def quote_unquote(text: Text) -> Fault:
    """Require something after every quotation. Curly quotes are not seen (defect B2)."""
    body = "".join(text.raw.replace(QUOTED_QUOTE, "").split())
    return quotation_fault(body)


def quotation_fault(body: str) -> Fault:
    """Return the fault of a text (without blanks) with a quotation that nothing follows."""
    if '""' in body:
        return "nothing stands between two quotations"
    return "the text ends with a quotation" if body.strip(NOT_QUOTES).endswith('"') else None


@RULES.rule("format:title_case")
def title_case(text: Text) -> Fault:
    """Require title case of each token.

    "Don't" is a fault because of its token "n't". "iPhone" and "NASA" are not faults.
    """
    for token in text.tokens:
        first, rest = token[0], token[1:]
        if first.islower() and (not rest or rest.islower() or rest.isupper()):
            return f"{quoted(token)} is not in title case"
    return None


@RULES.rule("format:output_template")
def output_template(text: Text) -> Fault:
    """Look for the three headings of the template."""
    missing = [part for part in TEMPLATE if part not in text.raw]
    return f"no {', '.join(map(quoted, missing))}" if missing else None


@RULES.rule("format:no_whitespace")
def no_whitespace(text: Text) -> Fault:
    """Refuse any blank."""
    blank = next((char for char in text.raw if char.isspace()), None)
    return f"holds the blank {blank!r}" if blank else None


@RULES.rule("format:newline")
def newline(text: Text) -> Fault:
    """Require one word on each line. Blank lines and marks do not count."""
    body = unmarked(text.raw).strip()
    lines, words = sum(1 for line in body.split("\n") if line), len(body.split())
    return None if lines == words else f"{words} words on {lines} lines, one word a line wanted"


@RULES.rule("format:emoji")
def emoji(text: Text) -> Fault:
    """Require an emoji at the end of each sentence, or where the splitter puts it: before the next one."""
    sentences = [unmarked(sentence).strip() for sentence in text.sentences]
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
        if not sentence:
            return "a sentence of marks alone"
        if not (any(map(is_emoji, sentence[-2:])) or (following and is_emoji(following[0]))):
            return f"no emoji after {quoted(sentence[-50:])}"
    return None


@RULES.rule("format:line_indent")
def line_indent(text: Text) -> Fault:
    """Require each line to be indented more than the one before. Some blank lines stay in (defect B6)."""
    return indent_fault(_without_most_blanks(text.lines))


def indent_fault(lines: list[str]) -> Fault:
    """Return the fault of lines whose indents do not grow from each to the next."""
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    for place in range(1, len(indents)):
        if indents[place] <= indents[place - 1]:
            return f"a line is indented by {indents[place]} after one by {indents[place - 1]}, more wanted"
    return None


def _without_most_blanks(lines: list[str]) -> list[str]:
    """Return what is left when blank lines are removed from a list while it is walked.

    Each blank line met removes the first line equal to it, and the line that moves up is never met.
    """
    places: dict[str, deque[int]] = defaultdict(deque)
    for place, line in enumerate(lines):
        if not line.strip():
            places[line].append(place)
    removed: set[int] = set()
    place = 0
    while place < len(lines):
        blank = not lines[place].strip()
        if blank:
            removed.add(places[lines[place]].popleft())
        place += 2 if blank else 1
    return [line for place, line in enumerate(lines) if place not in removed]


@RULES.rule("format:list")
def listed(text: Text, sep: NonEmpty) -> Fault:
    """Look for the separator anywhere, not only at line starts (defect B13)."""
    return compared(text.raw.count(sep), "at least", 2, f"list items marked {quoted(sep)}")


@RULES.rule("format:thesis")
def thesis(text: Text) -> Fault:
    """Require an italic statement with text after it. `<em>` is cut as if it were `<i>` (defect B8)."""
    start = _find_first(text.raw, ("<i>", "<em>"))
    if start < 0:
        return "no text in italics (<i> or <em>)"
    body = text.raw[start:]
    end = _find_first(body, ("</i>", "</em>"))
    if end < 0:
        return "the italics are not closed"
    if not body[3:end].strip():
        return "the italics are empty"
    return None if body[end + 4 :].strip() else "nothing follows the italics"


def _find_first(text: str, tags: tuple[str, str]) -> int:
    """Return the place of the first tag, or else of the second, or -1 if there is neither."""
    return text.find(tags[0]) if tags[0] in text else text.find(tags[1])


@RULES.rule("format:sub-bullets")
def sub_bullets(text: Text) -> Fault:
    """Require dashes under stars. A text without stars follows, and bold stars count (defect B5)."""
    for piece in text.raw.split("*")[1:]:
        if "-" not in piece:
            return f"no '-' between {quoted('*' + piece[:40])} and the next '*'"
    return None


@RULES.rule("format:no_bullets_bullets")
def no_bullets_bullets(text: Text) -> Fault:
    """Require sentences, then bullets. A blank line ends the sentences too (defect B7)."""
    sentences = bullets = 0
    closed = False
    for line in text.lines:
        if line.strip().startswith("*"):
            if sentences < 2:
                return f"{sentences} sentences before the first bullet, at least 2 wanted"
            bullets, closed = bullets + 1, True
            continue
        if closed:
            return f"{quoted(line)} stands after the sentences ended and is not a bullet"
        # Two are enough; from then on it matters only whether the line has any.
        found = len(text.tools.sentences(line.strip())) if sentences < 2 else bool(line.strip())
        sentences, closed = sentences + found, found == 0
    return compared(bullets, "at least", 2, "bullets")
