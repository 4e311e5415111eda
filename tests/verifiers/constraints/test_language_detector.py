"""The language detector: the same answer every time, whatever was asked before."""

from __future__ import annotations

import langdetect
import pytest
from langdetect import DetectorFactory

from genbench.verifiers.constraints.detector import LanguageDetector
from genbench.verifiers.constraints.language import LANGUAGES

MIXED = "MAIS JUNGE, THE TRAIN EST LATE HEUTE. oui ja yes"


def test_the_order_of_texts_does_not_matter() -> None:
    detector = LanguageDetector()
    alone = detector.language(MIXED)
    for text in ("Guten Morgen", "good morning to you", "bonjour à tous"):
        detector.language(text)
        assert detector.language(MIXED) == alone


def test_it_agrees_with_the_library_under_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DetectorFactory, "seed", 0)
    for text in (MIXED, "Der Zug fährt heute nicht.", "the train is late today", "今日は雨です。"):
        assert LanguageDetector().language(text) == langdetect.detect(text)


def test_a_text_without_letters_has_no_language() -> None:
    assert LanguageDetector().language("12 : 34 !") is None


def test_the_codes_that_kwargs_may_name_are_the_library_s() -> None:
    assert set(LanguageDetector()._factory.get_lang_list()) == LANGUAGES


def test_long_texts_are_judged_by_the_same_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DetectorFactory, "seed", 0)
    address = "see https://example.org/" + "a" * 2000 + " or write to someone.or.other@example.org "
    for text in ("the train is late " * 2000, address * 40 + "der Zug fährt nicht " * 1000, MIXED * 1000):
        assert LanguageDetector().language(text) == langdetect.detect(text)
