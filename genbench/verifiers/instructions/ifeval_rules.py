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
    Ordinal,
    Pattern,
    Relation,
    RuleTable,
    Text,
    Trimmed,
    TrimmedPattern,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.instructions.word_lists import words

RULES = RuleTable()

Patterns = Annotated[tuple[Pattern, ...], Field(min_length=1)]


def _one_character(value: str) -> str:
    letter = value.strip().lower()
    if not letter or not all(unicodedata.category(char).startswith("M") for char in letter[1:]):
        raise ValueError(f"one character is wanted, not {value!r}")
    return letter


Letter = Annotated[str, AfterValidator(_one_character)]


@RULES.rule("keywords:existence")
def existence(text: Text, keywords: Patterns) -> Fault:
    """Look for every keyword anywhere, inside other words too (defect D3)."""
    missing = [word for word in keywords if not re.search(word, text.raw, re.IGNORECASE)]
    return missing_fault(missing)


def missing_fault(missing: list[str]) -> Fault:
    """Return the fault of missing keywords, or None if none is missing."""
    return f"{', '.join(map(quoted, missing))} not found" if missing else None


@RULES.rule("keywords:frequency")
def frequency(text: Text, keyword: TrimmedPattern, frequency: Count, relation: Relation) -> Fault:
    """Count a keyword without regard to case, inside other words too."""
    found = sum(1 for _ in re.finditer(keyword, text.raw, re.IGNORECASE))
    return compared(found, relation, frequency, f"times {quoted(keyword)}")


@RULES.rule("keywords:forbidden_words")
def forbidden_words(text: Text, forbidden_words: Patterns) -> Fault:
    """Look for each forbidden word as a whole word, without regard to case."""
    found = [w for w in forbidden_words if re.search(rf"\b{w}\b", text.raw, re.IGNORECASE)]
    return forbidden_fault(found)


def forbidden_fault(found: list[str]) -> Fault:
    """Return the fault of forbidden words that were found, or None if there are none."""
    return f"holds the forbidden {', '.join(map(quoted, found))}" if found else None


@RULES.rule("keywords:letter_frequency")
def letter_frequency(text: Text, letter: Letter, let_frequency: Count, let_relation: Relation) -> Fault:
    """Count a letter, which may be any one character.

    Older official code replaces one outside a-z by a random letter (defect D1), which decides the
    IFEval keys 1122 (`#`) and 1129 (`!`) by chance. The newest official code counts it, as here.
    """
    found = text.lower.count(letter)
    return compared(found, let_relation, let_frequency, f"times the letter {quoted(letter)}")


LANGUAGES = words(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no "
    "pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh-cn zh-tw"
)
"""The codes that langdetect 1.0.9 can return."""


def _known(code: str) -> str:
    if code not in LANGUAGES and code != "zh":
        raise ValueError(f"langdetect knows no language '{code}'{nearest(code, LANGUAGES)}")
    return code


LanguageCode = Annotated[str, AfterValidator(_known)]


@RULES.rule("language:response_language")
def response_language(text: Text, language: LanguageCode) -> Fault:
    """Compare the language of the text with the wanted one."""
    return language_fault(text.language, language)


def language_fault(found: str | None, wanted: str) -> Fault:
    """Compare languages. A text without letters counts as followed, as in the official code."""
    return None if found in (wanted, None) else f"the language looks like '{found}', '{wanted}' wanted"


@RULES.rule("change_case:capital_word_frequency")
def capital_word_frequency(text: Text, capital_frequency: Count, capital_relation: Relation) -> Fault:
    """Count word tokens in capitals."""
    found = sum(1 for token in text.tokens if token.isupper())
    return compared(found, capital_relation, capital_frequency, "words in capitals")


@RULES.rule("change_case:english_capital")
def english_capital(text: Text) -> Fault:
    """Require English capitals. They are often taken for another language (defect D2)."""
    return capitals_fault(text.raw) or language_fault(text.language, "en")


@RULES.rule("change_case:english_lowercase")
def english_lowercase(text: Text) -> Fault:
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


DIVIDER = re.compile(r"\s?\*\*\*\s?")
WORD_END = frozenset(".,?!'\"")


