"""What the words before and after an option say of it: announced, confirmed, denied, left open, joined.

The answer is read as plain text (no markup, boxes marked, one spelling), sentence by sentence.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Literal, Protocol

from genbench.verifiers.extraction.boxes import boxes
from genbench.verifiers.language import announcements
from genbench.verifiers.language.commitment import (
    contrasts,
    denies,
    leaves_open,
    without_certainty,
)
from genbench.verifiers.language.retraction import is_withdrawn, pauses, without_any_tildes
from genbench.verifiers.language.word_lists import bounded, words
from genbench.verifiers.notation.latex import from_unicode, tidy

BOX, END_OF_BOX = "\ue000", "\ue001"
"""Private characters that represent the beginning and the end of a box in cleaned text."""

_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathit|mathsf|bm|mbox|hbox|boldsymbol"
    r"|operatorname\*?|underline|emph)\s*\{([^{}]*)\}"
)
_TAG = re.compile(r"</?(?:b|i|u|em|strong|p|br|span|div|final|code)\s*/?>|</answer>", re.IGNORECASE)
# "<answer>B", "#### B".
_ANSWER_MARK = re.compile(r"<answer>|^[ \t]*#{4,}(?!#)", re.IGNORECASE | re.MULTILINE)
# "Answer (A, B, C, or D): B", "Your answer [A/B/C/D]: B", "out of A, B and C": the letters to choose from.
_HINT = re.compile(
    r"[(\[] ?[A-Z](?: ?(?:,|/|\||or|and|through|to|[-–]) ?(?:or |and )?[A-Z]\b){1,25} ?[)\]](?= ?[:：])"
    # No optional blank before it: a regex that begins with one is tried at every character.
    r"|\b(?:out of|among) [A-Z](?: ?(?:,|or|and|through|to|[-–]) ?(?:or |and )?[A-Z]\b){1,25}(?=,)"
)
# Emphasis, code, dollar signs and brackets of formulas: **B**, `B`, $B$, \(B\), _B_. An underscore within a
# word
# stays: x_1.
_MARKUP = re.compile(
    r"\*+|`+|~~+|\$+|\\[()\[\]]|\\(?:left|right|displaystyle)(?![A-Za-z])|(?<!\w)_{1,3}|_{1,3}(?!\w)"
)
_EG = re.compile(r"\be\.\s?g\.")
_SIGNS = re.compile("[×·⋅≤≥≠≈π√∞−⁄]")
_SPACE = re.compile(r"\\[,;:! ]|\\quad(?![A-Za-z])|[ \t\u00a0]+")
_PERCENT = re.compile(r"(?<=\d)\s*(?:\\%|percent\b|per cent\b|%)", re.IGNORECASE)
_GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,])")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_OUTSIDE = " \t\n*\"'“”‘’.,;:。，、"


def clean(text: str) -> str:
    """Return the text without Markdown, HTML and LaTeX wrappers. BOX and END_OF_BOX are around its boxes."""
    pieces, done = [], 0
    for start, end, inside, inside_end in boxes(text):
        pieces += [text[done:start], BOX, text[inside:inside_end], END_OF_BOX]
        done = end
    return _normalised("".join([*pieces, text[done:]]))


def plain(text: str) -> str:
    """Return an option's text in the spelling in which it is looked for in a cleaned answer."""
    return _normalised(text).strip(_OUTSIDE).casefold()


def without_unit(text: str) -> str:
    """Return a text as the mathematics verifier reads it, that is without its unit of measurement."""
    return tidy(unicodedata.normalize("NFKC", text)).strip(_OUTSIDE).casefold()


