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
from genbench.verifiers.instructions.ifeval_rules import LanguageCode, PostscriptMarker
from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    Ordinal,
    Relation,
    RuleTable,
    Text,
    Trimmed,
    compared,
    equal,
    quoted,
)

IFEVAL_FIXED = RuleTable()
MULTI_IF = RuleTable()

Words = Annotated[tuple[Trimmed, ...], Field(min_length=1)]

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


@IFEVAL_FIXED.rule("keywords:existence")
def existence(text: Text, keywords: Words) -> Fault:
    """Look for every keyword as a whole word."""
    return ifeval_rules.missing_fault([word for word in keywords if not _word(word).search(text.raw)])


@IFEVAL_FIXED.rule("keywords:frequency")
def frequency(text: Text, keyword: Trimmed, frequency: Count, relation: Relation) -> Fault:
    """Count a keyword as a whole word."""
    found = sum(1 for _ in _word(keyword).finditer(text.raw))
    return compared(found, relation, frequency, f"times {quoted(keyword)}")


@IFEVAL_FIXED.rule("keywords:forbidden_words")
def forbidden_words(text: Text, forbidden_words: Words) -> Fault:
    """Look for each forbidden word literally, as a whole word."""
    return ifeval_rules.forbidden_fault([word for word in forbidden_words if _word(word).search(text.raw)])


@IFEVAL_FIXED.rule("language:response_language")
def response_language(text: Text, language: LanguageCode) -> Fault:
    """Compare languages. The detector tells two kinds of Chinese apart, and 'zh' means either."""
    found = text.language
    return _language_fault("zh" if language == "zh" and found in ("zh-cn", "zh-tw") else found, language)


def _language_fault(found: str | None, wanted: str) -> Fault:
    return "the language cannot be told" if found is None else ifeval_rules.language_fault(found, wanted)


@IFEVAL_FIXED.rule("change_case:english_capital")
def english_capital(text: Text) -> Fault:
    """Require English capitals. The detector skips such words, so it gets the text in small letters."""
    return ifeval_rules.capitals_fault(text.raw) or _language_fault(text.of(text.lower).language, "en")


@IFEVAL_FIXED.rule("change_case:english_lowercase")
def english_lowercase(text: Text) -> Fault:
    """Require English in small letters. A text whose language cannot be told is a fault."""
    return ifeval_rules.lowercase_fault(text.raw) or _language_fault(text.language, "en")


@IFEVAL_FIXED.rule("length_constraints:number_sentences")
def number_sentences(text: Text, num_sentences: Count, relation: Relation) -> Fault:
    """Count sentences. The number of a list item does not count."""
    found = sum(1 for sentence in text.sentences if not LIST_NUMBER.fullmatch(sentence))
    return compared(found, relation, num_sentences, "sentences")


@IFEVAL_FIXED.rule("length_constraints:number_paragraphs")
def number_paragraphs(text: Text, num_paragraphs: Count) -> Fault:
    """Count pieces with text between lines that are `***`."""
    found, open_piece = 0, False
    for line in text.lines:
        divides = DIVIDER_LINE.fullmatch(line) is not None
        starts = not divides and not open_piece and bool(line.strip())
        found, open_piece = found + starts, not divides and (open_piece or starts)
    return equal(found, num_paragraphs, "paragraphs between '***'")


@IFEVAL_FIXED.rule("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(
    text: Text, num_paragraphs: Count, nth_paragraph: Ordinal, first_word: Trimmed
) -> Fault:
    """Check a paragraph's first word. Blank paragraphs and Markdown before the word are ignored."""
    paragraphs = [piece.strip() for piece in text.raw.split("\n\n") if piece.strip()]
    if nth_paragraph > len(paragraphs):
        return f"{len(paragraphs)} paragraphs, so none has number {nth_paragraph}"
    words = paragraphs[nth_paragraph - 1].lstrip(DECORATION).split(maxsplit=1)
    lead = re.match(r"[\w-]*(?:['’]\w+)*", words[0]) if words else None
    found = lead.group().lower() if lead else ""
    return ifeval_rules.first_word_fault(found, nth_paragraph, first_word) or equal(
        len(paragraphs), num_paragraphs, "paragraphs between blank lines"
    )


