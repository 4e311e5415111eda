"""Gives one spelling to the many ways in which the same LaTeX answer is written."""

from __future__ import annotations

import re

from genbench.verifiers.brackets import is_balanced, split_outside
from genbench.verifiers.plain_text import from_plain_text
from genbench.verifiers.quantities import has_letters, is_quantity
from genbench.verifiers.unicode_math import from_unicode

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
_NO_UNIT = (
    r"(?!\s*[^{}]*\b(?:or|and|not|no|never|maybe|perhaps|possibly|least|most|more|less|fewer|greater|smaller|higher|"
    r"lower|above|below|under|over|exceed\w*|between|base|mod|modulo|wrong|incorrect|impossible|choose|if|when|unless|"
    r"isn|cannot|can|can't|either|neither|nor|up|below|at|false)\b)"
)
"""Words after a number that are not units but change the meaning of the answer."""
_UNIT = (
    rf"(?:\s*\\(?:text|mathrm|mbox|textnormal|textbf|textrm)\s*\{{{_NO_UNIT}[^{{}}]*\}}"
    r"(?:\s*\^\s*(?:\{\s*-?\d\s*\}|\d))?)+"
)
_TRAILING_UNIT = re.compile(rf"(?<=[\w}})\]]){_UNIT}\s*$")
_SHORT_UNITS = (
    "mm|cm|dm|km|kg|mg|ml|ms|hr|hrs|min|sec|ft|in|yd|mi|lb|lbs|oz|mph|kph|rpm|cc|pt|deg|rad|usd|eur|inches|feet|people|"
    "cents?|units?|meters?|degrees?|dollars?|hours?|minutes?|seconds?|miles?|days?|years?"
)
_UNIT_WORDS = rf"(?:sq\.? |square |cubic )?(?:{_SHORT_UNITS})(?:/(?:{_SHORT_UNITS}))?"
_OTHER_WORDS = _NO_UNIT + r"(?!(?:sqrt|choose)\b)[A-Za-z]{4,20}(?:[ /][A-Za-z]{1,20}){0,3}"
_BARE_UNIT = re.compile(
    rf"^(?P<value>\S*[\d}}])(?:\s*(?:mm|cm|km|kg|ft|lbs?|mph)|\s+(?:{_UNIT_WORDS}|{_OTHER_WORDS}))(?:\^\{{?\d\}}?)?$"
)
"""A unit may touch its number only if it can hardly be a product, as 70xy and 2mg are."""
_UNIT_CHARS = 200
_PERCENT_WORD = re.compile(
    r"(?<=[\d})])(?:\s|~|\\[,;:! ])*(?:(?:percentage|percent|per\s+cent|pct)(?![A-Za-z])"
    r"|\\(?:text|mathrm|mbox|textrm|textbf)\s*\{\s*(?:percentage|percent|per\s+cent|pct|\\?%)\.?\s*\})",
    re.IGNORECASE,
)
_APPROXIMATELY = re.compile(r"\\(?:approxeq|approx|simeq|thickapprox|doteq)(?![A-Za-z])")
_SIMILAR = re.compile(r"\\(?:sim|cong)(?![A-Za-z])(?=\s*-?[\d.\\$])")
"""Signs that mean "about" before a number only."""
_FUNCTION_WORD = re.compile(
    r"\\(?:operatorname|mathrm|text)\s*\{\s*(arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|gcd|"
    r"lcm|max|min|det)\s*\}"
)
_BINOMIAL = re.compile(r"\\[dt]binom(?![A-Za-z])")
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
_BLANKS = re.compile(r"(?P<command>\\[A-Za-z]+)\s+(?=[A-Za-z])|(?P<digits>(?<=\d)\s+(?=\d))|\s+")
"""Blanks, among them those with a meaning: ``\\cdot x`` is not ``\\cdotx`` and ``2 3`` is not 23."""
_SHORT_ROOT = re.compile(r"\\sqrt\s*([A-Za-z0-9])")
_SHORT_SCRIPT = re.compile(r"([\^_])\s*([A-Za-z0-9]|\\[A-Za-z]+)")


