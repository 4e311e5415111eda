"""Verifies multiple choice: the option that an answer settles on, by letter or by its text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding, ReadBy
from genbench.verifiers.base import BaseVerifier, Guess
from genbench.verifiers.choice.options import GOES_ON, Mention, Options, cleaned, letters_of, spelled
from genbench.verifiers.extraction import words
from genbench.verifiers.extraction.amounts import after_equals, number_of, sentences
from genbench.verifiers.extraction.protocol import (
    Statement,
    after_retraction,
    before_new_question,
    begins_with_denial,
    gives_nothing,
    is_denied,
    is_rejected,
    is_retracted,
    prepared,
    statements,
)

_TAIL = 20_000
"""Characters from the end in which a choice is looked for."""
_AROUND, _SAID = 60, 300
"""Characters before and after an option that may say what is thought of it."""
_END_CHARS, _LINE = 3_000, 400
"""Characters from the end in which an answer is guessed, and of a line that may be one."""
_NEAR_END = 3
"""Sentences from the end in which a mere conclusion counts: "Therefore, B."."""
_LEAST_PROSE = 100
"""In a shorter text a small letter may name an option: "I'd say b."."""
_LEAST = 8
"""Characters of a text that may be a part of one option's text."""

_THE = r"(?:the|an?|die|der|das|la|le|el|il|o|de|den)"
_RIGHT_NOUN = rf"(?:{words.alternation(words.OPTION, words.ANSWER)})"
_COPULA = rf"(?<![a-zà-ÿ]){words.words_before(words.COPULA)}"
_FILLED = rf"(?:[\s:：,]*{words.words_before(words.FILLERS)})*[\s:：(\"“]*$"
_ANNOUNCED = re.compile(
    rf"(?:(?:{words.alternation(words.RIGHT, words.WRONG)})(?:的|な|[^\S\n]+(?:{_THE}[^\S\n]+)?)?"
    rf"(?:{_RIGHT_NOUN})?[^.!?。\n]{{0,40}}?"
    rf"(?:{_COPULA}|[:：—–=])"
    rf"|的(?:是|为|选项是|一项是|说法是|一句是)|(?<![a-z])(?:{words.alternation(words.CHOOSE)})){_FILLED}",
    re.IGNORECASE,
)
"""What is before an option that is announced as the right one, or as the one that is wrong."""
_IS = rf"(?:[^\S\n]*(?:{_COPULA}|seems|looks|appears|to be|번이|번은|也|都))*"
_TOO = (
    rf"[)\].:：]*(?:[^,，.。;；:：!?\n]{{0,24}})??{_IS}[^\S\n]*(?:{_THE}[^\S\n]+)?"
    r"(?:(?:most|only|clearly|therefore|likely)[^\S\n]+)*"
)
_CALLED_RIGHT = re.compile(
    rf"{_TOO}(?:{words.alternation(words.RIGHT)}|['’]?d[ıiuü]r(?!\w)|(?:번)?입니다|です)", re.IGNORECASE
)
_CALLED_WRONG = re.compile(
    rf"{_TOO}(?:{words.alternation(words.WRONG)}|(?:{words.alternation(words.DENIALS)})(?![\w])"
    rf"[^,.，。\n]{{0,12}}(?:{words.alternation(words.RIGHT)}))",
    re.IGNORECASE,
)
_CALLED_SO = re.compile(
    rf"[,，.。:：][^\S\n]*(?:所以|因此|故|therefore |so )?(?:这|该|此|this|that|it)[^,，.。\n]{{0,12}}?(?:"
    rf"(?P<wrong>{words.alternation(words.WRONG)})|(?P<right>{words.alternation(words.RIGHT)}))",
    re.IGNORECASE,
)
"""A sentence about the option before it: "选项A，…，这是正确的。"."""
_OPEN = re.compile(r"[^,，.。\n]{0,24}?(?:是否|whether)")
_NEGATED = re.compile(
    rf"(?:{words.alternation(words.DENIALS)})[^\S\n]*(?:一定|完全|太|够|entirely|quite)?[^\S\n]*"
    rf"(?:{words.alternation(words.RIGHT)})",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|why|when|suppose|unless|assuming|wenn|si|se)\b[^,]*$|如果[^，]*$", re.IGNORECASE
)
_OPTION_BEFORE = re.compile(
    rf"(?:{words.alternation(words.ANSWER)}|(?:{words.alternation(words.OPTION)})(?:[^\S\n]+"
    rf"(?:{_COPULA}))?)[\s(\[]*$",
    re.IGNORECASE,
)
_OPTION_AFTER = re.compile(r"[)\]]*\s*(?:选项|項|选|번)")
_DENIED = re.compile(
    rf"(?:{words.whole_words(words.DENIALS)}|rules? out|ruling out|eliminates?|exclud\w+|unlike|than|排除)"
    r"[^\S\n]*(?:(?:the|option|choice|be|选项)[^\S\n]*)*[(\"“]*$",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    rf"(?:(?:^|[,;:])\W*{words.words_before(words.CONCLUDE)}[\s,:，]*(?:(?:it|this|that|the answer|we|I|must"
    rf"|be|is|get|have)\s+)*"
    rf"|\b(?:it is|it['’]s|it must be|leaves)\s){_FILLED}",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(rf"^\W*(?:{words.alternation(words.CONCLUDE)})(?![a-z])", re.IGNORECASE)
_TICKED = re.compile(r"^[ \t\-*•]*(?:\[[xX✓✔]\]|[☑✅👉✓✔])[ \t]*(?P<rest>\S[^\n]*)$", re.MULTILINE)
_LEADING = re.compile(
    rf"[\s\W]*(?:{words.words_before(words.FILLERS, words.COPULA)}[\s,:：]*)+", re.IGNORECASE
)
_BEGUN = re.compile(r"\W*[A-Z](?:[):,。，]|\.(?!\s+[a-z])|\s?[—–-]\s)")
_ENDS_TEXT = re.compile(rf"\s*(?:$|[^\w\s\-]|(?:{GOES_ON})\b)")
_HEAD = re.compile(r"[ \t*\-•]*\(?[A-Z][).:] ?\S")
_END = re.compile(r"(?<![A-Z])[.!?](?=\s|$)|[。！？\n;；]")


@dataclass(frozen=True, slots=True)
class Picked:
    """The letters that a text settles on: one, or several if it hedges. None if it says that it has none."""

    letters: str
    how: ReadBy


class OptionReader:
    """Reads texts about one list of options, given in the order in which they were shown."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._options = Options(texts)

    def pick(self, text: str, *, guess: bool = True) -> Picked | None:
        """Return the option that `text` settles on, or None. Without `guess` only statements count."""
        text = before_new_question(prepared(text[-_TAIL:]))
        stated, after, is_denied = self._stated(text)
        if stated is not None:
            return self._revised(stated, after)
        if (judged := self._judged(after, heads=True)) is not None:
            return self._revised(*judged)
        if not is_denied and (whole := self._whole(after.strip())):
            return Picked(whole, "whole")
        return self._guessed(after) if guess else None

    def _revised(self, stated: Picked, after: str) -> Picked | None:
        """Return a statement, or what the text after it puts in its place."""
        if not stated.letters or is_rejected(after):
            return None
        if (judged := self._judged(after, heads=False)) is not None and judged[0].how == "announcement":
            return self._revised(*judged)
        turned = re.search(
            rf"(?:^|\W)(?:actually|but|however|wait|hmm)\W+(?:option )?\(?{stated.letters}\b"
            rf"(?P<after>.{{0,60}})",
            after,
            re.IGNORECASE,
        )
        if turned is not None and _CALLED_WRONG.match(turned["after"]):
            return None
        if (rest := after_retraction(after)) is None:
            return stated
        end = _END.search(rest)
        said = Statement(0, 0, rest[: end.start()] if end else rest, "announcement")
        letters = self._given(said)[0] if not begins_with_denial(said.content) else ""
        return Picked(letters, "announcement") if letters and letters != stated.letters else None

    def _whole(self, text: str) -> str:
        """Return the letter of a reply that is only an option, or one line that begins with it."""
        if len(text) > _LINE:
            return ""
        plain = cleaned(text)
        if letter := self._options.named_as_whole(plain):
            return letter
        groups = [
            group for group in self._options.groups(plain) if not _DENIED.search(plain[: group[0].start])
        ]
        if len({letters_of(group) for group in groups}) != 1 or "\n" in text or groups[0][0].start:
            return ""
        after = plain[groups[0][-1].end :]
        begins = _BEGUN.match(plain) and _verdict("", _END.split(after)[0]) is not False
        return letters_of(groups[0]) if begins or not re.search(r"\w", after) else ""

    def _stated(self, text: str) -> tuple[Picked | None, str, bool]:
        """Return what the last statement about options picks, what follows, and whether it is denied."""
        denied, after_denied = "", text
        for said in statements(text):
            if gives_nothing(said.content):
                return Picked("", said.how), text[said.end :], False
            letters, rest = self._given(said)
            after = f"{rest}\n{text[said.end :]}"
            if not letters or (_HEAD.match(said.content) and _HEAD.match(text[said.end :].lstrip("\n"))):
                continue  # "The options are:\nA) Paris\nB) Rome" gives neither
            if said.denied:
                after_denied = after_denied if denied else after
                denied += letters
                continue
            return Picked("" if set(letters) <= set(denied) else letters, said.how), after, False
        for tick in reversed(list(_TICKED.finditer(text))):
            if letters := self._options.named_as_whole(cleaned(tick["rest"])):
                return Picked(letters, "label"), text[tick.end() :], False
        return None, after_denied, bool(denied)

    def _given(self, said: Statement) -> tuple[str, str]:
        """Return the letters of the options that a statement gives, or "", and what it says after them."""
        content = cleaned(said.content).strip()
        end = _END.search(content)
        sentence, after = (content[: end.start()], content[end.end() :]) if end else (content, "")
        lead = _LEADING.match(content)
        begin = lead.end() if lead else 0
        for part, rest in (
            (content, ""),
            (content[begin:], ""),
            (sentence, after),
            (sentence[begin:], after),
        ):
            if letters := self._options.named_as_whole(part):
                return letters, rest
        groups = self._options.groups(content, small=said.how != "announcement" or begin > 0)
        groups = [group for group in groups if group[0].start >= begin]
        first = groups[0] if groups else []
        if first and not re.search(r"\w", content[begin : first[0].start]) and _is_end(first, content):
            return letters_of(groups[0]), content[groups[0][-1].end :]
        inside = [
            group
            for group in groups
            if group[-1].end <= len(sentence)
            and _is_end(group, content)
            and not _DENIED.search(content[: group[0].start])
        ]
        return self._only(inside) or self._by_part(sentence[begin:]), after

    def _only(self, groups: Sequence[list[Mention]]) -> str:
        """Return the letters of the last group with letters, else of the only option named by its text."""
        lettered = [group for group in groups if group[0].kind == "letter"]
        if lettered:
            return letters_of(lettered[-1])
        named = {letters_of(group) for group in groups}
        return named.pop() if len(named) == 1 else ""

    def _by_part(self, text: str) -> str:
        """Return the letter of the only option that a text is a part of, or whose number it gives."""
        part = spelled(text)
        if re.fullmatch(r"[-−$€£]?\s?[\d.,]+\W*", part):
            same = [
                number_of(part) == number_of(one) if re.match(r"\W*\d", one) else False
                for one in self._options.spelled
            ]
        else:
            same = [len(part) >= _LEAST and part in one for one in self._options.spelled]
        return self._options.letters[same.index(True)] if sum(same) == 1 else ""

    def _judged(self, text: str, *, heads: bool) -> tuple[Picked, str] | None:
        """Return the option that a text announces without the word "answer" or calls right, and what follows.

        Args:
            heads: whether what follows a letter at the beginning of a line is said of its option. After an
                answer such lines are a copied list, and only announcements count.
        """
        if not text.strip():
            return None
        text = cleaned(text)
        right: dict[str, None] = {}
        wrong: dict[str, None] = {}
        announced, end_of = "", 0
        groups = self._options.groups(text, texts=False, small=len(text) < _LEAST_PROSE)
        for place, group in enumerate(groups):
            start, end = group[0].start, group[-1].end
            before = _sentence_before(text, start)
            after = text[end : groups[place + 1][0].start if place + 1 < len(groups) else len(text)][:_SAID]
            letters = letters_of(group)
            if _DENIED.search(before) or _SUPPOSED.search(before) or re.match(r"[^.!?\n]{0,40}\?", after):
                continue
            if (match := _ANNOUNCED.search(before)) is not None:
                if not is_denied(before[: match.start()]):
                    announced, end_of = letters, end
                continue
            verdict = _verdict(before, after) if heads and not is_denied(before) else None
            if verdict is not None:
                (right if verdict else wrong).update(dict.fromkeys(letters))
                end_of = max(end_of, end)
            is_last = place == len(groups) - 1 and not announced and len(letters) == 1
            if is_last and verdict is not None and _CONCLUSION.match(before):
                right, wrong = {letters: None}, {}
        chosen = announced or self._odd_one(right, wrong)
        return (Picked(chosen, "announcement"), text[end_of:]) if chosen else None

    def _odd_one(self, right: Mapping[str, None], wrong: Mapping[str, None]) -> str:
        """Return the only option called right, or the only one that is judged otherwise than all others."""
        only_right = [letter for letter in right if letter not in wrong]
        if len(only_right) == 1:
            return only_right[0]
        only_wrong = [letter for letter in wrong if letter not in right]
        if len(only_wrong) == 1 and len(only_right) == len(self._options.letters) - 1 > 1:
            return only_wrong[0]
        return ""

    def _guessed(self, text: str) -> Picked | None:
        """Return the option of a bare line, of a conclusion near the end, or of the last sentence."""
        parts = [cleaned(part) for part in sentences(text[-_END_CHARS:])]
        if not parts or is_retracted(parts[-1]) or (len(parts) >= 20 and len(set(parts[-20:])) == 1):
            return None
        found = self._bare(text) or self._concluded(parts) or self._last(parts[-1])
        return Picked(found, "guess") if found else None

    def _bare(self, text: str) -> str:
        lines = [line for line in text.splitlines() if re.search(r"\w", line)]
        for line, neighbour in ((lines[-1], lines[-2:-1]), (lines[0], lines[1:2])) if lines else ():
            letter = self._options.named_as_whole(cleaned(line[:_LINE]))
            if letter and not any(
                self._options.named_as_whole(cleaned(o[:_LINE])) not in ("", letter) for o in neighbour
            ):
                return letter
        return ""

    def _concluded(self, parts: Sequence[str]) -> str:
        for sentence in reversed(parts[-_NEAR_END:]):
            for group in self._options.groups(sentence):
                after = sentence[group[-1].end :]
                if _CONCLUDED.search(sentence[: group[0].start]) and not re.search(r"\w", after):
                    return letters_of(group)
        return ""

    def _last(self, sentence: str) -> str:
        """Return the only option that the last sentence names as one, or whose text ends it.

        A sentence that is nothing but an option's text may be the end of a copied list.
        """
        found = {letters_of(group) for group in self._options.groups(sentence) if _is_marked(sentence, group)}
        if len(found) == 1:
            return found.pop()
        part = after_equals(sentence)
        if part != sentence and (letter := self._options.named_as_whole(part)):
            return letter
        groups = [group for group in self._options.groups(part) if group[0].kind == "text"]
        if groups and len({letters_of(group) for group in groups}) == 1:
            before, after = part[: groups[-1][0].start], part[groups[-1][-1].end :]
            told = part != sentence or re.search(r"\w", before)
            if _CALLED_WRONG.match(after):
                return ""
            if _CALLED_RIGHT.match(after) and not is_denied(before):
                return letters_of(groups[-1])
            if told and not re.search(r"\w", after) and not _DENIED.search(before):
                return letters_of(groups[-1])
        return self._by_part(part) if part != sentence else ""


def _is_end(group: Sequence[Mention], text: str) -> bool:
    """Return whether an option's text is all that is named: not in "Paris Hilton"."""
    return group[-1].kind == "letter" or _ENDS_TEXT.match(text, group[-1].end) is not None


def _is_marked(sentence: str, group: Sequence[Mention]) -> bool:
    """Return whether a letter is told to be an option, "option B" or "(B)", and not turned down."""
    before, after = sentence[: group[0].start], sentence[group[-1].end :]
    if group[0].kind != "letter" or _DENIED.search(before) or _SUPPOSED.search(before) or "?" in after:
        return False
    if _verdict(before, after) is False:
        return False
    if sentence[group[0].start] == "(" and re.search(r"\w", before) and not re.match(r"\s*\w", after):
        return True
    marked = _OPTION_BEFORE.search(before)
    if marked is None and not _OPTION_AFTER.match(after):
        return False
    # "选项D中，…" begins what is said of each option.
    return re.search(r"\w", before[: marked.start()] if marked else before) is not None


def _verdict(before: str, after: str) -> bool | None:
    """Return whether what follows an option calls it right or wrong, or None."""
    if _SUPPOSED.search(before) or _OPEN.match(after):
        return None
    if _CALLED_WRONG.match(after):
        return False
    if _CALLED_RIGHT.match(after):
        return True
    if not (
        _OPTION_BEFORE.search(before)
        or _OPTION_AFTER.match(after)
        or (not re.search(r"\w", before) and re.match(r"[).:：]", after))
    ):
        return None
    told = [match for match in _CALLED_SO.finditer(after) if not _OPEN.search(match[0])]
    return told[-1]["right"] is not None and not _NEGATED.search(told[-1][0]) if told else None


def _sentence_before(text: str, start: int) -> str:
    before = text[max(0, start - _AROUND) : start]
    return re.split(r"[.!?。！？\n](?=\s|$)|[。！？\n]", before)[-1]


class ChoiceVerifier(BaseVerifier):
    """Tells whether the option that an answer settles on is the reference's.

    A reference is ``{"letter": "C", "options": ["…", …]}``, 2 to 26 option texts in the order in which they
    were shown. ``"also": "AD"`` names further right options. An option with the text of a right one is right.
    Boxes, tags, "Answer: B", "the answer is B" and "(B) is correct" are statements. The last one wins, unless
    it is denied or taken back. Without any statement the answer is guessed: a bare first or last line,
    "Therefore, B." near the end, or the only option of the last sentence. An answer that names several
    options at once is wrong.

    Args:
        guess: what becomes of a reply that states no option. "last" guesses as said above, unless it was cut
            off.
    """

    name = "choice"
    rules = "9"

    def __init__(self, *, guess: Guess = "last") -> None:
        self.require_known("guess", guess, Guess)
        self._guess = guess
        self._reader = lru_cache(256)(OptionReader)

    def read(self, reference: Any) -> tuple[str, tuple[str, ...]]:
        """Return (letters of the right options, option texts)."""
        return read_reference(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer settles on the option of the reference, else 0 or "no_answer".

        Raises:
            DataError: the reference is malformed.
        """
        accepted, options = self.read(case.reference)
        picked = self._reader(options).pick(
            case.answer.text, guess=self._guess == "last" and not case.answer.truncated
        )
        if picked is None:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"})
        # Votes are for an option's text: its letter changes with the order, from draw to draw.
        chosen = " / ".join(options[ascii_uppercase.index(name)] for name in picked.letters)
        detail = {"read_by": picked.how, "letter": picked.letters} | (
            {"hedged": True} if len(picked.letters) > 1 else {}
        )
        return Finding(float(accepts(picked.letters, accepted, options)), extracted=chosen, detail=detail)

    def close(self) -> None:
        """Forget the readers of earlier options."""
        self._reader.cache_clear()


def accepts(letters: str, accepted: str, options: tuple[str, ...]) -> bool:
    """Return whether the letters of an answer name a right option, and nothing else.

    Args:
        letters: the letters that the answer settles on. Several are right only if they are the same text.
        accepted: the letters of the right options.
    """
    right = {options[ascii_uppercase.index(letter)] for letter in accepted}
    texts = {
        options[ascii_uppercase.index(letter)]
        for letter in letters
        if letter in ascii_uppercase[: len(options)]
    }
    return len(texts) == 1 and texts <= right


def read_reference(reference: Any) -> tuple[str, tuple[str, ...]]:
    """Return (letters of the right options, option texts).

    Raises:
        DataError: There is no such letter, or there are not 2 to 26 options.
    """
    want = 'want {"letter": "C", "options": [2 to 26 texts]}'
    if not isinstance(reference, dict) or not {"letter", "options"} <= reference.keys():
        raise DataError(f"choice reference {reference!r}: {want}")
    letter, options = reference["letter"], reference["options"]
    if not isinstance(options, list | tuple) or not 2 <= len(options) <= len(ascii_uppercase):
        raise DataError(f"choice reference has options {options!r}: {want}")
    if not isinstance(letter, str) or len(letter) != 1 or letter not in ascii_uppercase[: len(options)]:
        raise DataError(f"choice reference has letter {letter!r} for {len(options)} options: {want}")
    also = reference.get("also", "")
    if not isinstance(also, str) or not set(also) <= set(ascii_uppercase[: len(options)]):
        raise DataError(f"choice reference has also {also!r} for {len(options)} options: {want}")
    return letter + also, tuple(map(str, options))
