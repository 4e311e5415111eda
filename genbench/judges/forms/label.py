"""The form `label`: one of several words, each with a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from genbench.errors import nearest
from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import JudgeForm, JudgePrompt, one_of, word_pattern
from genbench.types import Case, Finding


class LabelForm(JudgeForm):
    """Asks for one label. Its score is the sample's. A label with score 0 may name a status.

    With `labels_by_reference` the score of a label depends on the reference: a refusal is right where it is
    wanted.
    """

    uses: ClassVar[frozenset[str]] = frozenset({"labels", "labels_by_reference", "reply"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if file.labels and file.labels_by_reference:
            raise ValueError("give either 'labels' or 'labels_by_reference'")
        if len(file.label_names) < 2:
            raise ValueError("form 'label' needs two 'labels' or more, each with its score")
        for label in file.statuses:
            if label not in file.label_names:
                raise ValueError(f"statuses: unknown label '{label}'{nearest(label, file.label_names)}")

    def check_reference(self, reference: Any) -> None:
        """Refuse a reference for which the labels have no scores.

        Raises:
            ValueError: says which references there are.
        """
        known = self.file.labels_by_reference
        if known and reference not in known:
            raise ValueError(f"has scores for the references {', '.join(known)}; found {reference!r:.80}")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt."""
        return [JudgePrompt(self.held_to(one_of(self.vocabulary(), self.file.reason)))]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the label."""
        labels = self.vocabulary()
        return (self.verdict_of(reply, word_pattern(labels, self.file.reason), labels),)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the label's score and status."""
        label = readings[0][0]
        score = self._scores(case.reference)[label]
        return Finding(score, self.file.statuses.get(label, "wrong"), extracted=label)

    def _scores(self, reference: Any) -> Mapping[str, float]:
        return self.file.labels or self.file.labels_by_reference[reference]

    def vocabulary(self) -> tuple[str, ...]:
        """Return the labels in the order of the judge file."""
        return self.file.label_names

    def best_reply(self, case: Case) -> str:
        """Return the label with the highest score."""
        scores = self._scores(case.reference)
        return self.written(max(scores, key=lambda label: scores[label]))
