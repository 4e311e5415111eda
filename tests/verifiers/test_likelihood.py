"""The verifier of scored texts: its rule makes the score, and its detail has every measure."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, ChoiceScore, SampleId
from genbench.verifiers.likelihood import LikelihoodVerifier
from genbench.verifiers.pool.worker import case_from_record, case_to_record

LONG = ChoiceScore(-6.0, 6, 12, 12, 2, False)
SHORT = ChoiceScore(-4.0, 2, 4, 4, 1, False, merged=True)


def case(*choices: ChoiceScore, gold: int = 0) -> Case:
    return Case(
        SampleId("t", "p", 0), (Answer("", "absent", "", False, choices),), {"gold": [gold], "delimiter": 1}
    )


def test_the_rule_decides_which_choice_is_picked() -> None:
    assert LikelihoodVerifier("acc").verify(case(LONG, SHORT)).score == 0.0
    found = LikelihoodVerifier("acc_norm").verify(case(LONG, SHORT))
    assert (found.score, found.extracted) == (1.0, "0")
    assert found.detail["measures"]["acc"] == 0.0
    assert found.detail["merged"] == 1 and "ties" not in found.detail


def test_a_tie_is_counted() -> None:
    assert LikelihoodVerifier("acc").verify(case(LONG, LONG)).detail["ties"] == 1


def test_a_single_text_is_right_if_greedy_decoding_gives_it() -> None:
    word = ChoiceScore(-1.0, 1, 4, 4, 1, True)
    found = LikelihoodVerifier("greedy").verify(case(word))
    assert (found.score, found.extracted) == (1.0, "greedy")
    assert found.detail["sums"] == {"logprob": -1.0, "tokens": 1, "bytes": 4, "words": 1}


def test_the_score_of_a_document_is_the_probability_of_its_bytes() -> None:
    found = LikelihoodVerifier("byte_probability").verify(case(ChoiceScore(-8.0, 3, 8, 8, 2, False)))
    assert found.score == pytest.approx(0.36788, abs=1e-5)
    assert found.detail["document"] == 1


def test_a_completion_without_choices_is_no_answer() -> None:
    assert LikelihoodVerifier().verify(case()).reason == "no_answer"


def test_unknown_rules_references_and_lacking_priors_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown rule 'acc_nrm'; did you mean 'acc_norm'"):
        LikelihoodVerifier("acc_nrm")
    with pytest.raises(DataError, match="wanted the places of right choices"):
        LikelihoodVerifier().check({"gold": []})
    with pytest.raises(DataError, match="give the task `prior`"):
        LikelihoodVerifier("acc_pmi").verify(case(LONG, SHORT))


def test_scores_reach_the_worker_as_they_were() -> None:
    asked = case(LONG, SHORT)
    assert case_from_record(case_to_record(asked)) == asked


def test_counts_of_corpus_metrics_are_those_of_the_largest_sum() -> None:
    verifier = LikelihoodVerifier("acc_norm", corpus=("f1", "mcc"))
    assert verifier.verify(case(LONG, SHORT, gold=1)).detail["corpus"] == {
        "f1": [1.0, 0.0, 0.0],
        "mcc": [0, 0, 0, 0, 1, 0, 0, 0, 0],
    }
    assert verifier.verify(case(gold=1)).detail["corpus"]["f1"] == [0.0, 0.0, 1.0]
    with pytest.raises(ConfigError, match="unknown corpus metric 'bleu'"):
        LikelihoodVerifier(corpus=("bleu",))
