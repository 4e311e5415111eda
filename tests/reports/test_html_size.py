"""The page of a large suite stays small: what it knows of a sample is a few characters."""

from __future__ import annotations

import json
from array import array

import pytest

from genbench.reports.page.data import TaskColumns, page_index

SIZES = {"aime25": (30, 64), "gpqa_diamond": (198, 8), "ifeval": (541, 1), "livecodebench": (268, 16)}


def columns(name: str, problems: int, k: int) -> TaskColumns:
    """8,000-token traces, their texts over many files next to the page."""
    made = TaskColumns(name, tuple(f"{name}-problem-{i:04}" for i in range(problems)), k)
    size = problems * k
    made.status = array("b", (i % 12 for i in range(size)))
    made.scores = array("d", (1.0 if i % 12 == 0 else 0.25 if i % 12 == 1 else 0.0 for i in range(size)))
    made.tokens = array("i", (8000 + i % 977 for i in range(size)))
    made.chunks = array("i", (1000 + i // 30 for i in range(size)))
    return made


@pytest.mark.parametrize("runs", [1, 2])
def test_the_index_of_ten_thousand_samples_is_small(runs: int) -> None:
    tasks = {name: columns(name, *size) for name, size in SIZES.items()}
    index = "".join(page_index({f"run{i}": tasks for i in range(runs)}, "report.files"))
    assert sum(len(task["ids"]) * task["k"] for task in json.loads(index)["tasks"]) == 8333
    assert len(index) < 100_000 + 150_000 * runs
