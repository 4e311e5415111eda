"""IFEval's 25 rules as its newest official checkers have them."""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import takewhile
from typing import Annotated

from pydantic import AfterValidator, Field

from genbench.errors import nearest
from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Ordinal,
    Pattern,
    Relation,
    Rule,
    Rules,
    Text,
    Trimmed,
    TrimmedPattern,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.instructions.word_lists import words


def _one_character(value: str) -> str:
    letter = value.strip().lower()
    if not letter or not all(unicodedata.category(char).startswith("M") for char in letter[1:]):
        raise ValueError(f"one character is wanted, not {value!r}")
    return letter


class Existence(Kwargs):
    """The kwargs of `keywords:existence`."""

    keywords: Annotated[tuple[Pattern, ...], Field(min_length=1)]


def existence(text: Text, want: Existence) -> Fault:
    """Look for every keyword anywhere, inside other words too (defect D3)."""
    missing = [word for word in want.keywords if not re.search(word, text.raw, re.IGNORECASE)]
    return missing_fault(missing)


def missing_fault(missing: list[str]) -> Fault:
    """Return the fault of missing keywords, or None if none is missing."""
    return f"{', '.join(map(quoted, missing))} not found" if missing else None


class Frequency(Kwargs):
    """The kwargs of `keywords:frequency`."""

    keyword: TrimmedPattern
    frequency: Count
    relation: Relation


def frequency(text: Text, want: Frequency) -> Fault:
    """Count a keyword without regard to case, inside other words too."""
    found = sum(1 for _ in re.finditer(want.keyword, text.raw, re.IGNORECASE))
    return compared(found, want.relation, want.frequency, f"times {quoted(want.keyword)}")


class ForbiddenWords(Kwargs):
    """The kwargs of `keywords:forbidden_words`."""

    forbidden_words: Annotated[tuple[Pattern, ...], Field(min_length=1)]


def forbidden_words(text: Text, want: ForbiddenWords) -> Fault:
    """Look for each forbidden word as a whole word, without regard to case."""
    found = [w for w in want.forbidden_words if re.search(rf"\b{w}\b", text.raw, re.IGNORECASE)]
    return forbidden_fault(found)


def forbidden_fault(found: list[str]) -> Fault:
    """Return the fault of forbidden words that were found, or None if there are none."""
    return f"holds the forbidden {', '.join(map(quoted, found))}" if found else None


class LetterFrequency(Kwargs):
    """The kwargs of `keywords:letter_frequency`."""

    letter: Annotated[str, AfterValidator(_one_character)]
    let_frequency: Count
    let_relation: Relation


def letter_frequency(text: Text, want: LetterFrequency) -> Fault:
    """Count a letter, which may be any one character.

    Older official code replaces one outside a-z by a random letter (defect D1), which decides the
    IFEval keys 1122 (`#`) and 1129 (`!`) by chance. The newest official code counts it, as here.
    """
    found = text.lower.count(want.letter)
    return compared(found, want.let_relation, want.let_frequency, f"times the letter {quoted(want.letter)}")


KEYWORD_RULES: Rules = (
    Rule("keywords:existence", Existence, existence),
    Rule("keywords:frequency", Frequency, frequency),
    Rule("keywords:forbidden_words", ForbiddenWords, forbidden_words),
    Rule("keywords:letter_frequency", LetterFrequency, letter_frequency),
)


LANGUAGES = words(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no "
    "pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh-cn zh-tw"
)
"""The codes that langdetect 1.0.9 can return."""


def _known(code: str) -> str:
    if code not in LANGUAGES and code != "zh":
        raise ValueError(f"langdetect knows no language '{code}'{nearest(code, LANGUAGES)}")
    return code


class ResponseLanguage(Kwargs):
    """The kwargs of `language:response_language`."""

    language: Annotated[str, AfterValidator(_known)]


def response_language(text: Text, want: ResponseLanguage) -> Fault:
    """Compare the language of the text with the wanted one."""
    return language_fault(text.language, want.language)


def language_fault(found: str | None, wanted: str) -> Fault:
    """Compare languages. A text without letters counts as followed, as in the official code."""
    return None if found in (wanted, None) else f"the language looks like '{found}', '{wanted}' wanted"


class CapitalWordFrequency(Kwargs):
    """The kwargs of `change_case:capital_word_frequency`."""

    capital_frequency: Count
    capital_relation: Relation


def capital_word_frequency(text: Text, want: CapitalWordFrequency) -> Fault:
    """Count word tokens in capitals."""
    found = sum(1 for token in text.tokens if token.isupper())
    return compared(found, want.capital_relation, want.capital_frequency, "words in capitals")


def english_capital(text: Text, _: NoKwargs) -> Fault:
    """Require English capitals. They are often taken for another language (defect D2)."""
    return capitals_fault(text.raw) or language_fault(text.language, "en")


def english_lowercase(text: Text, _: NoKwargs) -> Fault:
    """Require English in small letters."""
    return lowercase_fault(text.raw) or language_fault(text.language, "en")