def tidy(latex: str) -> str:
    """Return the same expression without what does not change its value: sizes, spacing, units, delimiters.

    Units go because references seldom have them (MATH drops them too). A percent sign stays. What is
    typed as plain text or in Unicode becomes LaTeX.
    """
    text = _strip_delimiters(from_unicode(latex))
    if text.isdigit():
        return text
    text = from_plain_text(_FUNCTION_WORD.sub(r"\\\1 ", text))
    text = _PERCENT_WORD.sub(r"\\%", text)
    text = _FRACTION.sub(r"\\frac", _BINOMIAL.sub(r"\\binom", _SIZES.sub("", _SWITCH.sub("", text))))
    text = _GROUPED.sub(lambda m: m[1] + re.sub(r"\D", "", m[2]), text)
    text = _DEGREES.sub("", _SPACING.sub(" ", text))
    text = _settle_approximation(_ASIDE.sub("", text)).strip()
    if _COMMA_GROUPED.fullmatch(text):
        text = re.sub(r"[,\s]", "", text)
    text = _with_full_arguments(_without_unit(text))
    return re.sub(r"\s+", " ", text).strip()


def _settle_approximation(text: str) -> str:
    """Return ``x = 3.28`` for ``x \\approx 3.28``, and ``\\pi`` for ``\\pi \\approx 3.14``."""
    text = _SIMILAR.sub(r"\\approx", text) if "\\sim" in text or "\\cong" in text else text
    parts = _APPROXIMATELY.split(text, maxsplit=2)
    if len(parts) == 1:
        return text
    left, right = parts[0].strip(), parts[1].strip()
    if not left or left.endswith("="):
        return f"{left} {right}".strip()
    name = canonical(left)
    if right and has_letters(name) and is_quantity(name):
        return f"{left} = {right}"
    return left


def _strip_delimiters(text: str) -> str:
    text = text.replace("\\$", "").strip().strip("$").strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2].strip()
    return text.replace("$", "").rstrip(".,;\\ \n") if not text.endswith("\\\\") else text


def _without_unit(text: str) -> str:
    """Drop the unit of ``15\\mbox{ cm}^2`` and ``1320 km``. A lone ``\\text{east}`` keeps its word."""
    bare = _TRAILING_UNIT.sub("", text)
    if bare != text and bare.count("{") == bare.count("}"):
        return bare.strip()
    match = _BARE_UNIT.match(text) if len(text) <= _UNIT_CHARS else None
    return match["value"] if match else text


def unwrap(text: str) -> str:
    """Drop the wrapper of ``\\textbf{(C)}`` and ``\\mathrm{E}``."""
    before = ""
    while before != text:
        before, text = text, _WRAPPER.sub(r"\1", text)
    return text


def canonical(latex: str) -> str:
    """Return a key that is equal for equal spellings of one tidy expression: no blanks, full braces."""
    text = unwrap(latex)
    text = _COMMAND.sub(lambda m: _SYNONYMS.get(m[0], m[0]), text)
    text = _with_full_arguments(text)
    text = _SHORT_SCRIPT.sub(r"\1{\2}", text)
    text = _BLANKS.sub(_needed_blank, text)
    return _without_outer_brackets(text)


def _with_full_arguments(text: str) -> str:
    """Return ``\\frac12`` as ``\\frac{1}{2}`` and ``\\sqrt 2`` as ``\\sqrt{2}``."""
    before = "" if "frac" in text else text
    while before != text:
        before, text = text, _SHORT_FRACTION.sub(_full_fraction, text)
    return _SHORT_ROOT.sub(r"\\sqrt{\1}", text) if "sqrt" in text else text


def _needed_blank(match: re.Match[str]) -> str:
    return f"{match['command']} " if match["command"] else " " if match["digits"] else ""


def _full_fraction(match: re.Match[str]) -> str:
    above, below = (part if part.startswith("{") else f"{{{part}}}" for part in match.groups())
    return f"\\frac{above}{below}"


def _without_outer_brackets(text: str) -> str:
    """Drop the brackets of ``{5}`` and ``(385)``, but not of a tuple, interval or set."""
    while len(text) > 2 and _CLOSED.get(text[0]) == text[-1] and text[0] != "[":
        inside = text[1:-1]
        if "," in inside or not is_balanced(inside):
            break
        text = inside
    return text


def list_both_signs(latex: str) -> str:
    """Return ``2, \\frac{3 \\pm i}{2}`` as ``2, \\frac{3 + i}{2}, \\frac{3 - i}{2}``.

    Only a list changes: there math-verify 0.9.0 does not do it itself.
    """
    parts = split_outside(latex, ",") if "\\pm" in latex else [latex]
    if len(parts) == 1:
        return latex
    signed = ([part.replace("\\pm", sign) for sign in "+-"] if "\\pm" in part else [part] for part in parts)
    return ",".join(part for both in signed for part in both)
