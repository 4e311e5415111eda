"""Finds the values in a sentence: formulas between delimiters, and numbers with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_RESULT = 300
"""Characters after a sign of equality in which its value is looked for."""
_MOST = 400
"""Values of a text that are looked at, from its end."""
_FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<dd>.{1,2000}?)(?<!\\)\$\$"
    r"|\\\[(?P<br>(?:[^\\]|\\(?!\[)){1,2000}?)\\\]|\\\((?P<pa>(?:[^\\]|\\(?!\()){1,2000}?)\\\)"
    r"|(?<![\\\w$])\$(?=\S| \\)(?P<d>(?:\\\$|[^$\n]){1,2000}?)(?<!\\)(?:(?<!\s)|(?<=[}\w] ))\$(?!\d)",
    re.DOTALL,
)
"""Without the bound a text of open delimiters takes quadratic time."""
# "costs $5 and later $" is between two signs of money, and no formula.
_PROSE = re.compile(r"[A-Za-z]{2,}[,']?\s+[A-Za-z]{2,}|[A-Za-z]{4,}(?:\s*:|\s+[-+]?\d)")
_OPAQUE = re.compile(
    r"\\[a-zA-Z]*text[a-z]*\s*\{[^{}]*\}|\\mbox\s*\{[^{}]*\}|\\[A-Za-z]+\*?(?:\{[a-z]*matrix\})?"
    r"|(?<![A-Za-z])(?:sqrt|cbrt|sin|cos|tan|log|ln|exp|pi|theta|infinity|abs|arctan|arcsin|arccos|choose"
    r"|mod)(?![A-Za-z])"
)
_DIGITS = (
    r"(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{2,3})+(?:\.\d+)?|\d{1,3}(?:[ \u202f\u00a0]\d{3})+(?!\d)"
    r"|\d+(?:\.\d+)?|\.\d+)"
)
_MONEY = r"(?:(?:US|AU|CA|NZ|HK|A|C|S)?\\?\$|[€£¥₹₩]|Rs\.?|USD|EUR)"
_NUMBER = (
    rf"(?:{_MONEY} ?)?{_DIGITS}(?:[eE][-+]?\d{{1,3}}(?!\w))?(?: \d+/\d+)?(?:!(?=\s*[-+*/=]))?%?"
    r"(?:\^(?:\{[^{}]{1,20}\}|\(?[-+]?\d+\)?))?(?:[⁰¹²³⁴-⁹⁻]+)?"
)
_TERM = rf"(?:{_NUMBER}(?:√\(?\d+\)?|π|pi\b|sqrt\(\d+\))?|√\(?\d+\)?|π|sqrt\(\d+\)|[½⅓⅔¼¾∞])"
_RUN = re.compile(
    rf"(?<![A-Za-zÀ-ÿ0-9_^\\.])(?<![\d][,])(?:(?:minus|negative) |(?<![\d)\]%]) ?[-−+±])?(?:[-−±](?="
    rf"[\d.$€£√π]))?"
    rf"(?:[\[({{] ?[-−]?{_TERM}(?:, ?[-−]?{_TERM}){{1,12}} ?[\])}}]|{_TERM}"
    rf"(?:(?: ?[-+*/×·÷:^] ?| ?\\times ?| ?\\cdot ?)\(?[-−]?{_TERM}\)?)*)"
)
_STOPS = (
    "to|because|since|as|so|for|in|on|at|when|if|which|that|with|from|by|is|are|was|were|has|have|had|and|or|but|of|than|after"
    "|before|then|while|where|who|the|this|these|will|would|can|must|should|need|needs|into|during|until|left|remaining|each|plus"
    r"|an?(?=\W*$)"
)
_WORD = r"(?:[^\W\d_⁰-⁹぀-ヿ一-鿿가-힣]+|[°º℃℉%$€£¥])"
_TAIL = re.compile(
    rf"(?:[ \-]?(?:[ap]\.m\.|[AaPp][Mm]\b)|(?: (?!(?:{_STOPS})\b)|-(?=\w))?(?:per |a )?{_WORD}(?:"
    rf"[/·^⋅]{_WORD}|\^?-?[²³\d](?!\w))*"
    rf"(?: (?!(?:{_STOPS})\b)(?:per |a )?{_WORD}(?:/{_WORD})?[²³]?(?!\w)){{0,2}}|[぀-ヿ一-鿿가-힣]{{1,8}})",
    re.IGNORECASE,
)
"""What follows a number and belongs to it: a unit, the thing counted, "p.m."."""
_JOINED = re.compile(r",? (?:and|or|und|oder|et|ou|y|o) (?:\$?)|, ?| ?[和或、] ?|,? ?&,? ?", re.IGNORECASE)
_ONE_UNIT = re.compile(r"[\d.,]+ [^\W\d_]+")
"""The first part of an amount in two units: "3 pounds 8 ounces"."""
_LISTED = re.compile(r"(?:\b(?:is|are|equals?|be)|[:：=是为])\s*$", re.IGNORECASE)
"""What is before a list that only commas join: "The roots are 3, 5"."""
_EQUALS = re.compile(r"(?<![<>=!:≤≥≠])=(?!=)|≈|\\approx")
_SENTENCE = re.compile(
    r"\n+|(?<=[.!?])(?<![\s.][A-Za-z]\.)(?<!\b(?:vs|Dr|Mr|St|No)\.)(?<!\b[ap]\.m\.)[\s\"'”’)*_]+(?=\S)|(?<="
    r"[。！？])"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A value in a text. `text` is as it is written, without the delimiters of a formula."""

    start: int
    end: int
    text: str


