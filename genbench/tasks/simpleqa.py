"""SimpleQA: short questions of fact with one answer each, graded by an LLM judge (Wei et al. 2024)."""

from __future__ import annotations

import ast

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_COLUMNS = ("metadata", "problem", "answer")
_STRATA = ("topic", "answer_type")


def simpleqa() -> SingleTurn:
    """Return the task of short questions with one fact as the answer, which a judge grades."""
    info = TaskInfo(
        name="simpleqa",
        asks_alike=True,
        version="1",
        summary="SimpleQA: 4,326 short questions of fact; right, wrong or not attempted by a judge",
        dataset=HubDataset("basicv8vc/SimpleQA", "default", "test", _COLUMNS, rows=4326),
        k=1,
        verifier="judge",
        verifier_options={"judge": "simpleqa"},
        licence="MIT",
        metrics=("avg@k",),
    )
    return SingleTurn(info, _read, _pose)


def _read(place: int, row: Row) -> Problem:
    """Return the problem of a row. Its id is the row's index from 0, because the dataset has no ids."""
    kept = {"question": str(row["problem"]).strip(), "answer": str(row["answer"]).strip()}
    if not kept["question"] or not kept["answer"]:
        raise DataError(f"task simpleqa, row {place + 1}: the problem or its answer is empty")
    return Problem("simpleqa", str(place), kept, _strata(place, row["metadata"]))


def _strata(place: int, metadata: object) -> dict[str, str]:
    """Return the strata of a row. The column contains a Python literal with topic, answer_type and urls."""
    try:
        found = ast.literal_eval(str(metadata)) if metadata else {}
    except (ValueError, SyntaxError) as error:
        raise DataError(f"task simpleqa, row {place + 1}: metadata is no Python literal: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"task simpleqa, row {place + 1}: metadata is no dict, found {metadata!r}")
    return {name: str(found[name]) for name in _STRATA if found.get(name)}


def _pose(problem: Problem, sample_index: int) -> Ask:
    return Ask((Message("user", problem.row["question"]),), problem.row["answer"])
