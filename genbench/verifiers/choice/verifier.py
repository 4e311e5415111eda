"""Verifies multiple choice: the option that an answer settles on, by letter or by its text.

The reader reads what is said of each option and weighs it by place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Any, Literal

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.choice import context
from genbench.verifiers.choice.context import (
    BOX,
    END_OF_BOX,
    Sentences,
    blanked,
    box_spans,
    clean,
    plain,
    without_unit,
)
from genbench.verifiers.language import commitment
from genbench.verifiers.language.commitment import (
    VERDICT,
    Claim,
    condition_of,
    read_claim,
    supposes,
    turns_down,
    verdict,
)
from genbench.verifiers.language.retraction import is_withdrawn

_CONCLUSION = 3
"""Sentences from the end (and the first one) in which a mere conclusion counts: "Therefore, B."."""


Kind = Literal["announced", "confirmed", "exception"]
"""How an option is stated: "the answer is B", "B is correct", "the one that is not a planet is B"."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of one option, or of several that are joined ("A or B")."""

    start: int
    end: int
    letters: str
    strength: Literal["denied", "named", "mentioned", "concluded", "stated"]
    kind: Kind = "confirmed"
    plain: bool = False
    """A denial says so in so many words: "B is wrong"."""
    adds: bool = False
    """It adds to what was stated before: "B is also correct"."""
    condition: str = ""
    """The kind of condition that it may share with a statement next to it: "B if it is hot"."""


def _is_final(said: Statement) -> bool:
    """Return whether nothing before a statement can count any more."""
    return said.kind == "announced" and said.strength == "stated" and not said.adds and not said.condition


_BRANCHES_APART = 160
"""Characters between two branches of one case distinction, at most."""


