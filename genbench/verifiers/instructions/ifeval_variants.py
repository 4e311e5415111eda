"""IFEval's rules that differ: under mode `fixed`, and for Multi-IF.

Mode `fixed` is for prompts that ask something else than the official check. Multi-IF's rules for sentences,
words and quotation marks depend on the language of the text. They are written from the behaviour of the
official checkers as public harnesses carry them. Thai, which needs a word segmenter, is not in the data (8
languages) and is counted like English.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, NoReturn

from emoji import emoji_count, replace_emoji
from pydantic import Field

from genbench.verifiers.instructions import ifeval_rules
from genbench.verifiers.instructions.ifeval_rules import NumberSentences, NumberWords
from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Relation,
    Rule,
    Rules,
    Text,
    Trimmed,
    compared,
    equal,
    quoted,
)

BULLET = re.compile(r"[ \t]*[*+-][ \t]+\S")
RULE_LINE = re.compile(r"[ \t]*([*_-])(?:[ \t]*\1){2,}[ \t]*")
DIVIDER_LINE = re.compile(r"[ \t]*\*\*\*[ \t]*")
LIST_NUMBER = re.compile(r"[\W_]*(?:\d+|[A-Za-z])[.)]")
HIGHLIGHT = re.compile(r"(?<!\*)(\*{1,3})(?=[^\s*])[^*\n]*(?<!\s)\1(?!\*)")
DECORATION = "*_#>-\"'“”‘’`([ \t"
MARKER_LEAD = "*_#> \t"


def _word(word: str) -> re.Pattern[str]:
    """Return the pattern of a literal word that is not inside another one."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


class Existence(Kwargs):
    """The kwargs of `keywords:existence`."""

    keywords: Annotated[tuple[Trimmed, ...], Field(min_length=1)]


def existence(text: Text, want: Existence) -> Fault:
    """Look for every keyword as a whole word."""
    return ifeval_rules.missing_fault([word for word in want.keywords if not _word(word).search(text.raw)])


class Frequency(Kwargs):
    """The kwargs of `keywords:frequency`."""

    keyword: Trimmed
    frequency: Count
    relation: Relation


def frequency(text: Text, want: Frequency) -> Fault:
    """Count a keyword as a whole word."""
    found = sum(1 for _ in _word(want.keyword).finditer(text.raw))
    return compared(found, want.relation, want.frequency, f"times {quoted(want.keyword)}")


class ForbiddenWords(Kwargs):
    """The kwargs of `keywords:forbidden_words`."""

    forbidden_words: Annotated[tuple[Trimmed, ...], Field(min_length=1)]


def forbidden_words(text: Text, want: ForbiddenWords) -> Fault:
    """Look for each forbidden word literally, as a whole word."""
    return ifeval_rules.forbidden_fault(
        [word for word in want.forbidden_words if _word(word).search(text.raw)]
    )


def response_language(text: Text, want: ifeval_rules.ResponseLanguage) -> Fault:
    """Compare languages. The detector tells two kinds of Chinese apart, and 'zh' means either."""
    found = text.language
    return _language_fault(
        "zh" if want.language == "zh" and found in ("zh-cn", "zh-tw") else found, want.language
    )


def _language_fault(found: str | None, wanted: str) -> Fault:
    return "the language cannot be told" if found is None else ifeval_rules.language_fault(found, wanted)


def english_capital(text: Text, _: NoKwargs) -> Fault:
    """Require English capitals. The detector skips such words, so it gets the text in small letters."""
    return ifeval_rules.capitals_fault(text.raw) or _language_fault(text.of(text.lower).language, "en")


def english_lowercase(text: Text, _: NoKwargs) -> Fault:
    """Require English in small letters. A text whose language cannot be told is a fault."""
    return ifeval_rules.lowercase_fault(text.raw) or _language_fault(text.language, "en")


def number_sentences(text: Text, want: ifeval_rules.NumberSentences) -> Fault:
    """Count sentences. The number of a list item does not count."""
    found = sum(1 for sentence in text.sentences if not LIST_NUMBER.fullmatch(sentence))
    return compared(found, want.relation, want.num_sentences, "sentences")


def number_paragraphs(text: Text, want: ifeval_rules.NumberParagraphs) -> Fault:
    """Count pieces with text between lines that are `***`."""
    found, open_piece = 0, False
    for line in text.lines:
        divides = DIVIDER_LINE.fullmatch(line) is not None
        starts = not divides and not open_piece and bool(line.strip())
        found, open_piece = found + starts, not divides and (open_piece or starts)
    return equal(found, want.num_paragraphs, "paragraphs between '***'")


def nth_paragraph_first_word(text: Text, want: ifeval_rules.NthParagraphFirstWord) -> Fault:
    """Check a paragraph's first word. Blank paragraphs and Markdown before the word are ignored."""
    paragraphs = [piece.strip() for piece in text.raw.split("\n\n") if piece.strip()]
    if want.nth_paragraph > len(paragraphs):
        return f"{len(paragraphs)} paragraphs, so none has number {want.nth_paragraph}"
    words = paragraphs[want.nth_paragraph - 1].lstrip(DECORATION).split(maxsplit=1)
    lead = re.match(r"[\w-]*(?:['’]\w+)*", words[0]) if words else None
    found = lead.group().lower() if lead else ""
    return ifeval_rules.first_word_fault(found, want) or equal(
        len(paragraphs), want.num_paragraphs, "paragraphs between blank lines"
    )


