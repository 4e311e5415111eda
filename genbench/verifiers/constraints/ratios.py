"""IFBench's `ratio:` rules: shares of words, kinds of sentences, overlap with a reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Annotated

from pydantic import Field

from genbench.verifiers.constraints.rule import Fault, Kwargs, NoKwargs, Rule, Rules
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import STOP_WORDS

OVERLAP_TOLERANCE = 2.0
"""The tolerance in percentage points on either side."""

Percentage = Annotated[float, Field(ge=0, le=100)]


class StopWords(Kwargs):
    """The kwargs of `ratio:stop_words`."""

    percentage: Percentage


def stop_words(text: Text, want: StopWords) -> Fault:
    """Require at most a share of stop words, in percent of the words."""
    if not text.words:
        return "no words"
    share = 100 * sum(1 for word in text.words if word.lower() in STOP_WORDS) / len(text.words)
    if share <= want.percentage:
        return None
    return f"{share:.1f} % of the words are stop words, at most {want.percentage:g} % wanted"


def _endings(text: Text) -> Counter[str]:
    return Counter(sentence[-1:] for sentence in text.sentences)


def sentence_type(text: Text, _: NoKwargs) -> Fault:
    """Require two declarative sentences for each question, by their last characters."""
    ends = _endings(text)
    if ends["."] == 2 * ends["?"]:
        return None
    return f"{ends['.']} declarative sentences to {ends['?']} questions, two to one wanted"


def sentence_balance(text: Text, _: NoKwargs) -> Fault:
    """Require as many sentences with a full stop as with a question mark and with an exclamation mark."""
    ends = _endings(text)
    if ends["."] == ends["?"] == ends["!"]:
        return None
    return f"{ends['.']} sentences end in '.', {ends['?']} in '?', {ends['!']} in '!', as many of each wanted"


class Overlap(Kwargs):
    """The kwargs of `ratio:overlap`."""

    reference_text: str
    percentage: Percentage


def overlap(text: Text, want: Overlap) -> Fault:
    """Compare trigrams of characters, not of words (defect B9)."""
    return overlap_fault(_trigrams(text.raw), _trigrams(want.reference_text), want)


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def overlap_fault(found: Set[object], reference: Set[object], want: Overlap) -> Fault:
    """Return the fault of a share of `found` in `reference` that is off by more than two points."""
    if not found:
        return "shorter than one trigram"
    share = 100 * len(found & reference) / len(found)
    if abs(share - want.percentage) <= OVERLAP_TOLERANCE:
        return None
    return f"{share:.1f} % of the trigrams are in the reference text, {want.percentage:g} ± 2 % wanted"


def sentence_words(text: Text, _: NoKwargs) -> Fault:
    """Require three sentences of equal length. Whether their words differ is not checked (defect B4)."""
    lengths = [len(sentence.strip()) for sentence in text.sentences]
    if len(lengths) != 3:
        return f"{len(lengths)} sentences, exactly 3 wanted"
    if len(set(lengths)) == 1:
        return None
    return f"the sentences have {lengths[0]}, {lengths[1]} and {lengths[2]} characters, the same wanted"


RULES: Rules = (
    Rule("ratio:stop_words", StopWords, stop_words),
    Rule("ratio:sentence_type", NoKwargs, sentence_type),
    Rule("ratio:sentence_balance", NoKwargs, sentence_balance),
    Rule("ratio:overlap", Overlap, overlap),
    Rule("ratio:sentence_words", NoKwargs, sentence_words),
)
