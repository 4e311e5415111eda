"""Rules on the language of a text and on texts in capitals or small letters only."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from genbench.errors import nearest
from genbench.verifiers.constraints.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Relation,
    Rule,
    Rules,
    compared,
)
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import words

LANGUAGES = words(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no "
    "pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh-cn zh-tw"
)
"""The codes that langdetect 1.0.9 can return."""


def _known(code: str) -> str:
    if code not in LANGUAGES and code != "zh":
        raise ValueError(f"langdetect knows no language '{code}'{nearest(code, LANGUAGES)}")
    return code


class ResponseLanguage(Kwargs):
    """The kwargs of `language:response_language`."""

    language: Annotated[str, AfterValidator(_known)]


def response_language(text: Text, want: ResponseLanguage) -> Fault:
    """Compare the language of the text with the wanted one."""
    return language_fault(text.language, want.language)


def language_fault(found: str | None, wanted: str) -> Fault:
    """Compare languages. A text without letters counts as followed, as in the official code."""
    return None if found in (wanted, None) else f"the language looks like '{found}', '{wanted}' wanted"


class CapitalWordFrequency(Kwargs):
    """The kwargs of `change_case:capital_word_frequency`."""

    capital_frequency: Count
    capital_relation: Relation


def capital_word_frequency(text: Text, want: CapitalWordFrequency) -> Fault:
    """Count word tokens in capitals."""
    found = sum(1 for token in text.tokens if token.isupper())
    return compared(found, want.capital_relation, want.capital_frequency, "words in capitals")


def english_capital(text: Text, _: NoKwargs) -> Fault:
    """Require English capitals. They are often taken for another language (defect D2)."""
    return capitals_fault(text.raw) or language_fault(text.language, "en")


def english_lowercase(text: Text, _: NoKwargs) -> Fault:
    """Require English in small letters."""
    return lowercase_fault(text.raw) or language_fault(text.language, "en")


def capitals_fault(text: str) -> Fault:
    """Return the fault of a text that is not all in capitals."""
    if text.isupper():
        return None
    small = next((char for char in text if char.islower()), None)
    return f"holds the small letter {small!r}" if small else "holds no letter that has a case"


def lowercase_fault(text: str) -> Fault:
    """Return the fault of a text that is not all in small letters."""
    if text.islower():
        return None
    capital = next((char for char in text if char.isupper() or char.istitle()), None)
    return f"holds the capital letter {capital!r}" if capital else "holds no letter that has a case"


RULES: Rules = (
    Rule("language:response_language", ResponseLanguage, response_language),
    Rule("change_case:capital_word_frequency", CapitalWordFrequency, capital_word_frequency),
    Rule("change_case:english_capital", NoKwargs, english_capital),
    Rule("change_case:english_lowercase", NoKwargs, english_lowercase),
)
