"""One spelling for the many ways in which the same LaTeX answer is written; text in, text out."""

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

WRAPPERS = (
    r"text|textbf|textit|textrm|textnormal|textsf|texttt|mathrm|mathbf|mathit|mathsf|mathbb|bm|mbox|hbox"
)
_WRAPPER = re.compile(
    rf"\\(?:{WRAPPERS}|boldsymbol|operatorname\*?|underline|fbox|framebox|boxed)\s*\{{([^{{}}]*)\}}"
)
_SWITCH = re.compile(
    r"\\(?:displaystyle|textstyle|rm|bf|it|limits|nolimits|strut|phantom\{[^{}]*\})(?![A-Za-z])"
)
_SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lrm]?)(?![A-Za-z])\.?")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_SPACING = re.compile(r"(?<!\\)\\(?:[,;:!> ]|quad(?![A-Za-z])|qquad(?![A-Za-z])|thinspace(?![A-Za-z]))|~")
_GROUPED = re.compile(r"(?<![\d.])(\d{1,3})((?:(?:\{,\}|,\s*\\!|\\,|,\\,|\\!)\s*\d{3})+)(?!\d)")
_COMMA_GROUPED = re.compile(r"[+-]?(?:\\?\$)?\s*\d{1,3}(?:(?:,|, |\s)\d{3})+(?:\.\d+)?\s*")
_DEGREES = re.compile(r"\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degree(?![A-Za-z])")
_UNIT = (
    r"(?:\s*\\(?:text|mathrm|mbox|textnormal|textbf|textrm)\s*\{[^{}]*\}(?:\s*\^\s*(?:\{\s*-?\d\s*\}|\d))?)+"
)
_TRAILING_UNIT = re.compile(rf"(?<=[\w}})\]]){_UNIT}\s*$")
_SHORT_UNITS = (
    "mm|cm|dm|km|kg|mg|ml|ms|hr|hrs|min|sec|ft|in|yd|mi|lb|lbs|oz|mph|kph|rpm|cc|pt|deg|rad|usd|eur|inches|feet|people|"
    "cents?|units?|meters?|degrees?|dollars?|hours?|minutes?|seconds?|miles?|days?|years?"
)
_UNIT_WORDS = rf"(?:sq\.? |square |cubic )?(?:{_SHORT_UNITS})(?:/(?:{_SHORT_UNITS}))?"
_OTHER_WORDS = r"(?!(?:sqrt|choose)\b)[A-Za-z]{4,20}(?:[ /][A-Za-z]{1,20}){0,3}"
_BARE_UNIT = re.compile(
    rf"^(?P<value>\S*[\d}}])(?:\s*(?:mm|cm|km|kg|ft|lbs?|mph)|\s+(?:{_UNIT_WORDS}|{_OTHER_WORDS}))(?:\^\{{?\d\}}?)?$"
)
"""A unit may touch its number only if it can hardly be a product, as 70xy and 2mg are."""
_UNIT_CHARS = 200
_PERCENT_WORD = re.compile(r"(?<=[\d}])\s*(?:percentage|percent|pct)(?![A-Za-z])", re.IGNORECASE)
_CHAINED = re.compile(r"(?<=\S)\s*\\approx(?![A-Za-z]).*$", re.DOTALL)
_ASIDE = re.compile(
    r"(?<=\S)\s*\\(?:text|mbox|mathrm)\s*\{\s*[(\[]?\s*(?:about|approximately|approx|roughly)\b.*$", re.DOTALL
)
_CLOSED = {"(": ")", "[": "]", "{": "}"}
_SYNONYMS = {
    "\\leq": "\\le",
    "\\leqslant": "\\le",
    "\\geq": "\\ge",
    "\\geqslant": "\\ge",
    "\\neq": "\\ne",
    "\\lt": "<",
    "\\gt": ">",
    "\\times": "\\cdot",
    "\\ast": "*",
    "\\lbrack": "[",
    "\\rbrack": "]",
    "\\lbrace": "\\{",
    "\\rbrace": "\\}",
    "\\varnothing": "\\emptyset",
    "\\infin": "\\infty",
    "\\land": "\\wedge",
    "\\colon": ":",
}
_COMMAND = re.compile(r"\\[A-Za-z]+")
_ARGUMENT = r"(\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z0-9])"
_SHORT_FRACTION = re.compile(rf"\\frac\s*(?!\{{[^{{}}]*\}}\s*\{{){_ARGUMENT}\s*{_ARGUMENT}")
_SHORT_ROOT = re.compile(r"\\sqrt\s*([A-Za-z0-9])")
_SHORT_SCRIPT = re.compile(r"([\^_])\s*([A-Za-z0-9]|\\[A-Za-z]+)")


