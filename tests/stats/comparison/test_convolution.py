"""The law of sums under random signs, against all sign patterns and recorded values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.stats.comparison.sign_flip_test import flipped_sums, on_a_grid, tails

GOLDEN = [
    (np.array([(7 * i) % 23 - 12 for i in range(198)]), (0.0375124008, 0.0187562004, 0.9821974033)),
    (np.array([-1] * 40 + [1] * 22 + [0] * 479), (0.0300158643, 0.0150079322, 0.9924329595)),
    (np.array([(11 * i) % 31 - 17 for i in range(30)]), (0.2124628313, 0.1062314156, 0.9008596670)),
]
"""Whole differences and their p values (two-sided, drop, gain), computed apart from this code."""


@pytest.mark.parametrize(("units", "expected"), GOLDEN)
def test_p_values_are_the_recorded_ones(
    units: np.ndarray[tuple[int], np.dtype[np.int64]], expected: tuple[float, float, float]
) -> None:
    assert tails(units[units != 0]) == pytest.approx(expected, abs=5e-11)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=10))
def test_p_values_are_those_of_all_sign_patterns(units: list[int]) -> None:
    sums = [
        sum(s * u for s, u in zip(signs, units, strict=True)) for signs in product((-1, 1), repeat=len(units))
    ]
    seen, count = sum(units), len(sums)
    expected = (
        sum(abs(value) >= abs(seen) for value in sums) / count,
        sum(value <= seen for value in sums) / count,
        sum(value >= seen for value in sums) / count,
    )
    assert tails(np.array(units)) == pytest.approx(expected, abs=1e-12)


def test_probabilities_add_up_to_one() -> None:
    assert flipped_sums(np.array([3, -5, 8, 8, 1])).sum() == pytest.approx(1)


@pytest.mark.parametrize(("base_k", "tuned_k"), [(64, 8), (16, 3), (7, 5), (1, 1)])
def test_means_of_samples_share_a_unit(base_k: int, tuned_k: int) -> None:
    rng = np.random.default_rng(base_k)
    differences = rng.integers(0, tuned_k + 1, 200) / tuned_k - rng.integers(0, base_k + 1, 200) / base_k
    units, exact = on_a_grid(differences)
    moved = differences[np.abs(differences) > 1e-12]
    assert exact
    assert units / units[0] == pytest.approx(moved / moved[0])


def test_weighted_differences_are_rounded_and_nearly_keep_their_p() -> None:
    rng = np.random.default_rng(4)
    weighted = rng.normal(0.05, 1.0, 300)
    units, exact = on_a_grid(weighted)
    assert not exact
    flips = 40_000
    sums = rng.choice([-1.0, 1.0], size=(flips, 300)) @ weighted
    share = float((sums >= weighted.sum()).mean())
    assert abs(tails(units)[2] - share) < 4 * np.sqrt(share * (1 - share) / flips)


def test_the_same_differences_in_another_order_and_scale_have_the_same_p() -> None:
    weighted = np.random.default_rng(5).normal(0.05, 1.0, 100)
    p = tails(on_a_grid(weighted)[0])
    assert tails(on_a_grid(weighted[::-1] * 0.5)[0]) == pytest.approx(p, rel=1e-9)
    assert tails(on_a_grid(-weighted)[0]) == pytest.approx((p[0], p[2], p[1]), rel=1e-9)


def test_no_difference_has_no_unit() -> None:
    units, exact = on_a_grid(np.zeros(5))
    assert exact
    assert len(units) == 0


def test_many_problems_are_multiplied_by_transform_with_the_same_law() -> None:
    units = np.random.default_rng(4).integers(-40, 38, size=1500)
    low = float(flipped_sums(units)[: (int(units.sum()) + int(np.abs(units).sum())) // 2 + 1].sum())
    assert len(units) * int(np.abs(units).sum()) > 2**24  # large enough for the transform
    assert tails(units)[1] == pytest.approx(low, rel=1e-6)


def test_a_tiny_p_value_keeps_its_digits_whatever_the_size() -> None:
    units = -np.full(1500, 10)
    assert tails(units)[1] == pytest.approx(0.5**1500, rel=1e-9)
