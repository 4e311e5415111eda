"""Sentences and word tokens: nltk's Punkt with an abbreviation list, or with the tables of a named folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path

from nltk.data import FileSystemPathPointer
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, load_punkt_params

from genbench.errors import UnavailableError
from genbench.verifiers.constraints.abbreviations import ABBREVIATIONS

TABLES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
LONG_GAP = re.compile(r"(\s)\s+(\s)")


class Punkt(PunktSentenceTokenizer):  # type: ignore[misc]  # nltk has no types
    """nltk's splitter that remembers its decisions: loose variants ask about the same places again."""

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__()
        self._params = parameters
        self._decide = lru_cache(maxsize=4096)(super().text_contains_sentbreak)

    def text_contains_sentbreak(self, text: str) -> bool:
        """Whether the words around a possible end hold one; long contexts are not worth remembering."""
        breaks: bool = self._decide(text) if len(text) < 200 else super().text_contains_sentbreak(text)
        return breaks


class Splitter:
    """Splits English text into sentences and tokens.

    `folder` holds the four `punkt_tab` tables that the official code loads; without it, Punkt knows the
    abbreviations of this package and nothing else, which is the same on every machine.
    """

    def __init__(self, folder: Path | None = None, abbreviations: Collection[str] = ABBREVIATIONS) -> None:
        self._punkt = Punkt(_tables(folder) if folder else _untrained(abbreviations))
        self.name = f"nltk {version('nltk')} {_name(folder, abbreviations)}"
        self._tokens_of = lru_cache(maxsize=512)(self._tokenized)

    def sentences(self, text: str) -> list[str]:
        found: list[str] = self._punkt.tokenize(text)
        return found

    def tokens(self, text: str) -> list[str]:
        return [token for sentence in self.sentences(text) for token in self._tokens_of(sentence)]

    @cached_property
    def _words(self) -> NLTKWordTokenizer:
        return NLTKWordTokenizer()

    def _tokenized(self, sentence: str) -> list[str]:
        # Two of the tokenizer's patterns are quadratic in the length of one run of blanks. What they and
        # the others see of a run is its first and its last character, so the middle can go.
        tokens: list[str] = self._words.tokenize(LONG_GAP.sub(r"\1\2", sentence))
        return tokens


def _untrained(abbreviations: Collection[str]) -> PunktParameters:
    parameters = PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    return parameters


def _tables(folder: Path) -> PunktParameters:
    """The tables in `folder`.

    Raises:
        UnavailableError: one of the four files is missing.
    """
    missing = [name for name in TABLES if not (folder / name).is_file()]
    if missing:
        raise UnavailableError(
            f"{folder}: no {', '.join(missing)}; punkt_dir must hold the English punkt_tab tables "
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
