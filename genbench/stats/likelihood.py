"""What log-probabilities of given texts say of one problem: accuracies by normalisation, bits, margins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from genbench.types import ChoiceScore

Rule = Literal[
    "acc", "acc_norm", "acc_char", "acc_token", "acc_byte", "acc_pmi", "greedy", "byte_probability"
]
"""What makes the score of a problem."""

ACCURACIES = ("acc", "acc_norm", "acc_char", "acc_token", "acc_byte", "acc_pmi")


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that is computed from log-probabilities. `is_share` says that its values are in [0, 1]."""

    meaning: str
    is_share: bool = False
    lower_is_better: bool = False


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "acc": Measure("share of problems whose right choice has the largest sum", is_share=True),
        "acc_norm": Measure("the same with the sum divided by the choice's characters", is_share=True),
        "acc_char": Measure("the same by characters, the space before the choice included", is_share=True),
        "acc_token": Measure("the same by tokens", is_share=True),
        "acc_byte": Measure("the same by UTF-8 bytes", is_share=True),
        "acc_pmi": Measure("the same less the sum without the question", is_share=True),
        "prob_gold": Measure("probability of the right choice among the choices", is_share=True),
        "bpb_gold": Measure("bits per byte of the right choice", lower_is_better=True),
        "margin": Measure("nats per byte by which the right choice leads the best other one"),
        "greedy": Measure("share of problems whose right text is what greedy decoding gives", is_share=True),
        "perplexity": Measure("exp of the mean negative sum of a problem", lower_is_better=True),
        "bits_per_byte": Measure("bits of all documents by their bytes", lower_is_better=True),
        "byte_perplexity": Measure("exp of nats by bytes of all documents", lower_is_better=True),
        "word_perplexity": Measure("exp of nats by words of all documents", lower_is_better=True),
        "token_perplexity": Measure("exp of nats by tokens of all documents", lower_is_better=True),
    }
)
"""All measures by name, in the order of tables."""

DOCUMENT_RATIOS: Mapping[str, str] = MappingProxyType(
    {
        "bits_per_byte": "bytes",
        "byte_perplexity": "bytes",
        "word_perplexity": "words",
        "token_perplexity": "tokens",
    }
)
"""Measures of documents that are a ratio of sums, with what the sum of nats is divided by."""


def ratio_value(name: str, nats: float) -> float:
    """Return a ratio measure from nats per unit: bits, or a perplexity."""
    return nats / math.log(2) if name == "bits_per_byte" else _exp(nats)


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # beyond that a float overflows


def best(values: Sequence[float]) -> int:
    """Return the index of the largest value. The first one counts if several are equal."""
    return max(range(len(values)), key=values.__getitem__)


def values_by_rule(choices: Sequence[ChoiceScore], delimiter: int) -> dict[str, list[float]]:
    """Return the values that each accuracy compares, by its name.

    Args:
        delimiter: characters between the context and a choice, which only `acc_char` counts.
    """
    sums = [choice.logprob for choice in choices]
    found = {
        "acc": sums,
        "acc_norm": [choice.logprob / max(1, choice.chars) for choice in choices],
        "acc_char": [choice.logprob / max(1, choice.chars + delimiter) for choice in choices],
        "acc_token": [choice.logprob / max(1, choice.tokens) for choice in choices],
        "acc_byte": [choice.logprob / max(1, choice.bytes) for choice in choices],
    }
    priors = [choice.prior for choice in choices if choice.prior is not None]
    if len(priors) == len(choices):
        found["acc_pmi"] = [own - prior for own, prior in zip(sums, priors, strict=True)]
    return found


def choice_measures(
    choices: Sequence[ChoiceScore], gold: Sequence[int], delimiter: int = 1
) -> dict[str, float]:
    """Return the measures of one problem with two or more choices.

    With several right choices the best of them counts.

    Args:
        gold: the indices of the right choices.
    """
    values = values_by_rule(choices, delimiter)
    found = {name: float(best(own) in gold) for name, own in values.items()}
    sums, per_byte = values["acc"], values["acc_byte"]
    top = max(sums)
    weights = [math.exp(value - top) for value in sums]
    right = max(gold, key=sums.__getitem__)
    others = [value for place, value in enumerate(per_byte) if place not in gold]
    found["prob_gold"] = sum(weights[place] for place in gold) / sum(weights)
    found["bpb_gold"] = bits_per_byte(choices[right])
    if others:
        found["margin"] = max(per_byte[place] for place in gold) - max(others)
    found["greedy"] = float(any(choices[place].greedy for place in gold))
    return found


def bits_per_byte(choice: ChoiceScore) -> float:
    """Return the bits per UTF-8 byte of one text."""
    return -choice.logprob / (math.log(2) * max(1, choice.bytes))


def text_measures(choice: ChoiceScore) -> dict[str, float]:
    """Return the measures of one problem with a single text, such as the last word of a passage."""
    return {"greedy": float(choice.greedy), "bpb_gold": bits_per_byte(choice)}


def byte_probability(choice: ChoiceScore) -> float:
    """Return the geometric mean of the probability of a text's bytes, in [0, 1]."""
    return math.exp(choice.logprob / max(1, choice.bytes))


def tied(values: Sequence[float]) -> bool:
    """Return whether several choices share the largest value exactly."""
    return list(values).count(max(values)) > 1
