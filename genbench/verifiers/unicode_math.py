"""Rewrites Unicode mathematics as LaTeX."""

from __future__ import annotations

import re
import unicodedata

_COMMANDS = {
    "π": "pi",
    "∞": "infty",
    "√": "sqrt",
    "≤": "le",
    "≥": "ge",
    "≠": "ne",
    "∪": "cup",
    "∩": "cap",
    "∈": "in",
    "∅": "emptyset",
    "±": "pm",
    "∓": "mp",
    "×": "times",
    "·": "cdot",
    "⋅": "cdot",
    "∙": "cdot",
    "≈": "approx",
    "≃": "simeq",
    "≅": "cong",
    "∼": "sim",
    "≫": "gg",
    "≪": "ll",
    "≡": "equiv",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "θ": "theta",
    "λ": "lambda",
    "μ": "mu",
    "φ": "phi",
    "ϕ": "phi",
    "ω": "omega",
    "⌊": "lfloor",
    "⌋": "rfloor",
    "⌈": "lceil",
    "⌉": "rceil",
    "⟨": "langle",
    "⟩": "rangle",
}
_PLAIN = {
    "−": "-",
    "–": "-",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "∗": "*",
    "，": ",",
    "。": ".",
    "：": ":",
    "；": ";",
    "′": "'",
    "°": "^{\\circ}",
    "€": "",
    "£": "",
    "¥": "",
    "₹": "",
}
_RAISED = {"⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9"}
_RAISED |= {"⁺": "+", "⁻": "-", "ⁿ": "n"}
_LOWERED = {
    "₀": "0",
    "₁": "1",
    "₂": "2",
    "₃": "3",
    "₄": "4",
    "₅": "5",
    "₆": "6",
    "₇": "7",
    "₈": "8",
    "₉": "9",
}

_RAISED_RUN = re.compile(f"[{''.join(_RAISED)}]+")
_LOWERED_RUN = re.compile(f"[{''.join(_LOWERED)}]+")
_ROOT = re.compile(r"\\sqrt\s+(?=[(\d\w])\(?(?:(?<=\()([^()]*)\)|(\d+(?:\.\d+)?|\w))")


def from_unicode(text: str) -> str:
    """Return Unicode mathematics such as ``√(2)/2``, ``x²``, ``3≤x`` and full-width digits as LaTeX."""
    if text.isascii():
        return text
    text = _RAISED_RUN.sub(lambda run: "^{" + "".join(_RAISED[c] for c in run[0]) + "}", text)
    text = _LOWERED_RUN.sub(lambda run: "_{" + "".join(_LOWERED[c] for c in run[0]) + "}", text)
    return _ROOT.sub(r"\\sqrt{\1\2}", "".join(map(_character, text)))


def _character(char: str) -> str:
    if char in _COMMANDS:
        return f"\\{_COMMANDS[char]} "
    if char in _PLAIN:
        return _PLAIN[char]
    folded = unicodedata.normalize("NFKC", char)
    if "⁄" in folded:  # a vulgar fraction such as ½
        above, below = folded.split("⁄")
        return rf"\frac{{{above}}}{{{below}}}"
    return folded
