"""MATH-500: five hundred problems of the MATH test set (Hendrycks et al. 2021), in the split of PRM800K."""

from __future__ import annotations

from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_PROMPT = "{problem}\n\nReason step by step, and state the final answer at the very end inside \\boxed{{}}."

_EXEMPLARS = (
    (
        "Simplify $\\frac{x^2-9}{x-3}$ for $x \\ne 3$.",
        "The numerator is $(x-3)(x+3)$, and $x-3$ cancels. The answer is $\\boxed{x+3}$.",
    ),
    (
        "What is the probability of at least one head in three tosses of a fair coin?",
        "No head has probability $\\left(\\frac12\\right)^3 = \\frac18$. "
        "The answer is $\\boxed{\\frac{7}{8}}$.",
    ),
    (
        "Find all real $x$ with $|2x-1| < 5$. Write the solution as an interval.",
        "$-5 < 2x-1 < 5$ gives $-4 < 2x < 6$, so $-2 < x < 3$. The answer is $\\boxed{(-2,3)}$.",
    ),
    (
        "The vectors $\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}$ and $\\begin{pmatrix} k \\\\ 3 "
        "\\end{pmatrix}$ are orthogonal. Find $k$.",
        "Their dot product is $k + 6 = 0$. The answer is $\\boxed{-6}$.",
    ),
)


def math500() -> SingleTurn:
    """Return the task of 500 competition problems, drawn from MATH."""
    info = TaskInfo(
        name="math500",
        asks_alike=True,
        version="1",
        summary="MATH-500: 500 competition problems from prealgebra to precalculus",
        dataset=HubDataset(
            repo="HuggingFaceH4/MATH-500",
            config="default",
            split="test",
            columns=("unique_id", "problem", "answer", "subject", "level"),
            digest="a71a712fd72eea56468de764316ed0cfeb94a07f6c4171e89cea0b9e3ad238fc",
            rows=500,
        ),
        k=4,
        verifier="math",
        licence="MIT",
        published=published("math500"),
        shots=tuple((_PROMPT.format(problem=problem), answer) for problem, answer in _EXEMPLARS),
    )
    return SingleTurn(info, _read, _pose)


def _read(place: int, row: Row) -> Problem:
    kept = {"problem": str(row["problem"]).strip(), "answer": row["answer"]}
    strata = {"subject": str(row["subject"]), "level": str(row["level"])}
    return Problem("math500", str(row["unique_id"]), kept, strata)


def _pose(problem: Problem, sample_index: int) -> Ask:
    text = _PROMPT.format(problem=problem.row["problem"])
    return Ask((Message("user", text),), problem.row["answer"])
