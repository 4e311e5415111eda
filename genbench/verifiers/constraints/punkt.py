"""Sentences and word tokens: nltk's Punkt with its tables, or with an abbreviation list."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from string import whitespace

from nltk.data import FileSystemPathPointer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, load_punkt_params

from genbench.data.nltk_data import PUNKT_TABLES
from genbench.errors import UnavailableError
from genbench.verifiers.constraints.abbreviations import ABBREVIATIONS
from genbench.verifiers.constraints.word_tokens import WordTokenizer

TABLES = tuple(PUNKT_TABLES)
CLOSING = frozenset("\"')]}")
"""The characters that `re_boundary_realignment` can begin with."""


class Punkt(PunktSentenceTokenizer):  # type: ignore[misc]  # nltk has no types
    """nltk's splitter in one loop and with a cache, because loose variants ask about the same places."""

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__()
        self._params = parameters
        self._remembered = lru_cache(maxsize=4096)(self.text_contains_sentbreak)

    def sentences(self, text: str) -> list[str]:
        """Return what `tokenize` gives. Closing quotes and brackets belong to the sentence before."""
        pieces = self._pieces(text)
        found: list[str] = []
        drawn = 0
        for (start, stop), (after, limit) in zip(pieces, [*pieces[1:], (0, 0)], strict=True):
            closing = self._closing(text, after, limit) if after < limit and text[after] in CLOSING else ""
            end = after + len(closing.rstrip()) if closing else stop
            if closing or start + drawn < end:
                found.append(text[start + drawn : end])
            drawn = len(closing)
        return found

    def _closing(self, text: str, start: int, stop: int) -> str:
        """Return the closing marks at the start of a piece of `text`, with the blanks after them."""
        match = self._lang_vars.re_boundary_realignment.match(text, start, stop)
        return match.group() if match else ""

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Return starts and ends of sentences by their end marks only."""
        pieces: list[tuple[int, int]] = []
        start = 0
        for mark, word in self._last_marks(text):
            if self._breaks(text[word : mark.end()] + mark.group("after_tok")):
                pieces.append((start, mark.end()))
                start = mark.start("next_tok") if mark.group("next_tok") else mark.end()
        return [*pieces, (start, len(text.rstrip()))]

    def _last_marks(self, text: str) -> Iterator[tuple[re.Match[str], int]]:
        """Yield the last mark of each word that may end a sentence, and the start of that word."""
        mark: re.Match[str] | None = None
        word = before = 0
        for following in self._lang_vars.period_context_re().finditer(text):
            blank = following.start() - 1
            while blank > before and text[blank] not in whitespace:
                blank -= 1
            start = blank + 1 if blank > before else word
            if mark is not None and before <= start:
                yield mark, word
            mark, before, word = following, following.start(), start
        if mark is not None:
            yield mark, word

    def _breaks(self, context: str) -> bool:
        """Return whether a sentence ends between the words around a mark. Long ones are not cached."""
        found: bool = (self._remembered if len(context) < 200 else self.text_contains_sentbreak)(context)
        return found


class Splitter:
    """Splits English text into sentences and tokens.

    `folder` contains the four `punkt_tab` tables that the official code loads. Without it, Punkt knows only
    the abbreviations of this package, which are the same on every machine.
    """

    def __init__(self, folder: Path | None = None, abbreviations: Collection[str] = ABBREVIATIONS) -> None:
        self._punkt = Punkt(_tables(folder) if folder else _untrained(abbreviations))
        self.name = f"nltk {version('nltk')} {_name(folder, abbreviations)}"
        self._tokens_of = lru_cache(maxsize=512)(WordTokenizer().tokens)

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text."""
        return self._punkt.sentences(text)

    def tokens(self, text: str) -> list[str]:
        """Return the word tokens of all sentences."""
        return [token for sentence in self.sentences(text) for token in self._tokens_of(sentence)]


def _untrained(abbreviations: Collection[str]) -> PunktParameters:
    parameters = PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    return parameters


def _tables(folder: Path) -> PunktParameters:
    """Read the tables in `folder`.

    Raises:
        UnavailableError: one of the four files is missing.
    """
    missing = [name for name in TABLES if not (folder / name).is_file()]
    if missing:
        raise UnavailableError(
            f"{folder}: no {', '.join(missing)}; punkt_dir must contain the English punkt_tab tables "
            f"({', '.join(TABLES)}), or be left out"
        )
    return load_punkt_params(FileSystemPathPointer(str(folder)))


def _name(folder: Path | None, abbreviations: Collection[str]) -> str:
    if folder is None:
        digest = hashlib.sha256("\n".join(sorted(abbreviations)).encode())
        return f"punkt-abbreviations-{digest.hexdigest()[:12]}"
    digest = hashlib.sha256()
    for name in TABLES:
        digest.update((folder / name).read_bytes())
    return f"punkt-tables-{digest.hexdigest()[:12]}"
