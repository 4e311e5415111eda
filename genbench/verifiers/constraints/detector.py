"""The language of a text: langdetect, seeded, with its profiles read in one order on every machine."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from langdetect import LangDetectException
from langdetect.detector import Detector
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

SEED = 0
LONGEST_MATCH = 3000
"""More than langdetect's patterns of addresses, which it blanks, can span together."""


class LanguageDetector:
    """langdetect with a generator of its own for each text, so that the order of texts does not matter."""

    name = f"langdetect {version('langdetect')} seed {SEED}"

    @cached_property
    def _factory(self) -> DetectorFactory:
        factory = DetectorFactory()
        factory.set_seed(SEED)
        # Its own loader takes the files in the order of the folder listing, which differs by machine.
        profiles = sorted(
            path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith(".")
        )
        factory.load_json_profile([path.read_text(encoding="utf-8") for path in profiles])
        return factory

    def language(self, text: str) -> str | None:
        """The code of the likeliest language; None where `text` has no letters to go by."""
        detector = self._factory.create()
        try:
            detector.append(_head(text, detector))
            code: str = detector.detect()
        except LangDetectException:
            return None
        return code


def _head(text: str, detector: Detector) -> str:
    """As much of `text` as the detector looks at: so many characters are left when addresses are blanked.

    Its pattern of mail addresses tries 64 lengths at every letter, which takes long on long texts.
    """
    size = 2 * detector.max_text_length
    while size < len(text):
        left = detector.MAIL_RE.sub(" ", detector.URL_RE.sub(" ", text[:size]))
        if len(left) >= detector.max_text_length + LONGEST_MATCH:
            return text[:size]
        size *= 2
    return text
