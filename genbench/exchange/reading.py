"""Import of samples of other tools, and of genbench's own Parquet, as a score file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.data.parquet import read_batches
from genbench.errors import InputError
from genbench.exchange.foreign_logs import every_eval_lines, inspect_lines, inspect_metrics, read_inspect
from genbench.store.boundedfile import lines_of
from genbench.store.jsonlines import encode, replace

Line = dict[str, Any]
_STAMP = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d:.-]+$")


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """The choice of what is imported from a file.

    `metric` and `filter` (of lm-eval) are required if the file contains several. `task` selects a task of a
    samples.parquet. For other files it replaces the task name that the file name gives.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None


def import_scores(source: str | Path, output: str | Path, choice: ImportChoice | None = None) -> int:
    """Write a score file from the samples of another tool. Return the number of its lines.

    Args:
        source: the file of the other tool.
        output: the score file.
        choice: what is read. None means the only metric and filter of the file.

    Raises:
        InputError: the source cannot be read, has no samples or has no known format, or `choice` does not
            select one of its metrics and filters.
    """
    source, output = Path(source), Path(output)
    try:
        lines = _lines(source, choice or ImportChoice())
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from error
    if not lines:
        raise InputError(f"{source}: has no samples")
    replace(output, b"".join(encode(line) for line in lines))
    return len(lines)


def _lines(source: Path, choice: ImportChoice) -> list[Line]:
    if source.suffix in (".eval", ".json"):
        return _inspect(source, choice)
    if source.suffix != ".parquet":
        records = list(_records(source))
        if records and "evaluation_name" in records[0][1]:
            return list(every_eval_lines(source, records, choice.task))
        return list(_lm_eval(source, records, choice))
    columns = set(pq.read_schema(source).names)
    if {"task", "problem_id", "sample_index", "score"} <= columns:
        return list(_own(source, choice))
    if columns & {"metric", "metrics"}:
        return list(_lighteval(source, choice))
    raise InputError(
        f"{source}: neither lighteval details ('metric') nor samples.parquet; its columns are "
        f"{', '.join(sorted(columns))}"
    )


def _records(source: Path) -> Iterator[tuple[int, Line]]:
    with source.open("rb") as file:
        for number, text in lines_of(file, source):
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{source}:{number}: not valid JSON: {error}") from error
            if not isinstance(record, dict) or not {"doc_id", "evaluation_name"} & record.keys():
                raise InputError(
                    f"{source}:{number}: no 'doc_id': not a samples file of lm-eval (nor 'evaluation_name', "
                    "as in every_eval_ever)"
                )
            yield number, record


def _inspect(source: Path, choice: ImportChoice) -> list[Line]:
    """Return the lines of the score file for a log of Inspect."""
    head, found = read_inspect(source)
    samples = list(found)
    metric = _one_of(source, "metric", inspect_metrics(samples), choice.metric)
    return list(inspect_lines(source, head, samples, metric, choice.task))


