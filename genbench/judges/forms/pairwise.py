"""The form `pairwise`: the answer against an opponent's, asked in both orders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from genbench.judges.config import JudgeFile, PairRewards
from genbench.judges.forms.protocol import (
    CheckedOpinion,
    JudgeForm,
    JudgePrompt,
    one_of,
    word_pattern,
)
from genbench.judges.prompt import block, capped, reference_text
from genbench.types import Case, Finding

FIRST, SECOND, TIE = "A", "B", "TIE"
WORDS = (FIRST, SECOND, TIE)
OUTCOMES = ("win", "tie", "loss")
GRADES = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
"""The verdicts of a graded pair, from much better to much worse."""
_STRONG = 3
"""Battles that a strong verdict counts as, which is Arena-Hard's weight."""
_BATTLES = {
    **{"A>>B": (1.0,) * _STRONG, "B<<A": (1.0,) * _STRONG, "A>B": (1.0,), "B<A": (1.0,)},
    **{"A=B": (0.5,), "B=A": (0.5,), "B>A": (0.0,), "A<B": (0.0,)},
    **{"B>>A": (0.0,) * _STRONG, "A<<B": (0.0,) * _STRONG},
}
REWARDS = {"A++": 1.0, "A+": 0.5, "A=B": 0.0, "B+": -0.5, "B++": -1.0}
"""What a verdict is worth to A in WB-Reward (github.com/allenai/WildBench)."""
_PLAIN = {FIRST: FIRST, SECOND: SECOND, TIE: TIE, "C": TIE}
"""MT-Bench's judge says C for a tie."""


def battles(answer_first: str, answer_second: str) -> tuple[float, ...]:
    """Return the battles of a graded pair: 1 each that the answer won, 1/2 for a tie, 0 each that it lost.

    Args:
        answer_first: the verdict of the game in which the answer was A.
        answer_second: the verdict of the game in which it was B.
    """
    return (*_BATTLES[answer_first], *(1.0 - won for won in _BATTLES[answer_second]))


_HEADERS = re.compile(r"^ {0,3}#{1,6}\s", re.M)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
_ITEMS = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s", re.M)
_FENCED = re.compile(r"```[^`]*```")


def sizes(case: Case) -> dict[str, list[Any]]:
    """Return of both answers the characters, and their headers, bold passages and items of lists.

    Marks in code blocks are not counted.
    """
    texts = [case.answer.text.strip(), str(case.reference).strip()]
    style = []
    for text in texts:
        prose = _FENCED.sub("", text)
        style.append([len(found.findall(prose)) for found in (_HEADERS, _BOLD, _ITEMS)])
    return {"chars": [len(text) for text in texts], "style": style}


def reward(verdict: str, lengths: tuple[int, int], tie_if_longer_by: int | None) -> float:
    """Return what a verdict of WB-Reward is worth to A, from -1 to 1.

    Args:
        lengths: of A and of B, in characters.
        tie_if_longer_by: a slight win by a text that is more characters longer than this is worth nothing.
    """
    worth = REWARDS[verdict]
    longer = (lengths[0] - lengths[1]) * (1 if worth > 0 else -1)
    is_slight = abs(worth) == REWARDS["A+"]
    return 0.0 if is_slight and tie_if_longer_by is not None and longer > tie_if_longer_by else worth


def outcome(score: float) -> str:
    """Return win, tie or loss for a score in [0, 1]."""
    return OUTCOMES[0 if score > 0.5 else 2 if score < 0.5 else 1]


