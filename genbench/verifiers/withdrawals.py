"""Recognises that an answer is taken back by what follows it, and not confirmed again."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from genbench.verifiers import withdrawing_words as said

Standing = Literal["withdrawn", "confirmed", ""]
"""What the text after an answer makes of it."""

_PIECE = re.compile(r"([^.!?;\n。！？；…]++)([.!?;\n。！？；…]*+)")
_MARKS = " \t\r,、，:：()[]{}*_`~\"'“”‘’«»<>$\\—–-¡¿|/"
_PIECE_CHARS = 300
"""Characters of a sentence that are looked at. Nobody takes an answer back in a longer one."""

_LEADS = re.compile(rf"(?:{said.LEADS})(?![^\W\d_])[\s,、，:：—–-]*+", re.IGNORECASE)
_LEADS_UNSPACED = re.compile(rf"(?:{said.LEADS_UNSPACED})[\s,、，:：—–-]*+")
_NO = re.compile(rf"(?<![^\W\d_])(?:{said.NO})(?![^\W\d_])|{said.NO_UNSPACED}", re.IGNORECASE)
_TAKES_BACK = re.compile(rf"(?:{said.TAKES_BACK})(?:[\s,—–-]+(?:{said.TRAILS}))*", re.IGNORECASE)
_WITHIN = re.compile(rf"(?<![A-Za-z])(?:{said.WITHIN})|{said.WITHIN_UNSPACED}", re.IGNORECASE)
_CONFIRMS = re.compile(rf"(?:{said.CONFIRMS})(?![^\W\d_])|{said.CONFIRMS_UNSPACED}", re.IGNORECASE)
_ELSEWHERE = re.compile(
    rf"(?<![A-Za-z])(?:{said.ELSEWHERE})(?![A-Za-z])|{said.ELSEWHERE_UNSPACED}", re.IGNORECASE
)
_LETTER = re.compile(
    r"(?<![A-Za-z'’])(?:[B-HJ-Z]|A(?!\s+[a-zà-ÿ])|A(?=\s+(?:is|says|has|would)\b))(?![A-Za-z'’])"
)
"""A letter that names an option, not the word "A" or "I"."""
_GOES_ON = re.compile(rf"\s*(?:{said.GOES_ON})(?![A-Za-z])", re.IGNORECASE)
_LIST_ITEM = re.compile(r"(?:[-*•–]|\d+\)|\([a-z]\))[ \t]")
"""A line of a list, which may be the option "no"."""
_MERELY_JOINS = re.compile(r"(?:but|and|so|then|however|aber|mais|pero|ma|mas|но)\b|但", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?:that|this|it|which|wrong|incorrect|not|das|stimmt|c['’]|ce|faux|eso|esto|está|no\b|es\b|questo|isso|это)",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(
    r"\b(?:right|correct|true|ok|okay|sure|it|that|this|richtig|correcte?|correcto)\s*$", re.IGNORECASE
)


def is_withdrawn(after: str, *, spared: Collection[str] = (), about_options: bool = False) -> bool:
    """Return whether the text after an answer takes it back. The arguments are those of `standing`."""
    return standing(after, spared=spared, about_options=about_options) == "withdrawn"


def standing(after: str, *, spared: Collection[str] = (), about_options: bool = False) -> Standing:
    """Return what the text after an answer makes of it: it takes it back, confirms it, or does neither.

    The last word on it counts: "Wait, no. Let me see. Yes, that is right." takes nothing back. A denial of
    something else takes nothing back either: "Some say D, but that is wrong."

    Args:
        after: what follows the answer, from its end.
        spared: sentences in lower case that are no denial here, such as an option with the text "no".
        about_options: whether a capital letter names an option, so that a sentence with one is about that.
    """
    found: Standing = ""
    previous = ""
    for match in _PIECE.finditer(after):
        piece = match[1].strip()
        if not piece or piece.strip(_MARKS).casefold() in spared:
            continue
        if "?" in match[2] or "？" in match[2]:
            asks_about_it = _ABOUT_IT.search(piece) and not _is_elsewhere(piece, about_options=about_options)
            previous = "" if asks_about_it else f"others: {piece}"
            continue
        found = _said_by(piece[:_PIECE_CHARS], previous, about_options=about_options) or found
        previous = piece[-_PIECE_CHARS:]
    return found


def _said_by(piece: str, previous: str, *, about_options: bool) -> Standing:
    """Return what one sentence makes of the answer. `previous` is the sentence before it."""
    core = _without_leads(piece)
    elsewhere = _is_elsewhere(previous, about_options=about_options)
    if not core:
        denies = _NO.search(piece) and not elsewhere and not _LIST_ITEM.match(piece)
        return "withdrawn" if denies else ""
    elsewhere = elsewhere and not _turns(piece, core)
    if _TAKES_BACK.fullmatch(core):
        return "" if elsewhere and _PRONOUN.match(core) else "withdrawn"
    if _CONFIRMS.match(core) and not _LIST_ITEM.match(piece):
        return "confirmed"
    return _said_within(piece, elsewhere=elsewhere, about_options=about_options)


def _said_within(piece: str, *, elsewhere: bool, about_options: bool) -> Standing:
    """Return whether a longer sentence takes the answer back somewhere in it."""
    within = _WITHIN.search(piece)
    if within is None or _GOES_ON.match(piece, within.end()):
        return ""
    before = piece[: within.start()]
    if _is_elsewhere(before, about_options=about_options) or (elsewhere and not before.strip(_MARKS)):
        return ""
    return "withdrawn"


def _without_leads(piece: str) -> str:
    """Return a sentence without the words with which a change of mind begins: "Hmm, wait, sorry, …".

    A lead that belongs to a withdrawal stays: "No es correcto".
    """
    core = piece.strip(_MARKS)
    before = ""
    while core and core != before and not _TAKES_BACK.fullmatch(core):
        before = core
        lead = _LEADS.match(core) or _LEADS_UNSPACED.match(core)
        core = core[lead.end() :].strip(_MARKS) if lead else core
    return core


def _turns(piece: str, core: str) -> bool:
    """Return whether a sentence begins with words such as "wait", which speak of the answer itself."""
    begun = piece.strip(_MARKS)
    return core != begun and _MERELY_JOINS.match(begun) is None


def _is_elsewhere(text: str, *, about_options: bool) -> bool:
    """Return whether words are about another answer, a condition or what others say."""
    return _ELSEWHERE.search(text) is not None or (about_options and _LETTER.search(text) is not None)
