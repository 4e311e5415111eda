"""Exact repetition at the end of a text: of characters in a stored reply, of tokens while one is drawn."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

_NEEDLE = 40
"""Signs at the end that must occur once more within a period. Most texts have no such place."""
_CHUNK = 4096
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Rule:
    """When an end counts as repeated: a unit of at most `longest` signs, `times` or more, over `least` signs.

    `least` is the length of the repeated end in signs.
    """

    longest: int
    times: int
    least: int

    def length(self, period: int) -> int:
        """Return how many signs at the end must be repetitions of a unit of this length."""
        return max(self.times * period, self.least)

    @property
    def reach(self) -> int:
        """Return how many signs at the end decide."""
        return self.length(self.longest)


LOOP = Rule(longest=400, times=3, least=120)
"""A stored reply that was cut off and ends so is a loop. 67 loops of two models of 135M and 500M parameters
(GSM8K, HumanEval, IFEval, MMLU and six more tasks) have units of 4 to 397 characters."""

DRAWN = Rule(longest=128, times=8, least=640)
"""A reply that does so while it is drawn is ended with `stop_on_loop`. Signs are tokens.

Of 19,508 stored replies of 78 models no beginning repeats in this way, but for 19 of MMLU-Pro that were in
such a loop until max_tokens 2,048 (`benchmarks/loops.py`). With 256 tokens instead, JSON answers would be cut
that pad themselves with line ends and then end, and with 512 a reply of SmolLM2-135M-Instruct to a problem
of GSM8K that repeats itself over 540 tokens and then ends.
"""
CHECKED_EVERY = 64
"""Tokens between two looks at a reply. They are counted from its begin, so that the place does not depend on
what else the engine computes."""


_FIRST_DIGIT = 0x10FF00
"""Signs of private use that stand for the ten digits. No tokenizer has so many tokens."""
_TO_DIGITS = {_FIRST_DIGIT + digit: str(digit) for digit in range(10)}
_SIGNS_OF_NUMBER = re.compile("[\U0010ff00-\U0010ff09]+")
_ONE_NUMBER = "\U0010ff0a"
_SHORTEST_COUNTED = 8
"""Signs of the shortest unit that may count on: a list such as "Page 1, Page 2, …" never ends a reply."""
_BLANK_PIECES = "ĠĊĉč▁ "
"""How byte-level and SentencePiece tokenizers write blanks. Some are letters for Unicode."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Which tokens are digits, and which have no letter. A sign is the character with the token's number."""

    digits: Mapping[int, str]
    """By sign, its digits as signs of private use."""
    bare: frozenset[str]
    """The signs without a letter."""

    @classmethod
    def of(cls, vocabulary: Mapping[str, int]) -> Signs:
        """Read the pieces of a tokenizer with their numbers."""
        digits: dict[int, str] = {}
        bare: list[str] = []
        for piece, number in vocabulary.items():
            text = piece.strip(_BLANK_PIECES)
            if text.isascii() and text.isdecimal():
                digits[number] = "".join(chr(_FIRST_DIGIT + int(digit)) for digit in text)
            if not any(sign.isalpha() for sign in text if sign not in _BLANK_PIECES):
                bare.append(chr(number))
        return cls(digits, frozenset(bare))


def ends_in_loop(text: str, signs: Signs) -> bool:
    """Return whether a reply that is drawn repeats itself by the rule DRAWN, or does so and counts on."""
    return period_of(text, DRAWN) is not None or _counts_on(text, signs)


def _counts_on(text: str, signs: Signs) -> bool:
    """Return whether the text ends in one unit with letters, of which nothing changes but a counter.

    Each number of the unit is the same in all repetitions, or it grows by a step, which is one for all that
    grow. "Step 13: Determine the answer." counts on. Rows of a table ("13 x 12 = 156") and sequences do not.
    """
    near = _folded(text[-2 * DRAWN.longest - _NEEDLE :].translate(signs.digits))
    if _ONE_NUMBER not in near or near.find(near[-_NEEDLE:], 0, -1) < 0:  # most texts end here, in 20 us
        return False
    spelled = text.translate(signs.digits)
    folded = _folded(spelled)
    period = period_of(folded, DRAWN)
    if period is None or period < _SHORTEST_COUNTED:
        return False
    if signs.bare.issuperset(folded[-period:].replace(_ONE_NUMBER, "")):
        return False
    columns = defaultdict[int, list[int]](list)
    places = (place for place, sign in enumerate(folded) if sign == _ONE_NUMBER)
    begin = max(1, len(folded) - DRAWN.length(period))
    for place, number in zip(places, _SIGNS_OF_NUMBER.findall(spelled), strict=True):
        if begin <= place < len(folded) - 1:  # a number at an end of the text may lack digits
            columns[place % period].append(int(number.translate(_TO_DIGITS)))
    steps = [{right - left for left, right in pairwise(column)} for column in columns.values()]
    return all(len(own) <= 1 for own in steps) and len(set().union(*steps) - {0}) == 1


def _folded(spelled: str) -> str:
    """Return a text with one sign for each number."""
    return _SIGNS_OF_NUMBER.sub(_ONE_NUMBER, spelled)


def period_of(text: str, rule: Rule) -> int | None:
    """Return the length of the shortest unit that the text ends in by this rule, or None.

    Only the last `rule.reach` signs are read.
    """
    tail = text[-rule.reach :]
    size, width = len(tail), min(_NEEDLE, rule.least)
    if size < rule.least:
        return None
    needle = tail[-width:]
    place = size - width
    while place > 0:
        place = tail.rfind(needle, max(0, size - width - rule.longest), place + width - 1)
        if place < 0:
            return None
        period = size - width - place
        end = tail[-rule.length(period) :]
        if len(end) == rule.length(period) and end[period:] == end[:-period]:
            return period
    return None


@dataclass(frozen=True, slots=True)
class Loop:
    """The repeated end of a text: its unit in characters, where it begins, and how often it is there."""

    period: int
    place: int
    times: int


def loop_of(text: str) -> Loop | None:
    """Return the loop that a text ends in, or None.

    Numbers count as one sign, since loops count ("Step 13: Determine the answer.", "Step 14: …").
    A unit without a letter must be equal with its numbers: "1, 2, 3, …" and rows of a table are not a loop.
    The time is linear in the text, and 0.1 ms for a text without a loop.
    """
    folded = _DIGITS.sub("0", text[-4 * LOOP.reach :])
    period = period_of(folded, LOOP)
    if period is None:
        return None
    if any(sign.isalpha() for sign in folded[-period:]):
        return _whole(text, _DIGITS.sub("0", text), period)
    period = period_of(text, LOOP)
    return None if period is None else _whole(text, text, period)


def _whole(text: str, folded: str, period: int) -> Loop:
    """Return the loop with all of its repetitions, and its place in the text before numbers were folded."""
    begin = len(folded) - period
    while begin > 0:  # back by whole chunks, and then by single signs
        before = max(period, begin - _CHUNK)
        if before < begin and folded[before:begin] == folded[before - period : begin - period]:
            begin = before
            continue
        while begin > period and folded[begin - 1] == folded[begin - 1 - period]:
            begin -= 1
        break
    begin = max(0, begin - period)
    return Loop(period, _unfolded(text, folded, begin), (len(folded) - begin) // period)


def _unfolded(text: str, folded: str, place: int) -> int:
    """Return where a place of the folded text is in the text."""
    if len(text) == len(folded):
        return place
    shift = 0
    for found in _DIGITS.finditer(text):
        if found.start() - shift >= place:
            break
        shift += len(found[0]) - 1
    return place + shift
