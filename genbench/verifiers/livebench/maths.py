"""Rules of LiveBench's mathematics: letters, integers, orders of expressions, and values.

Facts: livebench/process_results at b0fb577 (2026-08-22). Values are compared by genbench's own verifier of
mathematics, where LiveBench's code subtracts what sympy reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.livebench.readings import (
    Committed,
    box,
    committed,
    edit_distance,
    last_line,
    plain_box,
    tagged,
    tagged_anyhow,
    without_tex,
)
from genbench.verifiers.math.verifier import MathVerifier

LETTERS = "ABCDE"
_OPTION = re.compile(r"\\textbf{\(([A-E])\)\s?}(.*?)(?:\\qquad|\$)")
_REPEATED = re.compile(r"(?<![A-Za-z])([A-E])\1{3,}(?![A-Za-z])")
_LETTER = re.compile(r"(?:\\textbf\{|\\text\{|\\mathrm\{)?\(?([A-Ea-e])\)?\}?")
_NAMED = re.compile(r"\(([A-E])\)")
_TAIL = 50


def contest_official(truth: str, answer: str, question: str) -> float:
    """Return whether the letter is repeated anywhere, or is in the last tag, the last box or the last line.

    The text of the right option also counts if it is near the end.
    """
    found = tagged(answer)
    if truth * 4 in answer or (
        found and set(found[-1].lower()) <= {truth.lower()} and len(set(found[-1])) == 1
    ):
        return 1.0
    if (plain_box(answer) or "").lower() == truth.lower():
        return 1.0
    value = option_text(question, truth)
    if value in answer[-(20 + len(value)) :]:
        return 1.0
    line = last_line(answer)
    if line.strip().replace("*", "").lower() == truth.lower():
        return 1.0
    if "(" in line and ")" in line:
        return float(line.split("(")[1].split(")")[0].lower() == truth.lower())
    return 0.0


def option_text(question: str, letter: str) -> str:
    """Return the text of an option of a question, or FAILURE if it cannot be read."""
    options = {name: text.strip() for name, text in _OPTION.findall(question)}
    return (options.get(letter) or "FAILURE").strip("$").strip("~")


def contest_strict(truth: str, answer: str, question: str) -> Committed:
    """Return whether the last line that names letters names the right one and no other.

    A line names a letter by a tag, by a box, by four of it in a row, or by nothing but the letter.
    """
    for line in reversed(answer.split("\n")):
        if named := _letters_of(line):
            text = next(iter(named)) if len(named) == 1 else None
            return Committed(text, float(text == truth))
    named = set(_NAMED.findall(last_line(answer)))
    text = next(iter(named)) if len(named) == 1 else None
    return Committed(text, float(text == truth))


def _letters_of(line: str) -> set[str]:
    """Return the letters that a line commits to."""
    found = set(_REPEATED.findall(line))
    for text in (*tagged_anyhow(line), *re.findall(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}", line)):
        inner = text.strip(" $*.\t")
        match = _LETTER.fullmatch(inner)
        found |= {match[1].upper()} if match else {inner[0].upper()} if _is_repeated(inner) else set()
    bare = line.strip(" $*.\t")
    return found | ({bare} if bare in tuple(LETTERS) else set())


def _is_repeated(text: str) -> bool:
    return len(set(text)) == 1 and text[0].upper() in LETTERS


def aime_official(truth: str, answer: str) -> float:
    """Return whether the digits are in the last 50 characters."""
    return float(truth in answer[-_TAIL:])


def aime_strict(truth: str, answer: str) -> Committed:
    """Return whether the committed answer, or else the last number of the text, is the integer."""
    numbers = re.findall(r"\d+", committed(answer) or "") or re.findall(r"\d+", answer[-_TAIL * 4 :])
    text = numbers[-1].lstrip("0") or "0" if numbers else None
    return Committed(text, float(text == (truth.lstrip("0") or "0")))


_NOTHING = "NO ANSWER"
_MOST = 2_000
"""Expressions of an answer that are compared. The longest proofs have about 30."""


def order_official(truth: str, answer: str) -> float:
    """Return 1 less the edit distance of two orders of expressions, by the longer of the two."""
    wanted, given = [int(part) for part in truth.split(",")], expressions(answer)
    return 1 - edit_distance(given[:_MOST], wanted) / max(len(given[:_MOST]), len(wanted))


def expressions(answer: str) -> Sequence[int | str]:
    """Return the numbers after the last `answer:`, else of the last box, else of the last line."""
    lower = answer.lower()
    for found in (_announced(lower), _boxed(answer), _digits(last_line(lower).split(","))):
        if any(item != _NOTHING for item in found):
            return found
    return []


def _announced(lower: str) -> list[int | str]:
    lines = lower.strip().split("\n")
    places = [place for place, line in enumerate(lines) if "answer:" in line]
    if not places:
        return []
    text = _stripped(lines[places[-1]].split("answer:")[1])
    if not text and places[-1] < len(lines) - 1:
        text = _stripped(lines[places[-1] + 1].replace("answer:", ""))
    parts = [part.strip().split(" ")[-1] for part in text.split(",")]
    return [_number(re.sub(r"boxed|[${}\\<>]", "", part)) for part in parts]


def _stripped(text: str) -> str:
    return text.replace("**", "").replace(".", "").strip()


def _boxed(answer: str) -> list[int | str]:
    if "\\boxed" not in answer:
        return []
    found = box(answer)
    return [_number(part.strip()) for part in without_tex(answer if found is None else found).split(",")]


def _digits(parts: Sequence[str]) -> list[int | str]:
    found = [re.search(r"\d+", part) for part in parts]
    return [_number(match[0]) for match in found if match is not None]


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return _NOTHING


_CONSTANTS = ("+C", "+ C", "+ c", "+c")
_SIZES = ("\\left", "\\right", "\\bigl", "\\bigr", "\\Bigl", "\\Bigr", "\\,", "\\;")
_SAMPLE = SampleId("", "", 0)
_NEAR = 0.001


class Values:
    """Whether two texts are the same value, by genbench's verifier of mathematics."""

    def __init__(self) -> None:
        self._math = MathVerifier("boxed")

    @property
    def version(self) -> str:
        """Return the version of the comparison."""
        return self._math.version

    def same(self, truth: str, text: str, tolerance: float) -> bool:
        """Return whether `text` is the value of the reference, or a number as near as `tolerance`."""
        return self.finding(truth, f"\\boxed{{{text}}}", tolerance).score == 1.0

    def finding(self, truth: str, answer: str, tolerance: float) -> Finding:
        """Return the finding on an answer whose last box has a value."""
        reference = {"answer": truth, "tolerance": tolerance}
        return self._math.verify(Case(_SAMPLE, (Answer(answer, "absent", "", False),), reference))

    def check(self, truth: str) -> None:
        """Raise DataError if a reference is not mathematics."""
        self._math.check(truth)


