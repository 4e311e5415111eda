"""Parts of speech: nltk's averaged perceptron with the weights of a folder."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path

from nltk.tag.perceptron import PerceptronTagger

from genbench.data.nltk_data import TAGGER_FILES
from genbench.errors import UnavailableError

CONTEXT = 3
"""The number of words that decide the first tag: the tagger looks two words ahead."""


class Tagger:
    """Tags the first word of a text as nltk's `pos_tag` does."""

    def __init__(self, folder: Path) -> None:
        missing = [name for name in TAGGER_FILES if not (folder / name).is_file()]
        if missing:
            raise UnavailableError(
                f"{folder}: no {', '.join(missing)}; tagger_dir must contain nltk's tagger "
                "averaged_perceptron_tagger_eng as three JSON files, "
                "or be left out (words:start_verb is then unavailable)"
            )
        self._folder = folder
        digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in TAGGER_FILES))
        self.name = f"averaged_perceptron_tagger_eng-{digest.hexdigest()[:12]}"

    @cached_property
    def _tagger(self) -> PerceptronTagger:
        return PerceptronTagger(loc=str(self._folder))

    def first_tag(self, tokens: list[str]) -> str:
        """Return the Penn Treebank tag of the first of `tokens` (at least one)."""
        tag: str = self._tagger.tag(tokens[:CONTEXT])[0][1]
        return tag
