"""IFBench's `custom:` rules for one prompt each.

The answer is a list, a sentence, or a table: with commas, odd fields, or tabs and quotes.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from itertools import islice, pairwise

from genbench.verifiers.instructions.rule import Fault, RuleTable, Text, equal, quoted
from genbench.verifiers.instructions.word_lists import EDGE, unmarked

RULES = RuleTable()

MULTIPLES = ["14", "21", "28", "35", "42", "49"]
NUMBER = re.compile(r"\d+")
QUESTION = re.compile(r"Question \d+[.|):;]?\s*")
OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")
DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
COUNTRIES = 52
"""The number of lines from Zimbabwe on that the official code wants."""

# European capitals, north to south, as the official code lists them.
CAPITALS = re.split(
    ", ",
    "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, "
    "Berlin, Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, "
    "Vaduz, Chisinau, Bern, Ljubljana, Zagreb",
)


def ascii_only(text: str) -> str:
    """Return `text` without accents and without any other character outside ASCII."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


@RULES.rule("custom:multiples")
def multiples(text: Text) -> Fault:
    """Require the multiples of 7 from 14 to 49, in order, as the only numbers."""
    found = NUMBER.findall(text.raw.replace(",", ", "))
    return None if found == MULTIPLES else f"the numbers are not {', '.join(MULTIPLES)}"


@RULES.rule("custom:mcq_count_length")
def mcq_count_length(text: Text) -> Fault:
    """Require four questions of five options each, every question longer than the one before."""
    if not text.raw.startswith("Question"):
        return "does not begin with 'Question'"
    blocks = [block.strip() for block in QUESTION.split(text.raw) if block.strip()]
    if len(blocks) != 4:
        return f"{len(blocks)} questions, exactly 4 wanted"
    lengths = []
    for place, block in enumerate(blocks, 1):
        lines = [line.strip() for line in block.split("\n")]
        marked = [place for place, line in enumerate(lines) if OPTION.match(line)]
        if len(marked) != 5:
            return f"question {place} has {len(marked)} options, exactly 5 wanted"
        lengths.append(len(" ".join(lines[: marked[0]]).strip()))
    for place, (before, after) in enumerate(pairwise(lengths), 2):
        if after <= before:
            return f"question {place} is no longer than the one before"
    return None


@RULES.rule("custom:reverse_newline")
def reverse_newline(text: Text) -> Fault:
    """Require lines in descending order. Whether they are countries is not checked (defect B12)."""
    lines = [line for raw in text.lines if (line := raw.strip(EDGE))]
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), None)
    if start is None:
        return "no line with Zimbabwe, the last country of Africa"
    names = [ascii_only(line) for line in lines[start:]]
    if len(names) < COUNTRIES:
        return f"{len(names)} lines from Zimbabwe on, at least {COUNTRIES} wanted"
    for before, after in pairwise(names):
        if after > before:
            return f"{quoted(after)} stands after {quoted(before)}"
    return None


@RULES.rule("custom:word_reverse")
def word_reverse(text: Text) -> Fault:
    """Require one sentence that names the bald eagle, with its words in reverse order."""
    backwards = " ".join(reversed(unmarked(text.lower.strip()).split()))
    if "bald eagle" not in backwards:
        return "read backwards, it does not name the bald eagle"
    single = backwards in text.tools.sentences(backwards)
    return None if single else "read backwards, it is not one sentence"


@RULES.rule("custom:character_reverse")
def character_reverse(text: Text) -> Fault:
    """Look for the bald eagle with its letters in reverse order."""
    return None if "elgae dlab" in text.lower else "no 'elgae dlab'"


@RULES.rule("custom:sentence_alphabet")
def sentence_alphabet(text: Text) -> Fault:
    """Require 26 sentences that begin with the letters of the alphabet in order."""
    return alphabet_fault(text.sentences)


def alphabet_fault(sentences: Sequence[str]) -> Fault:
    """Return the fault of sentences that do not begin with the letters of the alphabet in order."""
    if fault := equal(len(sentences), 26, "sentences"):
        return fault
    for sentence, letter in zip(sentences, LETTERS, strict=True):
        if sentence[:1].lower() != letter:
            return f"a sentence begins with {sentence[:1]!r}, '{letter}' wanted"
    return None


