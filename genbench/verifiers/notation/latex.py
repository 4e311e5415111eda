"""Gives one spelling to the many ways in which the same mathematical answer is written.

LaTeX, mathematics typed as plain text or code (``sqrt(3)``, ``2**(1/4)``, ``3*pi/4``) and Unicode become tidy
LaTeX. Names of quantities, such as x, m+n and P(A), are told from expressions that an equation is about.
"""

from __future__ import annotations

import re
import unicodedata

from genbench.verifiers.notation.numbers import is_arithmetic, repeating_as_fractions

_BRACKETS = r"(?<!\\)[(\[{]|(?<!\\)[)\]}]|\\[{}]"


def split_outside(text: str, separator: str) -> list[str]:
    """Split `text` at each match of the regex `separator` that no bracket encloses.

    Brackets need not be of one kind: ``[0, 1)`` is one part.
    """
    parts, start, depth = [], 0, 0
    for match in re.finditer(rf"(?P<bracket>{_BRACKETS})|{separator}", text):
        if match["bracket"]:
            depth += 1 if match[0][-1] in "([{" else -1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def is_balanced(text: str) -> bool:
    """Return whether no bracket closes before it opens and none stays open."""
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


def closing_index(text: str, start: int) -> int | None:
    """Return the index of the bracket that closes the one at `start`, or None."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0:
            return index
    return None


def pairs(text: str) -> dict[str, str]:
    """Return the pairs of a text in which semicolons part them."""
    return dict(pair.split() for pair in text.split(";"))


_COMMANDS = pairs("""
        π pi; ∞ infty; √ sqrt; ≤ le; ≥ ge; ≠ ne; ∪ cup; ∩ cap; ∈ in; ∅ emptyset; ± pm; ∓ mp; × times; ·
        cdot; ⋅ cdot; ∙ cdot; ≈ approx; ≃ simeq; ≅ cong; ∼ sim; ≫ gg; ≪ ll; ≡ equiv; α alpha; β beta; γ
        gamma; δ delta; θ theta; λ lambda; μ mu; φ phi; ϕ phi; ω omega; ⌊ lfloor; ⌋ rfloor; ⌈ lceil; ⌉
        rceil; ⟨ langle; ⟩ rangle
    """)
"""Signs of Unicode, and the commands of LaTeX for them."""
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
    "º": "^{\\circ}",
    "٫": ".",
    "٬": ",",
    **dict.fromkeys("€£¥₹￥₩", ""),
}
_RAISED = {"⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9"}
_RAISED |= {"⁺": "+", "⁻": "-", "ⁿ": "n"}
_LOWERED = {chr(0x2080 + digit): str(digit) for digit in range(10)}

_RAISED_RUN = re.compile(f"[{''.join(_RAISED)}]+")
_LOWERED_RUN = re.compile(f"[{''.join(_LOWERED)}]+")
# "√(2)", "√2", "√x" after √ has become `\sqrt `.
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
    return "".join(_PLAIN.get(sign, sign) for sign in folded)


_FREE = r"(?<![\\A-Za-z])"
_END = r"(?![A-Za-z])"
# What shows plain text or code. Most answers have none of it and are left alone.
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
# "sin(x)", "sin 2x", "log_2": the name of a function with an argument, not a product of letters.
_FUNCTION = re.compile(rf"{_FREE}({_FUNCTIONS})(?=\s*[\^_(\[|\\]|\s*\d|\s+[A-Za-z]{_END})")
_INVERSE = re.compile(rf"{_FREE}(asin|acos|atan)(?=\s*\()")
# "log2(8)" and "log_2(8)" are to the base 2.
_LOG_BASE = re.compile(r"(\\log)_?(\d+)(?=\s*\()")
_CALL = re.compile(
    rf"{_FREE}(?P<name>sqrt|cbrt|exp|abs|floor|ceil|factorial)\s*(?=\()"
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
# "10^-3", "2^10", "x^0.5". A single digit is left: "x^2y" is not a power of 2y.
_LONG_EXPONENT = re.compile(
    r"(?<!\\)\^\s*([+-]\s*(?:\d+(?:\.\d+)?|[A-Za-z]|\\pi)(?![\d.])|\d+\.\d+|\d{2,})(?![\d.])"
)
# "1.5e3", but not the letter e in "2e".
_E_NOTATION = re.compile(r"(?<![\w.}])(\d+(?:\.\d+)?)[eE]([+-]?\d{1,3})(?![\w.])")
# "3 x 4", "3.0x10^8". "3x" is a product with a variable.
_LETTER_TIMES = re.compile(r"(?<=[\d.])\s*[xX]\s*(?=10\s*\^)|(?<=\d)\s+[xX]\s+(?=\d)")
_CHOOSE = re.compile(rf"(\d+)\s+choose\s+(\d+){_END}")
# "1 1/2" is one and a half, but "2,1 1/2" and "x1 1/2" are not read.
_MIXED = re.compile(r"(?<![\d.,/^_{}\w])(-?)(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d.,/^])")
_DOUBLE_STAR = re.compile(r"(?<=[\w)}\]])\s*\*\*\s*(?=[\w({\\.-])")
# Not "5!=120", which is a factorial and an equals sign.
_UNEQUAL = re.compile(r"(?<![\d)])(\s*)!=")
_IMAGINARY = re.compile(r"(?<=\d)[jJ](?![A-Za-z0-9_])|(?<=\*)\s*I(?![A-Za-z0-9_])|(?<![A-Za-z\\])I\s*(?=\*)")
"""The imaginary unit of Python and of sympy: ``3+4j``, ``2*I``."""
# "x ~ 3.28". A tilde before anything else is a blank of LaTeX.
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
    if len(text) > _CHARS or not _MARKS.search(text):
        return text
    for sign, command in _SIGNS:
        if sign in text:
            text = text.replace(sign, command)
    text = _ABOUT.sub(r" \\approx ", _IMAGINARY.sub("i", text))
    # Before `*` becomes a product: `2**3` is a power.
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
        if "," not in inside:
            written = _TEMPLATES[match["name"] or match[0].strip()].replace("@", inside)
            text = text[: match.start()] + written + text[closing + 1 :]
    return text


def _mixed(match: re.Match[str]) -> str:
    sign, whole, above, below = match.groups()
    if int(below) == 0 or int(above) >= int(below):
        return match[0]
    return rf"{sign}{whole}\frac{{{above}}}{{{below}}}"


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
# `x`, `S_{n}`, `\vec{a}`, `\theta_1`, `f'`: one name of a value.
_QUANTITY = re.compile(
    rf"(?:{_ACCENTS}\s*(?:\{{[^{{}}]*\}}|[A-Za-z]+)|{_LETTER}){_SUBSCRIPT}'*(?:\^\{{?\*\}}?)?"
)
_APPLIED_FUNCTION = (
    r"\\(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|ln|log|lg|gcd|lcm|max|min|det|dim|lim|sum|prod|int|iint|oint|deg|"
    r"Pr|operatorname|sup|inf|binom|lfloor|lceil|varphi|phi|sigma|tau|mu|angle|text|mathbb)(?![A-Za-z])"
)
# `f(2)`, `a[3]`, `\sin\theta`, `m\angle ABC`, `[ABC]` (an area), `|v|`: a value that a problem asks for.
_APPLIED = re.compile(
    rf"(?:{_LETTER}(?:\^\{{?\(?-?\d+\)?\}}?)?\(.*\)'*|{_LETTER}\[.*\]|{_APPLIED_FUNCTION}.*|m\\angle.*|\[[A-Z]{{3,}}\]"
    r"|\((?:[A-Za-z]\\circ\s*)+[A-Za-z]\)\(.*\)|\\frac\{d.*\}\{d.*\}.*|\|\|?[^|]+\|\|?|\\[lr]?[vV]ert.*|\\\|.*)",
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
# `|x|` and `f()` name no value.
_LONE = re.compile(r"\|+[xy]\|+|.*\(\s*\)")


def has_letters(text: str) -> bool:
    """Return whether a canonical text contains a letter that represents a value: not e, i or a command."""
    return any(not token.startswith("\\") or _QUANTITY.fullmatch(token) for token in _letters(text))


def _letters(text: str) -> set[str]:
    return {token for token in _VARIABLE.findall(text) if token not in _NUMBERS | _OPERATIONS}


def is_name(text: str) -> bool:
    """Return whether a canonical text is one letter or word that can represent a value: ``x``, ``S_{n}``."""
    return text not in _NUMBERS and (_QUANTITY.fullmatch(text) is not None or text in {"\\angle", "Answer"})


def is_quantity(text: str) -> bool:
    """Return whether an equation with `text` on one side states the value of that side.

    ``x``, ``m+n``, ``AB``, ``f(2)``, ``\\sin\\theta`` and ``2+3`` are quantities. ``x^{2}``, ``2x`` and
    ``x^{2}+1`` are not: the equation is about x then, and its other side is not an answer.
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
    if any(token.startswith("\\") and not _QUANTITY.fullmatch(token) for token in letters):
        return bool(re.fullmatch(r"[^=<>]*", text)) and not letters & _COORDINATES
    if len(letters) < 2:
        return False
    if segments and not letters & {"x", "y", "z"}:
        return True
    about_coordinates = bool(letters & _COORDINATES)
    return not (about_coordinates and (_POWER.search(text) or _COEFFICIENT.search(text)))


