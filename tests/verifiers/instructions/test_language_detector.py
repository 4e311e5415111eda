"""The language detector: the same answer every time, whatever was asked before."""

from __future__ import annotations

import langdetect
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect import DetectorFactory, LangDetectException
from langdetect.detector import Detector

from genbench.verifiers.instructions.ifeval_rules import LANGUAGES
from genbench.verifiers.instructions.toolbox import Factory, LanguageDetector, QuickDetector, head

MIXED = "MAIS JUNGE, THE TRAIN EST LATE HEUTE. oui ja yes"


@pytest.fixture(scope="module")
def factory() -> Factory:
    return Factory()


@pytest.mark.slow
def test_the_order_of_texts_does_not_matter() -> None:
    detector = LanguageDetector()
    alone = detector.language(MIXED)
    for text in ("Guten Morgen", "good morning to you", "bonjour à tous"):
        detector.language(text)
        assert detector.language(MIXED) == alone


@pytest.mark.slow
def test_it_agrees_with_the_library_under_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DetectorFactory, "seed", 0)
    for text in (MIXED, "Der Zug fährt heute nicht.", "the train is late today", "今日は雨です。"):
        assert LanguageDetector().language(text) == langdetect.detect(text)


@pytest.mark.slow
def test_a_text_without_letters_has_no_language() -> None:
    assert LanguageDetector().language("12 : 34 !") is None


@pytest.mark.slow
def test_the_codes_that_kwargs_may_name_are_the_library_s() -> None:
    assert set(LanguageDetector()._factory.get_lang_list()) == LANGUAGES


@pytest.mark.slow
def test_of_long_texts_the_detector_sees_the_same_beginning(factory: Factory) -> None:
    address = "see https://example.org/" + "a" * 2000 + " or write to someone.or.other@example.org "
    cut = "x " * 6000
    for text in (
        "the train is late " * 2000,
        address * 40 + "der Zug fährt nicht " * 1000,
        cut + "y" * 5000 + "@example.org " + cut,
        "z" * 30_000,
        ("https://example.org/" + "a" * 1500 + " ") * 7 + "word " * 4000,
    ):
        whole, quick = Detector(factory), QuickDetector(factory)
        whole.append(text)
        quick.append(head(text, quick))
        assert quick.text == whole.text


def probabilities(detector: Detector, text: str) -> list[tuple[str, float]] | None:
    detector.append(text)
    try:
        return [(item.lang, item.prob) for item in detector.get_probabilities()]
    except LangDetectException:
        return None


SENTENCES = st.sampled_from(
    [
        "Der Zug FÄHRT ",
        "the TRAIN iS late",
        "¿Qué hora es?",
        "今日は雨です。",
        "Ngày mai trời sẽ mưa ",
        "آج موسم ",
    ]
)
LETTERS = st.text(alphabet="aAbBeE ÜüßéșțịạЖжあアㄅ漢字가یيك1 .,\n\t'ÀŁŉ", max_size=30)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(SENTENCES | LETTERS, max_size=6).map("".join))
def test_probabilities_are_the_library_s_to_the_last_bit(factory: Factory, text: str) -> None:
    assert probabilities(QuickDetector(factory), text) == probabilities(Detector(factory), text)
