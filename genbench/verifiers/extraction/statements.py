"""Reads the value of a statement: what follows "the answer is", or the last sentence of a response.

An answer that is itself a phrase ("there are 12 ways") is read likewise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from genbench.verifiers.extraction.boxes import joins_values
from genbench.verifiers.language.hedging import (
    Withheld,
    corrected_value,
    withheld_after,
    withheld_at_start,
    withheld_before,
    without_contrast,
    without_qualifier,
)
from genbench.verifiers.language.word_lists import read_list
from genbench.verifiers.notation.inline_math import InlineMath, find_inline_math
from genbench.verifiers.notation.number_words import is_stated_in_phrase, numerals_in_sentence

_REPEATED = 20
"""A text that ends in one value this often in a row is a loop, not an answer."""
_SPAN = re.compile(
    r"(?<!\\)\$\$(?P<dd>.{1,2000}?)(?<!\\)\$\$"
    r"|\\\[(?P<br>(?:[^\\]|\\(?!\[)){1,2000}?)\\\]|\\\((?P<pa>(?:[^\\]|\\(?!\()){1,2000}?)\\\)"
    r"|(?<![\\\d])\$(?P<d>(?:\\\$|[^$\n]){1,2000}?)(?<!\\)\$",
    re.DOTALL,
)
"""Formulas between delimiters. Without the bound a text of open delimiters takes quadratic time."""
# Two words in a row, or a word and a number: "costs $5 and later $7" has no formula "5 and later ".
_PROSE = re.compile(r"[A-Za-z]{2,}[,']?\s+[A-Za-z]{2,}|[A-Za-z]{4,}(?:\s*:|\s+[-+]?\d)")
# Words of LaTeX are no prose: \text{ or }, \begin{pmatrix}.
_OPAQUE = re.compile(
    r"\\[a-zA-Z]*text[a-z]*\s*\{[^{}]*\}|\\mbox\s*\{[^{}]*\}|\\[A-Za-z]+\*?(?:\{[a-z]*matrix\})?"
)
# Nor are names of functions and constants: "5 choose 2", "sqrt(3)", "pi".
_PLAIN_NAMES = re.compile(
    r"(?<=\d) choose (?=\d)|(?<![A-Za-z])(?:Rational|Fraction|sqrt|cbrt)(?![A-Za-z])|"
    r"(?<![A-Za-z])(?:sin|cos|tan|log|ln|exp|pi|theta|infinity|abs|arctan|arcsin|arccos)(?![A-Za-z])"
)
# "So the number of ways is **12": what follows the last "is" or colon is read again.
_NEXT_IS = re.compile(r".*(?:\bis\b|\bare\b|\bequals\b|:(?!\d)|[是为])\s*[*_]*", re.DOTALL)
# A period after a number ends a sentence only before a capital: "is 5. Then", but "3. 5" does not.
# An exclamation mark after a number is a factorial unless a blank follows: "5!".
_SENTENCE_END = re.compile(
    r"\n|(?<=[^\d\s])\.\s|(?<=\d)\.\s+(?=[A-ZÀ-ÖØ-ÞА-ЯЁ\"“«„(]|[぀-ヿ一-鿿가-힣])|(?<=\d)[!?](?:\s|$)|。"
)
_LINE_HAS_VALUE = re.compile(r"[\dπ√∞½⅓⅔¼¾]|(?<![A-Za-z])pi(?![A-Za-z])|(?<![A-Za-z])sqrt")
_JOIN = re.compile(r"\s*,?\s*(?:and|or|und|oder|et|ou|y|o|e)\s+|\s*[和或]\s*", re.IGNORECASE)
_COMMA = re.compile(r"\s*[,，、]\s*")
# "The roots are 3, 5": what is before a list that only commas join.
_LISTED_AFTER = re.compile(r"(?:\bis|\bare|\bequals?|\bbe|[:=是为])\s*$", re.IGNORECASE)
_BOLD = re.compile(r"(?<![0-9)\]}])(?<!(?<![A-Za-z])[A-Za-z])\*\*([^*]+)\*\*")
"""Bold text, but not the powers of ``x**2 + y**2``."""
_PERCENT = re.compile(r"\s*(?:\\?%|percent\b|pct\b)")
_STATEMENT_CHARS, _TAIL = 2_000, 20_000
"""Characters of a statement, and characters from the end of a text, in which a value is looked for."""
_LINES = 40
"""Lines from the end in which a value is looked for."""
_WORDS = 6
"""A line of more words is a sentence about the answer, not the answer."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a statement, and why it is withheld if it is."""

    text: str
    withheld: Withheld | None = None