def box_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each box of a cleaned text. `end` is the place of its closing mark."""
    for match in re.finditer(f"{BOX}[^{BOX}{END_OF_BOX}]*{END_OF_BOX}", text):
        yield match.start(), match.end() - 1


def blanked(text: str) -> str:
    """Return the text with its boxes as blanks of the same length."""
    return re.sub(f"{BOX}[^{BOX}{END_OF_BOX}]*{END_OF_BOX}", lambda match: " " * len(match[0]), text)


def _normalised(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    if "e.g" in text:
        text = _EG.sub("such as", text)  # its periods end no sentence
    before = ""
    while "\\" in text and before != text:
        before, text = text, _WRAPPED.sub(r"\1", text)
    text = without_any_tildes(text)
    text = _ANSWER_MARK.sub("Answer: ", _TAG.sub(" ", text))
    text = _FRACTION.sub(r"\\frac", _MARKUP.sub("", text))
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), _PERCENT.sub("%", text))
    return _HINT.sub("", _SPACE.sub(" ", _mathematics(text)))


def _mathematics(text: str) -> str:
    """Return the text with Unicode mathematics as LaTeX. Other scripts and punctuation are not changed."""
    return text if text.isascii() else _SIGNS.sub(lambda match: from_unicode(match[0]), text)


_WINDOW = 200
"""Characters before and after an option that are read."""
# A period ends a sentence only before a blank, the end or a box: 2.5 has none.
_SENTENCE_END = re.compile(r"\n+|[!?。！？]+|\.(?=\s|$|[\ue000\ue001])|;")
_NOUN = bounded(words(announcements.ANSWERS))

_WORD = re.compile(r"\w")
# "The answer is B. But B cannot be right."
_TURN = re.compile(
    r"(?<!\w)(?:but|however|yet|though|although|aber|mais|pero|ma|mas|но)(?!\w)|但", re.IGNORECASE
)
_MARK = re.compile(r"[.!?。\n]")


class Sentences:
    """The sentences of a cleaned text, by position."""

    def __init__(self, text: str) -> None:
        self._text = blanked(text)
        self._full = text
        ends = list(_SENTENCE_END.finditer(self._text))
        self._ends = [match.end() for match in ends]
        self._starts = [match.start() for match in ends]
        self._marks = [match.start() for match in _MARK.finditer(self._text)]
        first = _WORD.search(self._text)
        self._first_word = first.start() if first else len(text)

    @cached_property
    def _worded(self) -> list[int]:
        """Return how many sentences with words are at or after each sentence, with a 0 at the end.

        It is counted once, because long texts ask for it thousands of times.
        """
        pieces = zip([0, *self._ends], [*self._starts, len(self._text)], strict=True)
        has_words = [_WORD.search(self._text, *piece) is not None for piece in pieces]
        return [*accumulate(reversed(has_words), initial=0)][::-1]

    def before(self, place: int) -> str:
        """Return what the sentence says before `place`, with the heading or the "Answer:" above it."""
        number = bisect_right(self._ends, place)
        begin = self._ends[number - 1] if number else 0
        said = without_certainty(self._text[max(begin, place - _WINDOW) : place], by="therefore")
        if not re.search(r"\w", said) and number:
            above = self._text[max(0, begin - _WINDOW) : begin].rstrip().rsplit("\n", 1)[-1]
            if above.rstrip(" *_").endswith((":", "-", "→")) or _heading(above):
                return f"{above} {said}"
        return said

    def after(self, place: int) -> str:
        """Return what the sentence says after `place`, up to a window."""
        return self._text[place : place + _WINDOW]

    def is_question(self, place: int) -> bool:
        """Return whether the sentence at `place` ends with a question mark."""
        number = bisect_left(self._starts, place)
        return number < len(self._starts) and "?" in self._text[self._starts[number] : self._ends[number]]

    def is_near_end(self, place: int, sentences: int) -> bool:
        """Return whether `place` is in one of the last `sentences` sentences with words, or in the first."""
        number = bisect_left(self._starts, place)
        stop = self._starts[number] if number < len(self._starts) else len(self._text)
        rest = self._worded[number + 1] + (_WORD.search(self._text, place, stop) is not None)
        end = len(self._text[:place].rstrip())
        mark = bisect_left(self._marks, end)
        ended = mark > 0 and self._first_word < self._marks[mark - 1]
        return rest <= sentences or not ended

    def ends_at(self, place: int) -> bool:
        """Return whether no word follows a place."""
        return _WORD.search(self._text, place) is None

    def retracted_after(self, place: int, spared: Collection[str] = ()) -> bool:
        """Return whether what follows `place` takes something back, other than by the text of an option."""
        if not self._full[place:].strip(" .)\n"):
            return False
        return is_withdrawn(self._full[place : place + 3 * _WINDOW], spared=spared, about_options=True)

    def pauses_between(self, place: int, later: int) -> bool:
        """Return whether words such as "wait" or "actually" are between two places."""
        return pauses(self._text[place:later][-3 * _WINDOW :])

    def turns_between(self, place: int, later: int) -> bool:
        """Return whether a change of mind, or a "but", is between two places."""
        return _TURN.search(self._text, place, later) is not None or self.pauses_between(place, later)


def _heading(line: str) -> bool:
    """Return whether a line is a heading such as "Final Answer"."""
    return re.fullmatch(rf"[\W_]*(?:\w+\s+){{0,2}}{_NOUN}[\W_]*", line, re.IGNORECASE) is not None


Lead = Literal["stated", "concluded", "mentioned", ""]

# Not within a word, a formula, an abbreviation or a range: "BA", "x_A", "l'A", "non-A", "U.A", "A–E".
BEFORE_LETTER = r"(?<![A-Za-z0-9À-ɏ_^\\])(?<![A-Za-zÀ-ɏ]['’])(?<![A-Za-z0-9]-)(?<![A-Z]–)(?<![A-Za-z]\.)"
# Nor before one: "A1", "A-level", "A = 5", "A.B.". Turkish "B'dir" ("is B") names an option.
AFTER_LETTER = (
    r"(?![A-Za-z0-9À-ɏ_^\\]|-[A-Za-z0-9]|–[A-Z](?![A-Za-z])|\s?[=<>+^](?!>)|#(?!#)"
    r"|\.[A-Z]\.|['’](?!d[iıuü]|t[iıuü]r|[\s.,)\]}]|$))"
)
# A small letter counts only with a mark after it, "b)", "b.", and not in "e.g.".
AFTER_LOWER = r"(?=\s*(?:[).,;!\]\"'”}]|$|\n))(?!\.[a-z])"
# An option's text is no part of a longer word or number: "1.5" has no option "5", "-5" none either.
BEGINS_TEXT = re.compile(r"(?<![A-Za-z0-9À-ɏ_^\\])(?<![0-9][.,])(?<![0-9A-Za-z]-)(?:(?<![-−])|(?!\d))")
STOPS_TEXT = re.compile(r"(?![A-Za-z0-9À-ɏ_^]|[.,][0-9]|[-/][A-Za-z0-9])")

HEADING = re.compile(r"\s*[\])]?\s*(?:[).:,。：、\]–—-])")
ENDS = re.compile(r"[\s\])}\"'”’]*(?:$|[.,;:!。、！)—–(]|\n)")

_OPTION = rf"(?:(?:the\s+)?{bounded(words(announcements.OPTIONS))})"
_FILL = rf"(?:[\W_]*{bounded(words(announcements.FILLERS))})*"
# Up to eight words between noun and copula, none a capital letter by itself: "The answer to this question
# is B".
_GAP = r"(?:[^\S\n]+(?!(?-i:[A-Z])(?![^\W_]))[^\s.:=,;]{1,30}){0,8}?"
# "The answer, however, is B"
_COPULA = (
    r"(?:[\s\"'”)]*(?:,[^\S\n]*(?-i:[a-zà-ÿ ]{2,30}),\s*)?"
    rf"(?:{bounded(words(announcements.COPULAS))}|[:=→>–—-]+))"
)
# "… clearly option number **(" right before the letter.
_TO_OPTION = rf"{_FILL}(?:[\W_]*{_OPTION}(?:\s+(?:number|no\.|labell?ed))?)?[\W_]{{0,8}}\Z"
_ANSWER_NOUN = rf"{bounded(words(announcements.ANSWERS))}"
_ADJECTIVE = (
    r"(?:correct|right|best|appropriate|accurate|suitable|likely|only|remaining"
    r"|richtige|korrekte|bonne|correcta|corretta|correta|goede|juiste|правильн\w+|верн\w+)"
)
# "The answer to the question is", "Option", "the correct choice", "I choose": what is before the option
# states it.
_STATED = re.compile(
    rf"(?:{_ANSWER_NOUN}[\"'”)]*(?:{_GAP}{_COPULA})?|{_OPTION}{_GAP}{_COPULA}|{_ADJECTIVE}\s+{_OPTION}"
    rf"|{bounded(words(announcements.CHOOSING))}){_TO_OPTION}",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(rf"(?:{bounded(words(announcements.CONCLUDING))}){_TO_OPTION}", re.IGNORECASE)
_MENTIONED = re.compile(rf"{_OPTION}[\W_]{{0,4}}\Z", re.IGNORECASE)
# "(B) is correct", "B would be the best choice".
_CONFIRMED = re.compile(
    rf"[\W_]{{0,4}}(?:(?:however|on the other hand|by contrast|in contrast|meanwhile|hingegen|en revanche"
    rf"|en cambio),\s*)?(?:{words(announcements.CONFIRMING)}"
    r"|(?:the|our|my|clearly the) (?:only|sole|last|best|clear|correct|right|winning) (?:one|survivor"
    r"|option|candidate"
    r"|answer|choice|fit|match|possibility|winner)\b"
    r"|(?:is|was|must be|would be|has to be|seems|appears|looks)"
    r"(?:\s+\w+){0,5}?\s+(?:correct|right|best|answer|true|choice|winner|option)(?![a-z]))",
    re.IGNORECASE,
)
# "In the end, B", "After all this: B".
_SHORT_CLAUSE = re.compile(r"\W*(?:\w+[^\w\n]+){0,6}?[^\W_]+[\"'”)]*\s*(?:[,:，：→]|[–—-]+>?)\s*[(\[\"'“]*")
_HEAD = re.compile(r"^[ \t*•>-]*(?:\(([A-Z])\)|([A-Z])[).:])(?=\s)", re.MULTILINE)
# "= 18 m/s", "≈ 18 m/s → C". "A → B" relates two options.
_ARROW = re.compile(r"(?:→|->|⇒|=>)\s*[(\[]*\Z")
_EQUALS = re.compile(r"(?:=|\\approx)\s*\Z")
_RELATES = re.compile(r"(?<![^\s(])[A-Z]\)?\s*(?:=|→|->|⇒|=>)\s*[(\[]*\Z")
_NOTHING_MORE = re.compile(r"[\s\])}\"'”.!✓✅]*(?:\n|\Z)")
_TELLS = re.compile(r"\b(?:says?|states?|claims?|means?|impl(?:y|ies)) that\s*\Z", re.IGNORECASE)
# "First, B." begins a discussion of B.
_ORDERS = re.compile(
    r"\W*(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|when (?!all)|for (?:large|small|even|odd"
    r"|positive|negative|big)|zuerst|zunächst|d['’]abord|ensuite|primero|首先"
    r"|其次)\b",
    re.IGNORECASE,
)
# "Between D and E, the rings decide it: E"
_BETWEEN = re.compile(
    r"^\W*(?:between|of|among|zwischen|entre|tra|fra) \(?[A-Z]\)? (?:and|und|et|y|e) \(?[A-Z]\)?\s*,\s*",
    re.IGNORECASE,
)
# A letter of another option. "A" before a small word is an article.
_OTHER_LETTER = re.compile(r"(?<![A-Za-z'’])(?:[B-HJ-Z]|A(?!\s+[a-zà-ÿ]))(?![A-Za-z'’])")
# "B and C", "B/C", "(B) or option (C)".
_JOIN_WORD = bounded(words(announcements.JOINTS))
_JOINT = re.compile(
    rf"[\s)\]}}\"'”]*(?:[,;/&+|、]\s*|(?:\.{{2,}}|…|[–—-])\s*(?=o[rdu]))?\(?(?:{_JOIN_WORD}\s{{1,2}})?"
    rf"(?:{_JOIN_WORD})?[\s(\[{{\"'“]*(?:{_OPTION})?[\s(\[{{\"'“]*",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[\s)\]]*[,;–—-]\s*[(\[]?")
# With _SINGULAR: "The answer is B, and C is wrong" denies C only.
_LISTED_AND = re.compile(r"[\s)\]]*[,;]\s*(?:and|und|et|y|e)\s*[(\[]?", re.IGNORECASE)
_SINGULAR = re.compile(r"[\s)\]]*(?:is|was|can|cannot|has|does|would|fails|ist|est|es|è|é)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"[\W_]{0,4}(?:is|was|would be|seems|could be|might be) (?:also|too|equally|likewise|just as|as good)\b",
    re.IGNORECASE,
)
_ADDS_BEFORE = re.compile(r"\b(?:so|as) (?:is|does|would be)[\s(]*(?:option)?[\s(]*\Z", re.IGNORECASE)
_CONTINUES = frozenset(announcements.CONTINUING)
_TEXT_CONTINUES = frozenset({
    *("because", "since", "as", "which", "is", "was", "due", "so", "given", "therefore", "rather", "not"),
    *("but", "where", "weil", "da", "denn", "ist", "parce", "car", "est", "porque", "es", "pois", "é"),
    *("perché", "è", "omdat", "потому", "instead", "fits", "matches", "would", "must"),
})  # fmt: skip
_REASONS = frozenset({
    *("because", "since", "as", "for", "due", "given", "weil", "da", "denn", "parce", "car", "porque", "ya"),
    *("pois", "perché", "poiché", "omdat", "потому", "bo", "ponieważ", "çünkü", "karena", "vì", "eftersom"),
})  # fmt: skip
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_NEXT_WORD = re.compile(r"[\s\])}\"'”]*(?:\([^()]{0,80}\)\s*)?([^\W\d_]+)")
_REST = re.compile(
    rf"(?:{bounded(words(announcements.OPTIONS, announcements.FILLERS))}|[\W_\d])*", re.IGNORECASE
)


class Placed(Protocol):
    """Anything with a place in a text and a letter."""

    @property
    def start(self) -> int:
        """Return the index of its first character."""
        ...

    @property
    def letter(self) -> str:
        """Return the letter of its option."""
        ...


@lru_cache(512)
def lead(before: str) -> Lead:
    """Return how the words before an option present it."""
    if _STATED.search(before):
        return "stated"
    if _CONCLUDED.search(before):
        return "concluded"
    return "mentioned" if _MENTIONED.search(before) else ""


def confirms(after: str, *, text: bool = False) -> bool:
    """Return whether the words after an option call it right.

    Args:
        text: whether the option is given by its text. Then a period ends what is said of it: "being laid off.
            The answer is A".
    """
    if text and re.match(r"[\s)\]\"'”]*[.!?]\s", after):
        return False
    return _CONFIRMED.match(after) is not None


def joined(gap: str, kind: str) -> bool:
    """Return whether what is between two options makes them one statement."""
    if len(gap) > 40 or "\n" in gap:
        return False
    if kind == "text" and re.fullmatch(r"\s*[\])}\"'”]*\s*[.:,(–—-]*\s*[(\[\"'“]*", gap):
        return True
    if not gap.strip() and kind == "lower":
        return False
    bracketed = re.fullmatch(r"\s*[\])}]\s*[(\[{]\s*|\s*", gap) is not None
    return bracketed or (
        _JOINT.fullmatch(gap) is not None and re.fullmatch(r"[\s()\[\]{}\"'“”]*", gap) is None
    )


def reasons(after: str) -> bool:
    """Return whether a reason follows: "B because …"."""
    word = _NEXT_WORD.match(after)
    return word is not None and word[1].lower() in _REASONS


def begins_prose(letter: str, after: str) -> bool:
    """Return whether a letter at the start of a line is one of its words: "E. coli", "O, well"."""
    loose = r"\.\s+[a-z]|,\s" if letter in "AEIOY" else r"\.\s+[a-z]"
    return re.match(loose, after) is not None and not reasons(after[1:]) and not contrasts(after)


def is_heading(letter: str, after: str) -> bool:
    """Return whether a letter at the start of a line heads it, as in "B) Paris"."""
    return HEADING.match(after) is not None and not begins_prose(letter, after)


def is_lone(before: str, after: str) -> bool:
    """Return whether a sentence is nothing but the option."""
    return (
        not (re.search(r"\w", before) and rest_of(before))
        and re.match(r"[\s\])}\"'”]*(?:, then)?[\s\])}\"'”.!✓✅]*(?:\n|$)", after) is not None
    )


def is_result(before: str, after: str, *, text: bool) -> bool:
    """Return whether an option ends a calculation or a chain: "v = 18 m/s.", "17.9 m/s → C".

    Args:
        text: whether the option is given by its text. A letter after "=" is a quantity: "m c^2 = E".
    """
    leads = _ARROW.search(before) or (text and _EQUALS.search(before))
    result = leads and _RELATES.search(before) is None
    return bool(result) and _NOTHING_MORE.match(after) is not None


def tells(before: str) -> bool:
    """Return whether the words before an option say what something states: "Option C says that"."""
    return _TELLS.search(before) is not None


def closes_clause(before: str) -> bool:
    """Return whether an option follows a few words and a comma, colon or dash, as in "In the end, B"."""
    before = _BETWEEN.sub("", before)
    if _SHORT_CLAUSE.fullmatch(before) is None or leaves_open(before) or _ORDERS.match(before):
        return False
    return denies(before) or _OTHER_LETTER.search(before) is None


def is_listed(gap: str, after: str) -> bool:
    """Return whether a comma or a dash parts two options, so that what follows is of the second only."""
    joined_one = _LISTED_AND.fullmatch(gap) is not None and _SINGULAR.match(after) is not None
    return _LISTED.fullmatch(gap) is not None or joined_one


def adds(before: str, after: str) -> bool:
    """Return whether an option is called right next to another: "B is also correct", "and so is B"."""
    return _ADDS.match(after) is not None or _ADDS_BEFORE.search(before) is not None


def continues(after: str) -> bool:
    """Return whether a word follows that can follow a chosen letter."""
    word = _NEXT_WORD.match(after)
    return word is not None and word[1].lower() in _CONTINUES


def ends_text(after: str) -> bool:
    """Return whether an option's text really ends here: "2.3" in "2.3 keV" does not."""
    if re.match(r"[\s\"'”]*(?:$|[.,;:!?。、！)\]}(]|\n|[–—]|-\s)", after):
        return True
    word = _NEXT_WORD.match(after)
    return word is not None and (word[1].lower() in _TEXT_CONTINUES or not word[1].isascii())


