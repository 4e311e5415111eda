"""The verifier of scored texts: the arithmetic from log-probabilities to a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.stats.corpus_metrics import counts_of_choice
from genbench.stats.likelihood import (
    Rule,
    best,
    byte_probability,
    choice_measures,
    text_measures,
    tied,
    values_by_rule,
)
from genbench.types import Case, ChoiceScore, Finding
from genbench.verifiers.base import BaseVerifier

_RULES = get_args(Rule)
_CORPUS = ("f1", "mcc")


class LikelihoodVerifier(BaseVerifier):
    """Scores a problem from the log-probabilities of its choices.

    The score is 1 if the rule picks a right choice. With the rule `greedy` it is 1 if greedy decoding gives
    the text. With `byte_probability` it is the geometric mean of the probability of a document's bytes. The
    detail has all measures, so that no other normalisation needs an engine.

    Args:
        rule: what makes the score.
        corpus: metrics of the whole corpus whose counts are kept: f1 (of choice 1 against choice 0), mcc.
            They are of the choice with the largest sum.
        classes: the largest number of choices of a problem, for mcc.

    References are `{"gold": [index, ...], "choices": [text, ...], "delimiter": characters}`. A single text
    that follows a context, and is not a document, has `follows: true`.
    """

    name = "likelihood"
    rules = "1"
    limit_s = 10.0

    def __init__(self, rule: str = "acc", *, corpus: Sequence[str] = (), classes: int = 2) -> None:
        if rule not in _RULES:
            raise ConfigError(f"verifier likelihood: unknown rule '{rule}'{nearest(rule, _RULES)}")
        unknown = [name for name in corpus if name not in _CORPUS]
        if unknown:
            raise ConfigError(
                f"verifier likelihood: unknown corpus metric '{unknown[0]}'{nearest(unknown[0], _CORPUS)}"
            )
        self._rule, self._corpus, self._classes = rule, tuple(corpus), classes

    @property
    def version(self) -> str:
        """Return the version of the arithmetic, with the rule."""
        return f"likelihood {self.rules} ({self._rule})"

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
            detail = {"why": "the completion has no scores of choices", **self._counts(reference, None)}
            return Finding(0.0, "no_answer", detail=detail)
        if len(choices) == 1:
            return self._text(choices[0], is_document=not reference.get("follows"))
        found = self._choices(choices, reference["gold"], int(reference.get("delimiter", 1)))
        picked = best([choice.logprob for choice in choices])
        return replace(found, detail={**found.detail, **self._counts(reference, picked)})

    def _counts(self, reference: Any, picked: int | None) -> dict[str, Any]:
        """Return the counts of the corpus metrics, or nothing if there are no such metrics."""
        if not self._corpus:
            return {}
        return {"corpus": counts_of_choice(self._corpus, reference["gold"][0], picked, self._classes)}

    def _text(self, choice: ChoiceScore, is_document: bool) -> Finding:
        detail = {"measures": text_measures(choice), "sums": _sums(choice), **_merged((choice,))}
        if self._rule == "byte_probability":
            return Finding(byte_probability(choice), detail=detail | ({"document": 1} if is_document else {}))
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