def formulas(text: str) -> list[Amount]:
    """Return what is between delimiters of formulas, without what is prose between two signs of money."""
    return [
        Amount(match.start(), match.end(), inside.strip())
        for match in _FORMULA.finditer(text)
        if not is_prose(inside := match[match.lastgroup or 0])
    ]


def is_prose(span: str) -> bool:
    """Return whether a text has two words in a row, so that it is not an expression: "costs $5 and later"."""
    return bool(_PROSE.search(without_names(span)))


def without_names(span: str) -> str:
    """Return an expression without commands of LaTeX, their words, and names of functions."""
    return _OPAQUE.sub(" ; ", span)


def amounts(text: str) -> list[Amount]:
    """Return the values of a text in order. Those that only a comma, "and" or "or" joins are one."""
    found = list(_single(text))[-_MOST:]
    joined: list[Amount] = []
    for amount in found:
        gap = text[joined[-1].end : amount.start] if joined else ""
        listed = gap.strip() != "," or _LISTED.search(text[: joined[-1].start]) if joined else False
        if (
            joined
            and listed
            and (_JOINED.fullmatch(gap) or (gap == " " and _ONE_UNIT.fullmatch(joined[-1].text)))
        ):
            last = joined.pop()
            joiner = ", " if gap.strip() == "," else gap
            joined.append(Amount(last.start, amount.end, last.text + joiner + amount.text))
        else:
            joined.append(amount)
    return joined


def _single(text: str) -> Iterator[Amount]:
    spans = formulas(text)
    place = 0
    for span in [*spans, None]:
        end = span.start if span else len(text)
        at = place
        while (match := _RUN.search(text, at, end)) is not None:
            tail = _TAIL.match(text, match.end(), end)
            at = tail.end() if tail else match.end()
            yield Amount(match.start(), at, text[match.start() : at].strip())
        if span:
            percent = re.compile(r"\s?\\?%").match(text, span.end)
            place = percent.end() if percent else span.end
            if re.search(r"[\dA-Za-z∞π√]", span.text):
                yield Amount(span.start, place, span.text + ("%" if percent else ""))


def after_equals(text: str) -> str:
    """Return what follows the last sign of equality of a text, or the whole text without one."""
    found = list(_EQUALS.finditer(text))
    return text[found[-1].end() :].strip() if found and text[found[-1].end() :].strip(" .$") else text


_DIGITS_OF = re.compile(r"([-−])? ?\\?[$€£¥₹]? ?(\d[\d,]*(?:\.\d+)?|\.\d+)")


def number_of(text: str) -> str:
    """Return the first number of a value in one spelling, or ""."""
    match = _DIGITS_OF.search(text.replace("{,}", ","))
    if match is None:
        return ""
    digits = match[2].replace(",", "")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return ("-" if match[1] else "") + digits


def result_of(sentence: str) -> str | None:
    """Return the value that follows the last sign of equality of a sentence at once, or None."""
    spans = formulas(sentence)
    for match in reversed(list(_EQUALS.finditer(sentence))):
        if any(one.start < match.start() < one.end < spans[-1].start for one in spans):
            return None  # "y = 6$, so the pair is $(7, 6)$"
        after = sentence[match.end() :]
        found = amounts(after[:_RESULT])
        if found and not after[: found[0].start].strip(" $*_\\("):
            text = found[0].text
            return text if match[0] != "=" or not after_equals(text) else after_equals(text)
    return None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order. A formula is never split."""
    spans = [(span.start, span.end) for span in formulas(text)]
    parts, start = [], 0
    for match in _SENTENCE.finditer(text):
        if not any(one < match.start() < end for one, end in spans):
            parts.append(text[start : match.start()])
            start = match.end()
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]