def capitals_fault(text: str) -> Fault:
    """Return the fault of a text that is not all in capitals."""
    if text.isupper():
        return None
    small = next((char for char in text if char.islower()), None)
    return f"holds the small letter {small!r}" if small else "holds no letter that has a case"


def lowercase_fault(text: str) -> Fault:
    """Return the fault of a text that is not all in small letters."""
    if text.islower():
        return None
    capital = next((char for char in text if char.isupper() or char.istitle()), None)
    return f"holds the capital letter {capital!r}" if capital else "holds no letter that has a case"


LANGUAGE_RULES: Rules = (
    Rule("language:response_language", ResponseLanguage, response_language),
    Rule("change_case:capital_word_frequency", CapitalWordFrequency, capital_word_frequency),
    Rule("change_case:english_capital", NoKwargs, english_capital),
    Rule("change_case:english_lowercase", NoKwargs, english_lowercase),
)


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


LENGTH_RULES: Rules = (
    Rule("length_constraints:number_sentences", NumberSentences, number_sentences),
    Rule("length_constraints:number_paragraphs", NumberParagraphs, number_paragraphs),
    Rule("length_constraints:number_words", NumberWords, number_words),
    Rule("length_constraints:nth_paragraph_first_word", NthParagraphFirstWord, nth_paragraph_first_word),
)


INK = re.compile(r"\S")
STAR_BULLET = re.compile(r"\*[^*].*")
DASH_BULLET = re.compile(r"-.*")
SINGLE_STARS = re.compile(r"\*[^\n*]*\*")
DOUBLE_STARS = re.compile(r"\*\*[^\n*]*\*\*")
OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
FENCES = ("```json", "```Json", "```JSON", "```")
POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}


class NumberPlaceholders(Kwargs):
    """The kwargs of `detectable_content:number_placeholders`."""

    num_placeholders: Count


def number_placeholders(text: Text, want: NumberPlaceholders) -> Fault:
    """Count texts in square brackets."""
    found = sum(_placeholders(line) for line in text.lines)
    return compared(found, "at least", want.num_placeholders, "placeholders in square brackets")


def _placeholders(line: str) -> int:
    """Count the shortest matches of `[…]`. A regex would be quadratic on a line of opening brackets."""
    count, end = 0, 0
    while (start := line.find("[", end)) >= 0 and (close := line.find("]", start + 1)) >= 0:
        count, end = count + 1, close + 1
    return count


def _lower_pattern(marker: str) -> str:
    re.compile(marker.lower())
    return marker


class Postscript(Kwargs):
    """The kwargs of `detectable_content:postscript`."""

    postscript_marker: Annotated[TrimmedPattern, AfterValidator(_lower_pattern)]


def postscript(text: Text, want: Postscript) -> Fault:
    """Look for the marker anywhere in the text. "P.P.S." satisfies "P.S." (defect D6)."""
    pattern = POSTSCRIPTS.get(want.postscript_marker, want.postscript_marker.lower())
    return None if re.search(pattern, text.lower) else postscript_fault(want)


def postscript_fault(want: Postscript) -> str:
    """Return the fault of a text without the postscript."""
    return f"no postscript marked {quoted(want.postscript_marker)}"


class NumberBulletLists(Kwargs):
    """The kwargs of `detectable_format:number_bullet_lists`."""

    num_bullets: Count


def number_bullet_lists(text: Text, want: NumberBulletLists) -> Fault:
    """Count bullets. `---` rules count, and a lone `*` takes the next line into its bullet (defect D4)."""
    found = _bullets(text.raw, STAR_BULLET) + _bullets(text.raw, DASH_BULLET)
    return equal(found, want.num_bullets, "bullet points")


def _bullets(text: str, bullet: re.Pattern[str]) -> int:
    """Count non-overlapping matches of `^\\s*` and `bullet`, with `^` at line starts.

    By hand, since the regex tries every blank line anew against all that follow: quadratic.
    """
    count, start = 0, 0
    while start >= 0:
        if start == 0 or text[start - 1] == "\n":
            ink = INK.search(text, start)
            if ink is None:
                break
            match = bullet.match(text, ink.start())
            count += match is not None
            start = match.end() if match else ink.end()
        else:
            start = text.find("\n", start) + 1 or -1
    return count


def constrained_response(text: Text, _: NoKwargs) -> Fault:
    """Look for one of the sentences anywhere in the text (defect D5)."""
    return None if any(option in text.stripped for option in OPTIONS) else "none of the three allowed answers"


class NumberHighlights(Kwargs):
    """The kwargs of `detectable_format:number_highlighted_sections`."""

    num_highlights: Count


def number_highlighted_sections(text: Text, want: NumberHighlights) -> Fault:
    """Count `*x*` and `**x**` in two scans that overlap: `***x***` is two (defect D10)."""
    single = sum(1 for found in SINGLE_STARS.findall(text.raw) if found.strip("*").strip())
    double = sum(
        1 for found in DOUBLE_STARS.findall(text.raw) if found.removeprefix("**").removesuffix("**").strip()
    )
    return compared(single + double, "at least", want.num_highlights, "highlighted sections")


