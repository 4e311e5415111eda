"""A missing value is null in every kind of file: pandas writes NaN, which JSON and CSV do not know."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.data.local import read_rows
from genbench.errors import DataError
from genbench.registry import load
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task, problems_of

NAN = float("nan")
SUITE = """\
models: {m: {path: m}}
tasks:
  - name: t
    kind: KIND
    data: {path: FILE, fields: {id: id, question: question, reference: answerMORE}}
    prompt: "{question}"
    k: 1
"""


def as_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path.with_suffix(".jsonl")


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path.with_suffix(".csv")


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


Write = Callable[[Path, list[dict[str, Any]]], Path]


@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_parquet])
def test_nan_is_null_in_every_kind_of_file(tmp_path: Path, write: Write) -> None:
    (row,) = read_rows(write(tmp_path / "x", [{"id": "1", "score": NAN}]), ["id", "score"])
    assert row == {"id": "1", "score": None}


@pytest.mark.parametrize("write", [as_jsonl, as_parquet])
def test_nan_inside_lists_and_objects_is_null_and_infinity_is_text(tmp_path: Path, write: Write) -> None:
    rows = [
        {"id": "1", "x": [1.0, NAN], "y": {"z": [NAN, float("inf")]} if write is as_jsonl else {"z": [NAN]}}
    ]
    (row,) = read_rows(write(tmp_path / "x", rows), [])
    assert row["x"] == [1.0, None]
    assert row["y"]["z"] == ([None, "Infinity"] if write is as_jsonl else [None])


def test_texts_that_only_begin_like_a_missing_value_stay(tmp_path: Path) -> None:
    (row,) = read_rows(as_csv(tmp_path / "x", [{"a": "NaN is not a number", "b": "NAN", "c": "Nana"}]), [])
    assert list(row.values()) == ["NaN is not a number", "NAN", "Nana"]


@pytest.mark.parametrize("missing", [None, NAN])
@pytest.mark.parametrize(
    ("column", "said"),
    [("question", "column 'question' is empty"), ("id", "the id is"), ("answer", "the reference is empty")],
)
def test_a_row_without_question_id_or_reference_is_left_out_and_said(
    tmp_path: Path, missing: Any, column: str, said: str
) -> None:
    rows = [{"id": "a", "question": "1+1?", "answer": "2"}, {"id": "b", "question": "2+2?", "answer": "4"}]
    rows[0][column] = missing
    task = loaded(as_jsonl(tmp_path / "rows", rows), "math")
    assert [problem.problem_id for problem in task.problems] == ["b"]
    assert f"the first is row 1: {said}" in task.provenance["warning"]


@pytest.mark.parametrize("missing", [None, NAN])
def test_a_row_with_an_option_that_is_missing_is_left_out_and_said(tmp_path: Path, missing: Any) -> None:
    rows = [
        {"id": "a", "question": "1+1?", "answer": "A", "options": ["2", missing, "3"]},
        {"id": "b", "question": "2+2?", "answer": "A", "options": ["4", "5"]},
    ]
    task = loaded(as_jsonl(tmp_path / "rows", rows), "choice", ", options: options")
    assert [problem.problem_id for problem in task.problems] == ["b"]
    assert "an option is empty" in task.provenance["warning"]
    with pytest.raises(DataError, match="an option is empty"):
        loaded(as_jsonl(tmp_path / "rows", rows[:1]), "choice", ", options: options")


def loaded(file: Path, kind: str, more: str = "") -> Any:
    text = SUITE.replace("KIND", kind).replace("FILE", file.name).replace("MORE", more)
    (file.parent / "s.yaml").write_text(text)
    suite = read_suite(file.parent / "s.yaml")
    return load_task(suite, suite.config.tasks[0], None, None)


@pytest.mark.parametrize("name", ["gsm8k", "mgsm"])
def test_a_column_may_have_the_name_of_one_that_genbench_adds(name: str) -> None:
    row = {"question": "How many?", "answer": "It is 4.\n#### 4", "answer_number": 4, "place": "Oslo"}
    task = load("task", name)()
    config = task.info.dataset.config_column
    problems, unusable = problems_of(task, [row | {config: "en"}, row | {config: "en", "answer": None}])
    assert len(problems) >= 1 and all(": " in said and "row 2" in said for said in unusable)