def _branches(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements that give one option each in different cases: "B for small n and C for large n".

    Only two that follow each other and have conditions of one kind are branches.
    """
    given = [said for said in statements if said.strength != "denied"]
    pairs = [
        (one, two)
        for one, two in pairwise(given)
        if one.condition
        and two.strength in ("stated", "concluded")
        # A mere name before an announcement is no branch: "36 J, … the answer is E with a minus".
        and (one.strength in ("stated", "concluded") or two.kind != "announced")
        and one.condition == two.condition
        and one.letters != two.letters
        and two.start - one.end <= _BRANCHES_APART
    ]
    return [said for pair in pairs for said in pair]


def settled(statements: Sequence[Statement], sentences: Sentences, spared: Collection[str]) -> str | None:
    """Return the letters last stated and not taken back. Return "" if all were, None if nothing is stated."""
    last = _last_stated(statements, sentences)
    if last is None:
        return None
    said, later = statements[last], statements[last + 1 :]
    if said.strength == "denied":
        return said.letters  # the one that is not like the others
    denied = [other for other in later if other.strength == "denied" and said.letters in other.letters]
    for other in reversed(later):
        changed = other.strength == "concluded" and other.letters != said.letters
        if changed and (denied or sentences.pauses_between(said.start + 1, other.start)):
            return "" if sentences.retracted_after(other.end, spared) else other.letters
    repeated = any(o.strength in ("concluded", "mentioned") and o.letters == said.letters for o in later)
    if not repeated and sentences.retracted_after(said.end, spared):
        return ""
    # "The answer is B. But B is wrong" takes it back. After "the answer is B" alone "B is false" may say why:
    # the question may ask for the false statement.
    if any(other.plain and sentences.turns_between(said.end, other.start) for other in denied):
        return ""
    earlier = "".join(o.letters for o in statements[:last] if o.strength != "denied") if said.adds else ""
    return "".join(dict.fromkeys(earlier + said.letters))


def _last_stated(statements: Sequence[Statement], sentences: Sentences) -> int | None:
    """Return the place of the statement that counts. One of an exception does not replace an announcement.

    "The answer is A. The statement that is clearly wrong is C." settles on A.
    """
    stated = [place for place, said in enumerate(statements) if said.strength == "stated"]
    if not stated:
        return None
    last = stated[-1]
    # "Since A, C and D are all correct, the answer is B, which is not correct."
    odd = [
        place
        for place, said in enumerate(statements)
        if said.strength == "denied" and said.kind == "announced"
    ]
    if (
        odd
        and len(statements[last].letters) > 1
        and statements[odd[-1]].letters not in statements[last].letters
    ):
        return odd[-1]
    if statements[last].kind != "exception":
        return last
    for place in reversed(stated):
        if statements[place].kind == "announced":
            turned = sentences.turns_between(statements[place].end, statements[last].start)
            return last if turned else place
    return last


def concluded_near_end(statements: Sequence[Statement], sentences: Sentences, spared: Collection[str]) -> str:
    """Return the letters of the last conclusion near the end or in the first sentence, or ""."""
    near = [
        said
        for said in statements
        if said.strength == "concluded" and sentences.is_near_end(said.start, _CONCLUSION)
    ]
    for said in reversed(near):
        if not any(
            o.strength == "denied" and o.letters == said.letters and o.start > said.start for o in statements
        ):
            return "" if sentences.retracted_after(said.end, spared) else said.letters
    return ""


def only_mention(statements: Sequence[Statement], sentences: Sentences, spared: Collection[str]) -> str:
    """Return the only option that a text speaks of as "option B" and neither denies nor takes back, or ""."""
    denied = {letter for said in statements if said.strength == "denied" for letter in said.letters}
    mentioned = [said for said in statements if said.strength == "mentioned"]
    if mentioned and sentences.retracted_after(mentioned[-1].end, spared):
        return ""
    others = {said.letters for said in statements if said.strength in ("named", "mentioned")}
    left = {said.letters for said in mentioned} - denied
    if others - left - denied:
        return ""  # "Option B says that it is hot, option C that it is cold"
    return left.pop() if len(left) == 1 and all(len(one) == 1 for one in left) else ""


How = Literal["stated", "bare", "mentioned"]

_TICKED = ("[x]", "[X]", "[✓]", "[✔]", "☑", "✓", "✔", "✅")
_MARKS = ("[", *"☐☑☒✓✔✅✗✘❌✖")
_TAIL = 20_000
"""Characters from the end in which a choice is looked for."""
_TOKENS = 120
"""Mentions of options that are looked at, counted from the end. The limit keeps hostile texts cheap."""
_DECORATION = " \t\n()[]{}\"'“”‘’.,;:!-–—>→=✓✅☑👉•·。、《》「」【】<"


@dataclass(frozen=True, slots=True)
class Picked:
    """The letters that a text settles on: one, or several if it hedges."""

    letters: str
    how: How


@dataclass(frozen=True, slots=True)
class Mention:
    """One place that names an option, by its letter or by its text."""

    start: int
    end: int
    letter: str
    kind: Literal["letter", "lower", "text"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """One option that a list or a table calls right or wrong."""

    start: int
    end: int
    letter: str
    right: bool


@dataclass(frozen=True, slots=True)
class _Patterns:
    """What is looked for in a text about options with some letters."""

    tokens: re.Pattern[str]
    ticks: re.Pattern[str]
    verdicts: re.Pattern[str]
    rows: re.Pattern[str]


@cache
def _patterns(letters: str) -> _Patterns:
    """Return the patterns of some letters. Compiling them takes longer than reading an answer."""
    letter = rf"(?P<letter>[{letters}])"
    return _Patterns(
        re.compile(
            rf"{context.BEFORE_LETTER}{letter}{context.AFTER_LETTER}"
            rf"|{context.BEFORE_LETTER}(?P<lower>[{letters.lower()}]){context.AFTER_LOWER}"
        ),
        # "- [x] B", "☑ B", and at the beginning of a line "❌ B"
        re.compile(
            rf"(?P<mark>\[[ xX✓✔]\]|[☐☑☒]|(?:^ ?|(?<=^[-*•] ))[✓✔✅✗✘❌✖])\s*\(?{letter}(?![A-Za-z])",
            re.MULTILINE,
        ),
        # "(A) No (B) Yes", "B. Paris: no", "C ❌": on lines of their own or one after another.
        re.compile(
            rf"(?:^ ?|(?<=[\s;,，；]))[-*•]? ?(?:\d{{1,3}}[.)] ?)?(?:option )?\(?{letter}(?![^\W\d_])"
            r"(?:[).:：]*[^\S\n]*[^\n:：;,()✓✔✅✗✘❌]{0,60}?(?=[:：(–—-]|\s[✓✔✅✗✘❌]))??"
            rf"(?P<said>{VERDICT})",
            re.IGNORECASE | re.MULTILINE,
        ),
        # "| B | Yes |", "| (B) Venus | 0.8 | ✓ |"
        re.compile(rf"^ ?\| ?(?:option )?\(?{letter}(?![^\W\d_])[^|\n]*\|(?P<cells>[^\n]*)", re.MULTILINE),
    )


class OptionReader:
    """Reads texts about one list of options, given in the order in which they were shown."""

    def __init__(self, options: Sequence[str]) -> None:
        self._letters = ascii_uppercase[: len(options)]
        self._by_text = _unique([plain(option) for option in options], self._letters)
        self._options = tuple(options)
        self._patterns = _patterns(self._letters)
        self._spellings = sorted(self._by_text, key=len, reverse=True)

    @cached_property
    def _by_number(self) -> dict[str, str]:
        """Return the letters by the texts without units. Only boxes and lone lines need them."""
        return _unique([without_unit(option) for option in self._options], self._letters)

    def pick(self, text: str, *, guess: bool = True) -> Picked | None:
        """Return the option that `text` settles on, or None. Without `guess` only statements count."""
        cleaned = clean(text[-_TAIL:])
        sentences = Sentences(cleaned)
        statements = self._statements(cleaned, sentences)
        if branches := _branches(statements):
            statements = [said for said in statements if said not in branches]
            later = [said for said in statements if said.strength in ("stated", "concluded")]
            if not later:
                return Picked("".join(dict.fromkeys(said.letters[0] for said in branches)), "stated")
        stated = settled(statements, sentences, self._by_text)
        if stated is not None:
            return Picked(stated, "stated") if stated else None
        if not guess:
            return None
        only = only_mention(statements, sentences, self._by_text)
        # A first or last line that is an option counts more than a conclusion, unless "wait" is anywhere.
        bare, concluded = (
            self._bare(cleaned, sentences),
            concluded_near_end(statements, sentences, self._by_text),
        )
        said_of_bare = [said for said in statements if said.letters == bare and said.strength != "named"]
        if said_of_bare and said_of_bare[-1].strength == "denied" and said_of_bare[-1].plain:
            bare = ""  # "The answer was B, or so I thought."
        if bare and not (concluded not in ("", bare) and sentences.pauses_between(0, len(cleaned))):
            return Picked(bare, "bare")
        return Picked(concluded, "stated") if concluded else Picked(only, "mentioned") if only else None

    def _statements(self, text: str, sentences: Sentences) -> list[Statement]:
        """Return what a text says of its options, in order.

        It is read from the end, and only up to the last announcement: nothing before that can count.
        """
        tally = self._tallied(text)
        found = [tally] if tally else []
        boxes = list(self._boxes(text, sentences))
        for said in self._said_backwards(text, sentences):
            while boxes and boxes[-1].start > said.start:
                found.append(boxes.pop())
                if _is_final(found[-1]):
                    return found[::-1]
            if tally is None or not tally.start <= said.start < tally.end:
                found.append(said)
                if _is_final(said):
                    break
        else:
            found += reversed(boxes)
        return sorted(found, key=lambda said: said.start)

    def _said_backwards(self, text: str, sentences: Sentences) -> Iterator[Statement]:
        """Yield what the words around each group of options say, the last one first."""
        outside = blanked(text)
        groups = list(self._groups(outside))
        heads = context.listed_letters(outside)
        for place in range(len(groups) - 1, -1, -1):
            group = groups[place]
            neighbours = groups[max(0, place - 1) : place] + groups[place + 1 : place + 2]
            listed = group[0].start in heads or any(_is_list(group, other, outside) for other in neighbours)
            for said in reversed(list(_said_of(group, outside, sentences))):
                # "The options are:\\nA) Paris\\nB) Rome" states neither.
                stated = said.kind == "announced" and said.strength == "stated"
                if not (listed and (stated or said.strength == "concluded")):
                    yield said

    def _tallied(self, text: str) -> Statement | None:
        """Return what a table of verdicts on the options states: "(A) No (B) Yes", "- [x] B"."""
        judged = (self._table_rows(text), self._ticked(text), self._listed_verdicts(text))
        several = (said for said in judged if len({one.letter for one in said}) > 1)
        said = next(several, None)
        return self._tally(said) if said else None

    def _ticked(self, text: str) -> list[_Judged]:
        """Return the options in a list of boxes: "- [x] B"."""
        if not any(mark in text for mark in _MARKS):
            return []
        return [
            _Judged(match.start(), match.end(), match["letter"].upper(), match["mark"].strip() in _TICKED)
            for match in self._patterns.ticks.finditer(text)
        ]

    def _listed_verdicts(self, text: str) -> list[_Judged]:
        """Return the options that have a verdict each: "(A) No (B) Yes". "If B is right" gives none."""
        return [
            _Judged(match.start(), match.end(), match["letter"].upper(), verdict(match["said"]) == "right")
            for match in self._patterns.verdicts.finditer(text)
            if not supposes(text, match.start())
        ]

    def _table_rows(self, text: str) -> list[_Judged]:
        """Return the options that the rows of a table judge: "| B | hot | Yes |". All cells must say yes."""
        found: list[_Judged] = []
        if "|" not in text:
            return found
        for row in self._patterns.rows.finditer(text):
            said = [name for cell in row["cells"].split("|") if (name := verdict(" " + cell.strip()))]
            if said:
                right = set(said) == {"right"}
                found.append(_Judged(row.start(), row.end(), row["letter"], right))
        return found

    def _tally(self, said: Sequence[_Judged]) -> Statement:
        """Return what verdicts on several options state. The only one that is not right is the exception."""
        chosen = "".join(dict.fromkeys(one.letter for one in said if one.right))
        judged = "".join(dict.fromkeys(one.letter for one in said))
        others = [letter for letter in judged if letter not in chosen]
        if len(judged) == len(self._letters) > 2 and len(others) == 1:
            chosen = others[0]
        strength: Literal["denied", "stated"] = "stated" if chosen else "denied"
        return Statement(said[0].start, said[-1].end, chosen or judged, strength, "exception")

    def _boxes(self, text: str, sentences: Sentences) -> Iterator[Statement]:
        """Yield what boxes state. One that names no option states nothing. "or" joins two to one."""
        found = [
            (start, end + 1, letters)
            for start, end in box_spans(text)
            if (letters := self._whole(text[start + 1 : end]))
        ]
        while found:
            start, end, letters = found.pop(0)
            while found and context.joined(text[end : found[0][0]], "letter"):
                _, end, more = found.pop(0)
                letters = "".join(dict.fromkeys(letters + more))
            claim = read_claim(sentences.before(start), sentences.after(end), announced=True)
            denied = claim.role == "rejected" or commitment.is_denied(text[max(0, start - 40) : start], "box")
            if denied:
                yield Statement(start, end, letters, "denied", plain=claim.plain)
            elif claim.role == "answer":
                yield Statement(start, end, letters, "stated", "announced")

    def _whole(self, content: str) -> str:
        """Return the letters of a text that is nothing but an option or several, or else ""."""
        stripped = content.strip(_DECORATION)
        if len(stripped) == 1 and stripped.upper() in self._letters and (found := stripped.upper()):
            return found
        spelling = plain(content)
        if spelling in self._by_text:
            return self._by_text[spelling]
        # "5" means the option "5 cm", but "5 keV" does not mean the option "5".
        if spelling in self._by_number and spelling == without_unit(content):
            return self._by_number[spelling]
        groups = list(self._groups(content))
        if len(groups) != 1 or commitment.denies(content) or supposes(content, groups[0][0].start):
            return ""
        before, after = content[: groups[0][0].start], content[groups[0][-1].end :]
        headed = groups[0][0].kind == "letter" and context.is_heading(groups[0][0].letter, after)
        asked = "??" in after or ("?" in after and re.search(r"\w", before))
        # "(A) would be right had it been signed"
        supposed = headed and read_claim("", after).role == "hypothetical"
        if asked or supposed or self._takes_back(after):
            return ""
        whole = not context.rest_of(before) and (not context.rest_of(after) or headed)
        return _letters_of(groups[0]) if whole else ""

    def _groups(self, text: str) -> Iterator[list[Mention]]:
        """Yield the mentions of a text. Those that commas, "or" or brackets join come together."""
        group: list[Mention] = []
        for mention in self._mentions(text):
            gap = text[group[-1].end : mention.start] if group else ""
            if mention.kind == "text" and group and not self._is_named(mention, gap, text):
                continue
            if group and (
                not _are_joined(group[-1], mention, gap) or _begins_anew(group, mention, gap, text)
            ):
                yield group
                group = []
            group.append(mention)
        if group:
            yield group

    def _is_named(self, mention: Mention, gap: str, text: str) -> bool:
        """Return whether an option's text after another mention is that option.

        It is none in "(G). The Keynesians believe", where a sentence begins, or in "(G) Paris Hilton".
        """
        after = text[mention.end : mention.end + 60]
        if re.match(r"\s+(?:and|or|und|oder|et|ou|y|o)\s+\(?[A-Z](?![A-Za-z])", after):
            return True  # "B. Paris and C. Rome"
        if re.match(r"\s+\(?[A-Z][).:]\s", after):
            return True  # "A) Paris B) Rome"
        return context.ends_text(after) and not ("." in gap and context.goes_on(after))

    def _mentions(self, text: str) -> list[Mention]:
        by_text = list(self._texts_in(text))
        found = list(by_text)
        for match in list(self._patterns.tokens.finditer(text))[-2 * _TOKENS :]:
            kind: Literal["letter", "lower"] = "letter" if match["letter"] else "lower"
            mention = Mention(match.start(), match.end(), match[0].upper(), kind)
            inside = any(other.start <= mention.start < other.end for other in by_text[-_TOKENS:])
            if not inside and not context.is_prose(text, mention.end, mention.letter, by_text):
                found.append(mention)
        return sorted(found, key=lambda mention: mention.start)[-_TOKENS:]

    def _texts_in(self, text: str) -> Iterator[Mention]:
        """Yield the places of the options' texts, of two at one place the longer one."""
        flat = text.casefold().replace("\n", " ")
        if len(flat) != len(text):  # "ß" becomes "ss", and places must stay
            flat = "".join(char.lower()[:1] or " " for char in text).replace("\n", " ")
        places = [
            (start, start + len(spelling), spelling)
            for spelling in self._spellings
            if spelling in flat
            for start in _places_of(spelling, flat, text)
        ]
        done = 0
        for start, end, spelling in sorted(places, key=lambda place: (place[0], -place[1])):
            if start >= done:
                done = end
                yield Mention(start, end, self._by_text[spelling], "text")

    def _bare(self, text: str, sentences: Sentences) -> str:
        """Return the option that the last or the first line is, or begins with, unless it is taken back."""
        plain_lines = re.sub(f"[{BOX}{END_OF_BOX}]", " ", text).strip()
        # What is not in the first or last characters of a line does not make it an option.
        plain_lines = re.sub(r"^(.{600}).+$", r"\1", plain_lines, flags=re.MULTILINE)
        paragraphs = [part.splitlines() for part in re.split(r"\n\s*\n", plain_lines)]
        places = [(paragraphs[-1][-1:], paragraphs[-1]), (paragraphs[0][:1], paragraphs[0])]
        first_end = text.find("\n", len(text) - len(text.lstrip()))
        if first_end >= 0 and sentences.retracted_after(first_end, self._by_text):
            places.pop()
        if several := self._listed_bare(paragraphs[-1]):
            return several
        for line, around in places:
            headed = {found for other in around if (found := context.headed_by(other)) in self._letters}
            # Several lines under letters are a list of the options, not a choice.
            if line and len(headed - {""}) <= 1 and (found := self._whole(line[0]) or self._begun(line[0])):
                return found
        return ""

    def _listed_bare(self, lines: Sequence[str]) -> str:
        """Return the letters of two or more last lines that are nothing but an option each: "B\\nC"."""
        letters = ""
        for line in reversed(lines):
            found = self._whole(line)
            if not found or (
                re.search(r"\w{2}", line) and line.strip(_DECORATION).casefold() not in self._by_text
            ):
                break
            letters = found + letters
        return letters if len(set(letters)) > 1 and len(lines) > 1 else ""

    def _begun(self, line: str) -> str:
        """Return the letters that a line begins with, if it commits to them."""
        groups = list(self._groups(line))
        if not groups or groups[0][0].kind != "letter" or context.rest_of(line[: groups[0][0].start]):
            return ""
        group = groups[0]
        after = line[group[-1].end :]
        if re.match(r"\s*A\s*:", line) and (said := self._whole(after)):
            return said  # "A: D" is short for "Answer: D"
        inline_list = len(groups) > 1 and _is_list(group, groups[1], line)  # "A) Paris B) Rome"
        # "B: a hot planet. C: a cold planet."
        described = re.match(r"\)?\s*:[^:\n]{3,80}[.;]\s*\(?[A-Z]\)?\s*:\s", after) is not None
        supposed = supposes(line, group[0].start)  # "Should the answer be B, the planet is hot."
        if described or inline_list or supposed or not self._commits(group, after):
            return ""
        return _letters_of(group)

    def _commits(self, group: Sequence[Mention], after: str) -> bool:
        """Return whether what follows an option at the start of a line leaves it chosen."""
        if commitment.contrasts(after):
            return True  # "B, not A"
        letter = group[0].letter
        if re.match(r"[^.!?\n]{0,80}\?", after) or re.match(r"\s*\((?:maybe|perhaps|possibly)\b", after):
            return False  # "The answer is B, isn't it?", "B (maybe)"
        heading = context.is_heading(letter, after)
        if not heading and context.begins_prose(letter, after):
            return False
        if not (heading or context.ENDS.match(after) or context.reasons(after)) or self._takes_back(after):
            return False
        if heading:
            return not turns_down(after)
        return read_claim("", after).role not in ("rejected", "hypothetical")

    def _takes_back(self, after: str) -> bool:
        return is_withdrawn(after, spared=self._by_text, about_options=True)


def _places_of(spelling: str, flat: str, text: str) -> Iterator[int]:
    """Yield where a text stands by itself, not within a longer word or number."""
    start = flat.find(spelling)
    while start >= 0:
        end = start + len(spelling)
        if context.BEGINS_TEXT.match(text, start) and context.STOPS_TEXT.match(text, end):
            yield start
        start = flat.find(spelling, end)


def _unique(texts: Sequence[str], letters: str) -> dict[str, str]:
    """Return text -> letter, without texts that two options share or that are letters themselves."""
    return {
        text: letter
        for text, letter in zip(texts, letters, strict=True)
        if text and texts.count(text) == 1 and not (len(text) == 1 and text.upper() in letters)
    }


def _are_joined(one: Mention, two: Mention, gap: str) -> bool:
    """Return whether two mentions are one statement: "B or C", "B) Paris", "Paris (B)"."""
    named = (one.kind, two.kind) == ("text", "letter") and one.letter == two.letter
    return context.joined(gap, two.kind) or (named and gap.strip() in ("(", "["))


def _begins_anew(group: Sequence[Mention], mention: Mention, gap: str, text: str) -> bool:
    """Return whether a letter begins a clause: "Between A and B, B is better", "A fails; B is left"."""
    again = any(other.letter == mention.letter and other.kind == "letter" for other in group)
    # "Compared with A, B is the better answer."
    compared = "," in gap and commitment.is_compared_with(text[max(0, group[0].start - 30) : group[0].start])
    new = mention.kind == "letter" and ((again and "," in gap) or ";" in gap or compared)
    return new and re.match(r"\)?\s+[a-zà-ÿ]", text[mention.end : mention.end + 3]) is not None


def _is_list(one: Sequence[Mention], two: Sequence[Mention], text: str) -> bool:
    """Return whether two groups are lines of a list of the options: "A) Paris", "B) Rome"."""
    if one[0].start > two[0].start:
        one, two = two, one
    headed = all(len(group) > 1 and group[0].kind == "letter" for group in (one, two))
    return (
        headed and one[0].letter != two[0].letter and not re.search(r"\w", text[one[-1].end : two[0].start])
    )


def _letters_of(group: Sequence[Mention]) -> str:
    """Return the letters of a group in order. A letter before a text takes precedence over it."""
    if group[0].kind == "letter" and all(mention.kind == "text" for mention in group[1:]):
        return group[0].letter
    return "".join(dict.fromkeys(mention.letter for mention in group))


def _said_of(group: list[Mention], text: str, sentences: Sentences) -> Iterator[Statement]:
    """Yield what the words around a group say of it."""
    start, end = group[0].start, group[-1].end
    before, after = sentences.before(start), sentences.after(end)
    lead = context.lead(before)
    small = group[0].kind == "lower"
    if small and lead not in ("stated", "mentioned"):
        return
    letters = _letters_of(group)
    claim = read_claim(before, after, announced=lead == "stated", asked=sentences.is_question(end))
    if small and lead == "mentioned" and not (claim.role == "answer" and claim.plain):
        return  # "Option (b) is the required answer" counts, "option b)" in a list does not
    if len(group) > 1 and claim.leading and _denies_first(group, text, before, after):
        yield Statement(start, group[0].end, group[0].letter, "denied")
        yield from _said_of(group[1:], text, sentences)
        return
    if (
        claim.role == "rejected"
        and not claim.leading
        and lead == "stated"
        and _denies_others(group, text, after)
    ):
        yield Statement(group[1].start, end, _letters_of(group[1:]), "denied")
        yield Statement(start, end, group[0].letter, "stated", "announced")
        return
    if claim.role == "rejected":
        kind: Kind = "announced" if claim.scope == "relative" and lead == "stated" else "confirmed"
        yield Statement(start, end, letters, "denied", kind, plain=claim.plain)
        return
    if claim.role == "alternative":
        yield Statement(start, end, letters, "named")
    if claim.role not in ("alternative", "hypothetical"):
        condition = condition_of(before, after) if len(letters) == 1 and group[0].kind == "letter" else ""
        for said in _given(group, claim, _Around(before, after, lead), sentences):
            yield replace(said, condition=condition) if condition else said


@dataclass(frozen=True, slots=True)
class _Around:
    """The words before and after a group of options, and how they lead to it."""

    before: str
    after: str
    lead: context.Lead


def _given(group: list[Mention], claim: Claim, around: _Around, sentences: Sentences) -> Iterator[Statement]:
    """Yield how strongly a clause gives a group that it neither rejects nor only supposes."""
    start, end, letters = group[0].start, group[-1].end, _letters_of(group)
    before, after, lead = around.before, around.after, around.lead
    by_text = group[-1].kind == "text"
    if by_text and not context.ends_text(after):
        return
    adds = context.adds(before, after)
    confirmed = claim.plain or (adds and claim.role == "mention") or context.confirms(after, text=by_text)
    if claim.exception:
        yield Statement(start, end, letters, "stated", "exception")
    elif lead == "stated":
        yield Statement(start, end, letters, "stated", "announced", adds=adds)
    elif confirmed:
        # "A, B and D are all accurate": several at once say which one is not, if one is announced.
        kind: Kind = "exception" if len(letters) > 1 else "confirmed"
        yield Statement(start, end, letters, "stated", kind, adds=adds)
    elif _concludes(group, before, after, sentences):
        yield Statement(start, end, letters, "concluded")
    elif lead == "mentioned" and context.rest_of(before):
        yield Statement(start, end, letters, "mentioned")
    else:
        yield Statement(start, end, letters, "named")


def _denies_others(group: Sequence[Mention], text: str, after: str) -> bool:
    """Return whether a denial is of all options but the first: "The answer is B, C and D are wrong".

    In "The answer is B. London is wrong" the text of another option begins a sentence of its own.
    """
    if len({mention.letter for mention in group}) < 2:
        return False
    gap = text[group[0].end : group[1].start]
    if group[1].kind == "text":
        return group[1].letter != group[0].letter and "." in gap
    return context.is_listed(gap, after)


def _concludes(group: Sequence[Mention], before: str, after: str, sentences: Sentences) -> bool:
    """Return whether a sentence comes to an option without saying that it is the answer."""
    ends = context.ENDS.match(after) is not None
    # "Option C says that Mars is cold": an option's text is the subject of what is told.
    told = group[0].kind == "text" and context.tells(before)
    if context.lead(before) == "concluded" and (ends or (context.continues(after) and not told)):
        return True
    if context.is_result(before, after, text=group[-1].kind == "text") and sentences.ends_at(group[-1].end):
        return True
    if len(group) > 1 and {mention.kind for mention in group} == {"letter", "text"}:
        return ends and len({mention.letter for mention in group}) == 1
    if group[0].kind != "letter" or not ends:
        return False
    last = len(group) == 1 and sentences.is_near_end(group[-1].end, 1)
    return context.is_lone(before, after) or (last and context.closes_clause(before))


def _denies_first(group: Sequence[Mention], text: str, before: str, after: str) -> bool:
    """Return whether a denial is of the first option only: "It is not A; B.", "Not A, B."."""
    gap = text[group[0].end : group[1].start]
    if ";" in gap:
        return True
    lone = len(group) == 2 and commitment.denies_next(before) and context.ENDS.match(after) is not None
    return lone and gap.strip(" ()[]") == ","


class ChoiceVerifier(BaseVerifier):
    """Tells whether the option that an answer settles on is the reference's.

    A reference is ``{"letter": "C", "options": ["…", …]}``, 2 to 26 option texts in the order in which they
    were shown. ``"also": "AD"`` names further right options. An option with the text of a right one is right.
    Boxes, "the answer is …" and "(B) is correct" are statements. The last statement wins, unless
    it is denied or taken back. Without any statement the answer counts if its last or first line is an
    option, if one of its last sentences concludes with one ("Therefore, B."), or if it speaks of one option
    only ("option B"). An answer that names several options at once is wrong. One that only denies options has
    no answer.
    """

    name = "choice"
    rules = "8"

    def __init__(self) -> None:
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
        picked = self._reader(options).pick(case.answer.text, guess=not case.answer.truncated)
        if picked is None:
            return Finding(0.0, "no_answer")
        # Votes are for an option's text: its letter changes with the order, from draw to draw.
        chosen = " / ".join(options[ascii_uppercase.index(name)] for name in picked.letters)
        detail = {"found": picked.how, "letter": picked.letters} | (
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
