"""genbench's own samples.parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from genbench.analysis.sides.log_format import ImportChoice, Line, LogFile, Say
from genbench.data.parquet import read_batches
from genbench.errors import InputError
from genbench.interop.logs.tool_log import ToolLogs


class SampleTables(ToolLogs):
    """Samples of genbench: samples.parquet, or a dataset of `genbench export --to hf`."""

    tool = "genbench"

    def is_log(self, log: LogFile) -> bool:
        """Return False: among other files it is part of a run, which need not be made of it."""
        return False

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines of a Parquet file with these columns."""
        if log.kind != "columns" or not {"task", "problem_id", "sample_index", "score"} <= set(log.columns):
            return None
        return _lines(log.path, choice)


def _lines(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file."""
    columns = ["task", "problem_id", "sample_index", "score", "extracted"]
    for batch in read_batches(source, columns):
        for row in batch.to_pylist():
            if choice.task is None or row["task"] == choice.task:
                if not isinstance(row["task"], str) or not isinstance(row["problem_id"], str):
                    raise InputError(f"{source}: 'task' and 'problem_id' must be texts")
                yield {**{key: row[key] for key in columns[:4]}, "answer": row["extracted"]}
