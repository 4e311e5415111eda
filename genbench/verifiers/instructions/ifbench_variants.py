"""IFBench's rules that differ: under mode `fixed`, and in its code of July 2025.

Mode `fixed` is for prompts that ask something else than the official check. The code of 2 July 2025 is
that of the paper. It splits sentences by rules of its own, before it used Punkt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date

from emoji import emoji_list

from genbench.verifiers.instructions import ifbench_counts, ifbench_custom, ifbench_format
from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    NonEmpty,
    Ordinal,
    Percentage,
    RuleTable,
    Text,
    Trimmed,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.instructions.word_lists import CONJUNCTIONS, EDGE, NAMES, unmarked, words

IFBENCH_FIXED = RuleTable()
IFBENCH_2025_07 = RuleTable()

DOT, STOP = "\ue000", "\ue001"
"""Private-use characters: a dot that ends nothing, and the end of a sentence."""

_STARTER = r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|Wherever|(?:He|She|It|They|Their|Our|We|But|However|That|This)\s)"
_SUFFIX = r"(Inc|Ltd|Jr|Sr|Co)"

_Replacement = str | Callable[[re.Match[str]], str]
_SENTENCE_RULES: tuple[tuple[str, _Replacement], ...] = (
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


def sentences_2025_07(text: str) -> list[str]:
    """Return the sentences of `text`. End marks are moved out of closing quotes."""
    body = f" {text}  ".replace("\n", " ")
    for pattern, replacement in _SENTENCE_RULES:
        body = re.sub(pattern, replacement, body)
    for inside, outside in _MOVED:
        body = body.replace(inside, outside)
    pieces = [piece.strip() for piece in _END.sub(rf"\g<0>{STOP}", body).replace(DOT, ".").split(STOP)]
    return pieces[:-1] if pieces and not pieces[-1] else pieces


STRAIGHTENED = str.maketrans("“”„‟", '""""')
OPENING = " \"'“”‘’«»„(*_"
CLOSING = " \"'“”‘’«»)*_"
LONGEST_EMOJI = 14
"""Characters: a kiss of two people with skin tones has 10, and the flag of Scotland 7."""
ITALICS = re.compile(r"<(/?)(i|em)>")
NAPOLEON = (date(1769, 8, 15), date(1821, 5, 5))


@IFBENCH_FIXED.rule("count:conjunctions")
def conjunctions(text: Text, small_n: Count) -> Fault:
    """Count different conjunctions. Case and marks make no difference."""
    found = {word for token in text.lower.split() if (word := token.strip(EDGE)) in CONJUNCTIONS}
    return compared(len(found), "at least", small_n, "different conjunctions")


@IFBENCH_FIXED.rule("ratio:overlap")
def overlap(text: Text, reference_text: str, percentage: Percentage) -> Fault:
    """Compare trigrams of words."""
    return ifbench_counts.overlap_fault(_trigrams(text.raw), _trigrams(reference_text), percentage)


