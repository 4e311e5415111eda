"""MixEval-Hard, the free-form half: questions that an LLM judge grades (Ni et al. 2024)."""

from __future__ import annotations

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_SHORT = "Answer in a few words."
_WORKED = "Work it out step by step, and state the final answer on the last line."
_REASONED = frozenset({"GSM8k", "MATH", "BBH"})
"""Source benchmarks whose questions need reasoning. The others ask for a fact."""


def mixeval_hard_free_form() -> SingleTurn:
    """Return the task of the free-form questions of MixEval-Hard, which a judge grades."""
    info = TaskInfo(
        name="mixeval_hard_free_form",
        asks_alike=True,
        version="1",
        summary="MixEval-Hard, free-form: 500 questions; a judge says whether an answer means a reference",
        dataset=HubDataset(
            "MixEval/MixEval",
            "MixEval_Hard",
            "free_form",
            ("context", "prompt", "target", "benchmark_name"),
            rows=500,
        ),
        k=1,
        verifier="judge",
        verifier_options={"judge": "free_form"},
        licence="Apache-2.0; the sources' own licences vary",
        metrics=("avg@k",),
    )
    return SingleTurn(info, _read, _pose)


def _read(place: int, row: Row) -> Problem:
    """Return the problem of a row. Its id is the row's index from 0, because the dataset has no ids."""
    targets = row["target"]
    if not isinstance(targets, list | tuple) or not targets:
        raise DataError(f"task mixeval_hard_free_form, row {place + 1}: no targets, found {targets!r}")
    source = str(row["benchmark_name"])
    parts = [str(row["context"] or "").strip(), str(row["prompt"]).strip()]
    kept = {
        "question": "\n\n".join(part for part in parts if part),
        "targets": [str(target) for target in targets],
        "ending": _WORKED if source in _REASONED else _SHORT,
    }
    return Problem("mixeval_hard_free_form", str(place), kept, {"source": source})


def _pose(problem: Problem, sample_index: int) -> Ask:
    text = f"{problem.row['question']}\n\n{problem.row['ending']}"
    return Ask((Message("user", text),), problem.row["targets"])
