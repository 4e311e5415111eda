"""Tells the names of quantities, such as x, m+n and P(A), from expressions that an equation is about."""

from __future__ import annotations

import re

from genbench.verifiers.arithmetic import is_arithmetic

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|rho|sigma|"
    "tau|upsilon|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Sigma|Phi|Psi|Omega|ell|hbar"
)
_ACCENTS = (
    r"\\(?:vec|hat|bar|tilde|overline|overrightarrow|widehat|widetilde|angle|triangle|measuredangle|mathcal|"
    r"mathbf)"
)
_SUBSCRIPT = r"(?:_\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|_[A-Za-z0-9])?"
_LETTER = rf"(?:[A-Za-z]|\\(?:{_GREEK})(?![A-Za-z])){_SUBSCRIPT}'*"
_NAME = re.compile(rf"(?:{_ACCENTS}\s*(?:\{{[^{{}}]*\}}|[A-Za-z]+)|{_LETTER}){_SUBSCRIPT}'*(?:\^\{{?\*\}}?)?")
_WORDS = re.compile(r"[A-Za-z][A-Za-z .,'’\-]{2,80}|.*[A-Za-z]{3,} .*")
_FUNCTION = (
    r"\\(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|ln|log|lg|gcd|lcm|max|min|det|dim|lim|sum|prod|int|iint|oint|deg|"
    r"Pr|operatorname|sup|inf|binom|lfloor|lceil|varphi|phi|sigma|tau|mu|angle|text|mathbb)(?![A-Za-z])"
)
_APPLIED = re.compile(
    rf"(?:{_LETTER}(?:\^\{{?\(?-?\d+\)?\}}?)?\(.*\)'*|{_LETTER}\[.*\]|{_FUNCTION}.*|m\\angle.*|\[[A-Z]{{3,}}\]"
    r"|\((?:[A-Za-z]\\circ)+[A-Za-z]\)\(.*\)|\\frac\{d.*\}\{d.*\}.*|\|\|?[^|]+\|\|?|\\[lr]?[vV]ert.*|\\\|.*)",
    re.DOTALL,
)
_TUPLE = re.compile(rf"(?:\(|\\\{{){_LETTER}(?:,{_LETTER})+(?:\)|\\\}})")
_VARIABLE = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
_SEGMENT = re.compile(r"(?<![A-Za-z\\])[A-Z]{2}(?![A-Za-z])")
_NUMBERS = {"e", "i", "\\pi"}
_OPERATIONS = {"\\cdot", "\\times", "\\frac", "\\div", "\\overline", "\\sqrt"}
_POWER = re.compile(r"(?<=[A-Za-z)}])\^")
_COEFFICIENT = re.compile(r"\d")
_COORDINATES = frozenset("xyz")
_LONE = re.compile(r"\|+[xy]\|+|.*\(\s*\)")


def has_letters(text: str) -> bool:
    """Return whether a canonical text contains a letter that represents a value: not e, i or a command."""
    return any(not token.startswith("\\") or _NAME.fullmatch(token) for token in _letters(text))


def _letters(text: str) -> set[str]:
    return {token for token in _VARIABLE.findall(text) if token not in _NUMBERS | _OPERATIONS}


def is_name(text: str) -> bool:
    """Return whether a canonical text is one letter or word that can represent a value: ``x``, ``S_{n}``."""
    return text not in _NUMBERS and (_NAME.fullmatch(text) is not None or text in {"\\angle", "Answer"})


def is_quantity(text: str) -> bool:
    """Return whether an equation with `text` on one side states the value of that side.

    ``x``, ``m+n``, ``AB``, ``f(2)``, ``\\sin\\theta`` and ``2+3`` are quantities. ``x^{2}``, ``2x`` and
    ``x^{2}+1`` are not: the equation is about x then, and its other side is no answer.
    """
    if not text or len(text) > 300:
        return False
    if is_name(text) or is_arithmetic(text) or _TUPLE.fullmatch(text):
        return True
    if _APPLIED.fullmatch(text) and not _LONE.fullmatch(text):
        return True
    return _is_combination(text)


def _is_combination(text: str) -> bool:
    """Return whether a text combines at least two letters into something a problem asks for."""
    segments = _SEGMENT.findall(text)
    letters = _letters(text)
    if any(token.startswith("\\") and not _NAME.fullmatch(token) for token in letters):
        return bool(re.fullmatch(r"[^=<>]*", text)) and not letters & _COORDINATES
    if len(letters) < 2:
        return False
    if segments and not letters & {"x", "y", "z"}:
        return True
    about_coordinates = bool(letters & _COORDINATES)
    return not (about_coordinates and (_POWER.search(text) or _COEFFICIENT.search(text)))