def postscript(text: Text, want: ifeval_rules.Postscript) -> Fault:
    """Look for the marker at the start of a line."""
    marker = re.sub(r"\W", "", want.postscript_marker).lower()
    spelt = r"\.?\s?".join(map(re.escape, marker)) + (r"(?!\w|\.?\s?p?\.?\s?s\b)" if marker else "")
    pattern = re.compile(spelt if marker else re.escape(want.postscript_marker.lower()))
    found = any(pattern.match(line.lstrip(MARKER_LEAD).lower()) for line in text.lines)
    return None if found else ifeval_rules.postscript_fault(want)


def number_bullet_lists(text: Text, want: ifeval_rules.NumberBulletLists) -> Fault:
    """Count lines that begin with a bullet. Horizontal rules do not count."""
    found = sum(1 for line in text.lines if BULLET.match(line) and not RULE_LINE.fullmatch(line))
    return equal(found, want.num_bullets, "bullet points")


def constrained_response(text: Text, _: NoKwargs) -> Fault:
    """Require one of the sentences as the whole answer."""
    exact = text.stripped in ifeval_rules.OPTIONS
    return None if exact else f"{quoted(text.stripped)} is none of the three allowed answers"


def number_highlighted_sections(text: Text, want: ifeval_rules.NumberHighlights) -> Fault:
    """Count texts between equal runs of one to three stars."""
    found = sum(1 for _ in HIGHLIGHT.finditer(text.raw))
    return compared(found, "at least", want.num_highlights, "highlighted sections")


class MultipleSections(Kwargs):
    """The kwargs of `detectable_format:multiple_sections`."""

    section_spliter: Trimmed
    num_sections: Count


def multiple_sections(text: Text, want: MultipleSections) -> Fault:
    """Count literal markers that a number follows."""
    found = sum(1 for _ in re.finditer(rf"{re.escape(want.section_spliter)}\s?\d+", text.raw))
    return compared(found, "at least", want.num_sections, f"sections marked {quoted(want.section_spliter)}")


def json_format(text: Text, _: NoKwargs) -> Fault:
    """Require a JSON object or array. `NaN` and the infinities are refused."""
    try:
        value = json.loads(ifeval_rules.unfenced(text.raw), parse_constant=_refused)
    except RecursionError:
        return "not JSON: nested too deeply"
    except ValueError as error:
        return f"not JSON: {error}"
    if isinstance(value, dict | list):
        return None
    return f"a bare {type(value).__name__}, not an object or array"


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


IFEVAL_FIXED: Rules = (
    Rule("keywords:existence", Existence, existence),
    Rule("keywords:frequency", Frequency, frequency),
    Rule("keywords:forbidden_words", ForbiddenWords, forbidden_words),
    Rule("language:response_language", ifeval_rules.ResponseLanguage, response_language),
    Rule("change_case:english_capital", NoKwargs, english_capital),
    Rule("change_case:english_lowercase", NoKwargs, english_lowercase),
    Rule("length_constraints:number_sentences", ifeval_rules.NumberSentences, number_sentences),
    Rule("length_constraints:number_paragraphs", ifeval_rules.NumberParagraphs, number_paragraphs),
    Rule(
        "length_constraints:nth_paragraph_first_word",
        ifeval_rules.NthParagraphFirstWord,
        nth_paragraph_first_word,
    ),
    Rule("detectable_content:postscript", ifeval_rules.Postscript, postscript),
    Rule("detectable_format:number_bullet_lists", ifeval_rules.NumberBulletLists, number_bullet_lists),
    Rule("detectable_format:constrained_response", NoKwargs, constrained_response),
    Rule(
        "detectable_format:number_highlighted_sections",
        ifeval_rules.NumberHighlights,
        number_highlighted_sections,
    ),
    Rule("detectable_format:multiple_sections", MultipleSections, multiple_sections),
    Rule("detectable_format:json_format", NoKwargs, json_format),
)


CHINESE_OR_JAPANESE = frozenset(("zh-cn", "zh-tw", "ja"))
EAST_ASIAN_RUN = re.compile(r"[^!?。.！？．]+")
HINDI_RUN = re.compile(r"[^।!?]*[।!?]?")
CHARACTER = re.compile(r"[぀-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣]")
NO_MARKS = str.maketrans("", "", "\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")
QUOTES = ('""', "“”", "「」")


def number_sentences_of_language(text: Text, want: NumberSentences) -> Fault:
    """Count sentences by the marks of the text's language."""
    return compared(_sentences(text), want.relation, want.num_sentences, "sentences")


def _sentences(text: Text) -> int:
    if text.language == "hi":
        return sum(1 for piece in HINDI_RUN.findall(text.raw) if piece.strip())
    if text.language in CHINESE_OR_JAPANESE:
        return sum(len(EAST_ASIAN_RUN.findall(line.strip())) for line in text.raw.splitlines())
    return len(text.sentences)


def number_words_of_language(text: Text, want: NumberWords) -> Fault:
    """Count words. In Chinese and Japanese every character is a word, and so is an emoji."""
    found = _characters(text.raw) if text.language in CHINESE_OR_JAPANESE else len(text.words)
    return compared(found, want.relation, want.num_words, "words")


def _characters(text: str) -> int:
    body, characters = CHARACTER.subn(" ", text.translate(NO_MARKS))
    return characters + emoji_count(body) + len(replace_emoji(body, "").split())


def quotation_of_language(text: Text, want: NoKwargs) -> Fault:
    """Require English, Chinese or Japanese quotation marks."""
    body = text.stripped
    if len(body) >= 2 and body[0] + body[-1] in QUOTES:
        return None
    return ifeval_rules.quotation(text, want)


MULTI_IF: Rules = (
    Rule("length_constraints:number_sentences", NumberSentences, number_sentences_of_language),
    Rule("length_constraints:number_words", NumberWords, number_words_of_language),
    Rule("startend:quotation", NoKwargs, quotation_of_language),
)