WRAPPERS = (
    r"text|textbf|textit|textrm|textnormal|textsf|texttt|emph|mathrm|mathbf|mathit|mathsf|mathtt|mathbb|bm|"
    r"mbox|hbox"
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
# `1{,}234`, `1\,234`, `1,\!234`: thousands as LaTeX parts them.
_GROUPED = re.compile(r"(?<![\d.])(\d{1,3})((?:(?:\{,\}|,\s*\\!|\\,|,\\,|\\!)\s*\d{3})+)(?!\d)")
# "70,000", "1,25,000" (Indian), "70 000": but "2,345, 6" is a list, and (1,234) a pair.
_COMMA_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+|(?:,\d{2})+,\d{3})(?![\d,]*\d)")
_BLANK_GROUPED = re.compile(r"^\D*[1-9]\d{0,2}(?:,? \d{3})+(?=\D*$|\.\d+\D*$)")
_SWISS = re.compile(r"(?<=\d)['’](?=\d{3}(?!\d))")
_ZERO_COMMA = re.compile(r"-?0,\d+")
_SCALED_DEGREES = re.compile(
    r"(?:\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degree)\s*(?:\\(?:text|mathrm)\s*\{\s*)?([CF])\b\}?"
)
_DEGREES = re.compile(r"\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degree(?![A-Za-z])")
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
# `\sqrt{2} \text{ (approximately 1.41)}`: the exact value is the answer.
_ASIDE = re.compile(
    r"(?<=\S)\s*\\(?:text|mbox|mathrm)\s*\{\s*[(\[]?\s*(?:about|approximately|approx|roughly)\b.*$", re.DOTALL
)
_ELLIPSIS = re.compile(r"\.{3,}")
_CLOSED = {"(": ")", "[": "]", "{": "}"}
_SYNONYMS = pairs(r"""
        \leq \le; \leqslant \le; \geq \ge; \geqslant \ge; \neq \ne; \lt <; \gt >; \times \cdot; \ast
        *; \lbrack [; \rbrack ]; \lbrace \{; \rbrace \}; \varnothing \emptyset; \O \emptyset; \infin \infty;
        \land \wedge; \colon :; \dots \ldots; \cdots \ldots; \dotsc \ldots; \dotsb \ldots
    """)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_ARGUMENT = r"(\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z0-9])"