@RULES.rule("length_constraints:number_sentences")
def number_sentences(text: Text, num_sentences: Count, relation: Relation) -> Fault:
    """Count sentences."""
    return compared(len(text.sentences), relation, num_sentences, "sentences")


@RULES.rule("length_constraints:number_paragraphs")
def number_paragraphs(text: Text, num_paragraphs: Count) -> Fault:
    """Count pieces between `***`. A blank first or last one is not counted, any other one is a fault."""
    pieces = DIVIDER.split(text.raw)
    blank = [index for index, piece in enumerate(pieces) if not piece.strip()]
    if any(0 < index < len(pieces) - 1 for index in blank):
        return "nothing between two '***' dividers"
    return equal(len(pieces) - len(blank), num_paragraphs, "paragraphs between '***'")


@RULES.rule("length_constraints:number_words")
def number_words(text: Text, num_words: Count, relation: Relation) -> Fault:
    """Count words."""
    return compared(len(text.words), relation, num_words, "words")


@RULES.rule("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(
    text: Text, num_paragraphs: Count, nth_paragraph: Ordinal, first_word: Trimmed
) -> Fault:
    """Check a paragraph's first word. The count leaves blank pieces out, the index does not (defect D7)."""
    pieces = text.raw.split("\n\n")
    count = sum(1 for piece in pieces if piece.strip())
    if nth_paragraph > count:
        return f"{count} paragraphs, so none has number {nth_paragraph}"
    paragraph = pieces[nth_paragraph - 1].strip()
    if not paragraph:
        return f"the piece at place {nth_paragraph} is blank"
    return first_word_fault(leading_word(paragraph), nth_paragraph, first_word) or equal(
        count, num_paragraphs, "paragraphs between blank lines"
    )


def leading_word(paragraph: str) -> str:
    """Return the first word up to a mark. Opening quotes are removed once each, in the official order."""
    word = paragraph.split(maxsplit=1)[0].lstrip("'").lstrip('"')
    return "".join(takewhile(lambda char: char not in WORD_END, word)).lower()


def first_word_fault(found: str, nth_paragraph: int, first_word: str) -> Fault:
    """Return the fault of a paragraph that begins with another word."""
    wanted = first_word.lower()
    if found == wanted:
        return None
    return f"paragraph {nth_paragraph} begins with {quoted(found)}, {quoted(wanted)} wanted"


INK = re.compile(r"\S")
STAR_BULLET = re.compile(r"\*[^*].*")
DASH_BULLET = re.compile(r"-.*")
SINGLE_STARS = re.compile(r"\*[^\n*]*\*")
DOUBLE_STARS = re.compile(r"\*\*[^\n*]*\*\*")
OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
FENCES = ("```json", "```Json", "```JSON", "```")
POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}


@RULES.rule("detectable_content:number_placeholders")
def number_placeholders(text: Text, num_placeholders: Count) -> Fault:
    """Count texts in square brackets."""
    found = sum(_placeholders(line) for line in text.lines)
    return compared(found, "at least", num_placeholders, "placeholders in square brackets")


def _placeholders(line: str) -> int:
    """Count the shortest matches of `[…]`. A regex would be quadratic on a line of opening brackets."""
    count, end = 0, 0
    while (start := line.find("[", end)) >= 0 and (close := line.find("]", start + 1)) >= 0:
        count, end = count + 1, close + 1
    return count


def _lower_pattern(marker: str) -> str:
    re.compile(marker.lower())
    return marker


PostscriptMarker = Annotated[TrimmedPattern, AfterValidator(_lower_pattern)]


@RULES.rule("detectable_content:postscript")
def postscript(text: Text, postscript_marker: PostscriptMarker) -> Fault:
    """Look for the marker anywhere in the text. "P.P.S." satisfies "P.S." (defect D6)."""
    pattern = POSTSCRIPTS.get(postscript_marker, postscript_marker.lower())
    return None if re.search(pattern, text.lower) else postscript_fault(postscript_marker)


def postscript_fault(marker: str) -> str:
    """Return the fault of a text without the postscript."""
    return f"no postscript marked {quoted(marker)}"