def _lm_eval(source: Path, records: Sequence[tuple[int, Line]], choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for a samples file of lm-eval.

    lm-eval writes each document once for each filter, with one score for each metric.
    """
    filters = dict.fromkeys(str(record.get("filter", "none")) for _, record in records)
    wanted = _one_of(source, "filter", filters, choice.filter)
    kept = [(n, record) for n, record in records if str(record.get("filter", "none")) == wanted]
    metric = _one_of(source, "metric", _lm_eval_metrics(kept), choice.metric)
    task = choice.task or _STAMP.sub("", source.stem.removeprefix("samples_"))
    seen: Counter[str] = Counter()
    for number, record in kept:
        found = record.get("doc")
        doc: Line = found if isinstance(found, dict) else {}
        problem = str(doc.get("problem_id", record["doc_id"]))
        index = doc.get("sample_index") if "problem_id" in doc else None
        line = {
            "task": task,
            "problem_id": problem,
            "sample_index": seen[problem] if index is None else index,
            "score": _score(record.get(metric), f"{source}:{number}", metric),
            "answer": _answer(record.get("filtered_resps")),
        }
        if index is None:  # a log of lm-eval itself, and not one that genbench exported
            line["imported"] = {"from": "lm-eval", "lacks": ["k", "seeds"]}
        seen[problem] += 1
        yield line


def _lm_eval_metrics(records: Sequence[tuple[int, Line]]) -> dict[str, None]:
    """Return the names of the metrics that have a number on each line.

    Files of older versions do not list their metrics. Every key with a number is then taken for one.
    """
    names: dict[str, None] = {}
    for _, record in records:
        listed = record.get("metrics")
        for name in listed if isinstance(listed, list) else record:
            if name == "doc_id" or not isinstance(name, str):
                continue
            if isinstance(record.get(name), int | float) or (isinstance(listed, list) and name in record):
                names.setdefault(name)
    return {name: None for name in names if not any(isinstance(r.get(name), list) for _, r in records)}


def _answer(found: Any) -> str | None:
    """Return the extracted text, or None if there is none.

    Multiple choice by likelihood has pairs in its place, which are not answers.
    """
    first = found[0] if isinstance(found, list) and found else found
    return first if isinstance(first, str) else None


def _lighteval(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for `details_<task>|<shots>_<time>.parquet` of lighteval.

    The file has one row for each document, with its metrics in a struct.
    """
    names = pq.read_schema(source).names
    column = "metric" if "metric" in names else "metrics"
    wanted = [name for name in ("doc", column) if name in names]
    rows = [
        _lighteval_row(source, number, row, column)
        for number, row in enumerate(
            row for batch in read_batches(source, wanted) for row in batch.to_pylist()
        )
    ]
    metrics = dict.fromkeys(name for row in rows for name, value in row[column].items() if _is_number(value))
    metric = _one_of(source, "metric", metrics, choice.metric)
    task = choice.task or _STAMP.sub("", source.stem.removeprefix("details_")).replace("|", "_")
    ids = [str(row["doc"].get("id") or "") for row in rows]
    named = all(ids) and len(set(ids)) == len(ids)
    for number, row in enumerate(rows):
        yield {
            "task": task,
            "problem_id": ids[number] if named else str(number),
            "sample_index": 0,
            "score": _score(row[column].get(metric), f"{source}: row {number}", metric),
            "imported": {"from": "lighteval", "lacks": ["k", "seeds"]},
        }


def _lighteval_row(source: Path, number: int, row: Line, column: str) -> Line:
    """Return a row with mappings for its document and its metrics.

    Raises:
        InputError: one of them is something else.
    """
    found = {name: row.get(name) or {} for name in ("doc", column)}
    for name, value in found.items():
        if not isinstance(value, Mapping):
            raise InputError(f"{source}: row {number}: '{name}' is no struct; not details of lighteval")
    return found


def _own(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for samples.parquet or a dataset of `genbench export --to hf`."""
    columns = ["task", "problem_id", "sample_index", "score", "extracted"]
    for batch in read_batches(source, columns):
        for row in batch.to_pylist():
            if choice.task is None or row["task"] == choice.task:
                if not isinstance(row["task"], str) or not isinstance(row["problem_id"], str):
                    raise InputError(f"{source}: 'task' and 'problem_id' must be texts")
                yield {**{key: row[key] for key in columns[:4]}, "answer": row["extracted"]}


def _one_of(source: Path, what: str, found: Mapping[str, Any] | Iterable[str], wanted: str | None) -> str:
    names = list(found)
    if wanted is not None and wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return names[0]
    if not names:
        raise InputError(f"{source}: it has no {what}, wanted at least one with a number on each line")
    listed = ", ".join(names)
    asked = f"no {what} '{wanted}'" if wanted is not None else f"{len(names)} {what}s"
    raise InputError(f"{source}: {asked}; it has: {listed}; choose one with --{what}")


def _score(value: Any, where: str, metric: str) -> float | None:
    if value is None:
        return None
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{where}: '{metric}' is {value!r}, wanted a number from 0 to 1")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
