"""Measures of one problem from log-probabilities, against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from genbench.stats.likelihood import (
    MEASURES,
    bits_per_byte,
    byte_probability,
    choice_measures,
    ratio_value,
    text_measures,
    tied,
    values_by_rule,
)
from genbench.types import ChoiceScore


def choice(
    logprob: float, text: str, tokens: int = 1, *, greedy: bool = False, prior: float | None = None
) -> ChoiceScore:
    return ChoiceScore(logprob, tokens, len(text), len(text.encode()), len(text.split()), greedy, prior)


def test_each_normalisation_can_pick_another_choice() -> None:
    choices = [choice(-6.0, "aaaaaaaaaa", 4), choice(-4.0, "aaaa", 1), choice(-5.0, "é" * 9, 5)]
    found = choice_measures(choices, [0])
    assert (found["acc"], found["acc_norm"], found["acc_token"], found["acc_byte"]) == (0, 0, 0, 0)
    by_rule = values_by_rule(choices, 1)
    assert by_rule["acc"] == [-6.0, -4.0, -5.0]
    assert by_rule["acc_norm"] == pytest.approx([-0.6, -1.0, -5 / 9])
    assert by_rule["acc_char"] == pytest.approx([-6 / 11, -0.8, -0.5])
    assert by_rule["acc_token"] == pytest.approx([-1.5, -4.0, -1.0])
    assert by_rule["acc_byte"] == pytest.approx([-0.6, -1.0, -5 / 18])
    assert "acc_pmi" not in by_rule


def test_pmi_subtracts_the_sum_without_the_question() -> None:
    choices = [choice(-6.0, "a", prior=-9.0), choice(-4.0, "b", prior=-4.5)]
    assert values_by_rule(choices, 1)["acc_pmi"] == [3.0, 0.5]
    assert choice_measures(choices, [0])["acc_pmi"] == 1.0
    assert choice_measures(choices, [0])["acc"] == 0.0


def test_smooth_measures_of_the_right_choice() -> None:
    found = choice_measures([choice(-2.0, "ab", greedy=True), choice(-3.0, "cdef")], [0])
    assert found["prob_gold"] == pytest.approx(1 / (1 + math.exp(-1)))
    assert found["bpb_gold"] == pytest.approx(2 / (2 * math.log(2)))
    assert found["margin"] == pytest.approx(-1.0 + 0.75)
    assert found["greedy"] == 1.0


def test_with_several_right_choices_the_best_of_them_counts() -> None:
    found = choice_measures([choice(-5.0, "a"), choice(-1.0, "b"), choice(-2.0, "c")], [0, 2])
    assert found["acc"] == 0.0
    assert found["bpb_gold"] == pytest.approx(2 / math.log(2))
    total = sum(math.exp(-value) for value in (5, 1, 2))
    assert found["prob_gold"] == pytest.approx((math.exp(-5) + math.exp(-2)) / total)


def test_the_first_of_equal_choices_counts_and_the_tie_is_known() -> None:
    choices = [choice(-1.0, "a"), choice(-1.0, "b")]
    assert choice_measures(choices, [0])["acc"] == 1.0
    assert choice_measures(choices, [1])["acc"] == 0.0
    assert tied([-1.0, -1.0, -2.0]) and not tied([-1.0, -2.0, -2.0])


def test_a_single_text_has_greedy_and_bits() -> None:
    word = choice(-3.0, "word", greedy=True)
    assert text_measures(word) == {"greedy": 1.0, "bpb_gold": bits_per_byte(word)}
    assert byte_probability(word) == pytest.approx(math.exp(-0.75))


def test_ratios_are_bits_or_perplexities() -> None:
    assert ratio_value("bits_per_byte", math.log(2)) == pytest.approx(1.0)
    bits = ratio_value("bits_per_byte", 1_000 / 2_048)
    assert bits == pytest.approx(0.7044, abs=5e-5)
    assert 100 * bits / 8 == pytest.approx(8.81, abs=5e-3)  # UncheatableEval's compression rate in percent
    assert ratio_value("word_perplexity", 3.0) == pytest.approx(math.exp(3))
    assert math.isfinite(ratio_value("word_perplexity", 1e6))


def test_every_measure_has_a_meaning() -> None:
    assert all(measure.meaning for measure in MEASURES.values())