class MultipleSections(Kwargs):
    """The kwargs of `detectable_format:multiple_sections`."""

    section_spliter: TrimmedPattern
    num_sections: Count


def multiple_sections(text: Text, want: MultipleSections) -> Fault:
    """Count markers that a number follows."""
    found = sum(1 for _ in re.finditer(rf"{want.section_spliter}\s?\d+", text.raw))
    return compared(found, "at least", want.num_sections, f"sections marked {quoted(want.section_spliter)}")


def json_format(text: Text, _: NoKwargs) -> Fault:
    """Accept any JSON value, and `NaN` too (defect D9)."""
    try:
        json.loads(unfenced(text.raw))
    except RecursionError:
        return "not JSON: nested too deeply"
    except ValueError as error:
        return f"not JSON: {error}"
    return None


def unfenced(text: str) -> str:
    """Return `text` without a code fence around it."""
    body = text.strip()
    for fence in FENCES:
        body = body.removeprefix(fence)
    return body.removesuffix("```").strip()


def title(text: Text, _: NoKwargs) -> Fault:
    """Look for a line with a title in double angular brackets."""
    titles = (_title(line) for line in text.lines)
    return None if any(titles) else "no title in <<double angular brackets>>"


def _title(line: str) -> str:
    """Return what is inside the longest `<<…>>` of a line. A regex would be quadratic on a line of `<`."""
    start, end = line.find("<<"), line.rfind(">>")
    return line[start : end + 2].lstrip("<").rstrip(">").strip() if 0 <= start < end - 2 else ""


FORMAT_RULES: Rules = (
    Rule("detectable_content:number_placeholders", NumberPlaceholders, number_placeholders),
    Rule("detectable_content:postscript", Postscript, postscript),
    Rule("detectable_format:number_bullet_lists", NumberBulletLists, number_bullet_lists),
    Rule("detectable_format:constrained_response", NoKwargs, constrained_response),
    Rule("detectable_format:number_highlighted_sections", NumberHighlights, number_highlighted_sections),
    Rule("detectable_format:multiple_sections", MultipleSections, multiple_sections),
    Rule("detectable_format:json_format", NoKwargs, json_format),
    Rule("detectable_format:title", NoKwargs, title),
)


SEPARATOR = "******"


def two_responses(text: Text, _: NoKwargs) -> Fault:
    """Require two different answers with the separator between them."""
    pieces = text.raw.split(SEPARATOR)
    blank = [index for index, piece in enumerate(pieces) if not piece.strip()]
    if any(0 < index < len(pieces) - 1 for index in blank):
        return f"nothing between two '{SEPARATOR}'"
    answers = [piece.strip() for piece in pieces if piece.strip()]
    if len(answers) != 2:
        return f"{len(answers)} responses between '{SEPARATOR}', exactly 2 wanted"
    return "the two responses are the same" if answers[0] == answers[1] else None


class RepeatPrompt(Kwargs):
    """The kwargs of `combination:repeat_prompt`."""

    prompt_to_repeat: Trimmed


def repeat_prompt(text: Text, want: RepeatPrompt) -> Fault:
    """Require the prompt at the start, in any case."""
    wanted = want.prompt_to_repeat
    if text.stripped.lower().startswith(wanted.lower()):
        return None
    return f"begins with {quoted(text.stripped)}, not with {quoted(wanted)}"


class EndPhrase(Kwargs):
    """The kwargs of `startend:end_checker`."""

    end_phrase: Trimmed


def end_checker(text: Text, want: EndPhrase) -> Fault:
    """Require the phrase at the end, in any case. Quotation marks after it are ignored."""
    body = text.stripped.strip('"').lower()
    if body.endswith(want.end_phrase.lower()):
        return None
    return f"ends with {quoted(body[-40:])}, not with {quoted(want.end_phrase)}"


def quotation(text: Text, _: NoKwargs) -> Fault:
    """Require double quotation marks around the whole text."""
    body = text.stripped
    quotes = len(body) >= 2 and body[0] == body[-1] == '"'
    return None if quotes else "not wrapped in double quotation marks"


def no_comma(text: Text, _: NoKwargs) -> Fault:
    """Refuse any comma."""
    commas = text.raw.count(",")
    return f"holds commas ({commas}), none wanted" if commas else None


WHOLE_TEXT_RULES: Rules = (
    Rule("combination:two_responses", NoKwargs, two_responses),
    Rule("combination:repeat_prompt", RepeatPrompt, repeat_prompt),
    Rule("startend:end_checker", EndPhrase, end_checker),
    Rule("startend:quotation", NoKwargs, quotation),
    Rule("punctuation:no_comma", NoKwargs, no_comma),
)


IFEVAL: Rules = (*KEYWORD_RULES, *LANGUAGE_RULES, *LENGTH_RULES, *FORMAT_RULES, *WHOLE_TEXT_RULES)
