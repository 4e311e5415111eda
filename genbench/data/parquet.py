"""Rows of a Parquet file, and what else needs pyarrow. It is a module because pyarrow is slow to import."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.data.local import without_nan
from genbench.errors import DataError
from genbench.protocols import Row

_KEPT = (str, int, float, bool, list, dict, bytes, datetime.date, datetime.time)
_LEAST_LIMIT = 192 << 20
_MOST_RATIO = 50
"""A file may become this many times as large in memory. Data of benchmarks become 2 to 10 times as large."""
_BATCH_BYTES = 16 << 20
_ROW_BYTES, _VALUE_BYTES = 1000, 48
"""What a row takes as a problem beside its values, and a Python value beside its content, measured."""
_FEWEST_ROWS, _MOST_ROWS = 4, 1024


def read_parquet(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield row numbers (from 1) and rows as plain Python values.

    Raises:
        DataError: the file is not Parquet, damaged, or becomes far too large in memory.
    """
    number = 0
    try:
        for batch in read_batches(path, row_bytes=_ROW_BYTES):
            floats = {column.name for column in batch.schema if has_floats(column.type)}
            for row in batch.to_pylist():
                number += 1
                yield (
                    number,
                    {
                        name: _plain(without_nan(value) if name in floats else value)
                        for name, value in row.items()
                    },
                )
    except (pa.ArrowException, UnicodeDecodeError, OverflowError, ValueError) as error:
        raise DataError(f"{path}: no readable Parquet file (after row {number}): {error}") from error


def has_floats(kind: pa.DataType) -> bool:
    """Return whether values of a type can contain NaN."""
    inside = (kind.field(place).type for place in range(kind.num_fields))
    return bool(pa.types.is_floating(kind)) or any(map(has_floats, inside))


def _plain(value: object) -> object:
    """Return a value as it is if JSON or CSV could have it, or a date. Return any other value as text."""
    if value is None or isinstance(value, _KEPT):
        return value
    return str(value)


def read_batches(
    path: Path, columns: Sequence[str] | None = None, *, row_bytes: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches that fit into memory.

    A value that a file stores once may stand in each of its rows, so that a small file fills any memory.

    Args:
        columns: the columns to read. None reads all.
        row_bytes: memory that each row takes beside its values.

    Raises:
        DataError: the file becomes far too large in memory. ArrowException: it is not Parquet, or damaged.
    """
    most = max(_LEAST_LIMIT, _MOST_RATIO * path.stat().st_size)
    with pq.ParquetFile(path) as file:
        facts = file.metadata
        parts = [facts.row_group(index) for index in range(facts.num_row_groups)]
        groups = [part.total_byte_size for part in parts]
        values = sum(part.column(index).num_values for part in parts for index in range(part.num_columns))
        _require_within(path, max(sum(groups), values * _VALUE_BYTES + facts.num_rows * row_bytes), most)
        # The largest value may be the whole of its group, and be in every row.
        rows = _BATCH_BYTES // max(1, *groups, 1)
        size = min(max(rows, _FEWEST_ROWS), _MOST_ROWS)
        done = 0
        for batch in file.iter_batches(batch_size=size, columns=None if columns is None else [*columns]):
            plain = _without_dictionaries(batch)
            done += plain.num_rows * row_bytes + sum(map(_python_bytes, plain.columns))
            _require_within(path, done, most)
            yield plain


def _python_bytes(values: pa.Array) -> int:
    """Return about how much memory an array takes as Python values.

    Arrow needs no bytes at all for a null, so a list of a million of them costs nothing there.
    """
    kind = values.type
    if pa.types.is_struct(kind):
        inside = sum(map(_python_bytes, values.flatten()))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inside = _python_bytes(values.flatten())
    elif pa.types.is_map(kind):
        inside = _python_bytes(values.keys) + _python_bytes(values.items)
    else:
        inside = int(values.nbytes)
    return len(values) * _VALUE_BYTES + inside


def _without_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with each value written out, as Python makes them."""
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _require_within(path: Path, found: int, most: int) -> None:
    if found > most:
        size = path.stat().st_size
        raise DataError(
            f"{path}: {size:,} bytes become more than {most:,} in memory; if the file is right, convert it "
            "to JSON Lines"
        )


def row_count(path: Path) -> int:
    """Return the number of rows.

    Raises:
        DataError: the file is not Parquet.
    """
    try:
        return int(pq.ParquetFile(path).metadata.num_rows)
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"{path}: no readable Parquet file: {error}") from error


def open_zstd(raw: IO[bytes]) -> IO[bytes]:
    """Return a reader of the bytes of a file that is compressed with Zstandard."""
    stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return io.BufferedReader(stream, 1 << 20)
