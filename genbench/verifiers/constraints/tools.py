"""What texts are read with: one splitter, one language detector and, where a suite names one, a tagger."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from genbench.errors import UnavailableError
from genbench.verifiers.constraints.detector import LanguageDetector
from genbench.verifiers.constraints.punkt import Splitter
from genbench.verifiers.constraints.tagger import Tagger


class Toolbox:
    """The tools of one verifier. `split` replaces Punkt's sentences (not those under the word tokens)."""

    def __init__(
        self,
        punkt_dir: Path | None = None,
        tagger_dir: Path | None = None,
        split: Callable[[str], list[str]] | None = None,
    ) -> None:
        self._splitter = Splitter(punkt_dir)
        self._detector = LanguageDetector()
        self._tagger = Tagger(tagger_dir) if tagger_dir else None
        self._split = split
        self._language_of = lru_cache(maxsize=16)(self._detector.language)

    @property
    def name(self) -> str:
        """Every tool with its version; verdicts of other tools are not comparable."""
        tagger = self._tagger.name if self._tagger else "no tagger"
        return f"{self._splitter.name}; {self._detector.name}; {tagger}"

    @property
    def has_tagger(self) -> bool:
        return self._tagger is not None

    def sentences(self, text: str) -> list[str]:
        return self._split(text) if self._split else self._splitter.sentences(text)

    def tokens(self, text: str) -> list[str]:
        return self._splitter.tokens(text)

    def language(self, text: str) -> str | None:
        return self._language_of(text)

    def first_tag(self, tokens: list[str]) -> str:
        if self._tagger is None:
            raise UnavailableError("no tagger: name a folder with tagger_dir")
        return self._tagger.first_tag(tokens)