@RULES.rule("custom:european_capitals_sort")
def european_capitals_sort(text: Text) -> Fault:
    """Require the capitals of the official list in its order, separated by commas."""
    found = [piece.strip() for piece in ascii_only(text.raw).split(",") if piece.strip()]
    if fault := equal(len(found), len(CAPITALS), "capitals"):
        return fault
    for place, (city, wanted) in enumerate(zip(found, CAPITALS, strict=True), 1):
        if city != wanted:
            return f"capital {place} is {quoted(city)}, {wanted} wanted"
    return None


@RULES.rule("custom:date_format_list")
def date_format_list(text: Text) -> Fault:
    """Require dates. Month 0 and day 0 are accepted, and the facts are not checked (defect B10)."""
    for piece in text.stripped.split(","):
        match = DATE.fullmatch(piece.strip())
        if match is None:
            return f"{quoted(piece.strip())} is not a date like 1799-11-09"
        year, month, day = (int(group) for group in match.groups())
        if not 1769 <= year <= 1821 or month > 12 or day > _days(month):
            return f"{quoted(piece.strip())} is not a date in Napoleon's life"
    return None


def _days(month: int) -> int:
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


CITY_COLUMNS = ["ID", "Country", "City", "Year", "Count"]
PRODUCT_COLUMNS = ("ProductID", "Category", "Brand", "Price", "Stock")
STUDENT_COLUMNS = ("StudentID", "Subject", "Grade", "Semester", "Score")
MARK = re.compile(r"[^\w\s]")


@RULES.rule("custom:csv_city")
def csv_city(text: Text) -> Fault:
    """Require a table of a header and seven records. Values are not checked."""
    table = _records(text.raw, records=8)
    if isinstance(table, str):
        return table
    if table[0] != CITY_COLUMNS:
        return f"the header is not {', '.join(CITY_COLUMNS)}"
    return None


@RULES.rule("custom:csv_special_character")
def csv_special_character(text: Text) -> Fault:
    """Require one quoted field with a mark in it. What follows that field is not checked (defect B11)."""
    if not _is_header(text, PRODUCT_COLUMNS, r",[ \t]*"):
        return f"the header is not {', '.join(PRODUCT_COLUMNS)}"
    table = _records(_tripled(text), records=15, fields=None)
    if isinstance(table, str):
        return table
    for place, record in enumerate(table[1:], 2):
        if len(record) != 5:
            return f"record {place} has {len(record)} fields, exactly 5 wanted"
        if any(_holds_mark(field) for field in record):
            return None
    return "no quoted field with a special character"


@RULES.rule("custom:csv_quotes")
def csv_quotes(text: Text) -> Fault:
    """Require quotes around every field, those of the header included (defect B11)."""
    if not _is_header(text, STUDENT_COLUMNS, r"\t *"):
        return f"the header is not {', '.join(STUDENT_COLUMNS)} between tabs"
    table = _records(_tripled(text), records=4, delimiter="\t")
    if isinstance(table, str):
        return table
    for field in (field.strip() for record in table for field in record):
        if not (field.startswith('"') and field.endswith('"')):
            return f"the field {quoted(field)} is not in quotes"
    return None


def _records(text: str, records: int, fields: int | None = 5, delimiter: str = ",") -> list[list[str]] | str:
    """Return the table in `text`, or why it is not one of that shape."""
    try:
        table = list(islice(csv.reader(io.StringIO(text), delimiter=delimiter), records + 1))
    except csv.Error as error:
        return f"not a table: {error}"
    if len(table) != records:
        return f"{len(table) if len(table) < records else 'more'} records, exactly {records} wanted"
    for place, record in enumerate(table, 1):
        if fields is not None and len(record) != fields:
            return f"record {place} has {len(record)} fields, exactly {fields} wanted"
    return table


def _tripled(text: Text) -> str:
    """Return the text with its quotes kept as part of the fields."""
    return text.raw.replace('"', '"""')


def _is_header(text: Text, columns: tuple[str, ...], separator: str) -> bool:
    pattern = separator.join(f'(?:"{column}"|{column})' for column in columns)
    return re.fullmatch(pattern, text.lines[0].strip()) is not None


def _holds_mark(field: str) -> bool:
    return field.startswith('"') and MARK.search(field, 1, max(1, field.rfind('"'))) is not None
