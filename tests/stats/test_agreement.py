"""Kappa, Bradley-Terry and the length-controlled rate against statsmodels and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.inter_rater import cohens_kappa as their_kappa

from genbench.errors import InputError
from genbench.stats.agreement import clustered_kappa, cohens_kappa, krippendorffs_alpha
from genbench.stats.pairwise import Pair, bradley_terry, length_controlled
from tests.table import each_row


def test_kappa_and_its_interval_agree_with_statsmodels() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 200)
    second = np.where(rng.random(200) < 0.7, first, rng.integers(0, 3, 200))
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1)
    theirs = their_kappa(table)
    ours = cohens_kappa([str(value) for value in first], [str(value) for value in second])
    assert ours.value == pytest.approx(theirs.kappa)
    assert ours.se == pytest.approx(theirs.std_kappa)
    assert ours.ci == pytest.approx((theirs.kappa_low, theirs.kappa_upp))


def test_kappa_of_a_table_worked_by_hand() -> None:
    first = ["y"] * 20 + ["y"] * 5 + ["n"] * 10 + ["n"] * 15
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohens_kappa(first, second)
    assert found.agreement == pytest.approx(0.7)
    assert found.value == pytest.approx((0.7 - 0.5) / 0.5)


@each_row("n, raters", [(49, 2), (50, 2), (49, 4), (50, 4)])
def test_an_interval_needs_fifty_items(n: int, raters: int) -> None:
    items = [["a", "b"][i % 2 :][:1] * raters for i in range(n)]
    items[0] = ["a"] * (raters - 1) + ["b"]
    first, second = ([item[at] for item in items] for at in (0, -1))
    found = cohens_kappa(first, second) if raters == 2 else krippendorffs_alpha(items, seed=1)
    assert found.value is not None and 0.9 < found.value < 1 and (found.ci is not None) == (n >= 50)


def test_raters_who_never_differ_are_not_certain_to_agree() -> None:
    labels = ["a"] * 45 + ["b"] * 5
    for found in (cohens_kappa(labels, labels), krippendorffs_alpha([[x] * 3 for x in labels], seed=1)):
        assert found.value == 1.0 and found.ci is not None and 0.2 < found.ci[0] < 0.8 and found.ci[1] > 0.99


@pytest.mark.slow
@each_row("raters, share, same", [(2, 0.9, 0.7), (2, 0.5, 0.97), (3, 0.9, 0.7), (5, 0.5, 0.4)])
def test_intervals_of_fifty_items_cover_the_truth(raters: int, share: float, same: float) -> None:
    """Raters who give an item's label, or one by chance. Bounds are three errors below 93 %."""
    rng, hits = np.random.default_rng(raters), 0
    for seed in range(200):
        truth = rng.random((50, 1)) < share
        said = np.where(rng.random((50, raters)) < same, truth, rng.random((50, raters)) < share).astype(str)
        pair = cohens_kappa(*said.T.tolist(), seed=seed) if raters == 2 else None
        found = pair or krippendorffs_alpha(said.tolist(), seed=seed)
        hits += found.ci is not None and found.ci[0] <= same**2 <= found.ci[1]
    assert hits / 200 >= 0.93 - 0.054


def test_kappa_is_not_defined_where_only_one_label_is_used() -> None:
    found = cohens_kappa(["a", "a"], ["a", "a"])
    assert (found.value, found.ci, found.agreement) == (None, None, 1.0)
    with pytest.raises(InputError, match="found 0 and 0"):
        cohens_kappa([], [])


