"""Reads the modulus and the base that an answer names: ``204 \\pmod{1000}``, ``204_5``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from genbench.verifiers.numbers import NUMBER_WORDS

_TEXT = r"\\(?:text|mathrm|operatorname|mbox|textrm)\s*\{"
_MODULUS = re.compile(
    rf"\s*,?\s*(?:\\p?mod(?![A-Za-z])|\\bmod(?![A-Za-z])|\\pod(?![A-Za-z])|[(\[]?\s*{_TEXT}\s*\(?\s*mod(?:ulo)?\s*\}}?"
    r"|[(\[]?\s*(?<![A-Za-z\\])mod(?:ulo)?(?![A-Za-z])|[(\[]\s*\\b?mod(?![A-Za-z]))"
    r"\s*[{(]?\s*(?P<modulus>[A-Za-z]|\d[\d^{} ]*?)\s*\}?\s*[)\]]?\s*\}?\s*[)\]]?\s*$"
)
_NAMES = {word: base for base, word in enumerate(NUMBER_WORDS) if 2 <= base <= 16}
_NAMES |= {"binary": 2, "ternary": 3, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16, "dec": 10}
_WORD = r"(?:[a-z]+|\d{1,2})"
_BASED = re.compile(
    r"\(?(?P<digits>[0-9A-Fa-f]*\d[0-9A-Fa-f]*|[A-F]{2,})\)?\s*"
    rf"(?:_\s*\{{?\s*(?:{_TEXT})?\s*(?:base\s*)?(?P<base>{_WORD})\s*\}}*"
    rf"|(?:\\?\(|,)?\s*(?:{_TEXT})?[\s~(]*(?:in\s+)?base\s*[-~]?\s*\}}?\s*(?:{_TEXT})?\s*(?P<spoken>{_WORD})\s*\)?\s*\}}*\)?)"
)
_CHARS = 300


@dataclass(frozen=True, slots=True)
class Based:
    """Digits with the base that they are written in."""

    digits: str
    base: int


def split_modulus(text: str) -> tuple[str, str | None]:
    """Return an answer without its modulus, and the modulus. ``x \\equiv 4 \\pmod 7`` becomes ``x = 4``."""
    if "mod" not in text and "\\pod" not in text:
        return text, None
    found = _MODULUS.search(text) if len(text) <= _CHARS else None
    if found is None or not text[: found.start()].strip():
        return text, None
    return text[: found.start()].replace("\\equiv", "=").strip(), found["modulus"].replace(" ", "")


def read_based(text: str) -> Based | None:
    """Return the digits and the base of ``204_5``, ``204_{\\text{five}}`` or ``204 \\text{ (base 5)}``."""
    if ("_" not in text and "base" not in text) or len(text) > _CHARS:
        return None
    found = _BASED.fullmatch(text)
    if found is None:
        return None
    named = found["base"] or found["spoken"]
    base = int(named) if named.isdigit() else _NAMES.get(named)
    return Based(found["digits"].upper().lstrip("0") or "0", base) if base else None
