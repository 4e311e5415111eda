"""Corpus metrics from counts, against sacrebleu and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu

from genbench.errors import InputError
from genbench.stats.corpus_metrics import METRICS, corpus_difference, corpus_value, f1, mcc
from genbench.verifiers.foreign.corpus_counts import COUNTED, counts_of
from tests.table import each_row

ANSWERS = ["the cat sat on the mat today", "a dog", "", "it rains in Spain, mostly", "no match whatever"]
GOLDS = ["the cat sat on a mat today", "the dog", "one two", "it rains in Spain mostly.", "something else"]
THEIRS = {
    "bleu": sacrebleu.corpus_bleu,
    "chrf": sacrebleu.corpus_chrf,
    "chrf++": lambda answers, golds: sacrebleu.corpus_chrf(answers, golds, word_order=2),
    "ter": sacrebleu.corpus_ter,
}


def counts(metric: str, answers: list[str] = ANSWERS) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([counts_of([metric], a, [g])[0][metric] for a, g in zip(answers, GOLDS, strict=True)])


@each_row("metric", COUNTED)
@each_row("kept", [slice(0, 5), slice(0, 1), slice(1, 2), slice(2, 3), slice(4, 5)])
def test_the_value_is_that_of_sacrebleu(metric: str, kept: slice) -> None:
    found = METRICS[metric](counts(metric)[kept].sum(axis=0, keepdims=True))[0]
    wanted = THEIRS[metric](ANSWERS[kept], [GOLDS[kept]]).score / 100
    assert found == pytest.approx(wanted, abs=1e-12)


def test_f1_and_correlation_of_known_tables() -> None:
    assert f1(np.array([[3.0, 1.0, 2.0], [0, 0, 0]])).tolist() == [pytest.approx(6 / 9), 0.0]
    table = np.array([[20.0, 5.0, 10.0, 15.0]])  # gold 0: 20 right, 5 as 1; gold 1: 10 as 0, 15 right
    wanted = (20 * 15 - 5 * 10) / np.sqrt(25 * 25 * 30 * 20)
    assert mcc(table)[0] == pytest.approx(wanted)


def test_the_interval_contains_the_value_and_repeats_with_its_seed() -> None:
    many = np.tile(counts("chrf"), (20, 1))
    first, again = (corpus_value("chrf", many, seed=3) for _ in range(2))
    assert first == again
    assert first.ci is not None
    assert first.ci[0] < first.value < first.ci[1]


def test_a_difference_is_paired_by_problem() -> None:
    base = np.tile(counts("bleu"), (20, 1))
    same = corpus_difference("bleu", base, base, seed=1)
    assert (same.value, same.ci) == (0.0, (0.0, 0.0))
    better = np.tile(counts("bleu", GOLDS), (20, 1))
    found = corpus_difference("bleu", base, better, seed=1)
    assert found.ci is not None
    assert found.value > 0.5 and found.ci[0] > 0.3


def test_groups_are_resampled_together() -> None:
    many = np.tile(counts("chrf"), (8, 1))
    groups = [str(row % 5) for row in range(40)]
    wide, narrow = corpus_value("chrf", many, seed=1, groups=groups).ci, corpus_value("chrf", many, seed=1).ci
    assert wide is not None and narrow is not None
    assert wide[1] - wide[0] > narrow[1] - narrow[0]


@each_row("metric, row, value, least", [("f1", [1, 0, 0], 1.0, 0.9), ("mcc", [1, 0, 0, 0], 0.0, -0.1)])
def test_a_metric_without_spread_is_not_certain(
    metric: str, row: list[float], value: float, least: float
) -> None:
    found = corpus_value(metric, np.tile(np.array(row, dtype=float), (40, 1)), seed=1)
    assert found.value == value and found.ci is not None
    assert found.ci[0] == pytest.approx(least, abs=0.02) and found.ci[1] == pytest.approx(
        1.0 if value else 0.09, abs=0.01
    )


def test_one_cluster_has_no_interval_and_unknown_metrics_are_refused() -> None:
    assert corpus_value("ter", counts("ter")[:1], seed=1).ci is None
    with pytest.raises(InputError, match="not a corpus metric"):
        corpus_value("rouge", counts("ter"), seed=1)
