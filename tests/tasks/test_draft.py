"""The suite that `genbench init --data` writes: columns, kind and prompt are guessed from the rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.suite.suitefile import read_suite
from genbench.tasks.draft import draft_suite
from genbench.tasks.loading import load_all
from tests.table import each_row

Rows = Sequence[Mapping[str, Any]]
# Columns as public data sets have them: GSM8K with short answers, MATH-500, MMLU as CSV, ARC, SST-2, tests of
# programs, IFEval, JSON schemas, and prompts alone.
FILES: Sequence[tuple[str, Rows, str, Mapping[str, Any]]] = (
    ("gsm", [{"question": "6*7?", "answer": "42"}, {"question": "1,000+1?", "answer": "1,001"}], "math", {}),
    (
        "math500",
        [
            {"problem": "Half?", "answer": "\\frac{1}{2}", "level": level, "unique_id": level}
            for level in (1, 2)
        ],
        "math",
        {"question": "problem", "strata": ["level"]},
    ),
    (
        "mmlu",
        [{"id": i, "Question": "?", "A": "a", "B": "b", "C": "c", "D": "d", "answer": "B"} for i in range(3)],
        "choice",
        {"id": "id", "options": ["A", "B", "C", "D"]},
    ),
    ("arc", [{"question": "?", "choices": ["x", "y"], "answer": "y"}] * 2, "choice", {"options": "choices"}),
    (
        "sst2",
        [{"text": f"film {i} was fine", "label": ("good", "bad")[i % 2]} for i in range(8)],
        "exact",
        {"question": "text", "reference": "label"},
    ),
    (
        "programs",
        [{"prompt": "Write f.", "fn_name": "f", "tests": [{"input": "1", "output": "2"}]}],
        "code",
        {"reference": {"fn_name": "fn_name", "tests": "tests"}},
    ),
    (
        "ifeval",
        [{"key": 1, "prompt": "Say it.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}],
        "ifeval",
        {"id": "key", "instructions": "instruction_id_list", "kwargs": "kwargs"},
    ),
    ("forms", [{"input": "Anna, 31", "schema": {"type": "object"}}], "json_schema", {}),
    ("prompts", [{"prompt": "Write a poem."}, {"prompt": "Write a song."}], "none", {"question": "prompt"}),
    ("essays", [{"question": "Why?", "answer": "It is a long story, " * 20}] * 2, "none", {}),
)


@each_row("name, rows, kind, fields", FILES)
def test_a_file_becomes_a_suite_that_loads(
    tmp_path: Path, name: str, rows: Rows, kind: str, fields: Mapping[str, Any]
) -> None:
    data = tmp_path / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = draft_suite(data, tmp_path / f"{name}.yaml", {"m": "./checkpoints/mine"})
    suite = read_suite(tmp_path / f"{name}.yaml")
    (entry,) = suite.config.tasks
    assert entry.kind == kind
    assert entry.data is not None
    assert {key: entry.data.fields[key] for key in fields} == fields
    assert entry.gating == (kind != "none")
    assert suite.config.track is not None and suite.config.track.name == name
    (task,) = load_all(suite, suite.config.tasks, None, None)
    assert len(task.problems) == len(rows)
    assert f"{len(rows)} problems" in said[0]


def test_csv_and_parquet_are_read_as_lines_are(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": "a", "question": "6*7?", "answer": "42"}, {"id": "b", "question": "1+1?", "answer": "2"}]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "question", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    for name in ("rows.csv", "rows.parquet"):
        draft_suite(tmp_path / name, tmp_path / f"{name}.yaml", {})
        (entry,) = read_suite(tmp_path / f"{name}.yaml").config.tasks
        assert (entry.kind, entry.data and entry.data.fields["id"]) == ("math", "id")


def test_an_id_that_repeats_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "question": "1?", "answer": "1"}\n' * 2)
    said = draft_suite(tmp_path / "rows.jsonl", tmp_path / "s.yaml", {})
    assert any("'id' is not unique" in line for line in said)


def test_what_cannot_be_read_leaves_no_suite(tmp_path: Path) -> None:
    (tmp_path / "array.json").write_text('[{"question": "1?"}]')
    (tmp_path / "array.jsonl").write_text('[{"question": "1?"}]')
    (tmp_path / "numbers.jsonl").write_text('{"x": 1}\n')
    for name, kind, said in (
        ("array.json", DataError, "one object a line: python -c"),
        ("array.jsonl", DataError, "one object a line: python -c"),
        ("numbers.jsonl", ConfigError, "no column looks like a question (columns: x)"),
        ("nowhere.csv", DataError, "no such file"),
    ):
        with pytest.raises(kind, match=r"(?s).*") as error:
            draft_suite(tmp_path / name, tmp_path / "s.yaml", {})
        assert said in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["array.json", "array.jsonl", "numbers.jsonl"]
