"""Multi-IF: three turns whose instructions accumulate, in eight languages (He et al. 2024)."""

from __future__ import annotations

import json
from typing import Any

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.conversation import Conversation
from genbench.tasks.ifeval import METRICS, instructions
from genbench.tasks.pagetask import page_facts
from genbench.types import Ask, Message, Problem

TURNS = 3
COLUMNS = (
    "key",
    "language",
    *(
        f"turn_{turn}_{what}"
        for turn in range(1, TURNS + 1)
        for what in ("prompt", "instruction_id_list", "kwargs")
    ),
)


def multi_if() -> Conversation:
    """Return the task of 4,501 conversations.

    Each turn's list repeats the instructions of the turns before it.
    The score is prompt-level strict accuracy, averaged over turns. The published number is the mean of the
    four accuracies over turns, see verifiers/constraints/accuracies.py.
    """
    return Conversation(
        TaskInfo(
            name="multi_if",
            asks_alike=True,
            version="1",
            summary="Multi-IF: three turns of accumulating instructions in eight languages",
            dataset=HubDataset(
                repo="facebook/Multi-IF", config="default", split="train", columns=COLUMNS, rows=4501
            ),
            k=1,
            verifier="ifeval",
            verifier_options={"headline": "strict", "multilingual": True},
            **page_facts("multi_if", {}),
            metrics=METRICS,
        ),
        lambda place, row: _read(row),
        _pose,
        COLUMNS,
    )


def _read(row: Row) -> Problem:
    """Return the problem of a row. If its last prompts are empty, the conversation is shorter."""
    where = f"task multi_if, key {row['key']}"
    turns = []
    for turn in range(1, TURNS + 1):
        if not row[f"turn_{turn}_prompt"]:
            break
        turns.append(_turn(row, turn, f"{where}, turn {turn}"))
    if not turns:
        raise DataError(f"{where}: the first prompt is empty")
    language = str(row["language"])
    return Problem("multi_if", str(row["key"]), {"turns": turns}, {"language": language}, turns=len(turns))


def _pose(problem: Problem, sample_index: int, turn: int) -> Ask:
    asked = problem.row["turns"][turn]
    return Ask((Message("user", asked["prompt"]),), asked["instructions"])


def _turn(row: Row, turn: int, where: str) -> dict[str, Any]:
    """Return one turn's prompt and instructions.

    The hub's columns contain JSON, and the kwargs contain JSON within JSON.
    """
    message = _json(row[f"turn_{turn}_prompt"], where)
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise DataError(f"{where}: the prompt is no message with 'content': {message!r}")
    ids = _json(row[f"turn_{turn}_instruction_id_list"], where)
    kwargs = [_json(given, where) for given in _json(row[f"turn_{turn}_kwargs"], where)]
    return {"prompt": message["content"], "instructions": instructions(ids, kwargs, where)}


def _json(value: Any, where: str) -> Any:
    """Return `value`, parsed if it is text. Some copies of the data are parsed already."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}: {value[:80]!r}") from None