def amps_official(values: Values, truth: str, answer: str) -> float:
    """Return whether the last box, or else the last formula between dollars, has the value."""
    for text in _CONSTANTS:
        answer = answer.replace(text, "")
    for text in (*_SIZES, "\n"):
        answer = answer.replace(text, "")
    answer = re.sub(r"\\[dt]frac", r"\\frac", answer)
    found = box(answer)
    found = _between_dollars(answer) if found is None else found
    if found is None:
        return float(answer.removesuffix(".").endswith(truth))
    return float(values.same(truth, found.split("=")[-1].replace("$", ""), _NEAR))


def _between_dollars(answer: str) -> str | None:
    """Return the last formula between dollars of a text, after its last sign of equality."""
    end = answer.rfind("$")
    end -= answer[end - 1 : end] == "$"
    start = answer.rfind("$", 0, max(end, 0))
    if start < 0:
        return None
    formula = answer[start + 1 : end].rsplit("=", maxsplit=1)[-1]
    return formula.rsplit("\\text{or} \\quad", maxsplit=1)[-1].strip()


def amps_strict(values: Values, truth: str, answer: str) -> Committed:
    """Return whether the last box has the value, whatever constant of integration follows."""
    for text in _CONSTANTS:
        answer = answer.replace(text, "")
    found = values.finding(truth, answer, _NEAR)
    return Committed(found.extracted, found.score)


def game_official(values: Values, truth: str, answer: str) -> float:
    """Return whether the last tag or box has the value, or its digits are in the last 200 characters."""
    tags = tagged_anyhow(answer)
    texts = [tags[-1] if tags else None, box(answer)]
    if any(text and _same_value(values, truth, text) for text in texts):
        return 1.0
    return float(_plain(truth) in _plain(answer[-200:]))


def game_strict(values: Values, truth: str, answer: str) -> Committed:
    """Return whether the committed answer has the value."""
    tags = tagged_anyhow(answer)
    text = tags[-1].strip() if tags else box(answer)
    return Committed(text, float(bool(text) and _same_value(values, truth, str(text))))


def _same_value(values: Values, truth: str, text: str) -> bool:
    one, other = _fraction(truth), _fraction(text)
    if one is not None and other is not None:
        return abs(one - other) < Fraction(1, 100_000)
    return values.same(truth, _plain(text), 1e-5)


def _fraction(text: str) -> Fraction | None:
    plain = _plain(text)
    match = re.fullmatch(r"\\frac\{(\d{1,40})\}\{(\d{1,40})\}", plain)
    try:
        return Fraction(f"{match[1]}/{match[2]}") if match else Fraction(plain[:100])
    except (ValueError, ZeroDivisionError):
        return None


def _plain(text: str) -> str:
    for mark in (*_SIZES, "\n", " "):
        text = text.replace(mark, "")
    return re.sub(r"\\[dt]frac", r"\\frac", text.replace("\\\\", "\\")).replace("\\cdot", "*")


def truth_of(reference: Mapping[str, Any]) -> str:
    """Return the value of a reference, which may be a list whose last item counts."""
    truth = reference["truth"]
    text = str(truth[-1] if isinstance(truth, list) else truth)
    return text.replace("\\left", "").replace("\\right", "").replace(" ^", "^").replace("\\ ", " ")
