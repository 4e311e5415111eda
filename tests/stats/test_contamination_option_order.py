"""The effect of the order of options, against brute-force permutations and simulated models."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from genbench.stats.contamination import OrderedSamples, OrderEffect, closeness, effect_test, order_effect


@pytest.mark.parametrize(
    ("order", "found"),
    [((0, 1, 2, 3), 1.0), ((3, 2, 1, 0), 0.0), ((1, 0, 2, 3), 5 / 6), ((0,), 1.0), ((), 1.0)],
)
def test_closeness_is_the_share_of_pairs_in_order(order: tuple[int, ...], found: float) -> None:
    assert closeness(order) == pytest.approx(found)


def test_the_standard_error_is_that_of_all_permutations() -> None:
    scores, close = np.array([1.0, 0, 0, 1, 1]), np.array([0.9, 0.1, 0.4, 0.2, 0.6])
    found = order_effect([OrderedSamples(scores, close, [0] * 5)])
    assert found is not None
    distance = close - close.mean()
    slopes = [np.array(row) @ distance / (distance @ distance) for row in itertools.permutations(scores)]
    assert found.effect == pytest.approx(float(scores @ distance / (distance @ distance)))
    assert found.se == pytest.approx(float(np.std(slopes)), rel=1e-9)


def test_problems_without_variety_are_left_out() -> None:
    same = OrderedSamples(np.ones(4), np.array([0.1, 0.2, 0.3, 0.4]), [0, 1, 2, 3])
    fixed = OrderedSamples(np.array([0.0, 1.0]), np.ones(2), [0, 0])
    assert order_effect([same, fixed]) is None


def drawn(seed: int, *, memory: float = 0.0, letter: float = 0.0, n: int = 60, k: int = 16) -> OrderEffect:
    """Return the effect of a made-up model that prefers the dataset's order, or the first letter."""
    rng = np.random.default_rng(seed)
    problems = []
    for _ in range(n):
        orders = [rng.permutation(4) for _ in range(k)]
        close = np.array([closeness(order.tolist()) for order in orders])
        places = [int(np.flatnonzero(order == 2)[0]) for order in orders]
        rate = rng.uniform(0.3, 0.7) + memory * (close - 0.5) + letter * (np.array(places) == 0)
        problems.append(OrderedSamples((rng.random(k) < rate).astype(float), close, places))
    found = order_effect(problems)
    assert found is not None
    return found


@pytest.mark.slow
def test_a_model_that_remembers_the_order_shows_its_effect() -> None:
    found = [drawn(seed, memory=0.3).effect for seed in range(12)]
    assert np.mean(found) == pytest.approx(0.3, abs=0.05)


@pytest.mark.slow
def test_a_letter_that_a_model_prefers_is_no_effect_of_the_order() -> None:
    found = [drawn(seed, letter=0.3) for seed in range(20)]
    assert abs(np.mean([item.effect for item in found])) < 0.03


@pytest.mark.slow
def test_clean_models_are_suspected_no_more_often_than_promised() -> None:
    found = [effect_test(drawn(seed), drawn(1000 + seed)) for seed in range(60)]
    assert np.mean(np.array(found) <= 0.05) <= 0.12
    assert np.mean(found) == pytest.approx(0.5, abs=0.12)


@pytest.mark.slow
def test_a_model_that_remembers_the_order_is_found() -> None:
    found = [effect_test(drawn(seed), drawn(500 + seed, memory=0.4)) for seed in range(20)]
    assert np.mean(np.array(found) <= 0.05) >= 0.9


def test_effects_without_error_are_no_sign() -> None:
    assert effect_test(OrderEffect(0, 0, 1, 2), OrderEffect(1, 0, 1, 2)) == 1.0
