"""The form `label`: one of several words, each with a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.errors import nearest
from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import JudgeForm, JudgePrompt, one_of, word_pattern
from genbench.types import Case, Finding


class LabelForm(JudgeForm):
    """Asks for one label. Its score is the sample's. A label with score 0 may name a status."""

    uses: ClassVar[frozenset[str]] = frozenset({"labels", "reply"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if len(file.labels) < 2:
            raise ValueError("form 'label' needs two 'labels' or more, each with its score")
        for label in file.statuses:
            if label not in file.labels:
                raise ValueError(f"statuses: unknown label '{label}'{nearest(label, file.labels)}")

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
        return Finding(self.file.labels[label], self.file.statuses.get(label, "wrong"), extracted=label)

    def vocabulary(self) -> tuple[str, ...]:
        """Return the labels in the order of the judge file."""
        return tuple(self.file.labels)

    def best_reply(self, case: Case) -> str:
        """Return the label with the highest score."""
        return self.written(max(self.file.labels, key=lambda label: self.file.labels[label]))
