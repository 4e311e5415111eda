"""The smallest detectable drop, and the samples and problems that find a drop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.stats.comparison.power import (
    assumed_components,
    measured_change,
    measured_components,
    problems_needed,
    samples_needed,
    smallest_drop,
    with_measured_change,
)
from genbench.stats.scores import Floats


def test_smallest_drop_of_gpqa_is_near_what_simulation_found() -> None:
    # 198 problems, mean .5, ICC .48, rho .98 on the copula's scale: 3.46 points at 8 + 8, 2.74 at 64 + 8.
    components = assumed_components(0.5)
    assert smallest_drop(components, 198, 8, 8) == pytest.approx(0.0346, abs=0.001)
    assert smallest_drop(components, 198, 64, 8) == pytest.approx(0.0274, abs=0.001)


def test_samples_needed_are_the_fewest_that_find_the_drop() -> None:
    components = assumed_components(0.5)
    for k_base in (None, 64):
        k = samples_needed(components, 198, 0.03, k_base=k_base)
        assert k is not None
        assert smallest_drop(components, 198, k_base or k, k) <= 0.03
        assert smallest_drop(components, 198, k_base or k - 1, k - 1) > 0.03


def test_where_the_problems_are_too_few_no_k_helps() -> None:
    finetuned = assumed_components(0.5, rho=0.9)
    assert smallest_drop(finetuned, 198, math.inf, math.inf) > 0.02
    assert samples_needed(finetuned, 198, 0.02) is None
    n = problems_needed(finetuned, 8, 8, 0.02)
    assert smallest_drop(finetuned, n, 8, 8) <= 0.02 < smallest_drop(finetuned, n - 1, 8, 8)


def test_measured_components_recover_those_that_were_drawn_from() -> None:
    rng = np.random.default_rng(0)
    difficulty = rng.beta(0.54, 0.54, size=(4000, 1))
    found = measured_components((rng.random((4000, 8)) < difficulty).astype(float))
    assert found.between == pytest.approx(0.25 / 2.08, rel=0.03)
    assert found.within == pytest.approx(0.25 * 1.08 / 2.08, rel=0.03)
    assert found.change == pytest.approx(2 * found.between * 0.02)
    assert found.source == "measured: 4000 problems x 8; rho 0.98 assumed"


def test_single_samples_cannot_tell_the_components_apart_and_say_so() -> None:
    found = measured_components(np.array([[0.0], [1.0]] * 50))
    assert found.between + found.within == pytest.approx(0.25, rel=0.02)
    assert "ICC 0.48 assumed" in found.source


def test_a_run_without_scores_cannot_be_measured() -> None:
    with pytest.raises(InputError, match="no scored sample"):
        measured_components([[None], [1.0]])


def test_no_drop_is_larger_than_everything() -> None:
    assert smallest_drop(assumed_components(), 1, 1, 1) == 1.0


def moved_pair(
    change: float, k_base: int, k_tuned: int, shared: bool, seed: int = 1
) -> tuple[Floats, Floats]:
    """Runs of 3,000 problems whose true means differ with the variance `change`."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.3, 0.7, size=(3000, 1))
    q = p + math.sqrt(change) * rng.choice([-1, 1], size=(3000, 1))
    noise = rng.random((3000, k_base))
    other = noise[:, :k_tuned] if shared else rng.random((3000, k_tuned))
    return (noise < p).astype(float), (other < q).astype(float)


@pytest.mark.parametrize("shared", [False, True])
def test_the_change_of_a_stored_pair_is_measured_whatever_its_seeds(shared: bool) -> None:
    assert measured_change(*moved_pair(0.02, 16, 8, shared)) == pytest.approx(0.02, rel=0.25)
    assert measured_change(*moved_pair(0.0, 16, 8, shared)) == pytest.approx(0.0, abs=0.004)


def test_a_measured_change_replaces_the_assumed_correlation() -> None:
    base, tuned = moved_pair(0.02, 16, 8, shared=False)
    assumed = measured_components(base)
    found = with_measured_change(assumed, [(base, tuned)])
    assert found.change > 10 * assumed.change
    assert (found.between, found.within) == (assumed.between, assumed.within)
    assert found.source.startswith("measured: 3000 problems x 16; rho 0.")
    assert found.source.endswith("measured from 1 stored pair")
    assert smallest_drop(found, 198, 64, 8) > smallest_drop(assumed, 198, 64, 8)


def test_a_pair_of_single_samples_measures_nothing() -> None:
    assert measured_change([[1.0], [0.0]], [[0.0], [1.0]]) is None
    with pytest.raises(InputError, match="two scored samples"):
        with_measured_change(assumed_components(), [([[1.0]], [[0.0]])])
