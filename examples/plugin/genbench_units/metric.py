"""A metric: how much the samples of one problem agree with one another."""

from __future__ import annotations

from collections import Counter

from genbench.protocols import ProblemScores


def agreement(problem: ProblemScores) -> float | None:
    """Return the share of the problem's samples that give its commonest answer."""
    answers = [
        answer for answer, score in zip(problem.answers, problem.scores, strict=True) if score is not None
    ]
    if not answers:
        return None
    counts = Counter(answer for answer in answers if answer is not None)
    return max(counts.values(), default=0) / len(answers)
