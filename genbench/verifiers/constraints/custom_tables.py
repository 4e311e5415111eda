"""IFBench's `custom:csv_` rules for one prompt each: a table with commas, odd fields, or tabs and quotes."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from genbench.verifiers.constraints.rule import Fault, NoKwargs, Rule, Rules, quoted
from genbench.verifiers.constraints.text import Text

CITY_COLUMNS = ["ID", "Country", "City", "Year", "Count"]
PRODUCT_COLUMNS = ("ProductID", "Category", "Brand", "Price", "Stock")
STUDENT_COLUMNS = ("StudentID", "Subject", "Grade", "Semester", "Score")
MARK = re.compile(r"[^\w\s]")


def csv_city(text: Text, _: NoKwargs) -> Fault:
    """Require a table of a header and seven records. Values are not checked."""
    table = _records(text.raw, records=8)
    if isinstance(table, str):
        return table
    if table[0] != CITY_COLUMNS:
        return f"the header is not {', '.join(CITY_COLUMNS)}"
    return None


def csv_special_character(text: Text, _: NoKwargs) -> Fault:
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


def csv_quotes(text: Text, _: NoKwargs) -> Fault:
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


RULES: Rules = (
    Rule("custom:csv_city", NoKwargs, csv_city),
    Rule("custom:csv_special_character", NoKwargs, csv_special_character),
    Rule("custom:csv_quotes", NoKwargs, csv_quotes),
)
