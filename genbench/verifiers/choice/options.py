"""Finds options in a text: by their letters, and by their texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from string import ascii_uppercase
from typing import Literal

from genbench.verifiers.extraction import words

_MOST = 120
"""Mentions of options that are looked at, counted from the end. The limit keeps hostile texts cheap."""
_WIDE = str.maketrans(
    {"（": "(", "）": ")", "\xa0": " "}
    | {
        chr(first + place): letter
        for first in (0xFF21, 0x24B6)
        for place, letter in enumerate(ascii_uppercase)
    }
)
_COMMANDS = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathsf|mathit|mbox|operatorname|bf|rm|emph)\s*\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dt]frac(?![A-Za-z])")
_NOTATION = re.compile(r"\\[,;:!() ]|\\(?:left|right|displaystyle)(?![A-Za-z])|\$|[{}]")
_TAGS = re.compile(r"<([A-Z])>(?!.*</)|</?(?:[BbIiUu]|strong|em|span|code|p|div)>")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|`{1,3}")
_CIRCLED = re.compile(r"(?<=[①-⑳])(?:\s|[和与、,，]|选项)+(?=[①-⑳])")
"""Between the statements of a combination: the option "①③" is also written "①和③"."""
_BEFORE_CJK = re.compile(r"(?<=\d)[^\S\n]+(?=[一-鿿])")
_SPACES = re.compile(r"[^\S\n]+")
# After a bare "A" or "I" these words go on about the option. Any other makes it an article or a pronoun.
GOES_ON = (
    r"because|since|as|is|was|and|or|but|not|due|which|for|if|given|so|with|rather|by|would|should|must"
    r"|alone|from"
    r"|in|und|oder|et|ou|y|o|e|noch|ni|weil|ist|est|es|son|è|é"
)


def cleaned(text: str) -> str:
    """Return a text in one width, without marks of emphasis and commands, to find options in."""
    text = _FRACTION.sub(r"\\frac", _CIRCLED.sub("", text.translate(_WIDE)))
    for _ in range(3):
        text, changed = _COMMANDS.subn(r"\1", text)
        if not changed:
            break
    text = _TAGS.sub(lambda match: f" {match[1] or ''} ", text) if "<" in text else text
    return _SPACES.sub(" ", _BEFORE_CJK.sub("", _EMPHASIS.sub("", _NOTATION.sub("", text))))


def spelled(text: str) -> str:
    """Return the text of an option in the spelling in which options are compared."""
    text = cleaned(unicodedata.normalize("NFC", text)).casefold().replace("\n", " ")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("−", "-").replace("–", "-"))
    return _SPACES.sub(" ", text).strip(" .。;；,:\"'“”‘’")


_WORD = re.compile(r"(?<!\\)(?<![a-z])[a-zà-ÿ]{3,}")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that names an option, by its letter or by its text."""

    start: int
    end: int
    letter: str
    kind: Literal["letter", "text"]


@cache
def _letters(letters: str, *, small: bool) -> re.Pattern[str]:
    """Return the pattern of a letter that stands by itself, perhaps in brackets."""
    letter = f"[{letters}{letters.lower() if small else ''}]"
    lone_small = r"(?![a-z]\s+[a-z])" if small else ""
    return re.compile(
        rf"(?<![A-Za-z0-9À-ÿ'’\-_\\=+*^.])(?<![a-z0-9]/)[(\[<「【《\"“'‘#]{{0,4}}{lone_small}(?P<letter>{letter})"
        rf"(?!(?:['’](?!d[ıiuü]r|s? ?$)\w|[A-Za-z0-9À-ÿ_=+*^\\₀-₉′]|-[A-Za-z]|/(?![{letters}](?![A-Za-z]))"
        rf"[A-Za-z]|\.[A-Za-z]\.))[)\]>」】》\"”'’]*"
    )