class PairwiseForm(JudgeForm):
    """Asks twice which answer is better. A win scores 1, a tie 1/2, a loss 0.

    A verdict that changes with the order is a tie, and the finding says which place was favoured.

    With `rewards` a verdict is worth 1, 1/2, 0, -1/2 or -1, and the score is the mean of both games on 0 to 1
    (WB-Reward). WildBench plays one game, in a random order.

    With `graded` there are five verdicts. A strong one counts as three battles, and the score is the share of
    the battles of both games that were won (Arena-Hard, github.com/lmarena/arena-hard-auto).
    """

    uses: ClassVar[frozenset[str]] = frozenset({"graded", "reply", "rewards"})
    required_fields: ClassVar[frozenset[str]] = frozenset({"question", "first", "second"})
    in_pairs: ClassVar[bool] = True

    def __init__(self, file: JudgeFile) -> None:
        super().__init__(file)
        if file.graded and file.rewards is not None:
            raise ValueError("give either 'graded' or 'rewards'")

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
                self.held_to(one_of(self._words, self.file.reason)),
                {
                    "first": block("first", first),
                    "second": block("second", second),
                    "checklist": block("checklist", reference_text(case.checklist)),
                },
            )
            for first, second in ((answer, opponent), (opponent, answer))
        ]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return A, B or TIE, or one of five grades."""
        pattern = word_pattern(self._words, self.file.reason)
        if self.file.rewards is not None:
            return (self.verdict_of(reply, pattern, REWARDS),)
        if self.file.graded:
            return (self.verdict_of(reply, pattern, _BATTLES),)
        return (_PLAIN[self.verdict_of(reply, pattern, _PLAIN)],)

    @property
    def _words(self) -> tuple[str, ...]:
        """The verdicts that a judge is asked for."""
        if self.file.rewards is not None:
            return tuple(REWARDS)
        return GRADES if self.file.graded else WORDS

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the outcome of both orders."""
        answer_first, answer_second = readings[0][0], readings[1][0]
        if self.file.graded:
            return self._graded(case, answer_first, answer_second)
        if self.file.rewards is not None:
            return self._rewarded(case, self.file.rewards, answer_first, answer_second)
        direct = {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}[answer_first]
        swapped = {FIRST: 0.0, SECOND: 1.0, TIE: 0.5}[answer_second]
        flipped = direct != swapped
        score = 0.5 if flipped else direct
        place = answer_first if answer_first == answer_second else ""
        detail = {
            "flipped": flipped,
            "place_favoured": {FIRST: "first", SECOND: "second"}.get(place),
            **sizes(case),
        }
        return Finding(score, extracted=outcome(score), detail=detail)

    @staticmethod
    def _graded(case: Case, answer_first: str, answer_second: str) -> Finding:
        won = battles(answer_first, answer_second)
        direct, swapped = _BATTLES[answer_first][0], 1.0 - _BATTLES[answer_second][0]
        score = sum(won) / len(won)
        place = {(1.0, 0.0): "first", (0.0, 1.0): "second"}.get((direct, swapped))
        detail = {
            "flipped": direct != swapped,
            "place_favoured": place,
            **sizes(case),
            "battles": list(won),
        }
        return Finding(score, extracted=outcome(score), detail=detail)

    @staticmethod
    def _rewarded(case: Case, rules: PairRewards, answer_first: str, answer_second: str) -> Finding:
        measured = sizes(case)
        ours, theirs = measured["chars"]
        direct = reward(answer_first, (ours, theirs), rules.tie_if_longer_by)
        swapped = -reward(answer_second, (theirs, ours), rules.tie_if_longer_by)
        detail = {
            "flipped": direct * swapped < 0 or (direct == 0) != (swapped == 0),
            "place_favoured": "first" if direct > 0 > swapped else "second" if direct < 0 < swapped else None,
            **measured,
            "rewards": [direct, swapped],
        }
        score = (1 + (direct + swapped) / 2) / 2
        return Finding(score, extracted=outcome(score), detail=detail)

    def vocabulary(self) -> tuple[str, ...]:
        """Return the outcomes in the words of calibration labels."""
        return tuple(word.upper() for word in OUTCOMES)

    def best_reply(self, case: Case) -> str:
        """Return the reply that puts the answer first, as the first of the two prompts shows it."""
        return self.written(self._words[0])

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return WIN, TIE or LOSS of the answer."""
        return (outcome(finding.score).upper(),)

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return the agreement and the share of verdicts that are the same in both orders."""
        same = [not item.finding.detail["flipped"] for item in opinions]
        return super().agreement(opinions, seed) | {
            "order_consistency": sum(same) / len(same) if same else None
        }


def unopposed() -> Finding:
    """Return the finding of a pair whose opponent never answered: a win without a question."""
    return Finding(1.0, extracted="win", detail={"why": "the baseline has no answer"})


_SHARED = ("judge", "replies", "answer_chars")
"""Keys of a detail that are the same for all opponents, or are told once."""


def against_all(findings: Mapping[str, Finding]) -> Finding:
    """Return the finding of one answer against several opponents: the mean, and each opponent as a part."""
    played = [found for found in findings.values() if "flipped" in found.detail]
    score = sum(found.score for found in findings.values()) / len(findings)
    parts = {name: found.score for name, found in findings.items()}
    if not played:
        nothing = next(iter(findings.values())).detail
        return Finding(score, extracted=outcome(score), detail=nothing, parts=parts)
    details = [found.detail for found in played]
    places = {detail.get("place_favoured") for detail in details}

    def mean(sides: Sequence[float]) -> float:
        return sum(sides) / len(sides)

    detail = {
        **details[0],
        "replies": [reply for each in details for reply in each["replies"]],
        "flipped": any(each["flipped"] for each in details),
        "place_favoured": places.pop() if len(places) == 1 else None,
        "chars": [mean([each["chars"][side] for each in details]) for side in (0, 1)],
        "style": [
            [mean(values) for values in zip(*(each["style"][side] for each in details), strict=True)]
            for side in (0, 1)
        ],
        "opponents": {
            name: {key: value for key, value in found.detail.items() if key not in _SHARED}
            for name, found in findings.items()
        },
    }
    for key in ("rewards", "battles"):
        detail.pop(key, None)
    return Finding(score, extracted=outcome(score), detail=detail, parts=parts)
