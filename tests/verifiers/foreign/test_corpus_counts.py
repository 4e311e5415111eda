"""Counts of single answers, and the score of an answer alone."""

from __future__ import annotations

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.foreign.corpus_counts import counts_of
from genbench.verifiers.foreign.filtered_match import FilteredMatchVerifier


@pytest.mark.parametrize(("metric", "size"), [("bleu", 10), ("chrf", 18), ("chrf++", 24), ("ter", 2)])
def test_a_perfect_answer_scores_one(metric: str, size: int) -> None:
    counts, score = counts_of([metric], "four words are here", ["four words are here"])
    assert len(counts[metric]) == size
    assert score == pytest.approx(1.0)


def test_the_best_of_several_references_counts() -> None:
    assert counts_of(["ter"], "a b", ["x y z", "a b"])[1] == pytest.approx(1.0)
    assert counts_of(["ter"], "q w e r t", ["a"])[1] == 0.0


def test_a_verdict_keeps_the_counts() -> None:
    verifier = FilteredMatchVerifier(corpus=["bleu", "chrf"])
    answer = Answer("the cat sat there", "absent", "", False)
    found = verifier.verify(Case(SampleId("t", "0", 0), (answer,), {"golds": ["the cat sat here"]}))
    assert set(found.detail["corpus"]) == {"bleu", "chrf"}
    assert 0 < found.score < 1
    assert "sacrebleu" in verifier.version