class Options:
    """A list of options, in the order in which they were shown."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.letters = ascii_uppercase[: len(texts)]
        self._given = tuple(texts)

    @cached_property
    def spelled(self) -> list[str]:
        """Return the texts of the options in one spelling. Most answers give a letter and need none of it."""
        return [spelled(text) for text in self._given]

    @cached_property
    def _by_text(self) -> dict[str, str]:
        """Return letters by texts, longest first, without texts that two share or that are letters."""
        found = {
            text: letter
            for text, letter in zip(self.spelled, self.letters, strict=True)
            if text
            and self.spelled.count(text) == 1
            and not (len(text) == 1 and text.upper() in self.letters)
        }
        return dict(sorted(found.items(), key=lambda item: -len(item[0])))

    @cached_property
    def _has_numerals(self) -> bool:
        """Return whether options speak of statements by Roman numerals: "I and II only"."""
        return any(re.search(r"\bii\b", text) for text in self.spelled)

    @cached_property
    def _squeezed(self) -> dict[str, str]:
        """Return letters by formulas without their blanks."""
        return {
            text.replace(" ", ""): letter for text, letter in self._by_text.items() if not _WORD.search(text)
        }

    def named_as_whole(self, text: str) -> str:
        """Return the letter of a text that is only an option: "b)", "(B)", "Paris", "B: Paris", or ""."""
        stripped = text.strip().strip(" \t\n()[]{}<>\"'“”‘’«»「」【】.,;:!-–—→=#✅👉☑✓_*`。，、")
        if len(stripped) == 1:
            return stripped.upper() if stripped.upper() in self.letters else ""
        spelling = spelled(text)
        if letter := self._by_text.get(spelling, "") or self._squeezed.get(spelling.replace(" ", ""), ""):
            return letter
        head = re.match(
            r"\W*(?:option |choice |letter )?\(?([A-Za-z])(?:[).:：,、]|\s*[-–—]\s|\s)\s*",
            text,
            re.IGNORECASE,
        )
        if head is not None and head[1].upper() in self.letters:
            if re.search(rf"[\s(][{self.letters}][).:]", text[head.end() :]):
                return ""  # "D. Paris and I. Rome"
            rest = spelled(text[head.end() :]).strip("() ")
            same = self._by_text.get(rest)
            if (
                same in (None, "")
                and head[1].isupper()
                and re.match(r"[).:：]", text[head.end(1) :])
                and len(rest) > 1
            ):
                return head[1].upper() if self._begins_one(rest, head[1].upper()) else ""
            return head[1].upper() if same == head[1].upper() or not rest else ""
        tail = re.fullmatch(r"(.+?)\s*[(\[]([A-Z])[)\]]\W*", text.strip(), re.DOTALL)
        return tail[2] if tail and self._by_text.get(spelled(tail[1])) == tail[2] else ""

    def _begins_one(self, rest: str, letter: str) -> bool:
        """Return whether a text is much of the option with a letter: shortened, or with a remark after it."""
        wanted = self.spelled[self.letters.index(letter)]
        return bool(wanted) and (rest.startswith(wanted) or wanted.startswith(rest))

    def mentions(self, text: str, *, small: bool = False, texts: bool = True) -> list[Mention]:
        """Return the places of a cleaned text that name options, in order.

        Args:
            small: whether small letters count.
        """
        flat = text.casefold().replace("\n", " ").replace("−", "-").replace("–", "-") if texts else ""
        by_text = self._texts_in(flat)[-_MOST:] if texts and len(flat) == len(text) else []
        found = list(by_text)
        for match in list(_letters(self.letters, small=small).finditer(text))[-_MOST:]:
            letter = match["letter"].upper()
            place = match.start("letter")
            inside = any(other.start <= place < other.end for other in by_text)
            bare = match[0].strip() == match["letter"]
            numeral = bare and letter == "I" and self._has_numerals
            prose = numeral or (
                bare
                and letter in "AI"
                and re.match(rf" (?!(?:{GOES_ON})\b)[a-zà-ÿ]|['’]", text[match.end() : match.end() + 20])
            )
            if not inside and not prose:
                found.append(Mention(match.start(), match.end(), letter, "letter"))
        return sorted(found, key=lambda mention: mention.start)[-_MOST:]

    def _texts_in(self, flat: str) -> list[Mention]:
        """Return where the options' texts are, the longer of two, outside longer words and numbers."""
        found: list[Mention] = []
        for text, letter in self._by_text.items():
            start = flat.find(text)
            while start >= 0:
                end = start + len(text)
                inside = any(one.start < end and start < one.end for one in found)
                if not inside and _begins(flat, start) and _ends(flat, end):
                    found.append(Mention(start, end, letter, "text"))
                start = flat.find(text, end)
        return sorted(found, key=lambda mention: mention.start)

    def groups(self, text: str, *, small: bool = False, texts: bool = True) -> list[list[Mention]]:
        """Return the mentions of a text. Those that a comma, "and" or "or" joins come together."""
        found: list[list[Mention]] = []
        for mention in self.mentions(text, small=small, texts=texts):
            gap = text[found[-1][-1].end : mention.start] if found else ""
            letters = bool(found) and found[-1][-1].kind == mention.kind == "letter"
            if found and (_JOINED.fullmatch(gap) or (letters and _TOGETHER.fullmatch(gap))):
                found[-1].append(mention)
            elif (
                found
                and mention.kind == "text"
                and found[-1][-1].kind == "letter"
                and re.fullmatch(r"[).:：,\s(\-–—\"“]{0,4}", gap)
            ):
                # "B) Paris": the letter decides, and what joins another follows the text.
                found[-1][-1] = replace(found[-1][-1], end=mention.end)
            elif (
                found
                and mention.kind == "letter"
                and found[-1][-1].kind == "text"
                and re.fullmatch(r"[,\s]?\s?", gap)
            ):
                found[-1][-1] = mention  # "Paris (B)"
            else:
                found.append([mention])
        return found


_TOGETHER = re.compile(r"[^\S\n]*|\)\(")
_JOINED = re.compile(
    rf"\s*(?:[,/&、，~+]|{words.whole_words(words.JOINTS)}|,\s*(?:and|or))\s*(?:(?:maybe|perhaps"
    rf"|possibly)\s+)?(?:(?:option|choice)s?\s*)?",
    re.IGNORECASE,
)


def letters_of(group: Sequence[Mention]) -> str:
    """Return the letters of joined mentions, each once, in order."""
    return "".join(dict.fromkeys(mention.letter for mention in group))


_CIRCLE = re.compile("[①-⑳]")
_NUMBER_BEFORE = re.compile(r"(?:[\d.\-]|\d,)$")
_NUMBER_AFTER = re.compile(r"\d|[.,]\d|%|\s?(?:×|x|\*|\\times)\s?10")


def _begins(text: str, at: int) -> bool:
    """Return whether neither a word nor a number goes on at a place."""
    if not text[at].isalnum() or not at:
        return True
    if _CIRCLE.match(text, at):
        return not _CIRCLE.match(text, at - 1)
    if text[at].isdigit():
        return not _NUMBER_BEFORE.search(text, max(0, at - 2), at)
    return not (text[at - 1].isalnum() and text[at].isascii() and text[at - 1].isascii())


def _ends(text: str, at: int) -> bool:
    if not text[at - 1].isalnum() or at == len(text):
        return True
    if _CIRCLE.match(text, at - 1):
        return not re.match(r"[，,、]?[①-⑳]", text[at : at + 2])
    if text[at - 1].isdigit():
        return not _NUMBER_AFTER.match(text, at)
    return not (text[at].isalnum() and text[at].isascii() and text[at - 1].isascii())
