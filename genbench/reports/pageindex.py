"""The index of every sample for the page's browser, without long texts (see templates/browser.js)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.reports.gathered import TaskColumns
from genbench.types import OURS, STATUSES

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def page_index(runs: Mapping[str, Mapping[str, TaskColumns]], folder: str | None) -> dict[str, Any]:
    """Return the index of the samples of one or more runs.

    Args:
        runs: each run's samples by task.
        folder: the folder of the long texts, or None if they are in the page.
    """
    tasks = dict.fromkeys(task for columns in runs.values() for task in columns)
    return {
        "runs": list(runs),
        "statuses": STATUSES,
        "folder": folder,
        "tasks": [_task_index(task, [columns.get(task) for columns in runs.values()]) for task in tasks],
    }


def _task_index(task: str, columns: Sequence[TaskColumns | None]) -> dict[str, Any]:
    ids = list(dict.fromkeys(name for item in columns if item for name in item.problem_ids))
    k = max(item.k for item in columns if item)
    units = dict.fromkeys(item.unit for item in columns if item)
    return {
        "name": task,
        "unit": " or ".join(units),
        "ids": ids,
        "k": k,
        "questions": _questions(ids, columns),
        "runs": [_run_index(item, ids, k) if item else None for item in columns],
    }


def _questions(ids: Sequence[str], columns: Sequence[TaskColumns | None]) -> list[str]:
    """Return the beginning of each problem's question, from the first run that has it."""
    runs = [item for item in columns if item]
    return [
        next((text for item in runs if name in item.rows and (text := item.questions[item.rows[name]])), "")
        for name in ids
    ]


def _run_index(columns: TaskColumns, ids: Sequence[str], k: int) -> dict[str, Any]:
    """Return one run's samples in the order of `ids` and k. A status is a base-36 digit, `.` for none."""
    places = [
        columns.rows[name] * columns.k + index if name in columns.rows and index < columns.k else -1
        for name in ids
        for index in range(k)
    ]
    status = [columns.status[at] if at >= 0 else -1 for at in places]
    return {
        "status": "".join("." if code < 0 else _DIGITS[code] for code in status),
        "scores": _odd_scores(columns, places),
        "tokens": [columns.tokens[at] if at >= 0 else 0 for at in places],
        "chunks": [columns.chunks[at] if at >= 0 else -1 for at in places],
        "answers": list(columns.answers),
        "said": [columns.said[at] if at >= 0 else -1 for at in places],
        "asks": [columns.ask_chunks[columns.rows[name]] if name in columns.rows else -1 for name in ids],
    }


def _odd_scores(columns: TaskColumns, places: Sequence[int]) -> Mapping[int, float | None]:
    """Return the scores that do not follow from the status (1 for correct, else 0)."""
    found: dict[int, float | None] = {}
    for position, at in enumerate(places):
        if at < 0 or columns.status[at] < 0:
            continue
        status = STATUSES[columns.status[at]]
        score = None if status in OURS else columns.score(at)
        if score != float(status == "correct"):
            found[position] = score
    return found
