"""Reads the value out of an answer that is written as a phrase: ``\\text{There are } 12 \\text{ ways}``."""

from __future__ import annotations

import re
from itertools import pairwise

from genbench.verifiers.boxes import joins_values
from genbench.verifiers.commitment import (
    corrected_value,
    withheld_after,
    withheld_at_start,
    withheld_before,
    without_contrast,
)
from genbench.verifiers.runs import Run, find_runs
from genbench.verifiers.statements import Value

_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|hbox|emph)\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+|_\{[^{}]*\}")
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")
_LONG_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{4,}(?![A-Za-z])")
_SMALL_WORDS = frozenset(
    [
        "is",
        "are",
        "the",
        "an",
        "no",
        "not",
        "of",
        "at",
        "it",
        "be",
        "by",
        "up",
        "so",
        "we",
        "can",
        "may",
        "yes",
        "max",
        "min",
        "sum",
        "has",
        "for",
        "all",
        "any",
        "one",
        "its",
        "ans",
        "was",
        "but",
        "than",
        "non",
        "approx",
        "about",
        "either",
        "neither",
        "maybe",
        "least",
        "most",
        "under",
        "over",
    ]
)
_FOREIGN = re.compile(r"[^\W\d_A-Za-z]")
"""Letters of other scripts, which no tidy expression has."""
_CONNECTIVES = frozenset({"and", "or", "mod", "if"})
_COPULA = re.compile(
    r"\b(?:is|are|was|be|equals?|gives?|becomes?|yields?)\b[\s:]*|[:：=](?!\d)\s*", re.IGNORECASE
)
_VALUE = re.compile(r"\d|\\pi|\\sqrt|π")
_CHARS = 600


def is_phrase(latex: str) -> bool:
    """Return whether a tidy answer contains words around mathematics, not only a word or a unit."""
    if len(latex) > _CHARS or not _VALUE.search(latex):
        return False
    if _FOREIGN.search(latex):
        return True
    quoted = {word.lower() for text in _TEXT.findall(latex) for word in _WORD.findall(text)}
    if quoted - _CONNECTIVES:
        return True
    plain = _COMMAND.sub(" ", _TEXT.sub(" ", latex))
    words = {word.lower() for word in _WORD.findall(plain)}
    return bool(words & _SMALL_WORDS) or bool(_LONG_WORD.search(plain))


def value_in_phrase(latex: str) -> Value | None:
    """Return the one value of a phrase, or a withheld one. Return None if it has several or none.

    After "is", "are", "=" or a colon only what follows counts.
    """
    text = without_contrast(
        _TEXT.sub(lambda match: f" {match[1]} ", latex).replace("$", "").replace("~", " ")
    )
    stripped = text.strip()
    if (why := withheld_at_start(stripped)) is not None:
        corrected = corrected_value(stripped) if why == "negated" else None
        return value_in_phrase(corrected) if corrected else Value(stripped, why)
    last = next(reversed(list(_COPULA.finditer(stripped))), None)
    for part in ([stripped[last.end() :]] if last else []) + [stripped]:
        if (value := _only_value(part)) is not None:
            return value
    return None


def _only_value(text: str) -> Value | None:
    if (why := withheld_at_start(text)) is not None:
        return Value(text, why)
    runs = find_runs(text)
    if not runs or not _is_one_list(text, runs):
        return None
    why = withheld_before(text, runs[0].start) or withheld_after(text, runs[-1].end)
    return Value(", ".join(dict.fromkeys(run.text for run in runs)), why)


def _is_one_list(text: str, runs: list[Run]) -> bool:
    return all(joins_values(text[one.end : two.start]) for one, two in pairwise(runs))