def goes_on(after: str) -> bool:
    """Return whether a sentence goes on after a name: "Venus does not", but not "Venus."."""
    return re.match(r"[\s)\]\"'”]+(?!(?:and|or|und|oder|et|ou|y|o|e)\b)[^\W\d_]", after) is not None


def listed_letters(text: str) -> frozenset[int]:
    """Return where letters head the lines of a list of the options: "A. 30" and on the next line "B. 45"."""
    heads = [
        (match.start(match.lastindex or 1), match.end(), match[match.lastindex or 1])
        for match in _HEAD.finditer(text)
    ]
    places: set[int] = set()
    for (one, end, letter), (two, _, other) in pairwise(heads):
        if letter != other and text.count("\n", end, two) <= 2:
            places |= {one, two}
    return frozenset(places)


def is_prose(text: str, end: int, letter: str, texts: Sequence[Placed]) -> bool:
    """Return whether the letter that ends at `end` is a word of a sentence, as in "A good idea"."""
    match = re.match(r"[^\S\n]+(['‘“\"]?)([^\W\d_]+)", text[end : end + 60])
    if match is None:
        return False
    word = match[2]
    if re.match(r"\s+to be\b", text[end : end + 60]):
        return False  # "I consider A to be right"
    if letter == "I":
        return word.lower() not in ("because", "since", "as", "is", "and", "or")
    if word.lower() in _CONTINUES or (len(word) == 1 and word.isupper()) or not _LATIN.match(word):
        return False
    place = end + match.start(2)
    own = any(other.letter == letter and other.start in (place, place - 1) for other in texts)
    return letter in "AEOY" and not own


def rest_of(text: str) -> str:
    """Return what is left of a text without option nouns, fillers and punctuation."""
    match = _REST.match(text)
    return text[match.end() :].strip() if match else text.strip()


def headed_by(line: str) -> str:
    """Return the letter that a line begins with as a heading ("B) …"), or ""."""
    match = re.match(r"[\s*_(\[-]*([A-Z])\s*[*_]*\s*[).:,。：、\]]", line)
    return match[1] if match else ""
