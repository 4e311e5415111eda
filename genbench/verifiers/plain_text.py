"""Rewrites mathematics typed as plain text or code as LaTeX: ``sqrt(3)``, ``2**(1/4)``, ``3*pi/4``."""

from __future__ import annotations

import re

from genbench.verifiers.brackets import closing_index

_FREE = r"(?<![\\A-Za-z])"
_END = r"(?![A-Za-z])"
_MARKS = re.compile(r"[A-Za-z]{2}| [xX] |[A-Za-z]\(|[*^<>!]|\d[eEjJ]| ~|\+-|\d \d")
_FUNCTIONS = (
    "arcsin|arccos|arctan|arccot|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|gcd|lcm|max|min|det|lim"
)
_INVERSES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_NAMES = {
    "pi": r"\pi",
    "infinity": r"\infty",
    "infty": r"\infty",
    "inf": r"\infty",
    "oo": r"\infty",
    "theta": r"\theta",
    "alpha": r"\alpha",
    "beta": r"\beta",
    "lambda": r"\lambda",
    "omega": r"\omega",
}
_NAME = re.compile(rf"{_FREE}(?:{'|'.join(_NAMES)}){_END}|{_FREE}(?:Pi|PI|Infinity|Inf|INF){_END}")
_FUNCTION = re.compile(rf"{_FREE}({_FUNCTIONS})(?=\s*[\^_(\[|\\]|\s*\d|\s+[A-Za-z]{_END})")
_INVERSE = re.compile(rf"{_FREE}(asin|acos|atan)(?=\s*\()")
_LOG_BASE = re.compile(r"(\\log)_?(\d+)(?=\s*\()")
_CALL = re.compile(
    rf"{_FREE}(?P<name>sqrt|cbrt|exp|abs|floor|ceil|factorial|binomial|binom|comb|choose|frac|Rational|Fraction|nCr|C)\s*(?=\()"
    r"|\\sqrt\s*(?=\()|∛\s*(?=\()|\^\s*(?=\()"
)
_TEMPLATES = {
    "sqrt": r"\sqrt{@}",
    "\\sqrt": r"\sqrt{@}",
    "cbrt": r"\sqrt[3]{@}",
    "∛": r"\sqrt[3]{@}",
    "^": "^{@}",
    "exp": "e^{@}",
    "abs": "|@|",
    "floor": r"\lfloor @\rfloor ",
    "ceil": r"\lceil @\rceil ",
    "factorial": "(@)!",
}
_BARE_ROOT = re.compile(rf"{_FREE}sqrt\s*(\d+(?:\.\d+)?|[A-Za-z]{_END}|\\pi{_END})")
_BRACED_ROOT = re.compile(rf"{_FREE}(sqrt|frac|dfrac|binom)(?=\s*[\[{{])")
_LONG_EXPONENT = re.compile(
    r"(?<!\\)\^\s*([+-]\s*(?:\d+(?:\.\d+)?|[A-Za-z]|\\pi)(?![\d.])|\d+\.\d+|\d{2,})(?![\d.])"
)
_E_NOTATION = re.compile(r"(?<![\w.}])(\d+(?:\.\d+)?)[eE]([+-]?\d{1,3})(?![\w.])")
_LETTER_TIMES = re.compile(r"(?<=[\d.])\s*[xX]\s*(?=10\s*\^)|(?<=\d)\s+[xX]\s+(?=\d)")
_CHOOSE = re.compile(rf"(\d+)\s+choose\s+(\d+){_END}")
_MIXED = re.compile(r"(?<![\d.,/^_{}\w])(-?)(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d.,/^])")
_DOUBLE_STAR = re.compile(r"(?<=[\w)}\]])\s*\*\*\s*(?=[\w({\\.-])")
_UNEQUAL = re.compile(r"(?<![\d)])(\s*)!=")
_IMAGINARY = re.compile(r"(?<=\d)[jJ](?![A-Za-z0-9_])|(?<=\*)\s*I(?![A-Za-z0-9_])|(?<![A-Za-z\\])I\s*(?=\*)")
"""The imaginary unit of Python and of sympy: ``3+4j``, ``2*I``."""
_ABOUT = re.compile(r"(?<=[A-Za-z])\s+~\s*(?=[-\d.])")
_FACTOR = re.compile(r"(?<![*\\])\*(?![*])")
_SIGNS = (
    ("+/-", r"\pm "),
    ("+-", r"\pm "),
    ("<=", r"\le "),
    (">=", r"\ge "),
)


def from_plain_text(text: str) -> str:
    """Return plain-text mathematics as LaTeX. LaTeX is not changed except for exponents.

    An exponent of several digits counts whole: ``2^10`` is ``2^{10}``, which LaTeX would typeset as
    ``2^{1}0``. Nobody means that.
    """
    if not _MARKS.search(text):
        return text
    for sign, command in _SIGNS:
        if sign in text:
            text = text.replace(sign, command)
    text = _ABOUT.sub(r" \\approx ", _IMAGINARY.sub("i", text))
    text = _UNEQUAL.sub(r"\1\\ne ", _DOUBLE_STAR.sub("^", text))
    text = _E_NOTATION.sub(r"\1\\cdot 10^{\2}", text)
    text = _LETTER_TIMES.sub(r"\\cdot ", text)
    text = _NAME.sub(lambda match: _NAMES[match[0].lower()], text)
    text = _INVERSE.sub(lambda match: "\\" + _INVERSES[match[1]], text)
    text = _LOG_BASE.sub(r"\1_{\2}", _FUNCTION.sub(r"\\\1", text))
    text = _BARE_ROOT.sub(r"\\sqrt{\1}", _BRACED_ROOT.sub(r"\\\1", text))
    text = _rewrite_calls(text)
    text = _LONG_EXPONENT.sub(lambda match: "^{" + match[1].replace(" ", "") + "}", text)
    text = _MIXED.sub(_mixed, _CHOOSE.sub(r"\\binom{\1}{\2}", text))
    return _FACTOR.sub(r"\\cdot ", text)


def _rewrite_calls(text: str) -> str:
    """Rewrite calls such as ``sqrt(…)`` from the right, so that inner calls come first."""
    for match in reversed(list(_CALL.finditer(text))[:40]):
        opening = match.end()
        closing = closing_index(text, opening)
        if closing is None:
            continue
        inside = text[opening + 1 : closing]
        written = _call(match["name"] or match[0].strip(), inside)
        if written is not None:
            text = text[: match.start()] + written + text[closing + 1 :]
    return text


def _call(name: str, inside: str) -> str | None:
    if template := _TEMPLATES.get(name):
        return None if "," in inside else template.replace("@", inside)
    parts = [part.strip() for part in inside.split(",")]
    if len(parts) != 2:
        return None
    if name in ("frac", "Rational", "Fraction"):
        return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    # "C(10, 3)" counts combinations only if both are numbers; C may also name a function.
    numeric = all(part.isdigit() for part in parts)
    return rf"\binom{{{parts[0]}}}{{{parts[1]}}}" if numeric or name != "C" else None


def _mixed(match: re.Match[str]) -> str:
    sign, whole, above, below = match.groups()
    if int(below) == 0 or int(above) >= int(below):
        return match[0]
    return rf"{sign}{whole}\frac{{{above}}}{{{below}}}"
