"""Bradley-Terry strengths of small tournaments that can be worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from genbench.errors import InputError
from genbench.stats.pairwise import Pair, bradley_terry, length_controlled, style_controlled


def pairs(first: str, second: str, wins: int, losses: int, ties: int = 0) -> list[Pair]:
    scores = [1.0] * wins + [0.0] * losses + [0.5] * ties
    return [Pair(first, second, score, f"p{i}") for i, score in enumerate(scores)]


def test_a_tie_is_half_a_win_for_each_side() -> None:
    with_ties = bradley_terry(pairs("x", "y", 20, 10, ties=10), "y")["x"]
    assert with_ties.value == pytest.approx(math.log(25 / 15))


def test_which_side_is_named_first_does_not_matter() -> None:
    there = bradley_terry(pairs("x", "y", 20, 10), "y")["x"]
    back = bradley_terry(pairs("y", "x", 10, 20), "y")["x"]
    assert (there.value, there.se) == pytest.approx((back.value, back.se))


def test_a_changed_reference_shifts_all_strengths_alike() -> None:
    games = pairs("a", "b", 12, 8) + pairs("b", "c", 12, 8) + pairs("a", "c", 14, 6)
    by_a, by_c = bradley_terry(games, "a"), bradley_terry(games, "c")
    for name in ("b", "c"):
        assert by_c[name].value - by_c["a"].value == pytest.approx(by_a[name].value)
    assert (by_a["a"].value, by_a["a"].ci) == (0.0, (0.0, 0.0))


def test_pairs_of_one_problem_are_one_cluster() -> None:
    once = bradley_terry(pairs("x", "y", 20, 10), "y")["x"]
    twice = bradley_terry(pairs("x", "y", 20, 10) * 2, "y")["x"]
    assert twice.value == pytest.approx(once.value)
    assert twice.se == pytest.approx(once.se)


def test_no_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="in no pair; models: none"):
        bradley_terry([], "x")


def test_the_win_rate_at_equal_lengths_is_a_half_if_only_length_decides() -> None:
    ours, theirs = [20, 20, 10, 10] * 10, [10, 10, 20, 20] * 10
    scores = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0] * 5
    found = length_controlled(scores, ours, theirs, [str(i) for i in range(40)])
    assert found.value == pytest.approx(0.5)
    assert found.slope > 0
    assert found.ci[0] < 0.5 < found.ci[1]


def test_the_win_rate_at_equal_style_is_that_of_the_simulated_judge() -> None:
    """A judge with 0.4 log odds for us at equal style likes length and lists."""
    rng = np.random.default_rng(5)
    ours, theirs = rng.integers(1, 40, (4_000, 4)), rng.integers(1, 40, (4_000, 4))
    difference = (ours - theirs) / (ours + theirs)
    chance = 1 / (1 + np.exp(-(0.4 + 1.5 * difference[:, 0] + 0.8 * difference[:, 3])))
    scores = (rng.random(4_000) < chance).astype(float)
    names = [str(at) for at in range(4_000)]
    found = style_controlled(scores.tolist(), ours.tolist(), theirs.tolist(), names)
    wanted = 1 / (1 + math.exp(-0.4))
    assert found.ci[0] < wanted < found.ci[1] and found.value == pytest.approx(wanted, abs=0.02)
    spread = np.sqrt((difference**2).mean(axis=0))
    slopes = {name: value / spread[at] for at, (name, value) in enumerate(found.effects.items())}
    assert slopes["length"] == pytest.approx(1.5, abs=0.25) and slopes["lists"] == pytest.approx(
        0.8, abs=0.25
    )
    assert abs(slopes["headers"]) < 0.25 and abs(slopes["bold"]) < 0.25
    assert scores.mean() != pytest.approx(wanted, abs=0.005)


def test_a_feature_that_never_differs_is_left_out() -> None:
    ours, theirs = [[20, 0, 1, 2], [10, 0, 3, 1]] * 10, [[10, 0, 1, 1], [20, 0, 1, 2]] * 10
    scores = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.5] * 2
    ours = [[*row[:2], row[2] + at % 3, row[3]] for at, row in enumerate(ours)]
    ours = [[row[0] + at, *row[1:3], row[3] + at % 5] for at, row in enumerate(ours)]
    found = style_controlled(scores, ours, theirs, [str(at) for at in range(20)])
    assert set(found.effects) == {"length", "bold", "lists"}
    with pytest.raises(InputError, match="no feature of style differs"):
        style_controlled(scores, [[1, 1, 1, 1]] * 20, [[2, 2, 2, 2]] * 20, ["p"] * 20)


def test_one_side_that_always_wins_is_refused() -> None:
    with pytest.raises(InputError, match="everything it is compared in"):
        length_controlled([1.0] * 8, list(range(1, 9)), [4] * 8, [str(i) for i in range(8)])


def test_without_difficulties_the_rate_is_near_that_of_alpacaevals_formula() -> None:
    """If lengths do not follow the difficulty of instructions (see benchmarks/length_control.py)."""
    off = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        ease, theirs = rng.normal(size=805), rng.integers(400, 3000, 805)
        ours = (theirs * np.exp(rng.normal(0.25, 0.5, 805))).astype(int)
        column = np.tanh((ours - theirs) / (ours - theirs).std())
        won = (rng.random(805) < expit(0.3 + column + ease)).astype(float)
        design = np.column_stack([np.ones(805), column, ease])
        fit = sm.GLM(won, design, family=sm.families.Binomial()).fit()
        official = expit(fit.params[0] + fit.params[2] * ease).mean()
        found = length_controlled(list(won), ours.tolist(), theirs.tolist(), [str(i) for i in range(805)])
        off.append(found.value - official)
        assert abs(won.mean() - official) > abs(off[-1])
    assert abs(np.mean(off)) < 0.02