def from_unicode(text: str) -> str:
    """Unicode mathematics as LaTeX: ``√(2)/2``, ``x²``, ``3≤x`` and full-width digits."""
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


def tidy(latex: str) -> str:
    """The same expression without what does not change its value: sizes, spacing, units, delimiters.

    Units go because references seldom have them (MATH drops them too); a percent sign stays.
    """
    text = _strip_delimiters(from_unicode(latex))
    text = _PERCENT_WORD.sub(r"\\%", text)
    text = _FRACTION.sub(r"\\frac", _SIZES.sub("", _SWITCH.sub("", text)))
    text = _GROUPED.sub(lambda m: m[1] + re.sub(r"\D", "", m[2]), text)
    text = _DEGREES.sub("", _SPACING.sub(" ", text))
    text = _CHAINED.sub("", _ASIDE.sub("", text)).strip()
    if _COMMA_GROUPED.fullmatch(text):
        text = re.sub(r"[,\s]", "", text)
    text = _without_unit(text)
    return re.sub(r"\s+", " ", text).strip()


def _strip_delimiters(text: str) -> str:
    text = text.replace("\\$", "").strip().strip("$").strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2].strip()
    return text.replace("$", "").rstrip(".,;\\ \n") if not text.endswith("\\\\") else text


def _without_unit(text: str) -> str:
    """``15\\mbox{ cm}^2`` and ``1320 km`` without the unit; a lone ``\\text{east}`` keeps its word."""
    bare = _TRAILING_UNIT.sub("", text)
    if bare != text and bare.count("{") == bare.count("}"):
        return bare.strip()
    match = _BARE_UNIT.match(text) if len(text) <= _UNIT_CHARS else None
    return match["value"] if match else text


def unwrap(text: str) -> str:
    """``\\textbf{(C)}`` and ``\\mathrm{E}`` without the wrapper."""
    before = ""
    while before != text:
        before, text = text, _WRAPPER.sub(r"\1", text)
    return text


def canonical(latex: str) -> str:
    """A key under which two spellings of one tidy expression are equal: no blanks, full braces."""
    text = unwrap(latex)
    text = _COMMAND.sub(lambda m: _SYNONYMS.get(m[0], m[0]), text)
    before = ""
    while before != text:
        before, text = text, _SHORT_FRACTION.sub(_full_fraction, text)
    text = _SHORT_ROOT.sub(r"\\sqrt{\1}", text)
    text = _SHORT_SCRIPT.sub(r"\1{\2}", text)
    text = re.sub(r"\s+", "", text)
    return _without_outer_brackets(text)


def _full_fraction(match: re.Match[str]) -> str:
    above, below = (part if part.startswith("{") else f"{{{part}}}" for part in match.groups())
    return f"\\frac{above}{below}"


def _without_outer_brackets(text: str) -> str:
    """``{5}`` and ``(385)``, but no tuple, interval or set."""
    while len(text) > 2 and _CLOSED.get(text[0]) == text[-1] and text[0] != "[":
        inside = text[1:-1]
        if "," in inside or not _balanced(inside):
            break
        text = inside
    return text


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


def list_both_signs(latex: str) -> str:
    """``2, \\frac{3 \\pm i}{2}`` as ``2, \\frac{3 + i}{2}, \\frac{3 - i}{2}``; only inside a list, where
    math-verify 0.9.0 does not do it itself."""
    parts, depth = [""], 0
    for char in latex:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    if len(parts) == 1 or "\\pm" not in latex:
        return latex
    signed = ([part.replace("\\pm", sign) for sign in "+-"] if "\\pm" in part else [part] for part in parts)
    return ",".join(part for both in signed for part in both)
