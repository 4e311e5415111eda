"""The sums of scores of each problem, from a table of verdicts."""

from __future__ import annotations

from typing import Any

from genbench.analysis.table import VerdictTable
from genbench.store.stored_run import StoredTask
from genbench.store.sums import TaskSums, asked_digests, questions_digest


def problem_sums(table: VerdictTable, stored: StoredTask) -> TaskSums:
    """Return the sums and counts of the scored samples of each problem of a task.

    Args:
        table: the verdicts of the current verifier.
        stored: the reader of the task, whose problems have the digests of prompts and references.
    """
    scored = [[score for score in row if score is not None] for row in table.scores]
    optional: dict[str, Any] = {}
    if any(score not in (0.0, 1.0) for row in scored for score in row):
        optional["squares"] = tuple(sum(score * score for score in row) for row in scored)
    if table.groups is not None:
        optional["groups"] = tuple(table.groups)
    ids = tuple(problem.problem_id for problem in table.problems)
    return TaskSums(
        k=table.k,
        problem_ids=ids,
        sums=tuple(sum(row) for row in scored),
        counts=tuple(len(row) for row in scored),
        questions=questions_digest(stored.problems),
        asked=asked_digests([stored.problems[name] for name in ids]),
        **optional,
    )
