"""The form `rubric`: one score for each of several dimensions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    UnreadableReplyError,
    kappa_record,
    line_pattern,
    matched,
)
from genbench.stats.agreement import clustered_kappa
from genbench.types import Case, Finding

_NUMBER = re.compile(r"(?:0|[1-9]\d*)(?:\.\d*)?")
"""A score. Python, which MT-Bench's reader asks, refuses a zero before it."""


class RubricForm(JudgeForm):
    """Asks for a score from 1 to `points` in each dimension. The sample's score is their mean, on 0 to 1."""

    uses: ClassVar[frozenset[str]] = frozenset({"dimensions", "reply"})
    required_fields: ClassVar[frozenset[str]] = frozenset({"answer", "dimensions"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if not file.dimensions:
            raise ValueError("'dimensions' belong to form 'rubric', which needs at least one")
        if file.reply is not None and len(file.dimensions) > 1:
            raise ValueError("'reply' finds one score, so the rubric may have one of 'dimensions'")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt."""
        return [JudgePrompt(self.held_to({"regex": self._pattern()}))]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the scores in the order of the dimensions. One of a reply in free form may be a half."""
        if self.file.reply is None:
            return matched(self._pattern(), reply)
        word = self.file.reply.verdict(reply) or ""
        if not _NUMBER.fullmatch(word) or not 1 <= float(word) <= self.file.points:
            wanted = f"one score from 1 to {self.file.points}"
            raise UnreadableReplyError(f"the reply has not {wanted}: {reply[-200:]!r}")
        return (word,)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the mean of the dimensions, and each as a part."""
        top = self.file.points - 1
        parts = {
            name: (float(score) - 1) / top
            for name, score in zip(self.file.dimensions, readings[0], strict=True)
        }
        return Finding(sum(parts.values()) / len(parts), parts=parts)

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return the scores as whole points, which labels have."""
        return tuple(str(round(float(score))) for score in readings[0])

    def vocabulary(self) -> tuple[str, ...]:
        """Return the scores from low to high."""
        return tuple(str(score) for score in range(1, self.file.points + 1))

    def best_reply(self, case: Case) -> str:
        """Return the highest score in each dimension."""
        if self.file.reply is not None:
            return self.written(str(self.file.points))
        return "\n".join(f"{name}: {self.file.points}" for name in self.file.dimensions)

    def expected_words(self, label: Any, reference: Any) -> tuple[str, ...]:
        """Return the scores of a label ``{dimension: score}``.

        Raises:
            ValueError: a dimension is missing, or their order is another.
        """
        if not isinstance(label, dict) or list(label) != list(self.file.dimensions):
            wanted = ", ".join(self.file.dimensions)
            raise ValueError(f"wanted a label with a score for each of {wanted}, in this order")
        return tuple(str(score) for score in label.values())

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return kappa with quadratic weights over all scores and by dimension, and the mean error in points.

        Scores are ordered, so a near miss counts less than a far one.
        """
        if not opinions:
            return {}
        people, judge = [item.expected for item in opinions], [item.found for item in opinions]
        off = [
            abs(float(wanted) - float(found))
            for left, right in zip(people, judge, strict=True)
            for wanted, found in zip(left, right, strict=True)
        ]
        by_dimension = {
            name: self._weighted([(words[at],) for words in people], [(words[at],) for words in judge], seed)
            for at, name in enumerate(self.file.dimensions)
        }
        return self._weighted(people, judge, seed) | {
            "weights": "quadratic",
            "mean_absolute_error": sum(off) / len(off),
            "dimensions": by_dimension,
        }

    def _weighted(
        self, people: Sequence[tuple[str, ...]], judge: Sequence[tuple[str, ...]], seed: int
    ) -> dict[str, Any]:
        return kappa_record(clustered_kappa(people, judge, ordered=self.vocabulary(), seed=seed))

    def _pattern(self) -> str:
        scores = f"[1-{self.file.points}]" if self.file.points <= 9 else "10|[1-9]"
        lines = [f"{name}: ({scores})" for name in self.file.dimensions]
        return line_pattern(lines, self.file.reason)