@RULES.rule("detectable_format:number_bullet_lists")
def number_bullet_lists(text: Text, num_bullets: Count) -> Fault:
    """Count bullets. `---` rules count, and a lone `*` takes the next line into its bullet (defect D4)."""
    found = _bullets(text.raw, STAR_BULLET) + _bullets(text.raw, DASH_BULLET)
    return equal(found, num_bullets, "bullet points")


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


@RULES.rule("detectable_format:constrained_response")
def constrained_response(text: Text) -> Fault:
    """Look for one of the sentences anywhere in the text (defect D5)."""
    return None if any(option in text.stripped for option in OPTIONS) else "none of the three allowed answers"


@RULES.rule("detectable_format:number_highlighted_sections")
def number_highlighted_sections(text: Text, num_highlights: Count) -> Fault:
    """Count `*x*` and `**x**` in two scans that overlap: `***x***` is two (defect D10)."""
    single = sum(1 for found in SINGLE_STARS.findall(text.raw) if found.strip("*").strip())
    double = sum(
        1 for found in DOUBLE_STARS.findall(text.raw) if found.removeprefix("**").removesuffix("**").strip()
    )
    return compared(single + double, "at least", num_highlights, "highlighted sections")


@RULES.rule("detectable_format:multiple_sections")
def multiple_sections(text: Text, section_spliter: TrimmedPattern, num_sections: Count) -> Fault:
    """Count markers that a number follows."""
    found = sum(1 for _ in re.finditer(rf"{section_spliter}\s?\d+", text.raw))
    return compared(found, "at least", num_sections, f"sections marked {quoted(section_spliter)}")


@RULES.rule("detectable_format:json_format")
def json_format(text: Text) -> Fault:
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


@RULES.rule("detectable_format:title")
def title(text: Text) -> Fault:
    """Look for a line with a title in double angular brackets."""
    titles = (_title(line) for line in text.lines)
    return None if any(titles) else "no title in <<double angular brackets>>"


def _title(line: str) -> str:
    """Return what is inside the longest `<<…>>` of a line. A regex would be quadratic on a line of `<`."""
    start, end = line.find("<<"), line.rfind(">>")
    return line[start : end + 2].lstrip("<").rstrip(">").strip() if 0 <= start < end - 2 else ""


SEPARATOR = "******"


@RULES.rule("combination:two_responses")
def two_responses(text: Text) -> Fault:
    """Require two different answers with the separator between them."""
    pieces = text.raw.split(SEPARATOR)
    blank = [index for index, piece in enumerate(pieces) if not piece.strip()]
    if any(0 < index < len(pieces) - 1 for index in blank):
        return f"nothing between two '{SEPARATOR}'"
    answers = [piece.strip() for piece in pieces if piece.strip()]
    if len(answers) != 2:
        return f"{len(answers)} responses between '{SEPARATOR}', exactly 2 wanted"
    return "the two responses are the same" if answers[0] == answers[1] else None


@RULES.rule("combination:repeat_prompt")
def repeat_prompt(text: Text, prompt_to_repeat: Trimmed) -> Fault:
    """Require the prompt at the start, in any case."""
    wanted = prompt_to_repeat
    if text.stripped.lower().startswith(wanted.lower()):
        return None
    return f"begins with {quoted(text.stripped)}, not with {quoted(wanted)}"


@RULES.rule("startend:end_checker")
def end_checker(text: Text, end_phrase: Trimmed) -> Fault:
    """Require the phrase at the end, in any case. Quotation marks after it are ignored."""
    body = text.stripped.strip('"').lower()
    if body.endswith(end_phrase.lower()):
        return None
    return f"ends with {quoted(body[-40:])}, not with {quoted(end_phrase)}"


@RULES.rule("startend:quotation")
def quotation(text: Text) -> Fault:
    """Require double quotation marks around the whole text."""
    body = text.stripped
    quotes = len(body) >= 2 and body[0] == body[-1] == '"'
    return None if quotes else "not wrapped in double quotation marks"


@RULES.rule("punctuation:no_comma")
def no_comma(text: Text) -> Fault:
    """Refuse any comma."""
    commas = text.raw.count(",")
    return f"holds commas ({commas}), none wanted" if commas else None
