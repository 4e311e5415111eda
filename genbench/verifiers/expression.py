"""An answer in the forms that a comparison needs; decides all that needs no computer algebra."""

from __future__ import annotations

import re
from dataclasses import dataclass

from genbench.verifiers.final_answer import final_answer
from genbench.verifiers.latex import canonical, tidy, unwrap
from genbench.verifiers.numbers import Number, numbers_equal, read_number

_VOTE_CHARS = 300
_DELIMITED = re.compile(r"(?<!\\)\$|\\boxed|\\\(|\\\[")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_WORD_CHARS = 4
"""Bare letters from this many on are a word: "east" is not the product "seat", but xyz is zyx."""
_WRAPPED = re.compile(r"\\(?:text|mbox|mathrm|textbf|textrm|textnormal|textit)\s*\{")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
"""Read as one number only where the reference has a decimal point: 1,2 may be a list."""
_EQUALS = re.compile(r"(?<![<>!=\\:])=(?!=)")


@dataclass(frozen=True, slots=True)
class Expression:
    """One answer: tidy LaTeX, a key equal for equal spellings, its number, its words."""

    latex: str
    key: str
    number: Number | None
    word: str | None

    @property
    def vote(self) -> str:
        """What maj@k counts: made from the answer alone, so that right and wrong answers group alike."""
        number = self.number or _right_hand_side(self.key)
        return str(number) if number else self.key[:_VOTE_CHARS]


def read_expression(latex: str) -> Expression:
    """Reads LaTeX or a plain number or word."""
    text = tidy(latex)
    key = canonical(text)
    return Expression(text, key, read_number(key), _read_word(text))


def read_reference(reference: str) -> Expression:
    """Reads a reference: bare LaTeX, or text that has it boxed or between delimiters."""
    if _DELIMITED.search(reference) and (found := final_answer(reference)) is not None:
        return read_expression(found.text)
    return read_expression(reference)


def _read_word(text: str) -> str | None:
    bare = unwrap(text).strip("() ")
    if not _WORDS.fullmatch(bare) or not (_WRAPPED.match(text) or len(bare) >= _WORD_CHARS):
        return None
    return _ARTICLE.sub("", bare).casefold()


def decide(reference: Expression, answer: Expression) -> bool | None:
    """Whether the answer states the reference; None where only computer algebra can tell."""
    if reference.number and answer.number:
        return numbers_equal(reference.number, answer.number)
    if reference.key == answer.key:
        return bool(reference.key)
    if reference.word is not None:
        return reference.word == (answer.word or answer.key.casefold())
    if reference.number and reference.number.decimal and _DECIMAL_COMMA.fullmatch(answer.key):
        return decide(reference, read_expression(answer.key.replace(",", ".")))
    if reference.number and (right := _right_hand_side(answer.key)) is not None:
        return numbers_equal(reference.number, right)
    return None


def _right_hand_side(key: str) -> Number | None:
    """The number that an equation ends in: ``n=2+3=5``. A list of equations has none."""
    parts = _EQUALS.split(key)
    return read_number(parts[-1]) if len(parts) > 1 and "," not in key else None
