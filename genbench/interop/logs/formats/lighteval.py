"""Details of lighteval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from genbench.analysis.sides.log_format import SAID, ImportChoice, Line, LogFile, Say, is_number, without_time
from genbench.data.parquet import read_batches
from genbench.errors import InputError
from genbench.interop.logs.tool_log import ToolLogs, first_text, one_of, read_score, shown_text


class LightevalLogs(ToolLogs):
    """`details_<task>|<shots>_<time>.parquet` of lighteval."""

    tool = "lighteval"

    def is_log(self, log: LogFile) -> bool:
        """Return whether a Parquet file has documents and metrics."""
        if log.kind != "columns":
            return False
        try:
            columns = set(log.columns)
        except Exception:  # another tool's file, of any content
            return False
        return bool(columns & {"metric", "metrics"}) and "doc" in columns

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines of a Parquet file with metrics. It refuses any other."""
        if log.kind != "columns":
            return None
        if {"metric", "metrics"} & set(log.columns):
            return _lines(log, choice)
        raise InputError(
            f"{log.path}: neither lighteval details ('metric') nor samples.parquet; its columns are "
            f"{', '.join(sorted(set(log.columns)))}"
        )

    def model(self, log: LogFile) -> str:
        """Return the model of details/ORG/MODEL/TIME/details_TASK_TIME.parquet."""
        parts = log.path.parts
        named = parts[parts.index("details") + 1 : -2] if "details" in parts else ()
        return "/".join(named) or log.path.parent.name


def _lines(log: LogFile, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file. There is one row for each document, with its metrics in a struct."""
    source, names = log.path, log.columns
    column = "metric" if "metric" in names else "metrics"
    wanted = [
        name for name in ("doc", column, "model_response", "full_prompt", "predictions") if name in names
    ]
    rows = [
        _row(source, number, row, column)
        for number, row in enumerate(
            row for batch in read_batches(source, wanted) for row in batch.to_pylist()
        )
    ]
    metrics = dict.fromkeys(name for row in rows for name, value in row[column].items() if is_number(value))
    metric = one_of(source, "metric", metrics, choice)
    task = choice.task or without_time(source.stem.removeprefix("details_")).replace("|", "_")
    ids = [str(row["doc"].get("id") or "") for row in rows]
    named = all(ids) and len(set(ids)) == len(ids)
    for number, row in enumerate(rows):
        yield {
            "task": task,
            "problem_id": ids[number] if named else str(number),
            "sample_index": 0,
            "score": read_score(row[column].get(metric), f"{source}: row {number}", metric),
            "imported": {"from": "lighteval", "lacks": ["k", "seeds"]},
            SAID: _said(row),
        }


def _said(row: Line) -> Line:
    """Return the prompt, the text and the target of a row. Older versions have columns for them."""
    reply = row.get("model_response")
    reply = reply if isinstance(reply, Mapping) else {}
    doc, text = row["doc"], first_text(reply.get("text") or row.get("predictions"))
    gold, choices = doc.get("gold_index"), doc.get("choices")
    gold = gold[0] if isinstance(gold, list) and gold else gold
    known = isinstance(choices, list) and isinstance(gold, int) and 0 <= gold < len(choices)
    prompt = (
        first_text(reply.get("input")) or first_text(row.get("full_prompt")) or first_text(doc.get("query"))
    )
    tokens = reply.get("output_tokens")
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    counted = {"tokens": len(first)} if isinstance(first, list) else {}
    return {"prompt": prompt, "text": text, "target": shown_text(choices[gold]) if known else None, **counted}


def _row(source: Path, number: int, row: Line, column: str) -> Line:
    """Return a row with mappings for its document and its metrics.

    Raises:
        InputError: one of them is something else.
    """
    found = {name: row.get(name) or {} for name in ("doc", column)}
    for name, value in found.items():
        if not isinstance(value, Mapping):
            raise InputError(f"{source}: row {number}: '{name}' is not a struct; not details of lighteval")
    return {**row, **found}
