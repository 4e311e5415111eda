"""Measures of scored texts over a task: means, ratios of documents, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from genbench.analysis.likelihood import (
    LikelihoodRecord,
    MeasureRecord,
    likelihood_record,
    measure_differences,
    scored_texts,
)


def choice_detail(acc: float, bpb: float, **extra: int) -> dict[str, Any]:
    return {"measures": {"acc": acc, "acc_norm": acc, "bpb_gold": bpb}, **extra}


def document(nats: float, size: int) -> dict[str, Any]:
    sums = {"logprob": -nats, "tokens": size // 4, "bytes": size, "words": size // 5}
    return {"measures": {"greedy": 0.0, "bpb_gold": 1.0}, "sums": sums, "document": 1}


def texts(details: Sequence[dict[str, Any] | None]) -> Any:
    return scored_texts([f"p{place}" for place in range(len(details))], details, None)


def test_measures_are_means_over_problems_with_ties_and_merges_counted() -> None:
    details = [choice_detail(1, 0.5, ties=1), choice_detail(0, 1.5, merged=1), choice_detail(1, 1.0)]
    record = likelihood_record(texts(details), seed=1)
    assert list(record.measures) == ["acc", "acc_norm", "bpb_gold"]
    assert record.measures["acc"].value == pytest.approx(2 / 3)
    assert record.measures["bpb_gold"].value == pytest.approx(1.0)
    assert (record.ties, record.merged, record.measures["acc"].n) == (1, 1, 3)
    assert record.measures["bpb_gold"].lower_is_better
    assert LikelihoodRecord.model_validate(record.to_json()) == record


def test_documents_are_ratios_of_sums() -> None:
    record = likelihood_record(texts([document(100.0, 200), document(900.0, 1000)]), seed=1)
    assert list(record.measures) == [
        "bits_per_byte",
        "byte_perplexity",
        "word_perplexity",
        "token_perplexity",
    ]
    assert record.measures["bits_per_byte"].value == pytest.approx(1000 / 1200 / math.log(2))
    assert record.measures["word_perplexity"].value == pytest.approx(math.exp(1000 / 240))


def test_a_last_word_has_the_perplexity_of_problems() -> None:
    details = [
        {"measures": {"greedy": 1.0, "bpb_gold": 1.0}, "sums": {"logprob": value}} for value in (-1.0, -3.0)
    ]
    record = likelihood_record(texts(details), seed=1)
    assert record.measures["perplexity"].value == pytest.approx(math.exp(2.0))


def test_differences_are_paired_over_the_problems_of_both() -> None:
    base = texts([choice_detail(0, 1.0 + place / 10) for place in range(20)])
    tuned = texts([choice_detail(place % 2, 0.9 + place / 10) for place in range(19)])
    found = measure_differences(base, tuned, seed=2)
    assert found["bpb_gold"].difference == pytest.approx(-0.1)
    assert found["bpb_gold"].n == 19
    assert found["bpb_gold"].p_two_sided is not None and found["bpb_gold"].p_two_sided < 1e-6
    assert found["acc"].base == 0.0 and found["acc"].tuned == pytest.approx(9 / 19)


def test_problems_without_scores_are_left_out() -> None:
    assert texts([None, None]) is None
    record = likelihood_record(texts([None, choice_detail(1, 1.0)]), seed=1)
    assert record.measures["acc"] == MeasureRecord(value=1.0, ci=None, n=1, lower_is_better=False)