# `\frac12`, `\frac1{72}`, `\frac{a}b`.
_SHORT_FRACTION = re.compile(rf"\\frac\s*(?!\{{[^{{}}]*\}}\s*\{{){_ARGUMENT}\s*{_ARGUMENT}")
_BLANKS = re.compile(r"(?P<command>\\[A-Za-z]+)\s+(?=[A-Za-z])|(?P<digits>(?<=\d)\s+(?=\d))|\s+")
"""Blanks, among them those with a meaning: ``\\cdot x`` is not ``\\cdotx`` and ``2 3`` is not 23."""
_SHORT_ROOT = re.compile(r"\\sqrt\s*([A-Za-z0-9])")
_SHORT_SCRIPT = re.compile(r"([\^_])\s*([A-Za-z0-9]|\\[A-Za-z]+)")


_CHARS = 4_000
"""A longer text is not an answer, and stays as it is. The rules are at worst quadratic in the length."""
_WRAPPED = 20
"""Wrappers within each other that are dropped."""


def tidy(latex: str) -> str:
    """Return the same expression without what does not change its value: sizes, spacing, units, delimiters.

    Units go because references seldom have them (MATH drops them too). A percent sign stays. What is
    typed as plain text or in Unicode becomes LaTeX.
    """
    text = _strip_delimiters(from_unicode(latex))
    if text.isdigit() or len(text) > _CHARS:
        return text
    text = repeating_as_fractions(text)
    text = from_plain_text(_FUNCTION_WORD.sub(r"\\\1 ", text))
    # Before units are dropped: `50 \\text{ percent}` keeps its sign.
    text = _PERCENT_WORD.sub(r"\\%", text)
    text = _FRACTION.sub(r"\\frac", _BINOMIAL.sub(r"\\binom", _SIZES.sub("", _SWITCH.sub("", text))))
    # Before blanks are: `1\,234` is one number, and `1 234` in a longer text is two.
    text = _SWISS.sub("", _GROUPED.sub(lambda m: m[1] + re.sub(r"\D", "", m[2]), text))
    text = _DEGREES.sub("", _SCALED_DEGREES.sub(r"\\text{ degrees \1}", _SPACING.sub(" ", text)))
    text = _settle_approximation(_ASIDE.sub("", text)).strip()
    text = _with_full_arguments(_without_thousands_separators(text))
    return re.sub(r"\s+", " ", text).strip()


