"""pass@k, pass^k and maj@k held to the hypergeometric law and to enumeration of all subsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from genbench.errors import InputError
from genbench.stats.metrics import maj_at_k, pass_at_k, pass_hat_k


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 80))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(counts())
def test_pass_at_k_is_one_minus_the_hypergeometric_chance_of_no_right_sample(
    case: tuple[int, int, int],
) -> None:
    n, right, k = case
    assert pass_at_k(n, right, k) == pytest.approx(1 - hypergeom.pmf(0, n, right, k), abs=1e-9)


@given(counts())
def test_pass_hat_k_is_the_hypergeometric_chance_of_right_samples_only(case: tuple[int, int, int]) -> None:
    n, right, k = case
    assert pass_hat_k(n, right, k) == pytest.approx(hypergeom.pmf(k, n, right, k), abs=1e-9)


def test_pass_at_one_is_the_share_of_right_samples() -> None:
    assert pass_at_k(64, 13, 1) == 13 / 64 == pass_hat_k(64, 13, 1)


@pytest.mark.parametrize("k", [0, 5])
def test_more_draws_than_samples_are_an_error_not_a_one(k: int) -> None:
    for metric in (pass_at_k, pass_hat_k):
        with pytest.raises(InputError, match="1 <= k <= 4"):
            metric(4, 2, k)
    with pytest.raises(InputError, match="1 <= k <= 4"):
        maj_at_k(["a"] * 4, [1.0] * 4, k)


def every_vote(answers: Sequence[str | None], scores: Sequence[float], k: int) -> float:
    """maj@k by holding every election."""
    results = []
    for chosen in combinations(range(len(answers)), k):
        votes = Counter(answers[i] for i in chosen if answers[i] is not None)
        most = max(votes.values(), default=0)
        winners = [answer for answer, count in votes.items() if count == most]
        credit = [scores[answers.index(winner)] for winner in winners]
        results.append(sum(credit) / len(credit) if credit else 0.0)
    return sum(results) / len(results)


@st.composite
def elections(draw: st.DrawFn) -> tuple[list[str | None], list[float], int]:
    answers = draw(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=9))
    credit = {"a": 1.0, "b": 0.0, "c": draw(st.sampled_from([0.0, 0.5, 1.0])), "d": 0.0, None: 0.0}
    return answers, [credit[answer] for answer in answers], draw(st.integers(1, len(answers)))


@given(elections())
def test_maj_at_k_is_the_mean_over_all_elections(case: tuple[list[str | None], list[float], int]) -> None:
    answers, scores, k = case
    assert maj_at_k(answers, scores, k) == pytest.approx(every_vote(answers, scores, k), abs=1e-12)


def test_ties_share_credit_and_null_answers_do_not_vote() -> None:
    assert maj_at_k(["a", "b", None], [1.0, 0.0, 0.0], 3) == 0.5
    assert maj_at_k(["a", None, None], [1.0, 0.0, 0.0], 3) == 1.0
    assert maj_at_k([None, None], [0.0, 0.0], 2) == 0.0


@pytest.mark.slow
def test_maj_at_k_of_a_thousand_samples_does_not_overflow() -> None:
    answers = [str(i % 3) for i in range(999)]
    value = maj_at_k(answers, [float(answer == "0") for answer in answers], 501)
    assert value == pytest.approx(1 / 3, abs=1e-12)