def _ratings(seed: int, cases: int, size: int) -> tuple[list[list[str]], list[list[str]]]:
    """Two raters' scores 1 to 5 of several items a case; a case that is hard is hard in all its items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, (cases, size))
    hard = rng.random(cases) < 0.4
    noise = np.where(hard[:, None], rng.integers(-2, 3, (cases, size)), 0)
    return (
        [[str(v) for v in row] for row in truth],
        [[str(v) for v in row] for row in np.clip(truth + noise, 1, 5)],
    )


def test_weighted_kappa_agrees_with_statsmodels() -> None:
    first, second = _ratings(3, 40, 3)
    table = np.zeros((5, 5))
    np.add.at(table, (np.array(first, int).ravel() - 1, np.array(second, int).ravel() - 1), 1)
    found = clustered_kappa(first, second, ordered="12345", seed=1)
    assert found.value == pytest.approx(their_kappa(table, wt="quadratic").kappa)
    plain = clustered_kappa(first, second, seed=1)
    assert plain.value == pytest.approx(their_kappa(table).kappa)
    assert plain.value is not None and found.value is not None and plain.value < found.value


def test_the_clustered_interval_of_single_ratings_is_the_closed_one() -> None:
    first, second = _ratings(5, 600, 1)
    found = clustered_kappa(first, second, seed=1)
    closed = cohens_kappa([row[0] for row in first], [row[0] for row in second])
    assert found.value == pytest.approx(closed.value)
    assert found.se == pytest.approx(closed.se, rel=0.06)
    assert found.ci == pytest.approx(closed.ci, abs=0.01)


def test_ratings_that_hang_together_widen_the_interval() -> None:
    first, second = _ratings(7, 60, 6)
    found = clustered_kappa(first, second, seed=1)
    flat = cohens_kappa([v for row in first for v in row], [v for row in second for v in row])
    assert found.value == pytest.approx(flat.value)
    assert found.se is not None and flat.se is not None and found.se > 1.5 * flat.se


def test_clustered_kappa_refuses_unequal_raters_and_knows_no_kappa_of_one_label() -> None:
    with pytest.raises(InputError, match="as many by one rater"):
        clustered_kappa([["a", "b"]], [["a"]], seed=1)
    found = clustered_kappa([["a", "a"]], [["a", "a"]], seed=1)
    assert (found.value, found.agreement, found.n) == (None, 1.0, 2)


def _pairs(seed: int, n: int, ties: float = 0.2) -> list[Pair]:
    rng = np.random.default_rng(seed)
    strengths = {"a": 0.0, "b": 0.8, "c": -0.5}
    found = []
    for place in range(n):
        first, second = rng.choice(["a", "b", "c"], 2, replace=False)
        chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
        score = 0.5 if rng.random() < ties else float(rng.random() < chance)
        found.append(Pair(str(first), str(second), score, f"p{place // 3}"))
    return found


def test_bradley_terry_agrees_with_statsmodels() -> None:
    pairs = _pairs(11, 600)
    design = np.array([[(p.first == m) - 1.0 * (p.second == m) for m in ("b", "c")] for p in pairs])
    groups = np.array([int(p.problem[1:]) for p in pairs])
    model = sm.GLM([p.score for p in pairs], design, family=sm.families.Binomial())
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    found = bradley_terry(pairs, "a")
    assert [found["b"].value, found["c"].value] == pytest.approx(fit.params, abs=1e-6)
    assert [found["b"].se, found["c"].se] == pytest.approx(fit.bse, rel=1e-5)
    assert found["b"].ci == pytest.approx(fit.conf_int()[0], rel=1e-5)
    assert found["a"].value == 0.0


def test_bradley_terry_of_two_models_is_the_log_odds_of_winning() -> None:
    pairs = [Pair("x", "y", 1.0, str(i)) for i in range(30)] + [
        Pair("y", "x", 1.0, str(i)) for i in range(10)
    ]
    assert bradley_terry(pairs, "y")["x"].value == pytest.approx(np.log(3))


@pytest.mark.slow
def test_bradley_terry_covers_the_truth_about_as_often_as_it_says() -> None:
    bounds = [bradley_terry(_pairs(seed, 300, ties=0), "a")["b"].ci for seed in range(300)]
    assert 0.91 <= np.mean([low <= 0.8 <= high for low, high in bounds]) <= 0.98


def test_models_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(InputError, match="wins \\(or loses\\) everything"):
        bradley_terry([Pair("x", "y", 1.0, str(i)) for i in range(9)], "y")
    with pytest.raises(InputError, match="in no pair; models: x, y"):
        bradley_terry([Pair("x", "y", 0.5, "1")], "z")
    islands = [Pair("a", "b", s, str(i)) for i, s in enumerate((1.0, 0.0))]
    islands += [Pair("c", "d", s, str(i)) for i, s in enumerate((1.0, 0.0))]
    with pytest.raises(InputError, match="do not connect"):
        bradley_terry(islands, "a")


def _lengths(slope: float, n: int = 4000) -> tuple[list[float], list[int], list[int], list[str]]:
    rng = np.random.default_rng(5)
    theirs = rng.integers(200, 400, n)
    ours = (theirs * np.exp(rng.normal(0.6, 0.6, n))).astype(int)
    ratio = np.log((ours + 1) / (theirs + 1))
    chance = 1 / (1 + np.exp(-slope * np.tanh(ratio / np.sqrt(np.mean(ratio**2)))))
    scores = (rng.random(n) < chance).astype(float)
    return (
        [float(s) for s in scores],
        [int(v) for v in ours],
        [int(v) for v in theirs],
        [str(i) for i in range(n)],
    )


def test_a_judge_that_likes_length_alone_gives_a_half_when_length_is_taken_out() -> None:
    scores, ours, theirs, problems = _lengths(slope=2.0)
    assert np.mean(scores) > 0.65
    found = length_controlled(scores, ours, theirs, problems)
    assert found.ci[0] <= 0.5 <= found.ci[1] and abs(found.value - 0.5) < 0.03
    assert found.slope_ci[0] <= 2.0 <= found.slope_ci[1]


def test_the_length_controlled_rate_agrees_with_statsmodels() -> None:
    scores, ours, theirs, problems = _lengths(slope=0.7, n=500)
    ratio = np.log((np.array(ours) + 1) / (np.array(theirs) + 1))
    design = sm.add_constant(np.tanh(ratio / np.sqrt(np.mean(ratio**2))))
    fit = sm.GLM(scores, design, family=sm.families.Binomial()).fit(cov_type="HC0")
    found = length_controlled(scores, ours, theirs, problems)
    assert found.value == pytest.approx(1 / (1 + np.exp(-fit.params[0])), abs=1e-6)
    assert found.ci == pytest.approx(1 / (1 + np.exp(-fit.conf_int()[0])), abs=1e-6)
    assert found.slope == pytest.approx(fit.params[1], abs=1e-5)


def test_a_length_effect_that_cannot_be_told_is_said_so() -> None:
    with pytest.raises(InputError, match="one ratio of lengths"):
        length_controlled([1, 0, 1, 0], [10] * 4, [20] * 4, list("abcd"))
    with pytest.raises(InputError, match="too few"):
        length_controlled([1.0], [10], [20], ["a"])
