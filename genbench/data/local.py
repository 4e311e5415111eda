"""Rows of a user's own files: JSON Lines, Parquet, CSV. Every error names file and line."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.data.digest import rows_digest
from genbench.errors import DataError, asking_for_extras, nearest
from genbench.protocols import Row


def load_file(path: Path, columns: Sequence[str], hint: str = "") -> tuple[list[Row], dict[str, Any]]:
    """Return the rows of a file and where they came from (path, rows, columns, digest of `columns`).

    Without `columns` the digest is over all that any row has.

    Args:
        hint: added to the message about a missing column: how to name another one.

    Raises:
        DataError: the file is missing, empty, of another format, damaged, or lacks a column.
    """
    rows = read_rows(path, columns, hint)
    if not columns:
        columns = sorted({column for row in rows for column in row})
        rows = [{column: row.get(column) for column in columns} for row in rows]
    return rows, {
        "source": "file",
        "path": str(path),
        "rows": len(rows),
        "columns": list(columns),
        "digest": rows_digest(rows, columns),
    }


NOT_NUMBERS: Mapping[str, str | None] = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
"""What JSON does not know and Python writes all the same. pandas writes NaN for a missing value."""


def without_nan(value: Any) -> Any:
    """Return a value with null for NaN and text for infinity, at any depth. JSON knows neither."""
    if isinstance(value, float):
        return value if math.isfinite(value) else NOT_NUMBERS[json.dumps(value)]
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    if isinstance(value, dict):
        return {name: without_nan(inner) for name, inner in value.items()}
    return value


_MISSING = frozenset({"NaN", "nan"})
"""Cells of a CSV file that stand for a missing value, as pandas and NumPy write it."""


class RecentFile:
    """The file that was loaded last, for several tasks of one file.

    It is read once, and its texts are in memory once. Only one file is kept.
    """

    def __init__(self) -> None:
        self._key: tuple[Path, tuple[str, ...]] | None = None
        self._found: tuple[list[Row], dict[str, Any]] = [], {}

    def load(self, path: Path, columns: Sequence[str], hint: str = "") -> tuple[list[Row], dict[str, Any]]:
        """Return what `load_file` returns. The rows must not be changed.

        Raises:
            DataError: as for `load_file`.
        """
        key = path, tuple(columns)
        if key != self._key:
            self._key, self._found = None, ([], {})
            self._found = load_file(path, columns, hint)
            self._key = key
        rows, provenance = self._found
        return rows, dict(provenance)


def read_rows(path: Path, columns: Sequence[str], hint: str = "") -> list[Row]:
    """Return all rows of a file in its order. Each has at least `columns`. `hint` is as in `load_file`.

    Raises:
        DataError: as for `load_file`.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    suffix = path.suffix.lower()
    if suffix not in READERS:
        hint = _AS_LINES.format(path, path.with_suffix(".jsonl").name) if suffix == ".json" else ""
        raise DataError(
            f"{path}: cannot read '{suffix}' files; use one of {', '.join(sorted(READERS))}{hint}"
        )
    try:
        found: list[Row] = []
        for number, row in READERS[suffix](path):
            _require(row, columns, f"{path}:{number}", hint)
            found.append(row)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}); convert it: iconv -t UTF-8") from error
    if not found:
        raise DataError(f"{path}: has no rows")
    return found


def _require(row: Row, columns: Sequence[str], place: str, hint: str) -> None:
    for column in columns:
        if column not in row:
            raise DataError(f"{place}: no column '{column}'{nearest(column, map(str, row))}{hint}")


def read_text_file(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the whole file as one row with the column `text`."""
    yield 1, {"text": path.read_text(encoding="utf-8")}


_AS_LINES = (
    ". A JSON array is one value, and rows are wanted one object a line: "
    """python -c 'import json, sys; [print(json.dumps(row)) for row in json.load(sys.stdin)]' """
    "< {} > {}"
)
"""What to do about rows in one array."""


def read_jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield line numbers and objects. Only a newline ends a line: texts may contain U+2028 and the like."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                row = json.loads(text, parse_constant=NOT_NUMBERS.__getitem__)
            except UnicodeDecodeError as error:
                raise DataError(f"{path}:{number}: not UTF-8 (byte {error.start} of the line)") from error
            except (ValueError, RecursionError) as error:
                is_array = number == 1 and text.lstrip()[:1] == "["
                hint = _AS_LINES.format(path, f"{path.stem}-lines.jsonl") if is_array else ""
                raise DataError(f"{path}:{number}: not valid JSON: {error}{hint}") from error
            if not isinstance(row, dict):
                is_array = number == 1 and isinstance(row, list)
                hint = _AS_LINES.format(path, f"{path.stem}-lines.jsonl") if is_array else ""
                raise DataError(f"{path}:{number}: wanted a JSON object, found {type(row).__name__}{hint}")
            yield number, row


def read_csv(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the number of each row's last line and the row. Every value stays text (an id `007` too).

    A cell `NaN` is null.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        try:
            header = next(reader, [])
            if len(set(header)) < len(header):
                raise DataError(f"{path}:1: a column is named twice: {', '.join(header)}")
            for values in reader:
                if not values:
                    continue
                if len(values) != len(header):
                    raise DataError(
                        f"{path}:{reader.line_num}: {len(values)} values for {len(header)} columns; "
                        "quote values that contain the separator"
                    )
                cells = (None if value in _MISSING else value for value in values)
                yield reader.line_num, dict(zip(header, cells, strict=True))
        except csv.Error as error:
            raise DataError(f"{path}:{reader.line_num}: {error}; JSON Lines has no such limits") from error


def _read_parquet(path: Path) -> Iterator[tuple[int, Row]]:
    with asking_for_extras():
        from genbench.data.parquet import read_parquet  # noqa: PLC0415  pyarrow is slow to import
    return read_parquet(path)


READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_text_file,
    ".parquet": _read_parquet,
}
"""Suffix of a file -> the function that yields its rows with their numbers, from 1."""
