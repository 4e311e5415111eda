"""Reads an answer into the forms that a comparison needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from genbench.verifiers.final_answer import final_answer
from genbench.verifiers.grammar import TooLargeError
from genbench.verifiers.latex import canonical, tidy, unwrap
from genbench.verifiers.numbers import Number, read_number
from genbench.verifiers.relations import stated_values
from genbench.verifiers.residues import Based, read_based, split_modulus

_VOTE_CHARS = 300
_DELIMITED = re.compile(r"(?<!\\)\$|\\boxed|\\\(|\\\[")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_WORD_CHARS = 4
"""Bare letters from this many on are a word: "east" is not the product "seat", but xyz is zyx."""
_WRAPPED = re.compile(r"\\(?:text|mbox|mathrm|textbf|textrm|textnormal|textit)\s*\{")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expression:
    """One answer: tidy LaTeX, a key equal for equal spellings, its number, its words."""

    latex: str
    key: str
    number: Number | None
    word: str | None
    modulus: str | None = None
    based: Based | None = None
    too_large: bool = False

    @property
    def sample(self) -> str:
        """Return a text that can be evaluated at a point: the number as a fraction, else the LaTeX."""
        if self.number is None or self.number.percent or self.number.is_huge:
            return self.latex
        return f"\\frac{{{self.number.value.numerator}}}{{{self.number.value.denominator}}}"

    @property
    def vote(self) -> str:
        """Return what maj@k counts. It depends on the answer only, so that wrong answers group too."""
        number = self.number
        if number is None and (values := stated_values(self.key)):
            number = _number(values[0])[0]
        return str(number) if number else self.key[:_VOTE_CHARS]


def read_expression(latex: str) -> Expression:
    """Read LaTeX or a plain number or word."""
    tidied = tidy(latex)
    text, modulus = split_modulus(tidied)
    key = canonical(text)
    number, too_large = _number(key)
    if number is not None:
        return Expression(text, key, number, _read_word(text), modulus)
    return Expression(text, key, None, _read_word(text), modulus, read_based(text), too_large)


def _number(key: str) -> tuple[Number | None, bool]:
    """Return the number of a key, and whether it is one with too many digits."""
    try:
        return read_number(key), False
    except TooLargeError:
        return None, True


def is_delimited(reference: str) -> bool:
    """Return whether a text has mathematics in a box or between delimiters."""
    return _DELIMITED.search(reference) is not None


def read_reference(reference: str) -> Expression:
    """Read a reference: bare LaTeX, or text that has it boxed or between delimiters."""
    if is_delimited(reference) and (found := final_answer(reference)) is not None:
        return read_expression(found.text)
    return read_expression(reference)


def _read_word(text: str) -> str | None:
    bare = unwrap(text).strip("() ")
    if not _WORDS.fullmatch(bare) or not (_WRAPPED.match(text) or len(bare) >= _WORD_CHARS):
        return None
    return _ARTICLE.sub("", bare).casefold()