def _without_thousands_separators(text: str) -> str:
    """Return ``1500+3000`` for ``1,500+3,000``. If any comma of a text parts a list, all do."""
    if _ZERO_COMMA.fullmatch(text):
        return text.replace(",", ".")
    if _BLANK_GROUPED.match(text):
        return re.sub(r"(?<=\d),? (?=\d{3})", "", text)
    if (
        "," not in text
        or re.search(r"[(\[]|\\\{", text)
        or "," in (grouped := _COMMA_GROUPED.sub(_digits, text))
    ):
        return text
    return grouped


def _digits(match: re.Match[str]) -> str:
    return match[0].replace(",", "")


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
    # Before periods are dropped from the end: `2...` is not 2.
    text = _ELLIPSIS.sub(r"\\ldots ", text) if "..." in text else text
    text = text.replace("\\$", "").strip().strip("$").strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2].strip()
    return text.replace("$", "").rstrip(".,;\\ \n") if not text.endswith("\\\\") else text


def unwrap(text: str) -> str:
    """Drop the wrapper of ``\\textbf{(C)}`` and ``\\mathrm{E}``."""
    before = ""
    for _ in range(_WRAPPED):
        if before == text:
            break
        before, text = text, _WRAPPER.sub(r"\1", text)
    return text


def canonical(latex: str) -> str:
    """Return a key that is equal for equal spellings of one tidy expression: no blanks, full braces."""
    if len(latex) > _CHARS:
        return "".join(latex.split())
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
