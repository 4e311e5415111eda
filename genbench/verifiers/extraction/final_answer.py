"""Finds the value that a response settles on: an announced one, else that of its last sentence with one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from genbench.types import ReadBy
from genbench.verifiers.extraction import amounts, words
from genbench.verifiers.extraction.amounts import after_equals, is_prose, sentences
from genbench.verifiers.extraction.boxes import last_boxed
from genbench.verifiers.extraction.protocol import (
    Statement,
    after_retraction,
    before_new_question,
    gives_nothing,
    is_rejected,
    is_retracted,
    prepared,
    speaks_of_answer,
    statements,
)

_TAIL = 20_000
"""Characters from the end in which a value is guessed."""
_BARE = 400
"""A text up to this long may be an answer without any words around it."""
_REPEATED = 20
"""A text that ends in one line or value this often in a row is a loop, not an answer."""
_WORDS_ANNOUNCED, _SHORT = 4, 80
"""Words after "the answer is", and characters after a label, that may be a value: "Monday", "no solution"."""
_MATHEMATICS = re.compile(r"[\d\\√π∞½⅓⅔¼¾一二三四五六七八九十百千万]|^[A-Za-z]$")
_PLACEHOLDER = re.compile(
    r"[\s$]*(?:\.{2,}|…|\\[cl]?dots|\\(?:checkmark|square|text\{\s*(?:your |final )?answer\s*\})|(?:your "
    r"|the )?(?:final )?"
    r"(?:answer|result|number|value))[\s$.]*",
    re.IGNORECASE,
)
"""A box that shows where an answer goes, or a sign after it."""
_LABELLED = re.compile(
    r"^\s*\\text\s*\{\s*(?:final )?answer\s*[:=]\s*\}|^\s*(?:final )?answer\s*[:=]", re.IGNORECASE
)
_MARKS = re.compile(
    r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)|</?(?:b|strong|em|i|u|span|code)>", re.IGNORECASE
)
_QUOTES = "\"'“”‘’«»「」【】 \t\r\n>#:："
_FIRST = re.compile(r"(?<=[^\d\s])[.!?](?=\s|$)|(?<=\d)[.!?](?=\s+[^\d\s]|$)|[。！？\n]")
_LEADING = re.compile(
    rf"(?:(?:{words.alternation(words.FILLERS, words.COPULA)})(?![\w])[\s,:]*)+", re.IGNORECASE
)
_CLAUSE = re.compile(r"[，；](?!\s*[-−\d$\\])")
_BOUND = re.compile(
    r"(?:at (?:least|most)|(?:more|less|fewer|greater|larger|smaller|higher|lower) than|no (?:more"
    r"|less) than|not|never)\b",
    re.IGNORECASE,
)
"""What an announced value begins with if no single value is given: "at most 204"."""
_NO_SOLUTION = re.compile(
    r"(?:there (?:is|are|exists?)|has|have|thus|hence|therefore|so),? no (?:real )?(?:solutions?|roots?)\W*$",
    re.IGNORECASE,
)
"""What a text without a value ends with if it says that the set of solutions is empty."""
_ASIDE = re.compile(r"(?<=\w) \([^()]{1,200}\)(?=[.!?]*\s*$)")
"""What a sentence ends with in brackets: "He sold 7 (3 + 4)."."""
_LOOKED_AT, _BEFORE = 6, 3
"""Sentences from the end in which a value is looked for, and sentences before it whose equation counts."""
_GOES_ON = re.compile(r"\s*[-+*/×·÷=^][^,.;]*=")
_WORDS = re.compile(r"[A-Za-z]{3,}")
_SENTENCE_OF_SIGNS = re.compile(r"[ぁ-ヿ一-鿿가-힣]{2,}[^\d一-鿿]*\d")
"""A sentence of a script without blanks before a number: "所以利润是70,000美元"."""
_UNSURE = re.compile(r"\b(?:not|isn['’]t|never)\b", re.IGNORECASE)


Withheld = Literal["retracted", "negated", "bound"]
"""Why a value commits to nothing: taken back, denied, or only a bound ("at most 5")."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A value as it is written, how it was read, and why it commits to nothing if it does not."""

    text: str
    how: ReadBy
    withheld: Withheld | None = None


def final_answer(text: str, *, guess: bool = True) -> Stated | None:
    """Return the value that `text` settles on, as LaTeX or plain text, or None if it states none.

    Args:
        guess: whether a text that announces nothing is read by its last sentence with a value.
    """
    text = before_new_question(prepared(text))
    for said in statements(text):
        if gives_nothing(said.content) and said.how != "box":
            return Stated(said.content, said.how, "negated")
        if (value := _value_of(said)) is not None:
            return _revised(value, said, text, guess=guess)
    tail = text[-_TAIL:]
    bare = _plain(tail)
    told = re.search(r"\d", bare) and _SENTENCE_OF_SIGNS.search(bare)
    if bare and len(bare) <= _BARE and not is_prose(bare) and not told and "\n" not in bare:
        spans = amounts.formulas(bare)
        sole = len(spans) == 1 and not (bare[: spans[0].start] + bare[spans[0].end :]).strip(" .")
        return Stated(spans[0].text if sole else bare, "whole", "bound" if _BOUND.match(bare) else None)
    return _guessed(tail) if guess else None


