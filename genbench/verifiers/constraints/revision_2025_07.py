"""IFBench's rules of 2 July 2025, the code of the paper, for ids whose newest code differs."""

from __future__ import annotations

from genbench.verifiers.constraints import counts, placing, repeats, shape
from genbench.verifiers.constraints.rule import Fault, NoKwargs, Rule, Rules, compared, quoted
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import NAMES, unmarked, words

PERSONS = tuple(NAMES.pattern.removeprefix(r"\b(?:").removesuffix(r")\b").split("|"))
PRONOUNS = words(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she "
    "her hers herself it its itself they them their theirs themselves"
)
CURLY = str.maketrans("“”", '""')


def person_names(text: Text, want: counts.AtLeastN) -> Fault:
    """Match inside other words too."""
    found = sum(1 for name in PERSONS if name in text.raw)
    return compared(found, "at least", want.N, "different names of the list")


def pronouns(text: Text, want: counts.AtLeastN) -> Fault:
    """Count pronouns of the paper's list. Words are tokens between blanks without marks."""
    found = sum(1 for word in unmarked(text.lower).split() if word in PRONOUNS)
    return compared(found, "at least", want.N, "pronouns")


def keyword(text: Text, want: placing.KeywordInSentence) -> Fault:
    """Match inside other words too."""
    if len(text.sentences) < want.N:
        return f"{len(text.sentences)} sentences, so none has number {want.N}"
    found = want.word.lower() in text.sentences[want.N - 1].lower()
    return None if found else f"sentence {want.N} does not hold {quoted(want.word)}"


def keywords_specific_position(text: Text, want: placing.KeywordAtPlace) -> Fault:
    """Require the keyword at a place. Marks are words, and the case of letters counts."""
    if len(text.sentences) < want.n:
        return f"{len(text.sentences)} sentences, so none has number {want.n}"
    tokens = text.tools.tokens(text.sentences[want.n - 1])
    if len(tokens) < want.m:
        return f"sentence {want.n} has {len(tokens)} words, so none has number {want.m}"
    found = tokens[want.m - 1]
    return None if found == want.keyword else f"word {want.m} of sentence {want.n} is {quoted(found)}"


def words_position(text: Text, want: placing.KeywordAtEnds) -> Fault:
    """Require the keyword at both places. A final mark is a word, and the case of letters counts."""
    tokens = text.tokens
    if len(tokens) < 2:
        return "too few words"
    right = tokens[1] == tokens[-2] == want.keyword
    return None if right else f"the second words are {quoted(tokens[1])} and {quoted(tokens[-2])}"


def repeat_change(text: Text, want: repeats.RepeatChange) -> Fault:
    """Compare everything after the first character, not after the first word."""
    if text.raw == want.prompt_to_repeat:
        return "the request is repeated without a change"
    same = text.raw[1:] == want.prompt_to_repeat[1:]
    return None if same else "more than the first character of the request is changed"


def repeat_span(text: Text, want: repeats.RepeatSpan) -> Fault:
    """Compare words without the last one. The official code drew a random start for n_start 0."""
    span = want.prompt_to_repeat.split()[want.n_start : want.n_end]
    same = text.stripped.lower().split() == [word.lower() for word in span]
    return None if same else f"{quoted(text.stripped)}, {quoted(' '.join(span))} wanted"


def title_case(text: Text, _: NoKwargs) -> Fault:
    """Require title case. A single small letter is accepted."""
    for token in text.tokens:
        first, rest = token[0], token[1:]
        if first.islower() and (rest.islower() or rest.isupper()):
            return f"{quoted(token)} is not in title case"
    return None


def quote_unquote(text: Text, _: NoKwargs) -> Fault:
    """Require something after every quotation. Curly double quotes are quotes."""
    straight = text.raw.translate(CURLY).replace(shape.QUOTED_QUOTE, "")
    return shape.quotation_fault("".join(straight.split()))


RULES: Rules = (
    Rule("count:person_names", counts.AtLeastN, person_names),
    Rule("count:pronouns", counts.AtLeastN, pronouns),
    Rule("sentence:keyword", placing.KeywordInSentence, keyword),
    Rule("words:keywords_specific_position", placing.KeywordAtPlace, keywords_specific_position),
    Rule("words:words_position", placing.KeywordAtEnds, words_position),
    Rule("repeat:repeat_change", repeats.RepeatChange, repeat_change),
    Rule("repeat:repeat_span", repeats.RepeatSpan, repeat_span),
    Rule("format:title_case", NoKwargs, title_case),
    Rule("format:quote_unquote", NoKwargs, quote_unquote),
)
