"""Rules on length: sentences, paragraphs, words, and the first word of a numbered paragraph."""

from __future__ import annotations

import re
from itertools import takewhile

from genbench.verifiers.constraints.rule import (
    Count,
    Fault,
    Kwargs,
    Ordinal,
    Relation,
    Rule,
    Rules,
    Trimmed,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.constraints.text import Text

DIVIDER = re.compile(r"\s?\*\*\*\s?")
WORD_END = frozenset(".,?!'\"")


class NumberSentences(Kwargs):
    """The kwargs of `length_constraints:number_sentences`."""

    num_sentences: Count
    relation: Relation


def number_sentences(text: Text, want: NumberSentences) -> Fault:
    """Count sentences."""
    return compared(len(text.sentences), want.relation, want.num_sentences, "sentences")


class NumberParagraphs(Kwargs):
    """The kwargs of `length_constraints:number_paragraphs`."""

    num_paragraphs: Count


def number_paragraphs(text: Text, want: NumberParagraphs) -> Fault:
    """Count pieces between `***`. A blank first or last one is not counted, any other one is a fault."""
    pieces = DIVIDER.split(text.raw)
    blank = [index for index, piece in enumerate(pieces) if not piece.strip()]
    if any(0 < index < len(pieces) - 1 for index in blank):
        return "nothing between two '***' dividers"
    return equal(len(pieces) - len(blank), want.num_paragraphs, "paragraphs between '***'")


class NumberWords(Kwargs):
    """The kwargs of `length_constraints:number_words`."""

    num_words: Count
    relation: Relation


def number_words(text: Text, want: NumberWords) -> Fault:
    """Count words."""
    return compared(len(text.words), want.relation, want.num_words, "words")


class NthParagraphFirstWord(Kwargs):
    """The kwargs of `length_constraints:nth_paragraph_first_word`."""

    num_paragraphs: Count
    nth_paragraph: Ordinal
    first_word: Trimmed


def nth_paragraph_first_word(text: Text, want: NthParagraphFirstWord) -> Fault:
    """Check a paragraph's first word. The count leaves blank pieces out, the index does not (defect D7)."""
    pieces = text.raw.split("\n\n")
    count = sum(1 for piece in pieces if piece.strip())
    if want.nth_paragraph > count:
        return f"{count} paragraphs, so none has number {want.nth_paragraph}"
    paragraph = pieces[want.nth_paragraph - 1].strip()
    if not paragraph:
        return f"the piece at place {want.nth_paragraph} is blank"
    return first_word_fault(leading_word(paragraph), want) or equal(
        count, want.num_paragraphs, "paragraphs between blank lines"
    )


def leading_word(paragraph: str) -> str:
    """Return the first word up to a mark. Opening quotes are removed once each, in the official order."""
    word = paragraph.split(maxsplit=1)[0].lstrip("'").lstrip('"')
    return "".join(takewhile(lambda char: char not in WORD_END, word)).lower()


def first_word_fault(found: str, want: NthParagraphFirstWord) -> Fault:
    """Return the fault of a paragraph that begins with another word."""
    wanted = want.first_word.lower()
    if found == wanted:
        return None
    return f"paragraph {want.nth_paragraph} begins with {quoted(found)}, {quoted(wanted)} wanted"


RULES: Rules = (
    Rule("length_constraints:number_sentences", NumberSentences, number_sentences),
    Rule("length_constraints:number_paragraphs", NumberParagraphs, number_paragraphs),
    Rule("length_constraints:number_words", NumberWords, number_words),
    Rule("length_constraints:nth_paragraph_first_word", NthParagraphFirstWord, nth_paragraph_first_word),
)
