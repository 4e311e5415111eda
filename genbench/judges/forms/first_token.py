"""The form `first_token`: the verdict is the first token of a reply that is never written."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.errors import nearest
from genbench.judges.config import FirstToken, JudgeFile
from genbench.judges.forms.label import LabelForm
from genbench.judges.forms.protocol import CheckedOpinion, JudgePrompt, UnreadableReplyError, kappa_record
from genbench.judges.prompt import calm, capped, reference_text
from genbench.stats.agreement import clustered_kappa
from genbench.types import Case, Finding


class FirstTokenForm(LabelForm):
    """Reads how likely each label is as the first token after the prompt. Nothing is written.

    The prompt is sent as it is, without a chat template, because classifiers such as HarmBench's and Llama
    Guard are trained on one text. The engine answers with the log-probability of the token of each label.
    The share of a label is its probability over that of all labels.

    With `score: label` the verdict is the likeliest label, or the first of two labels if its share reaches
    `threshold`. With `score: expected` the score is the mean of the labels' scores, weighted by their shares.
    """

    uses: ClassVar[frozenset[str]] = frozenset({"labels", "labels_by_reference", "first_token"})

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if file.first_token is None:
            raise ValueError("form 'first_token' needs 'first_token: {tokens: {LABEL: TEXT, …}}'")
        self._asked: FirstToken = file.first_token
        tokens = self._asked.tokens
        for label in tokens:
            if label not in file.label_names:
                raise ValueError(
                    f"first_token.tokens: unknown label '{label}'{nearest(label, file.label_names)}"
                )
        if lacking := [label for label in file.label_names if label not in tokens]:
            raise ValueError(f"first_token.tokens: has no text for {', '.join(lacking)}")
        if self._asked.threshold != FirstToken.model_fields["threshold"].default and len(tokens) != 2:
            raise ValueError(f"first_token.threshold is for two labels, and there are {len(tokens)}")
        if file.reason:
            raise ValueError("form 'first_token' writes nothing; remove 'reason'")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt. The texts in it stand without marks, and their control tokens are broken."""
        fields = {
            "question": case.question,
            "reference": reference_text(case.reference),
            "answer": capped(case.answer.text.strip(), self.file.max_answer_chars),
        }
        texts = [self._asked.tokens[label] for label in self.vocabulary()]
        return [JudgePrompt({"first_token": texts}, {name: calm(text) for name, text in fields.items()})]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the log-probability of each label as a text, `-inf` if the engine names none.

        Raises:
            UnreadableReplyError: the labels together are less likely than `least_mass`.
        """
        try:
            found = json.loads(reply)
            values = [found[self._asked.tokens[label]] for label in self.vocabulary()]
            logprobs = [-math.inf if value is None else float(value) for value in values]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableReplyError(f"the reply has no log-probabilities: {reply[:200]!r}") from error
        mass = sum(map(math.exp, logprobs))
        if not mass > 0 or mass < self._asked.least_mass:
            raise UnreadableReplyError(
                f"{', '.join(map(repr, self._asked.tokens.values()))} have together the probability "
                f"{mass:.3g} as the first token, wanted {self._asked.least_mass:g} or more: is the "
                "prompt the text that the classifier was trained on?"
            )
        return tuple(map(repr, logprobs))

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the score, with the log-probability and the share of each label in the detail."""
        scores, shares = self._scores(case.reference), self._shares(readings[0])
        expected = min(1.0, max(0.0, sum(shares[label] * scores[label] for label in shares)))
        label = self._verdict(case.reference, readings[0])
        detail = {
            "logprobs": {
                name: None if text == "-inf" else float(text)
                for name, text in zip(shares, readings[0], strict=True)
            },
            "shares": shares,
        }
        score = expected if self._asked.score == "expected" else scores[label]
        return Finding(score, self.file.statuses.get(label, "wrong"), extracted=label, detail=detail)

    def _shares(self, reading: tuple[str, ...]) -> dict[str, float]:
        """Return the share of each label."""
        likely = [math.exp(float(text)) for text in reading]
        return {label: p / sum(likely) for label, p in zip(self.vocabulary(), likely, strict=True)}

    def _verdict(self, reference: Any, reading: tuple[str, ...]) -> str:
        """Return the label that a reading means: for an expected score, the one whose score is nearest."""
        shares, scores = self._shares(reading), self._scores(reference)
        if self._asked.score == "expected":
            expected = sum(shares[label] * scores[label] for label in shares)
            return min(shares, key=lambda label: abs(scores[label] - expected))
        if len(shares) > 2:
            return max(shares, key=lambda label: shares[label])
        first, second = shares
        return first if shares[first] >= self._asked.threshold else second

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return the label."""
        return (str(finding.extracted),)

    def best_reply(self, case: Case) -> str:
        """Return the token of the label with the highest score, without blanks around it."""
        scores = self._scores(case.reference)
        return self._asked.tokens[max(scores, key=lambda label: scores[label])].strip()

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return kappa. If labels are points on a scale, a near miss counts less than a far one."""
        if self._asked.score == "label" or len(self.vocabulary()) == 2 or not opinions:
            return super().agreement(opinions, seed)
        people, judge = [item.expected for item in opinions], [item.found for item in opinions]
        kappa = clustered_kappa(people, judge, ordered=self.vocabulary(), seed=seed)
        return kappa_record(kappa) | {"weights": "quadratic"}
