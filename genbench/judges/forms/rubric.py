"""The form `rubric`: one score for each of several dimensions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from genbench.errors import nearest
from genbench.judges.config import FreeReply, JudgeFile
from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    UnreadableReplyError,
    kappa_record,
    line_pattern,
    matched,
)
from genbench.judges.prompt import block, capped
from genbench.stats.agreement import clustered_kappa
from genbench.types import Case, Finding

_NUMBER = re.compile(r"(?:0|[1-9]\d*)(?:\.\d*)?")
"""A score. Python, which MT-Bench's reader asks, refuses a zero before it."""


class RubricForm(JudgeForm):
    """Asks for a score from 1 to `points` in each dimension. The sample's score is their mean, on 0 to 1.

    A dimension among `vetoes` is 0 or 1, and 1 makes the mean 0 (StrongREJECT's "refused"). With `each` every
    turn of a conversation is a question of its own, and the score is the mean of the turns (MT-Bench). With
    `better: lower` the dimensions measure what is not wanted, and the score is 1 minus their mean.
    """

    uses: ClassVar[frozenset[str]] = frozenset({"dimensions", "each", "reply", "vetoes"})
    required_fields: ClassVar[frozenset[str]] = frozenset({"answer", "dimensions"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if not file.dimensions:
            raise ValueError("'dimensions' belong to form 'rubric', which needs at least one")
        for name in file.vetoes:
            if name not in file.dimensions:
                raise ValueError(f"vetoes: unknown dimension '{name}'{nearest(name, file.dimensions)}")
        if len(file.vetoes) == len(file.dimensions):
            raise ValueError("vetoes: every dimension is one, so nothing is left to score")
        if file.reply is not None and len(file.dimensions) > 1 and len(self._sources) != len(file.dimensions):
            raise ValueError(
                f"the rubric has {len(file.dimensions)} 'dimensions': give reply.patterns, one for each of "
                "them in their order"
            )

    @property
    def _sources(self) -> tuple[str, ...]:
        """The patterns of a reply in free form."""
        return self.file.reply.patterns if self.file.reply is not None else ()

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt, or with `each` one prompt for each turn of the conversation."""
        reply = self.held_to({"regex": self._pattern()})
        if not self.file.each:
            return [JudgePrompt(reply)]
        asked = case.asked or (case.question,)
        limit = self.file.max_answer_chars
        return [
            JudgePrompt(
                reply,
                {
                    "question": block("question", question),
                    "answer": block("answer", capped(answer.text.strip(), limit)),
                },
            )
            for question, answer in zip(asked, case.answers, strict=True)
        ]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the scores in the order of the dimensions. Those of a reply in free form may be halves."""
        if self.file.reply is None:
            return matched(self._pattern(), reply)
        if len(self.file.dimensions) == 1:
            return (self._score(self.file.reply, reply, next(iter(self.file.dimensions))),)
        return tuple(
            self._score(self.file.reply.model_copy(update={"patterns": (source,)}), reply, name)
            for source, name in zip(self._sources, self.file.dimensions, strict=True)
        )

    def _score(self, reader: FreeReply, reply: str, dimension: str) -> str:
        """Return the score of one dimension in a reply in free form.

        Raises:
            UnreadableReplyError: there is none, or it is out of range.
        """
        low, high = self._range(dimension)
        word = reader.verdict(reply) or ""
        if not _NUMBER.fullmatch(word) or not low <= float(word) <= high:
            wanted = f"one score from {low} to {high} for {dimension}"
            raise UnreadableReplyError(f"the reply has not {wanted}: {reply[-200:]!r}")
        return word

    def _range(self, dimension: str) -> tuple[int, int]:
        """Return the lowest and the highest score of a dimension."""
        return (0, 1) if dimension in self.file.vetoes else (1, self.file.points)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the mean of the turns, and each dimension as a part, or each turn if there are several."""
        turns = [self._parts(reading) for reading in readings]
        scores = [self._turn_score(parts) for parts in turns]
        parts = turns[0]
        if len(turns) > 1:
            parts = {f"turn_{number}": score for number, score in enumerate(scores, start=1)}
        return Finding(sum(scores) / len(scores), parts=parts)

    def _parts(self, reading: tuple[str, ...]) -> dict[str, float]:
        """Return each dimension on 0 to 1."""
        found = {}
        for name, score in zip(self.file.dimensions, reading, strict=True):
            low, high = self._range(name)
            found[name] = (float(score) - low) / (high - low)
        return found

    def _turn_score(self, parts: Mapping[str, float]) -> float:
        rated = [value for name, value in parts.items() if name not in self.file.vetoes]
        mean = 0.0 if any(parts[name] for name in self.file.vetoes) else sum(rated) / len(rated)
        return 1.0 - mean if self.file.better == "lower" else mean

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return the scores of the last turn as whole points, which labels have."""
        return tuple(str(round(float(score))) for score in readings[-1])

    def vocabulary(self) -> tuple[str, ...]:
        """Return the scores from low to high."""
        return tuple(str(score) for score in range(0 if self.file.vetoes else 1, self.file.points + 1))

    def best_reply(self, case: Case) -> str:
        """Return the reply with the highest score: no veto, and the best of each other dimension."""
        lower = self.file.better == "lower"
        top = 1 if lower else self.file.points
        best = {name: int(lower) if name in self.file.vetoes else top for name in self.file.dimensions}
        if self.file.reply is not None and len(best) == 1:
            return self.written(str(top))
        if self.file.reply is not None:
            lines = enumerate(best.values(), start=1)
            return "\n".join(self.written(str(score)).replace("{place}", str(at)) for at, score in lines)
        return "\n".join(f"{name}: {score}" for name, score in best.items())

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
        lines = [
            f"{name}: ({'[01]' if name in self.file.vetoes else scores})" for name in self.file.dimensions
        ]
        return line_pattern(lines, self.file.reason)
