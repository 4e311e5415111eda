"""The counts of one answer from which metrics of a whole corpus are made. sacrebleu counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sacrebleu.metrics import BLEU, CHRF, TER

COUNTED = ("bleu", "chrf", "chrf++", "ter")
"""Corpus metrics of texts, with the defaults of sacrebleu's corpus_bleu, corpus_chrf and corpus_ter."""


@cache
def _counter(metric: str) -> Any:
    if metric == "bleu":
        return BLEU()
    return TER() if metric == "ter" else CHRF(word_order=2 if metric == "chrf++" else 0)


def counts_of(
    metrics: Sequence[str], answer: str, golds: Sequence[str]
) -> tuple[dict[str, list[float]], float]:
    """Return the counts of each metric, and the first metric of this answer alone as a score in [0, 1].

    TER, which is better if it is lower, scores as 1 - TER, and 0 above 1.
    """
    counts: dict[str, list[float]] = {}
    for metric in metrics:
        # The public functions return scores only. These two methods are the same in sacrebleu 2.0 to 2.6.
        found = _counter(metric)._extract_corpus_statistics([answer], [[gold] for gold in golds])
        counts[metric] = [float(value) for value in found[0]]
    first = metrics[0]
    lone = BLEU(effective_order=True) if first == "bleu" else _counter(first)
    value = float(lone._compute_score_from_stats([_whole(count) for count in counts[first]]).score) / 100
    return counts, min(1.0, max(0.0, 1 - value if first == "ter" else value))


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value
