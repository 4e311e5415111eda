"""An export format: one CSV file a task, one line a sample."""

from __future__ import annotations

import csv
from pathlib import Path

from genbench.interop.logs.export import ExportedRun

COLUMNS = ("problem_id", "sample_index", "status", "score", "answer")


def write_csv(run: ExportedRun, output: Path) -> list[Path]:
    """Write `<task>.csv` for every task of the run."""
    written = []
    for task in run.tasks:
        path = output / f"{task}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for sample in run.samples(task):
                answer = sample.verdict.extracted if sample.verdict else None
                writer.writerow((sample.problem_id, sample.sample_index, sample.status, sample.score, answer))
        written.append(path)
    return written
