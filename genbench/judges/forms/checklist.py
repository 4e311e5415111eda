"""The form `checklist`: yes/no questions about the answer, a list in the task's reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    kappa_record,
    line_pattern,
    matched,
)
from genbench.judges.prompt import block, numbered
from genbench.stats.agreement import clustered_kappa
from genbench.types import Case, Finding


class ChecklistForm(JudgeForm):
    """Asks for YES or NO to each question. The sample's score is the share of YES."""

    uses: ClassVar[frozenset[str]] = frozenset()
    required_fields: ClassVar[frozenset[str]] = frozenset({"answer", "checklist"})

    def check_reference(self, reference: Any) -> None:
        """Refuse a reference that is not a list of questions.

        Raises:
            ValueError: says what was found.
        """
        texts = isinstance(reference, list) and all(isinstance(item, str) for item in reference)
        if not texts or not reference:
            raise ValueError(f"wants a list of yes/no questions as reference, found {reference!r}")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt with the numbered questions."""
        fields = {"checklist": block("checklist", numbered(case.reference))}
        return [JudgePrompt({"regex": self._pattern(case.reference)}, fields)]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return YES or NO for each question."""
        return matched(self._pattern(reference), reply)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the share of YES, and each question as a part, named by its number from 1."""
        parts = {str(number): float(word == "YES") for number, word in enumerate(readings[0], start=1)}
        return Finding(sum(parts.values()) / len(parts), parts=parts)

    def vocabulary(self) -> tuple[str, ...]:
        """Return YES and NO."""
        return ("YES", "NO")

    def best_reply(self, case: Case) -> str:
        """Return YES to every question."""
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

    def _pattern(self, questions: Sequence[str]) -> str:
        lines = [f"{number}: (YES|NO)" for number in range(1, len(questions) + 1)]
        return line_pattern(lines, self.file.reason)
