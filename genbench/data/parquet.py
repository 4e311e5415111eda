"""Rows of a Parquet file. A module of its own, because pyarrow is slow to import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.errors import DataError
from genbench.protocols import Row


def read_parquet(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield row numbers (from 1) and rows as plain Python values.

    Raises:
        DataError: the file is no Parquet, or damaged.
    """
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pa.ArrowException as error:
        raise DataError(f"{path}: no readable Parquet file (after row {number}): {error}") from error
