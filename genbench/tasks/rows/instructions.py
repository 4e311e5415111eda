"""Rows with the columns of IFEval: prompts with instructions that a program can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.types import Ask, Message, Problem

COLUMNS = ("key", "prompt", "instruction_id_list", "kwargs")
METRICS = ("avg@k", "pass@k")
"""No majority vote, because answers are texts that cannot agree with one another."""


def counted(row: Row, place: int) -> Row:
    """Return a row with the number of its instructions, by which reports split the score.

    Raises:
        DataError: it has no instruction.
    """
    count = len(row["instruction_id_list"] or ())
    if not count:
        raise DataError("there is no instruction")
    return {**row, "instructions": count}


def read(task: str, row: Row) -> Problem:
    """Return the problem of a row with IFEval's columns."""
    where = f"task {task}, key {row['key']}"
    listed = instructions(row["instruction_id_list"], row["kwargs"], where)
    if not isinstance(row["prompt"], str) or not row["prompt"].strip():
        raise DataError(f"{where}: the prompt is empty")
    kept = {"prompt": row["prompt"], "instructions": listed}
    return Problem(task, str(row["key"]), kept, {"instructions": str(len(listed))})


def pose(problem: Problem, sample_index: int) -> Ask:
    """Return the prompt as it is, with its list of instructions as the reference."""
    return Ask((Message("user", problem.row["prompt"]),), problem.row["instructions"])


def instructions(
    ids: Sequence[str], kwargs: Sequence[Mapping[str, Any] | None], where: str
) -> list[dict[str, Any]]:
    """Return each instruction as ``{"id": …, kwarg: …}``.

    Null kwargs are left out: the hub adds the kwargs of all instructions.

    Raises:
        DataError: there are not as many kwargs as ids, or none at all.
    """
    if not ids or len(ids) != len(kwargs):
        raise DataError(f"{where}: {len(ids)} instructions with {len(kwargs)} kwargs")
    return [
        {"id": name, **{key: value for key, value in (given or {}).items() if value is not None}}
        for name, given in zip(ids, kwargs, strict=True)
    ]
