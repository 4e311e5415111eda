"""Finds where a response gives its answer: in a form that models are asked for or use of their own accord.

The forms are a box, a tag such as ``<answer>``, a JSON field, ``####``, a line "Answer: …" and an
announcement ("the answer is …"). The last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from genbench.types import ReadBy
from genbench.verifiers.extraction import words
from genbench.verifiers.extraction.boxes import boxes_with_lists
from genbench.verifiers.extraction.json_answers import json_answer

_TAIL = 20_000
"""Characters from the end in which an announcement is looked for."""
_CONTENT = 600
"""Characters after an announcement that may contain its answer."""
_MOST = 64
"""Statements that are looked at, from the end. The limit keeps hostile texts cheap."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A place at which a response gives an answer. `content` is what stands there, as it is written."""

    start: int
    end: int
    content: str
    how: ReadBy
    denied: bool = False
    """The words before it deny it: "the answer is not …"."""


_MOST_NOUNS = 400
_LINE_LEAD = 40
"""Characters of a line before its noun in a label: "**The final answer:**"."""
_BETWEEN = r"(?:[ \t*_]++(?!(?:is|are|was)\b)[^\s.:：=,;*_?!]{1,40}){0,8}?"
_LINE_START = r"^[ \t*_#>\-•✅👉]*"
# "**Answer:** 5", "So the final answer: 5", "## Final answer" and the next line, "【答案】D", "Answer. B"
_LABEL = re.compile(
    rf"{_LINE_START}(?:(?:so|thus|therefore|hence),?[ \t]+)?(?:(?:the|my)[ \t]+)?(?:final[ \t]+|correct"
    rf"[ \t]+|最终|正确|সঠিক[ \t]+|सही[ \t]+)?"
    rf"[【\[(<]?(?:{words.alternation(words.ANSWER)})(?:[ \t]*\([^()\n]{{1,60}}\)(?=[ \t*_]*[:：]))?(?:[ \t]*"
    rf"[】\])>][ \t]*[:：]?|[ \t*_]*(?:[:：=]>?|=>|\.(?=[ \t]+\S{{1,12}}$))|[ \t*_]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]*#{1,6}[^\n]*$|[ \t*_]*$")
