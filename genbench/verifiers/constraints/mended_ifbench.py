"""IFBench's rules under mode `fixed`, for prompts that ask something else than the official check."""

from __future__ import annotations

import re
from datetime import date

from genbench.verifiers.constraints import counts, custom_answers, layout, ratios, repeats, shape
from genbench.verifiers.constraints.rule import Fault, NoKwargs, Rule, Rules, compared, quoted
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import CONJUNCTIONS, EDGE

CURLY = str.maketrans("“”„‟", '""""')
ITALICS = re.compile(r"<(/?)(i|em)>")
NAPOLEON = (date(1769, 8, 15), date(1821, 5, 5))


def conjunctions(text: Text, want: counts.AtLeastSmallN) -> Fault:
    """Count different conjunctions. Case and marks make no difference."""
    found = {word for token in text.lower.split() if (word := token.strip(EDGE)) in CONJUNCTIONS}
    return compared(len(found), "at least", want.small_n, "different conjunctions")


def overlap(text: Text, want: ratios.Overlap) -> Fault:
    """Compare trigrams of words."""
    return ratios.overlap_fault(_trigrams(text.raw), _trigrams(want.reference_text), want)


def _trigrams(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return set(zip(words, words[1:], words[2:], strict=False))


def sentence_words(text: Text, want: NoKwargs) -> Fault:
    """Require three sentences of equal length that share no word."""
    if fault := ratios.sentence_words(text, want):
        return fault
    seen: set[str] = set()
    for sentence in text.sentences:
        words = {word for token in sentence.lower().split() if (word := token.strip(EDGE))}
        if shared := sorted(seen & words):
            return f"{quoted(shared[0])} stands in more than one sentence"
        seen |= words
    return None


def quote_unquote(text: Text, _: NoKwargs) -> Fault:
    """Require something after every quotation. Curly double quotes are quotes."""
    straight = text.raw.translate(CURLY).replace(shape.QUOTED_QUOTE, "")
    return shape.quotation_fault("".join(straight.split()))


def line_indent(text: Text, _: NoKwargs) -> Fault:
    """Require each line to be indented more than the one before. Blank lines do not matter."""
    return layout.indent_fault([line for line in text.lines if line.strip()])


def listed(text: Text, want: layout.Separator) -> Fault:
    """Count lines that begin with the separator."""
    found = sum(1 for line in text.lines if line.lstrip().startswith(want.sep.strip()))
    return compared(found, "at least", 2, f"list items marked {quoted(want.sep)}")


def options(text: Text, want: shape.Options) -> Fault:
    """Require one of the options, without regard to outer blanks."""
    return shape.options(text.of(text.stripped), want)


def thesis(text: Text, _: NoKwargs) -> Fault:
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


def sub_bullets(text: Text, _: NoKwargs) -> Fault:
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


def no_bullets_bullets(text: Text, want: NoKwargs) -> Fault:
    """Require sentences that end in a full stop, then bullets. Blank lines do not matter."""
    lines = [line for line in text.lines if line.strip()]
    if fault := layout.no_bullets_bullets(text.of("\n".join(lines)), want):
        return fault
    prose = [line.strip() for line in lines if not line.strip().startswith("*")]
    for sentence in (sentence for line in prose for sentence in text.tools.sentences(line)):
        if not sentence.endswith("."):
            return f"{quoted(sentence)} does not end in a full stop"
    return None


def repeat_span(text: Text, want: repeats.RepeatSpan) -> Fault:
    """Compare a span of words. Both ends are included."""
    words = want.prompt_to_repeat.split()[want.n_start : want.n_end + 1]
    return repeats.span_fault(text, " ".join(words))


def date_format_list(text: Text, want: NoKwargs) -> Fault:
    """Require dates in Napoleon's life that exist in the calendar."""
    if fault := custom_answers.date_format_list(text, want):
        return fault
    for piece in (piece.strip() for piece in text.stripped.split(",")):
        if not _is_in_life(piece):
            return f"{quoted(piece)} is no date in Napoleon's life"
    return None


def _is_in_life(piece: str) -> bool:
    try:
        return NAPOLEON[0] <= date.fromisoformat(piece) <= NAPOLEON[1]
    except ValueError:
        return False


RULES: Rules = (
    Rule("count:conjunctions", counts.AtLeastSmallN, conjunctions),
    Rule("ratio:overlap", ratios.Overlap, overlap),
    Rule("ratio:sentence_words", NoKwargs, sentence_words),
    Rule("format:quote_unquote", NoKwargs, quote_unquote),
    Rule("format:line_indent", NoKwargs, line_indent),
    Rule("format:list", layout.Separator, listed),
    Rule("format:options", shape.Options, options),
    Rule("format:thesis", NoKwargs, thesis),
    Rule("format:sub-bullets", NoKwargs, sub_bullets),
    Rule("format:no_bullets_bullets", NoKwargs, no_bullets_bullets),
    Rule("repeat:repeat_span", repeats.RepeatSpan, repeat_span),
    Rule("custom:date_format_list", NoKwargs, date_format_list),
)
