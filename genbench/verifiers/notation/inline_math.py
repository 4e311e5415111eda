"""Finds the mathematics in a sentence of plain text: ``the area is 5π cm²`` has the run ``5π``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from genbench.verifiers.notation.latex import closing_index

_CHARS = 1_500
"""Longest text that is searched. A sentence is shorter."""
_GROUP_CHARS = 400
_CONSTANTS = r"pi|Pi|PI|infinity|infty"
_FUNCTIONS = (
    "sqrt|cbrt|arcsin|arccos|arctan|asin|acos|atan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|exp|abs|"
    "Rational|Fraction|gcd|lcm|binomial|binom|factorial|floor|ceil"
)
_COMMANDS = (
    "dfrac|tfrac|frac|sqrt|pi|infty|cdot|times|div|pm|mp|leq|le|geq|ge|neq|ne|left|right|sin|cos|tan|cot|sec|csc|"
    "arcsin|arccos|arctan|ln|log|exp|binom|circ|theta|alpha|beta|gamma|lambda|omega|phi|cup|cap|in|approx|equiv|"
    "pmod|bmod|mod|mathbb|lfloor|rfloor|lceil|rceil|begin|end|text|mathrm|overline|%|,|;|!|\\{|\\}"
)
# "1,234.50", "3,5", "$.75", "½".
_NUMBER = re.compile(r"\$?(?:\d{1,3}(?:,\d{3})+(?![\d,]*\d)|\d+)(?:[.,]\d+(?!\d*[.,]\d))?|\$?\.\d+|[½⅓⅔¼¾⅕⅛]")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+|[₀-₉]+")
_NAME = re.compile(rf"(?:{_CONSTANTS}|{_FUNCTIONS})(?:_?\d+(?=\())?(?![A-Za-z])|[√∛π∞]")
_COMMAND = re.compile(rf"\\(?:(?:{_COMMANDS})(?![A-Za-z])|[%,;!{{}}])")
_LETTER = re.compile(r"[A-Za-z](?:_(?:\{\w+\}|\w))?'*(?![A-Za-z'’])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BINARY = re.compile(r"\*\*|<=|>=|!=|\+/-|[-+−–*/^×·⋅÷±∓=<>≤≥≠≈:∪∩∈](?!\*)")
_SIGN = re.compile(r"\+/-|<=|>=|!=|[-+−–±<>≤≥≠≈]")
_MINUS = re.compile(r"[-−]")
_SCRIPT = re.compile(r"[_^](?:\{[^{}]*\}|-?\w)")
_BLANK = re.compile(r"[ \t]+")
# "12%", "12 percent", "5!", "30°", "f'".
_POSTFIX = re.compile(r"\s?(?:\\?%|percent\b|pct\b)|[°!'](?!=)")
# A letter is mathematics only before one of these: "x = 5", "f(x)", "n - 1". In "I have a dog" none is.
_LETTER_FOLLOWS = re.compile(r"\s*[=^+*/_<>≤≥≠≈−]|\s+[-–]\s|\(|-\d")
_GROUPS = {"(": ")]", "[": "])", "{": "}"}
# "(see above)" is no mathematics, "(sqrt(2), pi)" is.
_MATH_GROUP_WORD = re.compile(
    rf"(?<![\\A-Za-z])(?!(?:{_CONSTANTS}|{_FUNCTIONS}|inf|oo|or|and)(?![A-Za-z]))[A-Za-z]{{3,}}"
)
_UNITS = frozenset("msghlAVWKCFNJLMkKB")
"""Letters that touch a number as units in prose: "12m", "5s"."""
# "1 1/2 cups" is one number.
_FRACTION_PART = re.compile(r"[ \t]+(?=\d+/\d+(?![\d/]))")
_X_TIMES = re.compile(r"\s+(?:[xX]|choose)\s+(?=\d)")


@dataclass(frozen=True, slots=True)
class InlineMath:
    """A stretch of mathematics in a text."""

    text: str
    start: int
    end: int


def find_inline_math(text: str) -> list[InlineMath]:
    """Return the runs of mathematics in a text, in order. Only its first characters are searched."""
    return list(_runs(text[:_CHARS]))


def _runs(text: str) -> Iterator[InlineMath]:
    at = 0
    while at < len(text):
        if (end := _run_end(text, at)) is not None:
            yield InlineMath(text[at:end].strip(), at, end)
            at = end
        elif word := _WORD.match(text, at):
            at = word.end()
            while at < len(text) and (text[at].isdigit() or text[at] == "_"):
                at += 1  # the digits of H2O and x_1 are no number
        else:
            at += 1


def _run_end(text: str, start: int) -> int | None:
    """Return where a run that begins at `start` ends, or None if none begins there."""
    at = start
    signed = _SIGN.match(text, at)
    if signed:
        before = text[start - 1 : start]
        if before.isalnum() or (before in {")", "."} and signed[0] in "-–−"):
            return None
        at = _skip_blank(text, signed.end())
        if at > signed.end() and signed[0] in {"-", "–", "−", "+"}:
            return None
    end = _operand(text, at, first=not signed)
    if end is None:
        return None
    while True:
        following = _continued(text, end)
        if following is None:
            return end
        end = following


def _continued(text: str, end: int) -> int | None:
    """Return the end of the next operand of a run that has come to `end`, or None if the run is over."""
    if postfix := _POSTFIX.match(text, end):
        return postfix.end() if not (postfix[0] == "!" and not text[postfix.end() :].strip()) else None
    if raised := _RAISED.match(text, end):
        return raised.end()
    attached = _operand(text, end, first=False, after=text[end - 1 : end])
    if attached is not None:
        return attached
    return _after_blank(text, end)


def _after_blank(text: str, end: int) -> int | None:
    """Return the end of the next operand after a blank or an operator."""
    if times := _X_TIMES.match(text, end):
        return _operand(text, times.end(), first=False)
    if text[end - 1 : end].isdigit() and (mixed := _FRACTION_PART.match(text, end)):
        return _operand(text, mixed.end(), first=False)
    at = _skip_blank(text, end)
    if at > end and (_NAME.match(text, at) or _COMMAND.match(text, at)):
        return _operand(text, at, first=False)
    operator = _BINARY.match(text, at)
    return _after_operator(text, operator, at > end) if operator else None


def _after_operator(text: str, operator: re.Match[str], blank_before: bool) -> int | None:
    at = _skip_blank(text, operator.end())
    if operator[0] == ":" and (blank_before or at > operator.end()):
        return None
    if (
        blank_before
        and at == operator.end()
        and operator[0] in {"-", "–", "−"}
        and not text[at : at + 1].isdigit()
    ):
        return None
    signs = _MINUS if operator[0] in {"^", "**"} else _SIGN
    if sign := signs.match(text, at):
        at = _skip_blank(text, sign.end())
    return _operand(text, at, first=False)


def _operand(text: str, at: int, *, first: bool, after: str = "") -> int | None:
    """Return the end of the number, name, letter or group that begins at `at`."""
    if number := _NUMBER.match(text, at):
        return None if after.isdigit() else number.end()
    if name := _NAME.match(text, at):
        return _argument_end(text, name.end())
    if command := _COMMAND.match(text, at):
        return (
            _argument_end(text, command.end()) if command[0] not in {"\\,", "\\;", "\\!"} or after else None
        )
    if text[at : at + 1] in _GROUPS:
        return _group_end(text, at, after)
    if letter := _LETTER.match(text, at):
        return _letter_end(text, letter, first=first, after=after)
    return None


def _letter_end(text: str, letter: re.Match[str], *, first: bool, after: str) -> int | None:
    if after.isdigit():
        return None if letter[0] in _UNITS else letter.end()
    if after.isalpha() or (not after and not first):
        return letter.end()
    if after:
        return letter.end() if after in {")", "}", "π"} else None
    before = text[letter.start() - 1 : letter.start()]
    if before.isalnum() or not _LETTER_FOLLOWS.match(text, letter.end()):
        return None
    return letter.end()


def _argument_end(text: str, at: int) -> int:
    """Return the end of what a function or command applies to, if anything follows it."""
    if script := _SCRIPT.match(text, at):
        at = script.end()
    start = at
    while text[at : at + 1] in {"{", "[", "("} and (end := _group_end(text, at, "f")) is not None:
        if text[at] == "(" and at > start:
            break
        at = end
    if at > start or text[:at].endswith(("π", "pi", "∞")):
        return at
    number = _NUMBER.match(text, _skip_blank(text, at))
    return number.end() if number else at


def _group_end(text: str, at: int, after: str) -> int | None:
    """Return the end of a bracketed group of mathematics, or None if it contains words."""
    end = closing_index(text[: at + _GROUP_CHARS], at)
    if end is None or text[end] not in _GROUPS[text[at]]:
        return None
    inside = text[at + 1 : end]
    if not inside.strip() or _MATH_GROUP_WORD.search(re.sub(r"\\[A-Za-z]+\{[a-z]*\}?", "", inside)):
        return None
    if not after and not re.search(r"[\dπ∞√]|[A-Za-z]\s*[-+*/^,=<>]|\\[A-Za-z]", inside):
        return None
    return end + 1


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
