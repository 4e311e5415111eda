"""Scores an answer by the words that it shares with a reference, as DROP's evaluator does (AllenNLP).

Dua et al. 2019 give the rules: words are compared as sets, the parts of an answer are assigned one to one to
the parts of a reference, and a reference with numbers wants one of them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

_SPLIT = re.compile(r"[ \-]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

Bag = frozenset[str]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How well an answer matches the best of its references, in [0, 1]."""

    f1: float
    exact: float


def overlap(answer: Sequence[str], references: Sequence[Sequence[str]]) -> Overlap:
    """Return the best F1 and the best exact match over the references. Each is given in parts.

    F1 is rounded to two digits, as the official evaluator does for each question.
    """
    given = [normalised(part) for part in answer]
    found = [_against(given, [normalised(part) for part in parts]) for parts in references]
    return Overlap(max(item.f1 for item in found), max(item.exact for item in found))


def normalised(text: str) -> str:
    """Return a text in lower case, without punctuation and articles, and with numbers as decimals."""
    words: list[str] = []
    for token in _SPLIT.split(text.lower()):
        word = token if _is_number(token) else token.translate(_NO_PUNCTUATION)
        word = str(float(word)) if _is_number(word) else word
        words += _ARTICLES.sub(" ", word).split()
    return " ".join(words)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _against(given: Sequence[str], wanted: Sequence[str]) -> Overlap:
    exact = float(len(given) == len(wanted) and set(given) == set(wanted))
    bags = [frozenset(part.split()) for part in given]
    table = np.array([[_f1(bag, frozenset(other.split())) for bag in bags] for other in wanted])
    places = linear_sum_assignment(table, maximize=True)
    mean = float(table[places].sum()) / max(len(given), len(wanted))
    return Overlap(round(mean, 2), exact)


def _f1(given: Bag, wanted: Bag) -> float:
    """Return the F1 of two sets of words, or 0 if the wanted ones have numbers and share none."""
    numbers = {word for word in wanted if _is_number(word)}
    if numbers and not numbers & given:
        return 0.0
    shared = len(given & wanted)
    precision = shared / len(given) if given else 1.0
    recall = shared / len(wanted) if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
