"""Makes texts comparable: what a task says does not count is removed, and what is left is one spelling."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from genbench.verifiers.expression import read_expression

_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_NUMBER_CHARS = 4_000
"""A longer text is no number. The rules that rewrite LaTeX are at worst quadratic in its length."""


@dataclass(frozen=True, slots=True)
class Normaliser:
    """What does not count when two texts are compared."""

    ignore_case: bool = False
    ignore_whitespace: bool = True
    ignore_punctuation: bool = False
    ignore_articles: bool = False
    ignore_accents: bool = False
    numbers: bool = False

    def normalised(self, text: str) -> str:
        """Return the one spelling of a text."""
        text = unicodedata.normalize("NFC", text).strip()
        if (
            self.numbers
            and len(text) <= _NUMBER_CHARS
            and (number := read_expression(text).number) is not None
        ):
            return str(number)
        if self.ignore_accents:
            parts = unicodedata.normalize("NFD", text)
            text = unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = _PUNCTUATION.sub("", text)
        if self.ignore_articles:
            text = _ARTICLES.sub(" ", text)
        return _BLANKS.sub(" ", text).strip() if self.ignore_whitespace else text
