"""The form `checklist`: yes/no questions about the answer, a list in the task's reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    kappa_record,
    line_pattern,
    matched,
    one_of,
    word_pattern,
)
from genbench.judges.prompt import block, numbered
from genbench.stats.agreement import clustered_kappa
from genbench.types import Case, Finding

_WORDS = ("YES", "NO")
_MEANT = {"YES": "YES", "NO": "NO", "true": "YES", "false": "NO"}
"""What a verdict on one question can be called."""
_BOOLEANS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Item:
    """One question about an answer. Points below zero are for what an answer should not do."""

    text: str
    points: float | None = None

    @classmethod
    def of(cls, value: Any) -> Item:
        """Return an item of a reference: a text, or an object with `criterion` and `points`.

        Raises:
            ValueError: says what was found.
        """
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping) and isinstance(text := value.get("criterion"), str):
            points = value.get("points")
            if isinstance(points, int | float) and not isinstance(points, bool):
                return cls(text, float(points))
        raise ValueError(
            "wants a list of yes/no questions as reference, each a text or an object with 'criterion' and "
            f"'points'; found {value!r:.200}"
        )

    @property
    def weight(self) -> float:
        """The points. A text counts one."""
        return 1.0 if self.points is None else self.points

    @property
    def shown(self) -> str:
        """The item as the judge sees it, with its points as HealthBench writes them."""
        return self.text if self.points is None else f"[{self.points:g}] {self.text}"


def weighted_share(points: Sequence[float], met: Sequence[bool]) -> float:
    """Return the points that were met over the points that can be had. Below 0 if more were lost than won.

    Source: HealthBench, arXiv 2505.08775, and github.com/openai/simple-evals (healthbench_eval.py).
    """
    got = sum(value for value, is_met in zip(points, met, strict=True) if is_met)
    return got / sum(value for value in points if value > 0)


class ChecklistForm(JudgeForm):
    """Asks for YES or NO to each question. The sample's score is the share of YES.

    Questions may have points. The share of points can be below 0. The score is 0 then, and the detail has it.
    """

    uses: ClassVar[frozenset[str]] = frozenset({"each", "reply"})
    required_fields: ClassVar[frozenset[str]] = frozenset({"answer", "checklist"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if file.reply is not None and not file.each:
            raise ValueError("'reply' finds one verdict: set 'each: true', and each question is asked alone")

    def check_reference(self, reference: Any) -> None:
        """Refuse a reference that is not a list of questions, or that no answer can win points by.

        Raises:
            ValueError: says what was found.
        """
        if not isinstance(reference, list) or not reference:
            raise ValueError(f"wants a list of yes/no questions as reference, found {reference!r}")
        if not any(Item.of(value).weight > 0 for value in reference):
            raise ValueError(f"wants an item with points above 0, found {reference!r:.200}")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt with the numbered questions, or with `each` one prompt for each of them."""
        items = [Item.of(value) for value in case.reference]
        if self.file.each:
            reply = self.held_to(one_of(_WORDS, self.file.reason))
            return [JudgePrompt(reply, {"checklist": block("item", item.shown)}) for item in items]
        fields = {"checklist": block("checklist", numbered([item.shown for item in items]))}
        return [JudgePrompt({"regex": self._pattern(case.reference)}, fields)]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return YES or NO for each question that was asked."""
        if not self.file.each:
            return matched(self._pattern(reference), reply)
        pattern = word_pattern(_WORDS, self.file.reason)
        return (_MEANT[self.verdict_of(reply, pattern, _MEANT, _BOOLEANS)],)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the share of YES, and each question as a part, named by its number from 1."""
        met = [word == "YES" for reading in readings for word in reading]
        items = [Item.of(value) for value in case.reference]
        parts = {str(number): float(value) for number, value in enumerate(met, start=1)}
        share = weighted_share([item.weight for item in items], met)
        detail = {} if all(item.points is None for item in items) else {"share_of_points": share}
        return Finding(min(1.0, max(0.0, share)), parts=parts, detail=detail)

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return YES or NO for each question."""
        return tuple(word for reading in readings for word in reading)

    def vocabulary(self) -> tuple[str, ...]:
        """Return YES and NO."""
        return _WORDS

    def best_reply(self, case: Case) -> str:
        """Return YES to every question, or to the one that is asked."""
        if self.file.each:
            return self.written("YES")
        return "\n".join(f"{number}: YES" for number in range(1, len(case.reference) + 1))

    def expected_words(self, label: Any, reference: Any) -> tuple[str, ...]:
        """Return the words of a label that is a list with one word for each question.

        Raises:
            ValueError: not as many words as questions.
        """
        if not isinstance(label, list) or not isinstance(reference, list) or len(label) != len(reference):
            raise ValueError(f"wanted as many labels as the reference has questions, found {label!r}")
        return tuple(str(word) for word in label)

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return kappa over all questions. The questions of one case are resampled together."""
        if not opinions:
            return {}
        people, judge = [item.expected for item in opinions], [item.found for item in opinions]
        return kappa_record(clustered_kappa(people, judge, seed=seed))

    def _pattern(self, questions: Sequence[Any]) -> str:
        lines = [f"{number}: (YES|NO)" for number in range(1, len(questions) + 1)]
        return line_pattern(lines, self.file.reason)
