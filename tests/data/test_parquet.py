"""Rows of Parquet files, and their digest next to that of JSON Lines."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.data.digest import rows_digest
from genbench.data.parquet import read_batches, read_parquet
from genbench.errors import DataError
from tests.table import each_row


def test_rows_come_in_order_with_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": list(range(2500)), "text": [f"t{i}" for i in range(2500)]}), path)
    rows = list(read_parquet(path))
    assert [number for number, _ in rows] == list(range(1, 2501))
    assert rows[2000][1] == {"id": 2000, "text": "t2000"}


def test_values_are_plain_python(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    value = {"day": [datetime.date(2024, 5, 6)], "nested": [{"a": [1, 2], "b": None}]}
    pq.write_table(pa.table(value), path)
    ((_, row),) = read_parquet(path)
    assert row == {"day": datetime.date(2024, 5, 6), "nested": {"a": [1, 2], "b": None}}


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("id,text")
    with pytest.raises(DataError, match=r"rows\.parquet: no readable Parquet file \(after row 0\)"):
        list(read_parquet(path))


def test_parquet_and_json_of_one_dataset_have_one_digest() -> None:
    parquet = [{"kwargs": {"n": 4, "word": None}, "day": datetime.date(2024, 5, 6), "x": float("nan")}]
    lines = [{"kwargs": {"n": 4}, "day": "2024-05-06", "x": None}]
    columns = ("kwargs", "day", "x")
    assert rows_digest(parquet, columns) == rows_digest(lines, columns)


def test_order_of_rows_and_values_decide_the_digest() -> None:
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    whole = rows_digest(rows, ("a", "b"))
    assert rows_digest(rows[::-1], ("a", "b")) != whole
    assert rows_digest(rows, ("a",)) != whole
    assert rows_digest([{"b": "x", "a": 1, "c": 9}, {"b": "y", "a": 2}], ("a", "b")) == whole


def test_small_file_that_fills_any_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 700, pa.int32()), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"id": [str(i) for i in range(700)], "question": words}), path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(DataError, match=r"bomb\.parquet: .* bytes become more than 201,326,592 in memory"):
        for _ in read_parquet(path):
            pass


@pytest.mark.slow
@each_row(
    "columns",
    [
        {"question": ["q"] * 300_000, "answer": ["1"] * 300_000},
        {"question": pa.array([[None] * 3_000_000] * 20, pa.list_(pa.null()))},
        {"question": pa.array([{"a": 1, "b": [1, 2]}] * 200_000)},
    ],
)
def test_many_values_in_few_bytes_are_refused_before_a_row_is_made(tmp_path: Path, columns: Any) -> None:
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 25_000
    with pytest.raises(DataError, match=r"bomb\.parquet: .* in memory; if the file is right"):
        next(iter(read_parquet(path)))


def test_repeated_text_of_ordinary_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"q": pa.array(["same"] * 3000).dictionary_encode()}), path)
    rows = list(read_parquet(path))
    assert len(rows) == 3000 and rows[-1] == (3000, {"q": "same"})


def test_only_the_named_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), path)
    assert [batch.to_pylist() for batch in read_batches(path, ["b"])] == [[{"b": 3}, {"b": 4}]]


def test_value_that_json_has_no_kind_for_becomes_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    spans = pa.array([datetime.timedelta(seconds=5)], pa.duration("us"))
    pq.write_table(pa.table({"span": spans, "price": pa.array([decimal.Decimal("1.50")])}), path)
    ((_, row),) = read_parquet(path)
    assert row == {"span": "0:00:05", "price": "1.50"}
    assert rows_digest([row], ["span", "price"])