def _trigrams(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return set(zip(words, words[1:], words[2:], strict=False))


@IFBENCH_FIXED.rule("ratio:sentence_words")
def sentence_words(text: Text) -> Fault:
    """Require three sentences of equal length that share no word."""
    if fault := ifbench_counts.sentence_words(text):
        return fault
    seen: set[str] = set()
    for sentence in text.sentences:
        words = {word for token in sentence.lower().split() if (word := token.strip(EDGE))}
        if shared := sorted(seen & words):
            return f"{quoted(shared[0])} stands in more than one sentence"
        seen |= words
    return None


@IFBENCH_FIXED.rule("count:keywords_multiple")
def keywords_multiple(
    text: Text, keyword1: Trimmed, keyword2: Trimmed, keyword3: Trimmed, keyword4: Trimmed, keyword5: Trimmed
) -> Fault:
    """Count keywords as whole words: "art" is not in "start"."""
    keywords = (keyword1, keyword2, keyword3, keyword4, keyword5)
    for keyword, times in zip(keywords, ifbench_counts.KEYWORD_COUNTS, strict=True):
        found = len(re.findall(rf"(?<!\w){re.escape(keyword.lower())}(?!\w)", text.lower))
        if fault := equal(found, times, f"times {quoted(keyword)}"):
            return fault
    return None


@IFBENCH_FIXED.rule("ratio:sentence_type")
def sentence_type(text: Text) -> Fault:
    """Require two declarative sentences for each question. A quotation mark may follow the stop."""
    return ifbench_counts.type_fault(_endings(text))


@IFBENCH_FIXED.rule("ratio:sentence_balance")
def sentence_balance(text: Text) -> Fault:
    """Require as many sentences with each mark. A quotation mark may follow the mark."""
    return ifbench_counts.balance_fault(_endings(text))


def _endings(text: Text) -> Counter[str]:
    return Counter(sentence.rstrip(CLOSING)[-1:] for sentence in text.sentences)


@IFBENCH_FIXED.rule("words:words_position")
def words_position_fixed(text: Text, keyword: Trimmed) -> Fault:
    """Require the keyword as second and second-last word. No mark is a word."""
    found = [token for token in text.tokens if any(map(str.isalnum, token))]
    if len(found) < 2:
        return "too few words"
    for place, word in (("second", found[1]), ("second-last", found[-2])):
        if word.lower() != keyword.lower():
            return f"the {place} word is {quoted(word)}, {quoted(keyword)} wanted"
    return None


@IFBENCH_FIXED.rule("custom:sentence_alphabet")
def sentence_alphabet(text: Text) -> Fault:
    """Require 26 sentences in the order of the alphabet. A quotation mark may come before a letter."""
    return ifbench_custom.alphabet_fault([sentence.lstrip(OPENING) for sentence in text.sentences])


@IFBENCH_FIXED.rule("format:emoji")
def emoji(text: Text) -> Fault:
    """Require an emoji at the end of each sentence. Flags and joined emoji are one emoji each."""
    sentences = [unmarked(sentence).strip() for sentence in text.sentences]
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
        if not (_is_at(sentence[-LONGEST_EMOJI:], at_end=True) or _is_at(following[:LONGEST_EMOJI])):
            return f"no emoji after {quoted(sentence[-50:])}"
    return None


def _is_at(part: str, at_end: bool = False) -> bool:
    """Return whether a text begins or ends with an emoji, before at most one sign after it."""
    found = emoji_list(part)
    return bool(found) and (
        found[-1]["match_end"] >= len(part) - 1 if at_end else not found[0]["match_start"]
    )


@IFBENCH_FIXED.rule("format:quote_unquote")
def quote_unquote_fixed(text: Text) -> Fault:
    """Require something after every quotation. Curly double quotes are quotes."""
    straight = text.raw.translate(STRAIGHTENED).replace(ifbench_format.QUOTED_QUOTE, "")
    return ifbench_format.quotation_fault("".join(straight.split()))


@IFBENCH_FIXED.rule("format:line_indent")
def line_indent(text: Text) -> Fault:
    """Require each line to be indented more than the one before. Blank lines do not matter."""
    return ifbench_format.indent_fault([line for line in text.lines if line.strip()])


@IFBENCH_FIXED.rule("format:list")
def listed(text: Text, sep: NonEmpty) -> Fault:
    """Count lines that begin with the separator."""
    found = sum(1 for line in text.lines if line.lstrip().startswith(sep.strip()))
    return compared(found, "at least", 2, f"list items marked {quoted(sep)}")


@IFBENCH_FIXED.rule("format:options")
def options(text: Text, options: Trimmed) -> Fault:
    """Require one of the options, without regard to outer blanks."""
    return ifbench_format.options(text.of(text.stripped), options)


@IFBENCH_FIXED.rule("format:thesis")
def thesis(text: Text) -> Fault:
    """Require an italic statement that is closed by its own tag, with text after it."""
    opened: re.Match[str] | None = None
    for tag in ITALICS.finditer(text.raw):
        if not tag.group(1):
            opened = opened or tag
        elif opened and opened.group(2) == tag.group(2):
            if text.raw[opened.end() : tag.start()].strip() and text.raw[tag.end() :].strip():
                return None
            opened = None
    return "no statement in italics (<i> or <em>) with text after it"


@IFBENCH_FIXED.rule("format:sub-bullets")
def sub_bullets(text: Text) -> Fault:
    """Require a `-` line below each `*` bullet, before the next one."""
    bullets, bare = 0, False
    for line in text.lines:
        body = line.lstrip()
        if body.startswith("* "):
            if bare:
                return f"a bullet without a sub-bullet before {quoted(body)}"
            bullets, bare = bullets + 1, True
        elif body.startswith("- "):
            bare = False
    if not bullets:
        return "no bullets"
    return "the last bullet has no sub-bullet" if bare else None


@IFBENCH_FIXED.rule("format:no_bullets_bullets")
def no_bullets_bullets(text: Text) -> Fault:
    """Require sentences that end in a full stop, then bullets. Blank lines do not matter."""
    lines = [line for line in text.lines if line.strip()]
    if fault := ifbench_format.no_bullets_bullets(text.of("\n".join(lines))):
        return fault
    prose = [line.strip() for line in lines if not line.strip().startswith("*")]
    for sentence in (sentence for line in prose for sentence in text.tools.sentences(line)):
        if not sentence.endswith("."):
            return f"{quoted(sentence)} does not end in a full stop"
    return None


@IFBENCH_FIXED.rule("repeat:repeat_span")
def repeat_span_fixed(text: Text, prompt_to_repeat: NonEmpty, n_start: Count, n_end: Count) -> Fault:
    """Compare a span of words. Both ends are included."""
    words = prompt_to_repeat.split()[n_start : n_end + 1]
    return ifbench_counts.span_fault(text, " ".join(words))


@IFBENCH_FIXED.rule("custom:date_format_list")
def date_format_list(text: Text) -> Fault:
    """Require dates in Napoleon's life that exist in the calendar."""
    if fault := ifbench_custom.date_format_list(text):
        return fault
    for piece in (piece.strip() for piece in text.stripped.split(",")):
        if not _is_in_life(piece):
            return f"{quoted(piece)} is not a date in Napoleon's life"
    return None


def _is_in_life(piece: str) -> bool:
    try:
        return NAPOLEON[0] <= date.fromisoformat(piece) <= NAPOLEON[1]
    except ValueError:
        return False


PERSONS = tuple(NAMES.pattern.removeprefix(r"\b(?:").removesuffix(r")\b").split("|"))
PRONOUNS = words(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she "
    "her hers herself it its itself they them their theirs themselves"
)
STRAIGHTENED_2025_07 = str.maketrans("“”", '""')


@IFBENCH_2025_07.rule("count:person_names")
def person_names(text: Text, N: Count) -> Fault:
    """Match inside other words too."""
    found = sum(1 for name in PERSONS if name in text.raw)
    return compared(found, "at least", N, "different names of the list")


@IFBENCH_2025_07.rule("count:pronouns")
def pronouns(text: Text, N: Count) -> Fault:
    """Count pronouns of the paper's list. Words are tokens between blanks without marks."""
    found = sum(1 for word in unmarked(text.lower).split() if word in PRONOUNS)
    return compared(found, "at least", N, "pronouns")


@IFBENCH_2025_07.rule("sentence:keyword")
def keyword(text: Text, word: Trimmed, N: Ordinal) -> Fault:
    """Match inside other words too."""
    if len(text.sentences) < N:
        return f"{len(text.sentences)} sentences, so none has number {N}"
    found = word.lower() in text.sentences[N - 1].lower()
    return None if found else f"sentence {N} does not hold {quoted(word)}"


@IFBENCH_2025_07.rule("words:keywords_specific_position")
def keywords_specific_position(text: Text, keyword: Trimmed, n: Ordinal, m: Ordinal) -> Fault:
    """Require the keyword at a place. Marks are words, and the case of letters counts."""
    if len(text.sentences) < n:
        return f"{len(text.sentences)} sentences, so none has number {n}"
    tokens = text.tools.tokens(text.sentences[n - 1])
    if len(tokens) < m:
        return f"sentence {n} has {len(tokens)} words, so none has number {m}"
    found = tokens[m - 1]
    return None if found == keyword else f"word {m} of sentence {n} is {quoted(found)}"


@IFBENCH_2025_07.rule("words:words_position")
def words_position(text: Text, keyword: Trimmed) -> Fault:
    """Require the keyword at both places. A final mark is a word, and the case of letters counts."""
    tokens = text.tokens
    if len(tokens) < 2:
        return "too few words"
    right = tokens[1] == tokens[-2] == keyword
    return None if right else f"the second words are {quoted(tokens[1])} and {quoted(tokens[-2])}"


@IFBENCH_2025_07.rule("repeat:repeat_change")
def repeat_change(text: Text, prompt_to_repeat: NonEmpty) -> Fault:
    """Compare everything after the first character, not after the first word."""
    if text.raw == prompt_to_repeat:
        return "the request is repeated without a change"
    same = text.raw[1:] == prompt_to_repeat[1:]
    return None if same else "more than the first character of the request is changed"


@IFBENCH_2025_07.rule("repeat:repeat_span")
def repeat_span_2025_07(text: Text, prompt_to_repeat: NonEmpty, n_start: Count, n_end: Count) -> Fault:
    """Compare words without the last one. The official code drew a random start for n_start 0."""
    span = prompt_to_repeat.split()[n_start:n_end]
    same = text.stripped.lower().split() == [word.lower() for word in span]
    return None if same else f"{quoted(text.stripped)}, {quoted(' '.join(span))} wanted"


@IFBENCH_2025_07.rule("format:title_case")
def title_case(text: Text) -> Fault:
    """Require title case. A single small letter is accepted."""
    for token in text.tokens:
        first, rest = token[0], token[1:]
        if first.islower() and (rest.islower() or rest.isupper()):
            return f"{quoted(token)} is not in title case"
    return None


@IFBENCH_2025_07.rule("format:quote_unquote")
def quote_unquote_2025_07(text: Text) -> Fault:
    """Require something after every quotation. Curly double quotes are quotes."""
    straight = text.raw.translate(STRAIGHTENED_2025_07).replace(ifbench_format.QUOTED_QUOTE, "")
    return ifbench_format.quotation_fault("".join(straight.split()))
