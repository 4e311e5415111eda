"""Recognises words around a value that take it back: negations, bounds and hedges."""

from __future__ import annotations

import re
from typing import Literal

from genbench.verifiers.language.commitment import doubts_value

Withheld = Literal["negated", "bound", "hedged", "retracted"]
"""Why a text with a value in it commits to none."""

# "isn't", "cannot be", "anything but", "ne peut pas être".
_NOT = (
    r"(?:is|was|are|does|do|can|could|would|should)n['’]t|cannot(?:\s+be)?|can['’]?t\s+be|can\s+not\s+be"
    r"|not|never|"
    r"anything\s+but|other\s+than|different\s+from|unequal\s+to|neither|nicht|kein\w*|ne\s+.{1,12}\s+pas"
    r"|n['’]est\s+pas|ne\s+peut\s+pas\s+être|no\s+puede\s+ser|non\s+può\s+essere|não\s+pode\s+ser"
    r"|не\s+может\s+быть|hardly|"
    r"no\s+es|no\s+son|non\s+è|não\s+é|не|niet|nie|inte|bukan|không\s+phải(?:\s+là)?|ليس|ليست"
)
# What bounds a value or has another relation to it: "at most 5", "less than 5", "divisible by 5", "close to
# 5",
# "around 5 to 7".
_AT_MOST = (
    r"at\s+(?:most|least)|(?:no|not)\s+(?:more|less|fewer|greater|larger|smaller|bigger)\s+than|"
    r"(?:strictly\s+)?(?:less|more|greater|smaller|fewer|larger|bigger|higher|lower)\s+than|under|over"
    r"|below|above|up\s+to|"
    r"between|bounded\s+(?:above|below)?\s*by|"
    r"divisible\s+by|(?:multiples?|factors?|divisors?|powers?|roots?)\s+of|coprime\s+to|exceed(?:s|ing)?"
    r"|close\s+to|near(?:ly)?|almost|within|in\s+the\s+range|"
    r"somewhere|a\s+(?:lower|upper)\s+bound\s+(?:of|is)|höchstens|mindestens|weniger\s+als|mehr\s+als"
    r"|zwischen|au\s+plus|"
    r"au\s+moins|entre|moins\s+de|plus\s+de|a\s+lo\s+sumo|como\s+máximo|al\s+menos|menos\s+de|más\s+de"
    r"|al\s+massimo|almeno|"
    r"no\s+máximo|pelo\s+menos|не\s+(?:более|больше|менее|меньше)|больше|меньше|более|менее|minstens"
    r"|hoogstens|"
    r"(?:around|about|approximately|roughly|somewhere|anywhere|between|range\w*)\b[^.\n]{0,20}\d\s*(?:to"
    r"|and|–|-)"
)
# "either 5 or 6", "maybe 5", "one of 5 and 6".
_PERHAPS = (
    r"either|maybe|perhaps|possibly|might(?:\s+be)?|could(?:\s+(?:also\s+)?be)?|may(?:\s+be)?|one\s+of"
    r"|any\s+of|any|unknown|"
    r"возможно|либо|misschien|kanske|vielleicht|entweder|peut-être|quizás|forse|talvez|soit"
)
# What may be between such a word and the value: "not **equal to** $5$".
_FILLER = (
    r"(?:[\s*_,:\"“(]|\\[,;:! ]|\$|\\\(|\\\[|the|a|an|be|is|are|exactly|equal(?:s)?(?:\s+to)?|"
    r"simply|just|actually|value|answer|"
    r"number|result|of|to|think|believe|it|that|this|равен|es|ist|est|é|è|是|either|strictly|about"
    r"|approximately|around|x|n|=)*"
)
_AFTER_FILLER = r"[\s*_,:\"”)$]*(?:\\\)|\\\])?[\s*_,:\"”)$]*"
# The order decides: "not more than 5" is a bound, not a negation.
_BEFORE: tuple[tuple[Withheld, re.Pattern[str]], ...] = (
    (
        "bound",
        re.compile(rf"(?:\b(?:{_AT_MOST})|不超过|至少|至多|最多|最少|小于|大于){_FILLER}$", re.IGNORECASE),
    ),
    ("negated", re.compile(rf"(?:\b(?:{_NOT})\b|不是|≠|\\neq?|!=){_FILLER}$", re.IGNORECASE)),
    ("hedged", re.compile(rf"(?:\b(?:{_PERHAPS})\b|可能是|也许){_FILLER}$", re.IGNORECASE)),
)
# "5 or more", "5 is wrong", "5, or maybe 6".
_AFTER: tuple[tuple[Withheld, re.Pattern[str]], ...] = (
    (
        "bound",
        re.compile(
            rf"{_AFTER_FILLER}(?:or\s+(?:so|more|less|fewer|greater|higher|lower|larger|smaller|above|below"
            rf"|under|over)\b|"
            r"at\s+(?:most|least)\b|and\s+(?:up|above|below|under|over)\b|\+(?!\s*[\w(\\]))",
            re.IGNORECASE,
        ),
    ),
    (
        "negated",
        re.compile(
            rf"{_AFTER_FILLER}(?:(?:is|was|are|would\s+be|seems)\s+(?:(?:also|clearly|actually|definitely"
            rf"|therefore)\s+)?"
            r"(?:not\b|never\b|wrong|incorrect|false|impossible|ruled\s+out|excluded)|(?:isn|wasn"
            r"|can)['’]t\b|cannot\s+be|"
            r"(?:is|would\s+be)\s+(?:a\s+)?(?:trap|distractor)|不对|不是|错误|ではな|ではあ|じゃな|が間違|[이가]?\s*아니"
            r"|ist\s+(?:falsch|nicht)|"
            r"(?:n['’])?est\s+(?:pas|faux)|no\s+es|es\s+incorrect|неверн|неправильн|değil|yanlış)",
            re.IGNORECASE,
        ),
    ),
    (
        "hedged",
        re.compile(
            rf"{_AFTER_FILLER}(?:or\s+(?:maybe|perhaps|possibly|even)\b|(?:,|\()?\s*(?:maybe|perhaps"
            rf"|possibly|but\s+(?:it\s+)?"
            r"(?:could|might|may)\b|or\s+not\b))",
            re.IGNORECASE,
        ),
    ),
)
_LEADING: tuple[tuple[Withheld, re.Pattern[str]], ...] = (
    ("bound", re.compile(rf"(?:{_AT_MOST})\b", re.IGNORECASE)),
    ("negated", re.compile(rf"(?:{_NOT})\b(?!\s+(?:only|just)\b)", re.IGNORECASE)),
    ("hedged", re.compile(rf"(?:{_PERHAPS})\b", re.IGNORECASE)),
)
# "not 7 but 204", "не 7, а 204".
_INSTEAD = re.compile(
    r"(?<!anything\s)\bbut(?:\s+rather|\s+instead)?\s+(?:(?:it\s+)?is\s+)?|\brather,?\s+(?:it\s+is\s+)?|而是"
    r"|sondern\s+|,\s*(?:а|sino|maar|bensì|utan|lecz|mas\s+sim)\s+",
    re.IGNORECASE,
)
# "204, not 7", "204 rather than 7": the end names what the answer is not.
_CONTRAST = re.compile(
    r"(?:(?<=[\d)\]}$π%*])\s*[,，;(]?\s*|[,，]\s*)(?:(?:and|but|so|und|et|y|e|а|en|och)\s+)?"
    r"(?:(?:not|never|rather\s+than|instead\s+of|as\s+opposed\s+to|nicht|не|niet|inte|nie|non|não|no"
    r"|pas)\s+|而不是\s*|不是\s*|而非\s*)"
    r"(?!only|just)(?:[^\s]+\s*){1,3}$",
    re.IGNORECASE,
)
# "approximately 3.14", "exactly 5", "the number 7".
_APPROXIMATELY = re.compile(
    r"(?:(?:approximately|about|around|roughly|approx\.?|circa|ca\.|exactly|precisely|simply|just|only"
    r"|equal\s+to|equals|"
    r"given\s+by|actually|therefore|thus|indeed|the\s+(?:number|value|integer|fraction|point|interval|set)|"
    r"etwa|ungefähr|约|大约)\s*|[:=≈~]\s*)+",
    re.IGNORECASE,
)
_CONTEXT = 80


