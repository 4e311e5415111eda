"""The language of a text, as langdetect finds it, seeded and with its inner loops in numpy."""

from __future__ import annotations

from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from langdetect import LangDetectException
from langdetect.detector import Detector
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from langdetect.lang_detect_exception import ErrorCode
from langdetect.utils.ngram import NGram
from numpy.typing import NDArray

SEED = 0
LONGEST_MATCH = 3000
"""More characters than langdetect's patterns of addresses (which it blanks) can span together."""

REMEMBERED = 20_000
LONG_WORD = 30

Floats = NDArray[np.float64]


class Alphabet(dict[str, str]):
    """A table of langdetect's normal form of each character, filled as characters come."""

    def __missing__(self, character: str) -> str:
        normal: str = NGram.normalize(character)
        self[character] = normal
        return normal


class Factory(DetectorFactory):  # type: ignore[misc]  # langdetect has no types
    """langdetect's profiles in one order on every machine, as arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.set_seed(SEED)
        # Its own loader takes the files in the order of the folder listing, which differs by machine.
        files = sorted(path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith("."))
        self.load_json_profile([path.read_text(encoding="utf-8") for path in files])
        self.alphabet = Alphabet()
        self.vector = lru_cache(maxsize=REMEMBERED)(self._vector)
        self._short = lru_cache(maxsize=REMEMBERED)(self._grams)

    def grams(self, word: str) -> tuple[str, ...]:
        """Return the grams of a word that are in some profile. A blank at its end belongs to the word."""
        return self._short(word) if len(word) < LONG_WORD else self._grams(word)

    def _grams(self, word: str) -> tuple[str, ...]:
        """Return the grams of one to three characters that end at each character, except inside capitals."""
        found: list[str] = []
        grams = last = " "
        for character in word if word != " " else "":
            grams = grams[-2:] + character
            if not (character.isupper() and last.isupper()):
                found += (character, grams[-2:], grams) if len(grams) > 2 else (character, grams)
            last = character
        return tuple(gram for gram in found if gram in self.word_lang_prob_map and gram != " ")

    def _vector(self, gram: str) -> Floats:
        return np.array(self.word_lang_prob_map[gram])


class QuickDetector(Detector):  # type: ignore[misc]
    """langdetect's detector with the same result to the last bit: the same draws, products and sums."""

    def __init__(self, factory: Factory) -> None:
        super().__init__(factory)
        self._factory = factory

    def _extract_ngrams(self) -> list[str]:
        """Return the grams of every word. A word includes the blank after it, so the last one may differ."""
        text = "".join(map(self._factory.alphabet.__getitem__, self.text))
        *words, last = text.split(" ")
        found = [gram for word in words for gram in self._factory.grams(word + " ")]
        return [*found, *self._factory.grams(last)]

    def _detect_block(self) -> None:
        """Return each language's probability, the mean over trials. A trial draws grams until one is sure.

        Raises:
            LangDetectException: no gram of the text is in any profile.
        """
        self.cleaning_text()
        grams = self._extract_ngrams()
        if not grams:
            raise LangDetectException(ErrorCode.CantDetectError, "No features in text.")
        self.random.seed(self.seed)
        total = np.zeros(len(self.langlist))
        for _ in range(self.n_trial):
            total += self._trial(grams) / self.n_trial
        self.langprob = total.tolist()

    def _trial(self, grams: list[str]) -> Floats:
        vector, choice = self._factory.vector, self.random.choice
        weight = (self.alpha + self.random.gauss(0.0, 1.0) * self.ALPHA_WIDTH) / self.BASE_FREQ
        likely = np.full(len(self.langlist), 1.0 / len(self.langlist))
        factor = np.empty_like(likely)
        for draw in range(self.ITERATION_LIMIT + 1):
            np.add(vector(choice(grams)), weight, out=factor)
            np.multiply(likely, factor, out=likely)
            if draw % 5 == 0:
                likely /= sum(likely.tolist())
                if likely.max() > self.CONV_THRESHOLD:
                    break
        return likely


class LanguageDetector:
    """Detects languages. Each text has draws of its own, so the order of texts does not matter."""

    name = f"langdetect {version('langdetect')} seed {SEED}"

    @cached_property
    def _factory(self) -> Factory:
        return Factory()

    def language(self, text: str) -> str | None:
        """Return the code of the likeliest language, or None if `text` has no letters to go by."""
        detector = QuickDetector(self._factory)
        try:
            detector.append(head(text, detector))
            code: str = detector.detect()
        except LangDetectException:
            return None
        return code


def head(text: str, detector: Detector) -> str:
    """Return the part of `text` that the detector reads, which is cut after addresses are blanked.

    Its pattern of mail addresses tries 64 lengths at every letter, which takes long on long texts.
    """
    size = 2 * detector.max_text_length
    while size < len(text):
        left = detector.MAIL_RE.sub(" ", detector.URL_RE.sub(" ", text[:size]))
        if len(left) >= detector.max_text_length + LONGEST_MATCH:
            return text[:size]
        size *= 2
    return text
