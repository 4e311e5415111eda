"""samples.parquet: one row for each sample, with texts that every reader can decode."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from genbench.reports.parquet import SCHEMA, SampleTable, write_table
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from genbench.types import SampleId, Verdict
from tests.manifests import manifest, task_record
from tests.store.stored import TASK, completion, problem_line, stored_run


def test_each_sample_is_a_row_with_the_columns_of_the_schema(tmp_path: Path) -> None:
    run = StoredRun(stored_run(tmp_path / "m"))
    assert write_table(tmp_path / "samples.parquet", run, [TASK]) == 6
    table = pq.read_table(tmp_path / "samples.parquet")
    assert table.schema.equals(SCHEMA) and table.num_rows == 6
    row = next(item for item in table.to_pylist() if (item["problem_id"], item["sample_index"]) == ("p2", 1))
    assert (row["model"], row["score"], row["status"], row["extracted"]) == ("m", 1.0, "correct", "2")
    assert (row["prompt"], row["reference"], row["answer"]) == ("p2?", "2", "p2 1")
    assert (row["prompt_tokens"], row["completion_tokens"], row["trace_tokens"]) == (4, 6, 2)
    assert json.loads(row["strata"]) == {"level": "easy"}


def test_a_sample_without_a_verdict_has_no_score(tmp_path: Path) -> None:
    write_table(tmp_path / "x.parquet", StoredRun(stored_run(tmp_path / "m")), [TASK])
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    (row,) = [item for item in rows if item["score"] is None]
    assert (row["status"], row["detail"]) == ("unscored", None)


def test_a_conversation_is_one_row_with_its_earlier_turns(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path / "m") as folder:
        folder.write_manifest(manifest(tasks={TASK: task_record(n=1, k=1)}))
        folder.write_problems(TASK, [problem_line("p", turns=2)])
        folder.append_completion(completion("p", 0, "<think>a</think>first", seed=2**63 + 1))
        folder.append_completion(completion("p", 0, "<think>b</think>second", turn=1, prompt="more?"))
    write_table(tmp_path / "x.parquet", StoredRun(tmp_path / "m"), [TASK])
    (row,) = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert (row["earlier_answers"], row["later_prompts"]) == (["first"], ["more?"])
    assert (row["trace"], row["answer"], row["completion_tokens"]) == ("b", "second", 12)
    assert row["seed"] == 2**63 + 1


def test_texts_that_are_no_utf_8_are_written_as_escapes(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path / "m") as folder:
        folder.write_manifest(manifest(tasks={TASK: task_record(n=1, k=1)}))
        folder.write_problems(TASK, [problem_line("p")])
        folder.append_completion(completion("p", 0, "lone \ud800"))
        sample = SampleId(TASK, "p", 0)
        folder.append_verdict(Verdict(sample, 0.0, "wrong", "\udfff", {}, {}, "d", "absent", False))
    write_table(tmp_path / "x.parquet", StoredRun(tmp_path / "m"), [TASK])
    (row,) = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert (row["answer"], row["extracted"]) == ("lone \\ud800", "\\udfff")


def test_a_table_that_fails_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(KeyError), SampleTable(tmp_path / "x.parquet"):
        raise KeyError("stopped")
    assert list(tmp_path.iterdir()) == []
