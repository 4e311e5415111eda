"""Open requests whose answers are judged in pairs: Arena-Hard and AlpacaEval."""

from __future__ import annotations

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem


def arena_hard() -> SingleTurn:
    """Return the task of Arena-Hard-Auto v0.1 (Li et al. 2024).

    The dataset has no answers, so the opponent is a stored run.
    """
    info = TaskInfo(
        name="arena_hard",
        asks_alike=True,
        version="1",
        summary="Arena-Hard-Auto v0.1: 500 hard requests, in pairs against a stored run (baseline: RUN_DIR)",
        dataset=HubDataset(
            "lmarena-ai/arena-hard-auto-v0.1",
            "default",
            "train",
            ("question_id", "turns"),
            revision="2a69efe86cff85c593cfd4c2b4491c128e52c6f1",
            rows=500,
        ),
        k=1,
        verifier="judge",
        verifier_options={"judge": "pairwise"},
        licence="Apache-2.0",
        metrics=("avg@k",),
    )
    return SingleTurn(info, _read_arena, _pose)


def alpaca_eval() -> SingleTurn:
    """Return the task of AlpacaEval 2 (Dubois et al. 2024).

    The opponent is the dataset's own reply, or a stored run.
    """
    info = TaskInfo(
        name="alpaca_eval",
        asks_alike=True,
        version="1",
        summary="AlpacaEval 2: 805 requests, in pairs against the GPT-4 Turbo replies of the dataset",
        dataset=HubDataset(
            "tatsu-lab/alpaca_eval",
            "alpaca_eval_gpt4_baseline",
            "eval",
            ("dataset", "instruction", "output"),
            revision="2955709b93b0e08df511a752a3874b0a89b8910b",
            rows=805,
            files=("alpaca_eval_gpt4_baseline.json",),
        ),
        k=1,
        verifier="judge",
        verifier_options={"judge": "pairwise"},
        licence="CC-BY-NC-4.0",
        metrics=("avg@k",),
    )
    return SingleTurn(info, _read_alpaca, _pose)


def _read_arena(place: int, row: Row) -> Problem:
    turns = row["turns"]
    texts = [str(turn.get("content") or "") for turn in turns] if isinstance(turns, list | tuple) else []
    if len(texts) != 1 or not texts[0].strip():
        raise DataError(f"task arena_hard, row {place + 1}: wanted one turn with content, found {turns!r}")
    kept = {"question": texts[0], "opponent": None}
    return Problem("arena_hard", str(row["question_id"]), kept)


def _read_alpaca(place: int, row: Row) -> Problem:
    """Return the problem of a row. Its id is the row's index from 0, because the dataset has no ids."""
    if not str(row["instruction"]).strip() or not str(row["output"]).strip():
        raise DataError(f"task alpaca_eval, row {place + 1}: the instruction or its output is empty")
    kept = {"question": str(row["instruction"]), "opponent": str(row["output"])}
    return Problem("alpaca_eval", str(place), kept, {"source": str(row["dataset"])})


def _pose(problem: Problem, sample_index: int) -> Ask:
    return Ask((Message("user", problem.row["question"]),), problem.row["opponent"])
