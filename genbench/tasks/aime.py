"""AIME 2024 and 2025: thirty competition problems each, answers are integers from 0 to 999."""

from __future__ import annotations

from functools import partial

from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_PROMPT = (
    "{problem}\n\nReason step by step. The answer is an integer from 0 to 999: "
    "state it at the very end inside \\boxed{{}}."
)
_COLUMNS = ("id", "problem", "answer")

_EXEMPLARS = (
    (
        "Find the number of positive divisors of $360$ that are multiples of $6$.",
        "A divisor of $360 = 6 \\cdot 60$ is a multiple of $6$ exactly when it is $6d$ with $d \\mid 60$. "
        "Since $60 = 2^2 \\cdot 3 \\cdot 5$ has $3 \\cdot 2 \\cdot 2 = 12$ divisors, "
        "the answer is $\\boxed{12}$.",
    ),
    (
        "Let $a_1 = 1$ and $a_{n+1} = a_n + 2n$. Find $a_{20}$.",
        "$a_{20} = 1 + 2(1 + 2 + \\dots + 19) = 1 + 19 \\cdot 20 = 381$, so the answer is $\\boxed{381}$.",
    ),
    (
        "Two fair dice are rolled. The probability that their product is even is $\\frac mn$ in lowest "
        "terms. Find $m + n$.",
        "The product is odd only if both dice are odd, which has probability $\\frac14$. So it is even with "
        "probability $\\frac34$, and $m + n = \\boxed{7}$.",
    ),
    (
        "A right triangle has legs $20$ and $21$. Find the sum of its inradius and its area.",
        "The hypotenuse is $\\sqrt{400 + 441} = 29$ and the area $210$. The inradius is "
        "$\\frac{20 + 21 - 29}{2} = 6$, so the sum is $\\boxed{216}$.",
    ),
)


def aime24() -> SingleTurn:
    """Return the task of AIME I and II of 2024."""
    return _aime(
        "aime24",
        "AIME 2024",
        HubDataset(
            repo="HuggingFaceH4/aime_2024",
            config="default",
            split="train",
            columns=_COLUMNS,
            digest="686af241a3f7f3f9462574a4511d6fea0dcba00268ffd5386b6c2850dd636869",
            rows=30,
        ),
    )


def aime25() -> SingleTurn:
    """Return the task of AIME I and II of 2025."""
    return _aime(
        "aime25",
        "AIME 2025",
        HubDataset(
            repo="yentinglin/aime_2025",
            config="default",
            split="train",
            columns=_COLUMNS,
            digest="bb23f515c618f60f2d8d47e0c052d529b60019b760523ea4bb029f088edf9b4b",
            rows=30,
        ),
    )


def _aime(name: str, title: str, dataset: HubDataset) -> SingleTurn:
    info = TaskInfo(
        name=name,
        asks_alike=True,
        version="1",
        summary=f"{title}: 30 competition problems with integer answers",
        dataset=dataset,
        k=64,
        verifier="math",
        licence="problems: Mathematical Association of America; the dataset states none",
        published=published(name),
        shots=tuple((_PROMPT.format(problem=problem), answer) for problem, answer in _EXEMPLARS),
    )
    return SingleTurn(info, partial(_read, name), _pose)


def _read(task: str, place: int, row: Row) -> Problem:
    answer = str(row["answer"]).strip()
    if not answer.isdecimal() or int(answer) > 999:
        raise DataError(f"task {task}, row {place + 1}: the answer {answer!r} is no integer from 0 to 999")
    # Copies of these problems write 25 and 025.
    kept = {"problem": str(row["problem"]).strip(), "answer": str(int(answer))}
    return Problem(task, str(row["id"]), kept)


def _pose(problem: Problem, sample_index: int) -> Ask:
    text = _PROMPT.format(problem=problem.row["problem"])
    return Ask((Message("user", text),), problem.row["answer"])
