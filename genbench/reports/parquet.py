"""The table samples.parquet: the samples of a run, for pandas, DuckDB and `datasets`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.analysis.samples import task_samples, withheld, withholds
from genbench.store.stored_run import Sample, StoredRun

SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("task", pa.string()),
        ("problem_id", pa.string()),
        ("sample_index", pa.int32()),
        ("score", pa.float64()),
        ("status", pa.string()),
        ("extracted", pa.string()),
        ("reference", pa.string()),
        ("prompt", pa.string()),
        ("trace", pa.string()),
        ("answer", pa.string()),
        ("earlier_answers", pa.list_(pa.string())),
        ("later_prompts", pa.list_(pa.string())),
        ("trace_status", pa.string()),
        ("finish_reason", pa.string()),
        ("truncated", pa.bool_()),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("trace_tokens", pa.int64()),
        ("seconds", pa.float64()),
        ("seed", pa.uint64()),
        ("detail", pa.string()),
        ("parts", pa.string()),
        ("strata", pa.string()),
    ],
    metadata={"genbench.format": "1"},
)
"""The columns of the table, which has one row for each sample.

`detail`, `parts` and `strata` are JSON. The row of a conversation has its first prompt and its last answer.
`later_prompts` and `earlier_answers` are the prompts and answers of the other turns.
"""
_BATCH_CHARS, _BATCH_ROWS = 16_000_000, 16_384
"""Limits of a batch, which is kept in memory until it is written. A row of short texts needs 2 kB."""


class SampleTable:
    """A Parquet file that is written in batches under a temporary name.

    It is renamed to `path` at the end of the `with` block. After an error there is no file.
    """

    def __init__(self, path: Path, schema: pa.Schema = SCHEMA) -> None:
        self.path, self.schema = path, schema
        self._temporary = path.with_name(f".{path.name}.part")
        self._writer = pq.ParquetWriter(self._temporary, schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._chars = 0

    def add(self, model: str, sample: Sample) -> None:
        """Add a sample as a row."""
        row = sample_row(model, sample)
        self._rows.append(row)
        self._chars += len(row["trace"]) + len(row["answer"]) + len(row["prompt"] or "")
        if self._chars > _BATCH_CHARS or len(self._rows) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self.schema))
        self._rows, self._chars = [], 0

    def __enter__(self) -> SampleTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()
        if kind is None:
            self._temporary.replace(self.path)
        else:
            self._temporary.unlink(missing_ok=True)


def write_table(path: Path, run: StoredRun, tasks: Iterable[str], *, with_sensitive: bool = False) -> int:
    """Write the samples of some tasks of a run as one table. Return the number of rows.

    Args:
        with_sensitive: write the texts of sensitive tasks too.
    """
    rows = 0
    with SampleTable(path) as table:
        for task in tasks:
            hides = withholds(run, task, with_sensitive=with_sensitive)
            for sample in task_samples(run, task):
                table.add(run.manifest.model.name, withheld(sample) if hides else sample)
                rows += 1
    return rows


def sample_row(model: str, sample: Sample) -> dict[str, Any]:
    """Return a sample as a row of a table with the columns SCHEMA."""
    last, verdict = sample.turns[-1], sample.verdict
    return {
        "model": model,
        "task": sample.task,
        "problem_id": _utf8(sample.problem_id),
        "sample_index": sample.sample_index,
        "score": sample.score,
        "status": sample.status,
        "extracted": _utf8(verdict.extracted) if verdict else None,
        "reference": _utf8(sample.reference),
        "prompt": _utf8(sample.prompt),
        "trace": _utf8(last.answer.trace),
        "answer": _utf8(last.answer.text),
        "earlier_answers": [_utf8(turn.answer.text) for turn in sample.turns[:-1]],
        "later_prompts": [_utf8(turn.prompt) for turn in sample.turns[1:]],
        "trace_status": last.answer.trace_status,
        "finish_reason": last.completion.finish_reason,
        "truncated": last.answer.truncated,
        "prompt_tokens": last.completion.prompt_tokens,
        "completion_tokens": sample.completion_tokens,
        "trace_tokens": sample.trace_tokens,
        "seconds": last.completion.seconds,
        "seed": sample.turns[0].completion.seed,
        "detail": json.dumps(dict(verdict.detail)) if verdict else None,
        "parts": json.dumps(dict(verdict.parts)) if verdict else None,
        "strata": json.dumps(dict(sample.strata)),
    }


def _utf8(text: str | None) -> str | None:
    """Return the text with lone surrogates, which UTF-8 cannot encode, as escapes."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()