@IFEVAL_FIXED.rule("detectable_content:postscript")
def postscript(text: Text, postscript_marker: PostscriptMarker) -> Fault:
    """Look for the marker at the start of a line."""
    marker = re.sub(r"\W", "", postscript_marker).lower()
    spelt = r"\.?\s?".join(map(re.escape, marker)) + (r"(?!\w|\.?\s?p?\.?\s?s\b)" if marker else "")
    pattern = re.compile(spelt if marker else re.escape(postscript_marker.lower()))
    found = any(pattern.match(line.lstrip(MARKER_LEAD).lower()) for line in text.lines)
    return None if found else ifeval_rules.postscript_fault(postscript_marker)


@IFEVAL_FIXED.rule("detectable_format:number_bullet_lists")
def number_bullet_lists(text: Text, num_bullets: Count) -> Fault:
    """Count lines that begin with a bullet. Horizontal rules do not count."""
    found = sum(1 for line in text.lines if BULLET.match(line) and not RULE_LINE.fullmatch(line))
    return equal(found, num_bullets, "bullet points")


@IFEVAL_FIXED.rule("detectable_format:constrained_response")
def constrained_response(text: Text) -> Fault:
    """Require one of the sentences as the whole answer."""
    exact = text.stripped in ifeval_rules.OPTIONS
    return None if exact else f"{quoted(text.stripped)} is none of the three allowed answers"


@IFEVAL_FIXED.rule("detectable_format:number_highlighted_sections")
def number_highlighted_sections(text: Text, num_highlights: Count) -> Fault:
    """Count texts between equal runs of one to three stars."""
    found = sum(1 for _ in HIGHLIGHT.finditer(text.raw))
    return compared(found, "at least", num_highlights, "highlighted sections")


@IFEVAL_FIXED.rule("detectable_format:multiple_sections")
def multiple_sections(text: Text, section_spliter: Trimmed, num_sections: Count) -> Fault:
    """Count literal markers that a number follows."""
    found = sum(1 for _ in re.finditer(rf"{re.escape(section_spliter)}\s?\d+", text.raw))
    return compared(found, "at least", num_sections, f"sections marked {quoted(section_spliter)}")


@IFEVAL_FIXED.rule("detectable_format:json_format")
def json_format(text: Text) -> Fault:
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
    raise ValueError(f"{name} is not a JSON value")


CHINESE_OR_JAPANESE = frozenset(("zh-cn", "zh-tw", "ja"))
EAST_ASIAN_RUN = re.compile(r"[^!?。.！？．]+")
HINDI_RUN = re.compile(r"[^।!?]*[।!?]?")
CHARACTER = re.compile(r"[぀-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣]")
NO_MARKS = str.maketrans("", "", "\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")
QUOTES = ('""', "“”", "「」")


@MULTI_IF.rule("length_constraints:number_sentences")
def number_sentences_of_language(text: Text, num_sentences: Count, relation: Relation) -> Fault:
    """Count sentences by the marks of the text's language."""
    return compared(_sentences(text), relation, num_sentences, "sentences")


def _sentences(text: Text) -> int:
    if text.language == "hi":
        return sum(1 for piece in HINDI_RUN.findall(text.raw) if piece.strip())
    if text.language in CHINESE_OR_JAPANESE:
        return sum(len(EAST_ASIAN_RUN.findall(line.strip())) for line in text.raw.splitlines())
    return len(text.sentences)


@MULTI_IF.rule("length_constraints:number_words")
def number_words_of_language(text: Text, num_words: Count, relation: Relation) -> Fault:
    """Count words. In Chinese and Japanese every character is a word, and so is an emoji."""
    found = _characters(text.raw) if text.language in CHINESE_OR_JAPANESE else len(text.words)
    return compared(found, relation, num_words, "words")


def _characters(text: str) -> int:
    body, characters = CHARACTER.subn(" ", text.translate(NO_MARKS))
    return characters + emoji_count(body) + len(replace_emoji(body, "").split())


@MULTI_IF.rule("startend:quotation")
def quotation_of_language(text: Text) -> Fault:
    """Require English, Chinese or Japanese quotation marks."""
    body = text.stripped
    if len(body) >= 2 and body[0] + body[-1] in QUOTES:
        return None
    return ifeval_rules.quotation(text)