def withheld_before(text: str, at: int) -> Withheld | None:
    """Return why the words before position `at` take back the value there: "at most", "not", "either"."""
    before = re.split(r"[.;!?\n](?=\s|$)", text[max(0, at - _CONTEXT) : at])[-1]
    if doubts_value(before):
        return "negated"
    return next((why for why, pattern in _BEFORE if pattern.search(before)), None)


def withheld_after(text: str, at: int) -> Withheld | None:
    """Return why the words after position `at` take back the value before it: "or more", "is wrong"."""
    after = text[at : at + _CONTEXT]
    return next((why for why, pattern in _AFTER if pattern.match(after)), None)


def withheld_at_start(text: str) -> Withheld | None:
    """Return why a statement that begins with these words commits to nothing."""
    return next((why for why, pattern in _LEADING if pattern.match(text)), None)


def corrected_value(text: str) -> str | None:
    """Return what follows "but" in ``not 7 but 204``."""
    found = _INSTEAD.search(text)
    return text[found.end() :] if found else None


def without_contrast(text: str) -> str:
    """Drop ``, not 204`` and ``rather than 204`` from the end of a statement."""
    return _CONTRAST.sub("", text)


def without_qualifier(text: str) -> str:
    """Drop leading words that leave the value as it is: "approximately", "exactly", "equal to"."""
    return _APPROXIMATELY.sub("", text, count=1) if _APPROXIMATELY.match(text) else text