# "A: 26" answers "Q: …". Only numbers follow it there: "A: Paris" may be the first option of a list.
_SHORT_LABEL = re.compile(r"^[ \t*_]*A[ \t*_]*[:：](?=[ \t*_]*[-−$]?\.?\d)", re.MULTILINE)
_JSON_FIELD = re.compile(
    r"[\"'](?:final[_ ]?)?answer[\"']\s*:\s*(?:\"(?P<text>(?:\\.|[^\"\\\n]){1,600})\"|'(?P<single>"
    r"[^'\n]{1,600})'|(?P<number>-?\d[\d.,]*))",
    re.IGNORECASE,
)
"""The field of an object that is not well formed, or that other text follows."""
_MARKER = re.compile(r"^[ \t]*####(?!#)[ \t]*", re.MULTILINE)
_TAG = re.compile(
    r"<(?P<tag>(?:final[_ -]?)?(?:answer|ans|final|result|solution))>(?P<inside>.{0,2000}?)(?:</(?P=tag)>"
    r"|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_CLOSERS = re.compile(
    r"<\|(?!(?:begin|end)_of_box)[^|>\n]{0,80}\|>|(?<!\s)\s*+I hope (?:it|this) is correct", re.IGNORECASE
)
"""What chat templates and models put after an answer."""
_QUOTED = re.compile(r"[\w,:]\s+[\"'“‘`](?:(?:the|my|final|correct|so)\s+){0,3}$", re.IGNORECASE)
"""'I should end with "The answer is (A)".' announces nothing."""
_DENIED = re.compile(
    rf"(?:{words.whole_words(words.DENIALS)}(?!(?:[^.!?,，:：\n]*\W)?(?:doubt|but|sondern|sino|mais)\b)"
    rf"[^.!?,，:：\n]{{0,25}}(?:(?<!\bno)[:：])?\s*"
    r"|(?<!no )(?<!little )(?<!without )(?<!without a )\b(?:doubt|unlikely|(?:don['’]t|do not|cannot|can"
    r"['’]t) (?:think|believe))\b[^.!?\n]{0,40})$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"(?:\b(?:if|unless|whether|suppose|supposing|assume|assuming|imagine|let us say|let['’]s say|had|wenn"
    r"|falls|si|se|если)\b"
    r"|\b(?:check|verify|confirm)|如果|假设|若)[^.!?,，\n]{0,30}$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[^.!?\n]{0,80}\?")
_WOULD = re.compile(r"would|wäre|serait|sería|sarebbe|seria", re.IGNORECASE)
_IF = re.compile(r"[^.!?\n]{0,60}\bif\b")
_DENIAL = re.compile(words.whole_words(words.DENIALS), re.IGNORECASE)
_REJECTED = re.compile(
    r"[^\w\n]*(?:which )?(?:is|was) (?:wrong|incorrect|false|not (?:right|correct|the (?:right "
    r"|correct )?answer))"
    r"|ではありません|ではない|[가이는은] 아닙니다",
    re.IGNORECASE,
)
"""What follows an answer that it only turns down: "\\boxed{5} is wrong"."""
_NOT = re.compile(rf"[ \t*_]*(?:{words.alternation(words.DENIALS)})(?![a-zà-ÿа-я])", re.IGNORECASE)
_NEW_QUESTION = re.compile(
    rf"^[ \t*_#>]*(?:\[?(?:{words.alternation(words.NEW_QUESTION)})\]?[ \t*_]*(?:\d{{1,4}}|no\.? ?\d+)?"
    rf"[ \t*_]*[:：]"
    r"|Options:[ \t]*(?:\(?A[).:]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_EMPTY = re.compile(r"[\s*_`#>\-]*|\s*```\w*\s*")
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_RETRACTED = re.compile(
    rf"[^\w\n]*(?:(?:oh|oops|hmm|but|however|actually|sorry|aber|mais|pero|但是|но)[,\s]+)*"
    rf"(?:{words.alternation(words.RETRACTIONS)})(?:(?=[\W_]*$)|[,:;.!–—-]+(?:\s|$)|\n|。|！)",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(r"(?:^|[.!?,\n])\s*yes\b", re.IGNORECASE)
"""What confirms an answer after all: "Wait, let me check. Yes, it is Paris."."""
_ABOUT = re.compile(
    r"(?:in|on|at|as|(?:above|below)(?! \w)|shown|boxed|found|obtained|given|that|then)\b"
    r"|(?:in)?correct\W*$|(?:right|wrong|true|false)[.!]",
    re.IGNORECASE,
)
_NOTHING = re.compile(rf"[\W_]*(?:{words.alternation(words.NOTHING)})[\W_]*", re.IGNORECASE)
_AFTER = 3_000
"""Characters after an answer that may take it back."""
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(?:s|del|strike)>[^<\n]{1,400}</(?:s|del|strike)>", re.IGNORECASE)


def _announcement(language: str) -> re.Pattern[str]:
    """Return what an announcement is in a language, from its noun on: "answer to the question is"."""
    noun = "|".join(sorted(words.ANSWER[language], key=len, reverse=True))
    copula = "|".join(sorted(words.COPULA.get(language, ()), key=len, reverse=True)) or r"(?!)"
    # Scripts without blanks put the copula next to the noun.
    spaced = (
        rf"(?:[*_]{{0,3}}[ \t]+(?:{copula})(?!\w))"
        if noun.isascii() or language in _SPACED
        else rf"(?:[ \t]*(?:{copula}))"
    )
    said = rf"(?:[ \t]*(?:[:：=＝]>?|=>|→|—|–|->)|{spaced})(?:[ \t*_]*[:：])?"
    return re.compile(
        rf"(?<![A-Za-zÀ-ÿ\-])(?:{noun})(?![A-Za-zÀ-ÿ])[\"'”]?(?:{_BETWEEN}{said}|[ \t]*\s(?=\$|\\\(|\\\["
        rf"|\\boxed))",
        re.IGNORECASE,
    )


_SPACED = frozenset(
    {"fr", "es", "pt", "pl", "cs", "ru", "uk", "tr", "ar", "fa", "hi", "bn", "te", "vi", "ro", "sv", "de"}
)
_BY_LANGUAGE = {language: _announcement(language) for language in words.ANSWER}
_NOUNS = tuple((noun, language) for language, group in words.ANSWER.items() for noun in group)


def prepared(text: str) -> str:
    """Return a response without the marks that close it, and without what is struck out."""
    tail = max(0, len(text) - _TAIL)
    if "<|" in text or "I hope" in text:
        text = text[:tail] + _CLOSERS.sub("\n", text[tail:])
    return _STRUCK.sub(" ", text) if "~~" in text or "</" in text else text


def before_new_question(text: str) -> str:
    """Return a text up to the line with which its writer goes on to another question.

    A base model does that after its answer. A response may also repeat its own question first: a line counts
    only after a text that states an answer.
    """
    for match in _NEW_QUESTION.finditer(text):
        before = text[: match.start()]
        if before.strip() and next(statements(before), None) is not None:
            return before
    return text


def statements(text: str) -> Iterator[Statement]:
    """Yield the places at which a response gives an answer, the last one first."""
    forms = list(_forms(text))
    boxed = [(form.start, form.end) for form in forms if form.how == "box"]
    said = [one for one in _announcements(text) if not any(start < one.start < end for start, end in boxed)]
    found = [*forms, *said]
    yield from sorted(found, key=lambda one: (one.start, one.end), reverse=True)[:_MOST]


def _forms(text: str) -> Iterator[Statement]:
    if (inside := json_answer(text)) is not None:
        yield Statement(len(text), len(text), inside, "json")
    for box in boxes_with_lists(text):
        denied = _DENIED.search(text, max(0, box.start - 60), box.start) is not None
        yield Statement(box.start, box.end, box.text, "box", denied)
    start = max(0, len(text) - _TAIL)
    if "nswer" in text or "NSWER" in text:
        for match in _JSON_FIELD.finditer(text, start):
            inside = match["text"] or match["single"] or match["number"]
            yield Statement(
                match.start(), match.end(), inside.replace("\\\\", "\\").replace('\\"', '"'), "json"
            )
    if "<" in text:
        for match in _TAG.finditer(text, start):
            yield Statement(match.start(), match.end(), match["inside"], "tag")
    for match in _MARKER.finditer(text, start):
        yield Statement(match.start(), *_line(text, match.end()), "marker")


def _announcements(text: str) -> Iterator[Statement]:
    start = max(0, len(text) - _TAIL)
    nouns, labels = _nouns(text, start), set()
    for match in _labels(text, start, nouns):
        heading = match[0].rstrip(" \t*_")[-1:] not in ":：=>.】])" and not _HEADING.fullmatch(match[0])
        end, content = _line(text, match.end())
        if content and not heading:
            labels.add(match.end())
            yield Statement(match.start(), end, content, "label", _NOT.match(content) is not None)
    for place, language in nouns:
        said = _BY_LANGUAGE[language].match(text, place)
        if said is None or said.end() in labels or _QUOTED.search(text, max(0, place - 40), place):
            continue
        end, content = _line(text, said.end())
        if content and not _is_supposed(text, place, said):
            before = _DENIED.search(text, max(0, place - 60), place)
            within = _DENIAL.search(said[0]) is not None  # "la respuesta no es 5"
            denied = before is not None or within or _NOT.match(content) is not None
            yield Statement(place, end, content, "announcement", denied)


def _is_supposed(text: str, place: int, match: re.Match[str]) -> bool:
    """Return whether an announcement only asks or supposes: "if the answer is B", "is the answer B?"."""
    if _SUPPOSED.search(text, max(0, place - 60), place) or _ASKED.match(text, match.end()):
        return True
    return _WOULD.search(match[0]) is not None and _IF.match(text, match.end()) is not None


def _labels(text: str, start: int, nouns: list[tuple[int, str]]) -> Iterator[re.Match[str]]:
    done = -1
    for place, _ in nouns:
        line = text.rfind("\n", 0, place) + 1
        if line > done and place - line <= _LINE_LEAD and (match := _LABEL.match(text, line)) is not None:
            yield match
            done = line
    if "A" in text:
        yield from _SHORT_LABEL.finditer(text, start)


def _nouns(text: str, start: int) -> list[tuple[int, str]]:
    """Return the places of nouns for "answer", with their language. One pattern would be slower."""
    lower = text.lower()
    if len(lower) != len(text):  # "İ" becomes two characters, and places must stay
        lower = "".join(char.lower()[:1] or " " for char in text)
    found = set()
    for noun, language in _NOUNS:
        at = start - 1
        while (at := lower.find(noun, at + 1)) >= 0:
            found.add((at, language))
    return sorted(found)[-_MOST_NOUNS:]


def _line(text: str, start: int) -> tuple[int, str]:
    """Return (end, text) of the rest of a line, or of the next one that is not empty."""
    while True:
        end = text.find("\n", start, start + _CONTENT)
        end = min(len(text), start + _CONTENT) if end < 0 else end
        if end >= len(text) or not _EMPTY.fullmatch(text, start, end):
            return end, text[start:end].strip()
        start = end + 1


def begins_with_denial(content: str) -> bool:
    """Return whether a text begins with a word such as "not"."""
    return _NOT.match(content) is not None


def is_denied(before: str) -> bool:
    """Return whether the words before an answer deny or doubt it: "it is not", "I doubt that it is"."""
    return _DENIED.search(before) is not None


def speaks_of_answer(content: str) -> bool:
    """Return whether words only speak of an answer: "the answer is correct", "the answer is in the box"."""
    return _ABOUT.match(content) is not None


def gives_nothing(content: str) -> bool:
    """Return whether an announcement says that there is no answer: "none of the above", "I don't know"."""
    return _NOTHING.fullmatch(content[:200]) is not None


def after_retraction(after: str, said: str = "") -> str | None:
    """Return what follows a plain retraction in a text, or None if none is there.

    A retraction is a sentence of its own ("Wait, no.") or begins one that goes on ("Wait, no: it is B."). A
    sentence that only says the answer `said` again is none: "Answer: No. No.".
    """
    after = after[:_AFTER]
    start = 0
    for end in [*(match.end() for match in _SENTENCES.finditer(after)), len(after)]:
        again = said and after[start:end].strip("\n *_.!").casefold() == said.casefold()
        match = None if again else _RETRACTED.match(after, start)
        if match is not None and match.end() <= max(end, start + 1):
            return None if _CONFIRMED.search(after, match.end()) else after[match.end() :]
        start = end
    return None


def is_rejected(after: str) -> bool:
    """Return whether the words right after an answer turn it down: "is wrong"."""
    return _REJECTED.match(after) is not None


def is_retracted(after: str, said: str = "") -> bool:
    """Return whether a plain retraction takes back what was before a text."""
    return after_retraction(after, said) is not None
