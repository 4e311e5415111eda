"""IFEval: prompts with instructions that a program can check (Zhou et al. 2023, arXiv 2311.07911)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

COLUMNS = ("key", "prompt", "instruction_id_list", "kwargs")
METRICS = ("avg@k", "pass@k")
"""No majority vote, because answers are texts that cannot agree with one another."""


def ifeval() -> SingleTurn:
    """Return the task of 541 prompts with 834 instructions of 25 kinds.

    The score is prompt-level strict accuracy. Prompts are asked as they are, without a system prompt.
    """
    info = TaskInfo(
        name="ifeval",
        asks_alike=True,
        version="1",
        summary="IFEval: 541 prompts with instructions that a program can check, prompt-level strict",
        dataset=HubDataset(
            repo="google/IFEval",
            config="default",
            split="train",
            columns=COLUMNS,
            digest="af1ff2415755ba4fb7974e075910ed1a3d6bc36d1699fc4d73a3a581e58fff43",
            rows=541,
        ),
        k=1,
        verifier="ifeval",
        verifier_options={"headline": "strict"},
        licence="Apache-2.0",
        published=published("ifeval"),
        metrics=METRICS,
    )
    return SingleTurn(info, lambda place, row: read("ifeval", row), pose, COLUMNS)


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