def read_statement(statement: str) -> Value | None:
    """Return the value that a statement begins with or comes to: a formula, a number, or a few words."""
    statement = numerals_in_sentence(statement[:_STATEMENT_CHARS])
    line = _first_sentence(statement)
    line = without_contrast(line).strip()
    if (why := withheld_at_start(line)) is not None:
        corrected = corrected_value(line) if why == "negated" else None
        return read_statement(corrected) if corrected else Value(line, why)
    plain = without_qualifier(line)
    statement = plain if plain != line else without_contrast(statement)
    if spans := _leading_spans(statement):
        return spans
    line = _BOLD.sub(r"\1", plain).rstrip(" .*").lstrip(" *").strip('"“”').strip()
    if not line:
        return None
    if reads_as_mathematics(line) and "$" not in line:
        return Value(line)
    return _value_in_sentence(line)


def _first_sentence(statement: str) -> str:
    """Return a statement up to the end of its first sentence. A formula is never split."""
    for match in _SENTENCE_END.finditer(statement):
        if not any(span.start() < match.start() < span.end() for span in _SPAN.finditer(statement)):
            return statement[: match.start()].strip()
    return statement.strip()


def _value_in_sentence(line: str) -> Value | None:
    runs = find_inline_math(line)
    if runs and not line[: runs[0].start].strip(' \t"“*_'):
        return _joined(line, runs, 0)
    shorter = _NEXT_IS.sub("", line)
    if shorter != line and (value := read_statement(shorter)) is not None:
        return value
    if (found := last_value(line)) is not None:
        return found
    return Value(line) if len(line.split()) <= _WORDS else None


def _leading_spans(statement: str) -> Value | None:
    """Return the formulas that a statement begins with, joined if only commas or "and" part them."""
    parts: list[str] = []
    end = 0
    for match in _SPAN.finditer(statement):
        gap = statement[end : match.start()]
        if (parts and not joins_values(gap)) or (not parts and gap.strip('"“ *_(')):
            break
        if is_prose(span_text(match)):
            break
        parts.append(span_text(match).strip())
        end = match.end()
    if not parts:
        return None
    percent = "%" if len(parts) == 1 and _PERCENT.match(statement[end:]) else ""
    return Value(", ".join(parts) + percent, withheld_after(statement, end))


def span_text(match: re.Match[str]) -> str:
    """Return what a formula has between its delimiters."""
    return str(match.group(match.lastgroup or 0))


def _joined(line: str, runs: list[InlineMath], first: int) -> Value:
    """Return the runs from `first` on, as one list if only connectives part them."""
    parts, last = [runs[first].text], first
    while last + 1 < len(runs):
        gap = line[runs[last].end : runs[last + 1].start]
        if not _JOIN.fullmatch(gap) and not _COMMA.fullmatch(gap):
            break
        last += 1
        parts.append(runs[last].text)
    why = withheld_before(line, runs[first].start) or withheld_after(line, runs[last].end)
    return Value(", ".join(parts), why)


def last_value(text: str) -> Value | None:
    """Return the last formula or plain mathematics of a text, as a list if it ends in one."""
    text = text[-_TAIL:]
    spans = [match for match in _SPAN.finditer(text) if not is_prose(span_text(match))]
    after = spans[-1].end() if spans else 0
    for start, line in _lines_from_end(text, after):
        runs = find_inline_math(line)
        if runs:
            return None if _is_loop(text, line, runs) else _last_of(line, runs, text[:start])
    if not spans:
        return None
    first = _first_of_list(text, spans)
    value = _leading_spans(text[spans[first].start() :])
    if value is None:
        return None
    return Value(value.text, value.withheld or withheld_before(text, spans[first].start()))


def _lines_from_end(text: str, after: int) -> list[tuple[int, str]]:
    """Return (start, line) of the last lines that may contain a value, last line first."""
    found, end = [], len(text)
    for _ in range(_LINES):
        start = max(text.rfind("\n", 0, end) + 1, after)
        line = numerals_in_sentence(text[max(start, end - 1_000) : end])
        if _LINE_HAS_VALUE.search(line):
            found.append((max(start, end - 1_000), line))
            if len(found) == 3:
                break
        if start <= after:
            break
        end = start - 1
    return found


def _first_of_list(text: str, spans: list[re.Match[str]]) -> int:
    first = len(spans) - 1
    while first and joins_values(text[spans[first - 1].end() : spans[first].start()]):
        first -= 1
    return first


def _last_of(line: str, runs: list[InlineMath], before: str) -> Value:
    last = len(runs) - 1
    kept = without_contrast(line)
    while last and runs[last].start >= len(kept):
        last -= 1
    first = last
    while first:
        gap = line[runs[first - 1].end : runs[first].start]
        if not _JOIN.fullmatch(gap) and not (
            _COMMA.fullmatch(gap) and _ends_in_list(line, runs, first, last)
        ):
            break
        first -= 1
    why = withheld_before(line, runs[first].start) or withheld_after(line, runs[last].end)
    return Value(", ".join(run.text for run in runs[first : last + 1]), why)


