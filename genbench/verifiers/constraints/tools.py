"""What texts are read with: a sentence splitter, a language detector and, if there is one, a tagger."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from genbench.data.nltk_data import find_punkt, find_tagger, search_path, wrong_tables
from genbench.errors import UnavailableError
from genbench.verifiers.constraints.detector import LanguageDetector
from genbench.verifiers.constraints.punkt import Splitter
from genbench.verifiers.constraints.tagger import Tagger


class Toolbox:
    """The tools of one verifier.

    Args:
        punkt_dir: a folder with Punkt's tables. None: the abbreviation list of this package.
        tagger_dir: a folder with nltk's English tagger. None: no tagger.
        split: replaces Punkt's sentences, but not those under the word tokens.
        notes: how these tools differ from those of the official code.
    """

    def __init__(
        self,
        punkt_dir: Path | None = None,
        tagger_dir: Path | None = None,
        split: Callable[[str], list[str]] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._splitter = Splitter(punkt_dir)
        self._detector = LanguageDetector()
        self._tagger = Tagger(tagger_dir) if tagger_dir else None
        self._split = split
        self._language_of = lru_cache(maxsize=16)(self._detector.language)
        self.notes = notes

    @property
    def name(self) -> str:
        """Every tool with its version. Verdicts of other tools are not comparable."""
        tagger = self._tagger.name if self._tagger else "no tagger"
        return f"{self._splitter.name}; {self._detector.name}; {tagger}"

    @property
    def has_tagger(self) -> bool:
        """Whether `first_tag` works."""
        return self._tagger is not None

    def sentences(self, text: str) -> list[str]:
        """Split a text into sentences."""
        return self._split(text) if self._split else self._splitter.sentences(text)

    def tokens(self, text: str) -> list[str]:
        """Split a text into nltk's word tokens."""
        return self._splitter.tokens(text)

    def language(self, text: str) -> str | None:
        """Return the ISO 639-1 code of a text's language, or None if it has no letters to go by."""
        return self._language_of(text)

    def first_tag(self, tokens: list[str]) -> str:
        """Return the part of speech of the first token.

        Raises:
            UnavailableError: there is no tagger.
        """
        if self._tagger is None:
            raise UnavailableError("no tagger: name a folder with tagger_dir")
        return self._tagger.first_tag(tokens)


def open_toolbox(
    punkt_dir: str | None, tagger_dir: str | None, split: Callable[[str], list[str]] | None = None
) -> Toolbox:
    """Return the tools of a suite's options. A folder that is not named is sought where nltk keeps its data.

    Raises:
        UnavailableError: a named folder does not have the files.
    """
    places = search_path()
    notes: list[str] = []
    punkt, tagger = Path(punkt_dir) if punkt_dir else None, Path(tagger_dir) if tagger_dir else None
    if punkt is None:
        found = find_punkt(places)
        punkt = found.folder
        notes += [found.note] if found.note else []
    elif wrong := wrong_tables(punkt):
        notes.append(f"punkt_dir: {', '.join(wrong)} differ from the tables that the official code loads")
    return Toolbox(punkt, tagger or find_tagger(places).folder, split, tuple(notes))
