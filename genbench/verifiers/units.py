"""Drops the physical unit after a number: ``4.5e33 erg/s``, ``3\\cdot 10^8 \\frac{m}{s}``, ``5 J s``."""

from __future__ import annotations

import re

_CHARS = 200
"""A longer text is no number with a unit."""
_NUMBER = re.compile(
    r"(?P<number>[+-]?\s*(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3}"
    r"|\s*(?:\\cdot|\\times|\*|×)\s*10\s*\^\s*(?:\{\s*[+-]?\d{1,3}\s*\}|[+-]?\d{1,3}))?)(?P<unit>.*)",
    re.DOTALL,
)
_PREFIX = r"(?:[numkMGTcd]|\\mu\s*|µ|μ)?"
_SYMBOLS = (
    r"(?:m|g|s|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|T|H|eV|pc|L|l|bar|cal)",
    r"(?:ergs?|dyn(?:es?)?|atm|torr|AU|ly|yr|years?|days?|hours?|hrs?|h|min(?:utes?)?|sec(?:onds?)?|met(?:er|re)s?|"
    r"grams?|kelvins?|joules?|watts?|volts?|newtons?|amperes?|moles?|rad(?:ians?)?|sr|deg(?:rees?)?|arcsec(?:onds?)?|"
    r"arcmin(?:utes?)?|angstroms?|atoms?|electrons?|photons?|ions?|Ohms?|ohms?|bits?|bytes?|dollars?|units?)",
    r"(?:\\AA|\\Omega|Ω|Å|\\ell|\\degree|\\circ|°|\\%|%|\\(?:mathring|dot)\{A\}|[ML]_\{?\\odot\}?|[ML]_\{?☉\}?)",
)
_SYMBOL = rf"(?:{_PREFIX}{_SYMBOLS[0]}(?![A-Za-z])|{_SYMBOLS[1]}(?![A-Za-z])|{_SYMBOLS[2]})"
_POWER = r"(?:\s*\^\s*(?:\{\s*-?\d\s*\}|-?\d))?"
_FACTOR = rf"(?:{_SYMBOL}{_POWER})"
_PRODUCT = rf"{_FACTOR}(?:(?:\s*(?:\\cdot|\\times|\*|·|/|\bper\b)\s*|\s+){_FACTOR})*+"
_QUOTIENT = rf"\\frac\s*\{{\s*(?:{_PRODUCT}|1)\s*\}}\s*\{{\s*{_PRODUCT}\s*\}}"
_PART = rf"(?:{_QUOTIENT}|(?:1\s*)?/?\s*{_PRODUCT})"
_UNIT = re.compile(rf"\s*(?:\\?[,;]\s*)?\(?\[?\s*{_PART}(?:\s*(?:\\cdot\s*)?{_PART})?\s*\]?\)?\s*\.?\s*")
_WRAPPER = re.compile(r"\\(?:text|mathrm|mbox|textrm|rm|operatorname)\s*\{([^{}]*)\}")
_SPACING = re.compile(r"\\[,;:! ]|~|\\q?quad")


def without_unit(latex: str) -> str | None:
    """Return the number of a text that is a number and a physical unit, or None if it is anything else."""
    if len(latex) > _CHARS:
        return None
    text = _SPACING.sub(" ", _WRAPPER.sub(r" \1 ", latex)).strip()
    match = _NUMBER.fullmatch(text)
    if match is None or not match["unit"].strip():
        return None
    return match["number"].strip() if _UNIT.fullmatch(match["unit"]) else None