def _revised(value: Stated, said: Statement, text: str, *, guess: bool) -> Stated:
    """Return an announced value, or what the text after it puts in its place."""
    after = _rest_of(said) + text[said.end :]
    if (rest := after_retraction(after)) is not None:
        later = _guessed(rest) if guess and value.withheld is None else None
        return later or replace(value, withheld="retracted")
    if is_rejected(text[said.end :]):
        return replace(value, withheld="negated")
    if value.withheld is None or not guess:
        return value
    return _guessed(after) or value


def _value_of(said: Statement) -> Stated | None:
    """Return the value that a statement gives, or None if it only speaks of one."""
    if said.how == "box":
        content = _LABELLED.sub("", said.content).strip()
        withheld: Withheld | None = "negated" if said.denied else None
        return None if _PLACEHOLDER.fullmatch(content) else Stated(content, "box", withheld)
    if said.how in ("tag", "json") and (boxed := last_boxed(said.content)) is not None:
        return Stated(boxed.text, said.how)
    if said.how == "json":
        return Stated(said.content, "json")
    plain = _plain(said.content)
    if "\\boxed" in said.content or _PLACEHOLDER.fullmatch(plain):
        return None
    return _announced(plain, said)


def _announced(plain: str, said: Statement) -> Stated | None:
    """Return the value that a label, a marker or an announcement gives in its first sentence."""
    spans = amounts.formulas(plain)
    if not spans or plain[: spans[0].start].strip():
        plain = _first_sentence(plain)
    plain = _CLAUSE.split(plain)[0]
    lead = _LEADING.match(plain)
    plain = plain[lead.end() :] if lead else plain
    denied = said.denied or _UNSURE.match(plain) is not None
    withheld: Withheld | None = "negated" if denied else "bound" if _BOUND.match(plain) else None
    found = amounts.amounts(plain)
    if found and not plain[: found[0].start].strip(" \"'“*_$("):
        value = _leading(plain, found)
    elif not is_prose(plain) and _MATHEMATICS.search(plain):
        value = plain.strip(" .")
    elif found:
        value = _last_of(plain) or found[-1].text
    else:
        value = plain.strip(" .")
        few = len(value.split()) <= _WORDS_ANNOUNCED and not speaks_of_answer(value)
        value = value if few or (said.how != "announcement" and len(value) <= _SHORT) else ""
    return Stated(value, said.how, withheld) if value else None


def _leading(plain: str, found: Sequence[amounts.Amount]) -> str:
    """Return the value that a text begins with: all of it, or up to the words that go on."""
    rest = plain[found[0].end :]
    whole = not rest.strip(" .\"'”)*_") or (not is_prose(plain) and len(plain) <= _BARE)
    value = plain if whole and "$" not in plain else found[0].text
    if not whole and _GOES_ON.match(rest):
        value = found[-1].text
    if "=" in value and _WORDS.search(amounts.without_names(value)):
        value = after_equals(value)
    return value.strip(" .") if whole else value


def _rest_of(said: Statement) -> str:
    """Return what a statement says after its first sentence, on the same line."""
    if said.how in ("box", "json", "tag"):
        return ""
    end = _FIRST.search(said.content)
    return said.content[end.end() :] + "\n" if end else ""


def _first_sentence(text: str) -> str:
    match = _FIRST.search(text)
    return (text[: match.start()] if match else text).strip()


def _plain(text: str) -> str:
    """Return a text without marks of emphasis, code and quotation around it."""
    return _MARKS.sub("", text.replace('\\"', '"')).strip(_QUOTES).strip()


def _guessed(text: str) -> Stated | None:
    """Return the value of the last sentence that has one, after its last sign of equality."""
    parts = sentences(_MARKS.sub("", text))
    if _is_loop(parts):
        return None
    for place in range(len(parts) - 1, max(-1, len(parts) - _LOOKED_AT), -1):
        value = _last_of(parts[place], parts[:place])
        if value is not None:
            return Stated(
                value, "guess", "retracted" if is_retracted("\n".join(parts[place + 1 :])) else None
            )
    return Stated("\\emptyset", "guess") if _NO_SOLUTION.search(text[-_BARE:]) else None


def _last_of(sentence: str, before: Sequence[str] = ()) -> str | None:
    """Return the value that a sentence comes to, or None if it has none.

    It is what follows the last sign of equality. Without one it is the value that the last equation before
    gives, if the sentence has it ("80 / 40 = 2. It takes 2 weeks to save $80."), else the last value.
    """
    found = amounts.amounts(_ASIDE.sub(" ", sentence)) or amounts.amounts(sentence)
    if not found:
        return None
    if (result := amounts.result_of(sentence)) is not None:
        return result
    if len(found) > 1:
        computed = next(
            (value for part in reversed(before[-_BEFORE:]) if (value := amounts.result_of(part))), None
        )
        again = [
            one.text
            for one in found
            if computed and amounts.number_of(one.text) == amounts.number_of(computed)
        ]
        if again:
            return again[-1]
    return after_equals(found[-1].text)


def _is_loop(parts: list[str]) -> bool:
    return len(parts) >= _REPEATED and len(set(parts[-_REPEATED:])) == 1
