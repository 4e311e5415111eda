"""The form `pairwise`: the answer against an opponent's, asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    matched,
    one_of,
    word_pattern,
)
from genbench.judges.prompt import block, capped
from genbench.types import Case, Finding

FIRST, SECOND, TIE = "A", "B", "TIE"
WORDS = (FIRST, SECOND, TIE)
OUTCOMES = {1.0: "win", 0.5: "tie", 0.0: "loss"}


class PairwiseForm(JudgeForm):
    """Asks twice which answer is better. A win scores 1, a tie 1/2, a loss 0.

    A verdict that changes with the order is a tie, and the finding says which place was favoured.
    """

    uses: ClassVar[frozenset[str]] = frozenset()
    required_fields: ClassVar[frozenset[str]] = frozenset({"question", "first", "second"})
    in_pairs: ClassVar[bool] = True

    def check_reference(self, reference: Any) -> None:
        """Refuse a reference that is not a text.

        Raises:
            ValueError: says what was found.
        """
        if not isinstance(reference, str):
            raise ValueError(f"wants the baseline's answer as reference, found {reference!r}")

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return two prompts: the answer first, then the opponent's first."""
        limit = self.file.max_answer_chars
        answer = capped(case.answer.text.strip(), limit)
        opponent = capped(str(case.reference).strip(), limit)
        return [
            JudgePrompt(
                one_of(WORDS, self.file.reason),
                {"first": block("first", first), "second": block("second", second)},
            )
            for first, second in ((answer, opponent), (opponent, answer))
        ]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return A, B or TIE."""
        return matched(word_pattern(WORDS, self.file.reason), reply)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the outcome of both orders."""
        answer_first, answer_second = readings[0][0], readings[1][0]
        direct = {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}[answer_first]
        swapped = {FIRST: 0.0, SECOND: 1.0, TIE: 0.5}[answer_second]
        flipped = direct != swapped
        score = 0.5 if flipped else direct
        place = answer_first if answer_first == answer_second else ""
        detail = {
            "flipped": flipped,
            "place_favoured": {FIRST: "first", SECOND: "second"}.get(place),
            "chars": [len(case.answer.text.strip()), len(str(case.reference).strip())],
        }
        return Finding(score, extracted=OUTCOMES[score], detail=detail)

    def vocabulary(self) -> tuple[str, ...]:
        """Return the outcomes in the words of calibration labels."""
        return tuple(word.upper() for word in OUTCOMES.values())

    def best_reply(self, case: Case) -> str:
        """Return the reply that puts the answer first, as the first of the two prompts shows it."""
        return FIRST

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return WIN, TIE or LOSS of the answer."""
        return (OUTCOMES[finding.score].upper(),)

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return the agreement and the share of verdicts that are the same in both orders."""
        same = [not item.finding.detail["flipped"] for item in opinions]
        return super().agreement(opinions, seed) | {
            "order_consistency": sum(same) / len(same) if same else None
        }


def unopposed() -> Finding:
    """Return the finding of a pair whose opponent never answered: a win without a question."""
    return Finding(1.0, extracted="win", detail={"why": "the baseline has no answer"})
