"""Rules of LiveBench's data analysis: types of columns, maps of columns, tables, and lists of users.

Facts: livebench/process_results at b0fb577 (2026-08-22), which reads tables with pandas. Here they are read
with the standard library: a column is numeric if all its cells are, and rules below a Markdown header are no
rows.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from genbench.errors import DataError
from genbench.verifiers.livebench.readings import (
    OfficialCrashError,
    between,
    box,
    plain_box,
    tagged_anyhow,
)

_LARGEST = 200_000
"""Characters of an answer that are read as a table or as a literal."""


def column_type_official(truth: str, answer: str) -> float:
    """Return whether the answer, or its last box, is the name, apart from signs and case."""
    text = answer
    if "\\boxed{" in answer:
        found = plain_box(answer)
        if found is None:
            raise OfficialCrashError("a box that is not closed")
        text = found
    return float(_letters(text) == _letters(truth))


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text.lower())


def read_map(truth: Any) -> dict[Any, Any]:
    """Return the map of columns of a reference.

    Raises:
        DataError: it is none, or empty.
    """
    found = literal(truth) if isinstance(truth, str) else truth
    if not isinstance(found, dict) or not found:
        raise DataError(f"livebench reference: tablejoin wants a map of columns, found {truth!r:.100}")
    return found


def column_map_official(truth: Any, answer: str) -> float:
    """Return the F1 of the pairs of columns in the last block of code, or else in the last box or text."""
    wanted, given = read_map(truth), _map_of(answer[-_LARGEST:])
    if not given:
        return 0.0
    right = sum(bool(wanted.get(key)) and wanted[key] == value for key, value in given.items())
    false = len(given) - right
    missed = sum(bool(wanted.get(key)) and wanted[key] != value for key, value in given.items())
    missed += sum(not given.get(key) for key in wanted)
    return float(round(2 * right / (2 * right + false + missed), 2))


def _map_of(answer: str) -> dict[Any, Any]:
    joined = answer.replace("\n", "")
    found = between(joined, "```python", "```") or between(joined, "```", "```")
    if not found and "\\boxed" in answer and (boxed := box(joined)) is not None:
        found = [re.sub(r"\\text{['|\"](.*?)['|\"]}", r"'\1'", boxed).replace("\\", "")]
    given = literal(found[-1] if found else answer)
    return given if isinstance(given, dict) else {}


def literal(text: str) -> Any:
    """Return the value of a Python literal, or None if a text is none."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def read_users(truth: Any) -> dict[Any, Any]:
    """Return the number of months by user of a reference.

    Raises:
        DataError: it is not a list of users.
    """
    try:
        rows = json.loads(truth) if isinstance(truth, str) else truth
        return {row["user_id"]: row["max_consecutive_growth_months"] for row in rows}
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"livebench reference: consecutive_events cannot be read: {error!r}") from None


def users_official(truth: Any, answer: str) -> float:
    """Return the share of right pairs of all pairs, of the reference and of the last tag."""
    wanted, tags = read_users(truth), tagged_anyhow(answer)
    try:
        given = json.loads(tags[-1].strip()[:_LARGEST]) if tags else None
    except (ValueError, RecursionError):
        given = None
    if given is None or not wanted or not given:
        return float(given is not None and not wanted and not given)
    rows = (
        [row for row in given if isinstance(row, dict) and "user_id" in row]
        if isinstance(given, list)
        else []
    )
    try:
        told = {row["user_id"]: row.get("max_consecutive_growth_months") for row in rows}
    except TypeError:  # a list is not a key
        raise OfficialCrashError("a user that is a list") from None
    right = sum(user in told and told[user] == months for user, months in wanted.items())
    false = sum(user not in wanted or told[user] != wanted[user] for user in told)
    union = false + len(wanted)
    return float(round(right / union, 4))


