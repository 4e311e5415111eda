"""The text that rules check. Each view of it (words, sentences, language) is computed once."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Protocol

WORD = re.compile(r"\w+")
"""A word of the official code: a run of `\\w` of the standard library (nltk 3.10 differs)."""


class Tools(Protocol):
    """The tools that a text is read with."""

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text."""
        ...

    def tokens(self, text: str) -> list[str]:
        """Return the word tokens of each sentence of a text in one list."""
        ...

    def language(self, text: str) -> str | None:
        """Return the ISO 639-1 code of the text's language, or None if it has no letters."""
        ...

    def first_tag(self, tokens: list[str]) -> str:
        """Return the part-of-speech tag of the first token."""
        ...


class Text:
    """One response or one loose variant of it."""

    def __init__(self, raw: str, tools: Tools) -> None:
        self.raw = raw
        self.tools = tools

    @cached_property
    def stripped(self) -> str:
        """The text without outer blanks."""
        return self.raw.strip()

    @cached_property
    def lower(self) -> str:
        """The text in small letters."""
        return self.raw.lower()

    @cached_property
    def lines(self) -> list[str]:
        """The parts of the text between newlines. Other line separators are ordinary characters."""
        return self.raw.split("\n")

    @cached_property
    def words(self) -> list[str]:
        """The words by the official code's pattern."""
        return WORD.findall(self.raw)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences by nltk."""
        return self.tools.sentences(self.raw)

    @cached_property
    def tokens(self) -> list[str]:
        """The word tokens of each sentence by nltk. "can't" is two tokens, a hyphenated word is one."""
        return self.tools.tokens(self.raw)

    @cached_property
    def language(self) -> str | None:
        """The ISO 639-1 code of the language, or None if the text has no letters."""
        return self.tools.language(self.raw)

    def of(self, raw: str) -> Text:
        """Return another text that is read with the same tools."""
        return Text(raw, self.tools)
