"""The sentence rules of IFBench's code of July 2025, before it used Punkt."""

from __future__ import annotations

import re
from collections.abc import Callable

DOT, STOP = "\ue000", "\ue001"
"""Private-use characters: a dot that ends nothing, and the end of a sentence."""

_STARTER = r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|Wherever|(?:He|She|It|They|Their|Our|We|But|However|That|This)\s)"
_SUFFIX = r"(Inc|Ltd|Jr|Sr|Co)"

_Replacement = str | Callable[[re.Match[str]], str]
_RULES: tuple[tuple[str, _Replacement], ...] = (
    (r"(Mr|St|Mrs|Ms|Dr)\.", rf"\1{DOT}"),
    (r"\.(com|net|org|io|gov|edu|me)", rf"{DOT}\1"),
    (r"([0-9])\.([0-9])", rf"\1{DOT}\2"),
    (r"\.{2,}", lambda run: DOT * len(run.group()) + STOP),
    (r"Ph\.D\.", f"Ph{DOT}D{DOT}"),
    (r"\s([A-Za-z])\. ", rf" \1{DOT} "),
    (rf"([A-Z]\.[A-Z]\.(?:[A-Z]\.)?) {_STARTER}", rf"\1{STOP} \2"),
    (r"([A-Za-z])\.([A-Za-z])\.([A-Za-z])\.", rf"\1{DOT}\2{DOT}\3{DOT}"),
    (r"([A-Za-z])\.([A-Za-z])\.", rf"\1{DOT}\2{DOT}"),
    (rf" {_SUFFIX}\. {_STARTER}", rf" \1{STOP} \2"),
    (rf" {_SUFFIX}\.", rf" \1{DOT}"),
    (r" ([A-Za-z])\.", rf" \1{DOT}"),
)
_MOVED = ((".”", "”."), ('."', '".'), ('!"', '"!'), ('?"', '"?'))
_END = re.compile(r"[.?!]")


def old_sentences(text: str) -> list[str]:
    """Return the sentences of `text`. End marks are moved out of closing quotes."""
    body = f" {text}  ".replace("\n", " ")
    for pattern, replacement in _RULES:
        body = re.sub(pattern, replacement, body)
    for inside, outside in _MOVED:
        body = body.replace(inside, outside)
    pieces = [piece.strip() for piece in _END.sub(rf"\g<0>{STOP}", body).replace(DOT, ".").split(STOP)]
    return pieces[:-1] if pieces and not pieces[-1] else pieces
