"""GSM8K: grade-school word problems with integer answers (Cobbe et al. 2021)."""

from __future__ import annotations

import re

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_PROMPT = "{question}\n\nReason step by step, and state the final number at the very end inside \\boxed{{}}."

_EXEMPLARS = (
    (
        "A baker packs 6 rolls into each bag. She baked 50 rolls and ate 2. How many bags does she fill?",
        "There are 50 - 2 = 48 rolls left. They fill 48 / 6 = 8 bags. The answer is \\boxed{8}.",
    ),
    (
        "Tickets cost $12 for adults and half as much for children. What do 2 adults and 3 children pay?",
        "A child pays 12 / 2 = 6 dollars. Together they pay 2 * 12 + 3 * 6 = 24 + 18 = 42 dollars. "
        "The answer is \\boxed{42}.",
    ),
    (
        "Omar reads 15 pages on Monday and 20% more on each following day than on the Monday. "
        "How many pages has he read by Thursday evening?",
        "20% of 15 is 3, so on each of the three following days he reads 18 pages. "
        "In all he reads 15 + 3 * 18 = 15 + 54 = 69 pages. The answer is \\boxed{69}.",
    ),
    (
        "A tank holds 900 litres and is one third full. A pump adds 25 litres a minute. "
        "After how many minutes is it full?",
        "The tank holds 900 / 3 = 300 litres now and lacks 600. The pump needs 600 / 25 = 24 minutes. "
        "The answer is \\boxed{24}.",
    ),
)

_FINAL = re.compile(r"####\s*(-?[\d,]+)\s*$")


def gsm8k() -> SingleTurn:
    """Return the task of 1,319 grade-school word problems."""
    info = TaskInfo(
        name="gsm8k",
        asks_alike=True,
        version="1",
        summary="GSM8K: 1,319 grade-school word problems with integer answers",
        dataset=HubDataset(
            repo="openai/gsm8k",
            config="main",
            split="test",
            columns=("question", "answer"),
            revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
            digest="4558614006a05b676b45f3df0f3267f8c59e77365bbfb424e1f38c7b4add3f5b",
            rows=1319,
        ),
        k=1,
        verifier="math",
        licence="MIT",
        published=published("gsm8k"),
        shots=tuple((_PROMPT.format(question=question), answer) for question, answer in _EXEMPLARS),
    )
    return SingleTurn(info, _read, _pose)


def _read(place: int, row: Row) -> Problem:
    """Return the problem of a row. Its id is the row's index from 0, because the dataset has no ids."""
    final = _FINAL.search(row["answer"])
    if final is None:
        raise DataError(f"task gsm8k, row {place + 1}: the answer does not end with '#### NUMBER'")
    kept = {"question": row["question"].strip(), "answer": final[1].replace(",", "")}
    return Problem("gsm8k", str(place), kept)


def _pose(problem: Problem, sample_index: int) -> Ask:
    text = _PROMPT.format(question=problem.row["question"])
    return Ask((Message("user", text),), problem.row["answer"])
