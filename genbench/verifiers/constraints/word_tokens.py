"""nltk's word tokenizer with quicker replacements and the same tokens."""

from __future__ import annotations

import re
from typing import ClassVar, Protocol

from nltk.tokenize import NLTKWordTokenizer

LONG_GAP = re.compile(r"(\s)\s+(\s)")
SINGLE_CHARACTERS = re.compile(r"\(?\[((?:\\.|[^\\\[\]^-]|.-.)+)\]\)?")
PADDED = (r" \1 ", r" \g<0> ")


class Replacer(Protocol):
    """The part of a compiled pattern that nltk's tokenizer calls."""

    def sub(self, replacement: str, text: str, /) -> str:
        """Return the text with each match replaced."""
        ...


class Pad:
    """Puts blanks around each of some characters. A pattern would call Python for each of them."""

    def __init__(self, characters: str) -> None:
        self._padded = [(character, f" {character} ") for character in characters]

    def sub(self, _: str, text: str) -> str:
        """Return the text with blanks around each of the characters."""
        for character, padded in self._padded:
            text = text.replace(character, padded)
        return text


class Swap:
    """Replaces a fixed text."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def sub(self, _: str, text: str) -> str:
        """Return the text with the new text in place of the old one."""
        return text.replace(self._old, self._new)


class Expand:
    """Puts groups into a template. Before Python 3.12 `re` does that in slow Python."""

    def __init__(self, pattern: re.Pattern[str], template: str) -> None:
        self._pattern = pattern
        self._whole = template == PADDED[1]
        self._filled = template.replace(r"\1", "{0}").replace(r"\2", "{1}").replace(r"\3", "{2}").format

    def sub(self, _: str, text: str) -> str:
        """Return the text with each match replaced by the filled template."""
        if self._whole:
            return self._pattern.sub(lambda match: f" {match[0]} ", text)
        return self._pattern.sub(lambda match: self._filled(*match.groups()), text)


class Contraction:
    """Splits a word such as "cannot". The pattern is tried only if an ASCII text has the word."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._word = "".join(re.findall(r"\(([a-z']+)\)", pattern.pattern))

    def sub(self, replacement: str, text: str) -> str:
        """Return the text with each match replaced, if the word is in it."""
        if text.isascii() and self._word not in text.lower():
            return text
        return self._pattern.sub(replacement, text)


Rule = tuple[Replacer, str]


def sooner(rule: Rule) -> Rule:
    """Return a quicker `rule` if it only pads single characters or replaces a fixed text."""
    pattern, replacement = rule
    if not isinstance(pattern, re.Pattern):
        return rule
    plain = pattern.pattern.strip("()")
    new = replacement.replace(r"\1", plain).replace(r"\g<0>", plain)
    if plain in ("''", "``", '"', "--"):
        return Swap(plain, new), ""
    characters = _class_members(pattern)
    if characters and replacement in PADDED:
        return Pad(characters), ""
    return (Expand(pattern, replacement), "") if "\\" in replacement else rule


def _class_members(pattern: re.Pattern[str]) -> str:
    """Return the characters of a pattern that is one character class, or an empty text if it is not."""
    if not SINGLE_CHARACTERS.fullmatch(pattern.pattern):
        return ""
    return "".join(character for character in map(chr, range(0x3000)) if pattern.fullmatch(character))


class WordTokenizer(NLTKWordTokenizer):  # type: ignore[misc]  # nltk has no types
    """nltk's tokens of one sentence in time linear in its length."""

    STARTING_QUOTES: ClassVar = [
        (Pad("«“‘„"), ""),
        (Expand(re.compile("`+"), PADDED[1]), ""),
        *(sooner(rule) for rule in NLTKWordTokenizer.STARTING_QUOTES[1:]),
    ]
    PUNCTUATION: ClassVar = [sooner(rule) for rule in NLTKWordTokenizer.PUNCTUATION]
    ENDING_QUOTES: ClassVar = [sooner(rule) for rule in NLTKWordTokenizer.ENDING_QUOTES]
    PARENS_BRACKETS = sooner(NLTKWordTokenizer.PARENS_BRACKETS)
    DOUBLE_DASHES = sooner(NLTKWordTokenizer.DOUBLE_DASHES)
    CONTRACTIONS2: ClassVar = [Contraction(pattern) for pattern in NLTKWordTokenizer.CONTRACTIONS2]
    CONTRACTIONS3: ClassVar = [Contraction(pattern) for pattern in NLTKWordTokenizer.CONTRACTIONS3]

    def tokens(self, sentence: str) -> list[str]:
        """Return the word tokens of a sentence."""
        # Two of the patterns are quadratic in the length of one run of blanks. What they and the others
        # see of a run is its first and its last character, so the middle can go.
        found: list[str] = self.tokenize(LONG_GAP.sub(r"\1\2", sentence))
        return found