def _ends_in_list(line: str, runs: list[InlineMath], first: int, last: int) -> bool:
    """Return whether a comma before run `first` is in a list: "are 3, 5 and 7" or "= 3, 5."."""
    if first < last and _JOIN.fullmatch(line[runs[last - 1].end : runs[last].start]):
        return True
    ends_line = not line[runs[last].end :].strip(" .*_!")
    start = first
    while start and _COMMA.fullmatch(line[runs[start - 1].end : runs[start].start]):
        start -= 1
    return ends_line and _LISTED_AFTER.search(line[: runs[start].start]) is not None


def _is_loop(text: str, line: str, runs: list[InlineMath]) -> bool:
    """Return whether a text ends in one value again and again."""
    value = runs[-1].text
    if len(runs) >= _REPEATED:
        return all(run.text == value for run in runs[-_REPEATED:])
    tail = text.rstrip()[-_REPEATED * (len(line) + 2) :].split("\n")[-_REPEATED:]
    return len(tail) == _REPEATED and all(part.strip() == line.strip() for part in tail)


def reads_as_mathematics(text: str) -> bool:
    """Return whether a text is one expression, not a sentence: no two words in a row, no number after one."""
    return not is_prose(text) and "\n\n" not in text


def is_prose(span: str) -> bool:
    """Return whether what is between two dollar signs is text: ``costs $5 and later $7``."""
    return bool(_PROSE.search(_PLAIN_NAMES.sub(" ; ", _OPAQUE.sub(" ; ", span))))


_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|hbox|emph)\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+|_\{[^{}]*\}")
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")
_LONG_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{4,}(?![A-Za-z])")
_SMALL_WORDS = frozenset(
    read_list("""
        is; are; the; an; no; not; of; at; it; be; by; up; so; we; can; may; yes; max; min; sum; has;
        for; all; any; one; its; ans; was; but; than; non; approx; about; either; neither; maybe; least;
        most; under; over
    """)
)
_FOREIGN = re.compile(r"[^\W\d_A-Za-z]")
"""Letters of other scripts, which no tidy expression has."""
_CONNECTIVES = frozenset({"and", "or", "mod", "if"})
_COPULA = re.compile(
    r"\b(?:is|are|was|be|equals?|gives?|becomes?|yields?)\b[\s:]*|[:：=](?!\d)\s*", re.IGNORECASE
)
_VALUE = re.compile(r"\d|\\pi|\\sqrt|π")
_CHARS = 600
"""A longer answer is no phrase."""


def is_phrase(latex: str) -> bool:
    """Return whether a tidy answer contains words around mathematics, not only a word or a unit."""
    if len(latex) > _CHARS or not _VALUE.search(latex):
        return False
    if _FOREIGN.search(latex):
        return True
    quoted = {word.lower() for text in _TEXT.findall(latex) for word in _WORD.findall(text)}
    if quoted - _CONNECTIVES:
        return True
    plain = _COMMAND.sub(" ", _TEXT.sub(" ", latex))
    words = {word.lower() for word in _WORD.findall(plain)}
    return bool(words & _SMALL_WORDS) or bool(_LONG_WORD.search(plain))


def words_of(latex: str) -> set[str]:
    """Return the words of a phrase in lower case, without those that join."""
    plain = _COMMAND.sub(" ", _TEXT.sub(lambda match: f" {match[1]} ", latex))
    return {word.lower() for word in _WORD.findall(plain)} - _CONNECTIVES


def value_in_phrase(latex: str) -> Value | None:
    """Return the one value of a phrase, or a withheld one. Return None if it has several or none.

    After "is", "are", "=" or a colon only what follows counts.
    """
    if len(latex) > _CHARS:
        return None
    text = _TEXT.sub(lambda match: f" {match[1]} ", latex).replace("$", "").replace("~", " ")
    text = without_contrast(numerals_in_sentence(text))
    stripped = text.strip()
    if (why := withheld_at_start(stripped)) is not None:
        corrected = corrected_value(stripped) if why == "negated" else None
        return value_in_phrase(corrected) if corrected else Value(stripped, why)
    last = next(reversed(list(_COPULA.finditer(stripped))), None)
    for part in ([stripped[last.end() :]] if last else []) + [stripped]:
        if (value := _only_value(part)) is not None:
            return value
    return None


def _only_value(text: str) -> Value | None:
    if (why := withheld_at_start(text)) is not None:
        return Value(text, why)
    runs = find_inline_math(text)
    if not runs or not _is_one_list(text, runs):
        return None
    why = withheld_before(text, runs[0].start) or withheld_after(text, runs[-1].end)
    if why is None and not is_stated_in_phrase(text[: runs[0].start], text[runs[-1].end :]):
        return None
    return Value(", ".join(dict.fromkeys(run.text for run in runs)), why)


def _is_one_list(text: str, runs: list[InlineMath]) -> bool:
    return all(joins_values(text[one.end : two.start]) for one, two in pairwise(runs))