@dataclass(frozen=True, slots=True)
class Table:
    """The names of a table's columns, and its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def target_format(question: str) -> str:
    """Return the format that a question asks for.

    Raises:
        DataError: it names none that can be read.
    """
    found = re.search(r"convert the Input Table from .*? format to (\S+) format", question)
    found = found or re.search(r"(?s).*Target Format: *(\S+)", question)
    name = "" if found is None else found[1].lower()
    if name not in _READERS:
        raise DataError(f"livebench reference: the question asks for no known format, found {name!r}")
    return name


def table_official(truth: str, answer: str, question: str) -> float:
    """Return whether the answer is the table of the reference in the format that is asked for."""
    name = target_format(question)
    wanted = read_table(name, truth)
    text = _without_opening(_table_text(answer[:_LARGEST]))
    given = read_table(name, text)
    if wanted is None:
        raise OfficialCrashError("the reference cannot be read")
    if given is not None and same_table(wanted, given):
        return 1.0
    within = _table_within(name, text, wanted)
    return float(within is not None and same_table(wanted, within))


def _table_text(answer: str) -> str:
    """Return the text of the last tag or block of code, or the answer without fences."""
    tags = between(answer, "<solution>", "</solution>", across_lines=True)
    text = tags[-1].strip() if tags else answer
    for opening in ("```json\n", "```html\n"):
        if blocks := between(text, opening, "```", across_lines=True):
            return blocks[-1].strip()
    return re.sub(r"^```.*\n", "", text).replace("&amp;", "&").replace("```", "").strip()


def _without_opening(text: str) -> str:
    return re.sub(r"^\s*(Here|Input)\b.*?\b(format|table)\s*[:)]\s*", "", text, flags=re.IGNORECASE).strip()


def _table_within(name: str, text: str, wanted: Table) -> Table | None:
    """Return the table that begins at the line of the header, whatever is before and after it."""
    lines = text.split("\n")
    if name == "jsonl":
        kept = [
            line for line in lines if line[:1] == "{" and all(column in line for column in wanted.columns)
        ]
        return read_table(name, "\n".join(line for line in kept if literal_json(line) is not None))
    sign = {"csv": ",", "tsv": "\t"}.get(name)
    starts = [
        at for at, line in enumerate(lines) if sign and line.strip() == sign.join(wanted.columns).strip()
    ]
    return (
        read_table(name, "\n".join(lines[starts[0] : starts[0] + 1 + len(wanted.rows)])) if starts else None
    )


def literal_json(text: str) -> Any:
    """Return the value of a JSON text, or None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_table(name: str, text: str) -> Table | None:
    """Return the table of a text, or None if it cannot be read."""
    records = _READERS[name](text)
    if not records:
        return None
    header, *rows = records
    columns = [str(cell).strip() for cell in header]
    if len(set(columns)) < len(columns) or any(len(row) > len(columns) for row in rows):
        return None
    filled = [[*row, *[None] * (len(columns) - len(row))] for row in rows]
    typed = [_typed([row[at] for row in filled]) for at in range(len(columns))]
    kept = [at for at, column in enumerate(columns) if column != "index"]
    return Table(
        tuple(columns[at] for at in kept),
        tuple(tuple(typed[at][place] for at in kept) for place in range(len(rows))),
    )


_NULLS = ("", "nan", "NaN", "NA", "N/A", "n/a", "null", "NULL", "None", "<NA>")
_NUMERIC = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*")


def _typed(cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a column as numbers if all of them are numbers or empty, else as texts."""
    plain = [
        None if cell is None or (isinstance(cell, str) and cell.strip() in _NULLS) else cell for cell in cells
    ]
    if all(cell is None or _is_number(cell) for cell in plain):
        return [math.nan if cell is None else float(cell) for cell in plain]
    return [math.nan if cell is None else cell.strip() if isinstance(cell, str) else cell for cell in plain]


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return _NUMERIC.fullmatch(cell) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e300


def same_table(one: Table, other: Table) -> bool:
    """Return whether two tables have the same columns in any order, and the same rows in the same order."""
    if sorted(one.columns) != sorted(other.columns) or len(one.rows) != len(other.rows):
        return False
    places = [other.columns.index(column) for column in one.columns]
    return all(
        _same_cell(cell, row[place])
        for wanted, row in zip(one.rows, other.rows, strict=True)
        for cell, place in zip(wanted, places, strict=True)
    )


def _same_cell(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or abs(one - other) < 1e-6
    return bool(one == other or str(one) == str(other))


def _separated(sign: str) -> Callable[[str], list[list[Any]]]:
    def read(text: str) -> list[list[Any]]:
        try:
            return [row for row in csv.reader(io.StringIO(text.strip()), delimiter=sign) if row]
        except csv.Error:
            return []

    return read


def _markdown(text: str) -> list[list[Any]]:
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.split("\n")
        if "|" in line
    ]
    return [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]


def _json(text: str) -> list[list[Any]]:
    found = literal_json(text)
    if isinstance(found, dict) and isinstance(found.get("data"), list):
        found = found["data"]
    if isinstance(found, dict) and found and all(isinstance(row, dict) for row in found.values()):
        found = list(found.values())
    return _records(found) if found is not None else _json_lines(text)


def _json_lines(text: str) -> list[list[Any]]:
    lines = [line for line in text.split("\n") if line.strip()]
    return _records([literal_json(line) for line in lines])


def _records(rows: Any) -> list[list[Any]]:
    """Return the header and the rows of a list of objects."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return []
    columns = list(dict.fromkeys(str(key) for row in rows for key in row))
    return [columns, *([row.get(column) for column in columns] for row in rows)]


def _html(text: str) -> list[list[Any]]:
    parser = _HtmlRows()
    parser.feed(text)
    parser.close()
    header = parser.rows[0] if parser.rows else []
    return [header, *(row for row in parser.rows[1:] if row != header)] if header else []


class _HtmlRows(HTMLParser):
    """Reads the rows of all tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._is_cell = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Begin a row or a cell."""
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._is_cell = True

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self._is_cell = self._is_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        """Add text to the cell that is open."""
        if self._is_cell:
            self.rows[-1][-1] += data


_READERS: Mapping[str, Callable[[str], list[list[Any]]]] = {
    "csv": _separated(","),
    "tsv": _separated("\t"),
    "markdown": _markdown,
    "json": _json,
    "jsonl": _json_lines,
    "html": _html,
}
