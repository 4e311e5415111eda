"""The verifier of scored texts: the arithmetic from log-probabilities to a score."""

from __future__ import annotations

from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.stats.likelihood import (
    Rule,
    byte_probability,
    choice_measures,
    text_measures,
    tied,
    values_by_rule,
)
from genbench.types import Case, ChoiceScore, Finding

_VERSION = "1"
_TIME_LIMIT_S = 10.0
_RULES = get_args(Rule)


class LikelihoodVerifier:
    """Scores a problem from the log-probabilities of its choices.

    The score is 1 if the rule picks a right choice. With the rule `greedy` it is 1 if greedy decoding gives
    the text. With `byte_probability` it is the geometric mean of the probability of a document's bytes. The
    detail has all measures, so that no other normalisation needs an engine.

    References are `{"gold": [index, ...], "choices": [text, ...], "delimiter": characters}`.
    """

    def __init__(self, rule: str = "acc") -> None:
        if rule not in _RULES:
            raise ConfigError(f"verifier likelihood: unknown rule '{rule}'{nearest(rule, _RULES)}")
        self._rule = rule

    @property
    def version(self) -> str:
        """Return the version of the arithmetic, with the rule."""
        return f"likelihood {_VERSION} ({self._rule})"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def check(self, reference: Any) -> None:
        """Look at a reference before any text is scored.

        Raises:
            DataError: it names no right choice.
        """
        gold = reference.get("gold") if isinstance(reference, dict) else None
        if not isinstance(gold, list) or not gold:
            raise DataError(f"the reference is {reference!r:.80}, wanted the places of right choices")

    def verify(self, case: Case) -> Finding:
        """Return the score of a problem, the index of the choice that was picked, and all measures."""
        choices, reference = case.answer.choices, case.reference
        if not choices:
            return Finding(0.0, "no_answer", detail={"why": "the completion has no scores of choices"})
        if len(choices) == 1:
            return self._text(choices[0])
        return self._choices(choices, reference["gold"], int(reference.get("delimiter", 1)))

    def _text(self, choice: ChoiceScore) -> Finding:
        detail = {"measures": text_measures(choice), "sums": _sums(choice), **_merged((choice,))}
        if self._rule == "byte_probability":
            return Finding(byte_probability(choice), detail={**detail, "document": 1})
        return Finding(float(choice.greedy), extracted="greedy" if choice.greedy else "other", detail=detail)

    def _choices(self, choices: tuple[ChoiceScore, ...], gold: list[int], delimiter: int) -> Finding:
        values = values_by_rule(choices, delimiter)
        measures = choice_measures(choices, gold, delimiter)
        ranked = values.get(self._rule)
        if self._rule not in measures:
            raise DataError(f"rule {self._rule}: these choices have no such measure; give the task `prior`")
        ranked = values["acc"] if ranked is None else ranked
        detail = {"measures": measures, **({"ties": 1} if tied(ranked) else {}), **_merged(choices)}
        return Finding(measures[self._rule], extracted=str(ranked.index(max(ranked))), detail=detail)

    def close(self) -> None:
        """Release nothing. The verifier opens nothing."""


def _sums(choice: ChoiceScore) -> dict[str, float]:
    """Return what the measures of all problems together are made of."""
    return {
        "logprob": choice.logprob,
        "tokens": choice.tokens,
        "bytes": choice.bytes,
        "words": choice.words,
    }


def _merged(choices: tuple[ChoiceScore, ...]) -> dict[str, int]:
    return {"merged": 1} if any(choice.merged for choice in choices) else {}
