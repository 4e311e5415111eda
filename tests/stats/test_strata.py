"""Tables by stratum: rows, seeds and q values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from genbench.errors import InputError
from genbench.stats.estimates import estimate
from genbench.stats.strata import compare_strata, estimate_strata

LABELS = ["easy", "hard", None, "easy", "hard", "easy"]
BASE = np.array([[1, 1], [0, 0], [1, 1], [1, 0], [0, 1], [1, 1]], dtype=float)
TUNED = np.array([[1, 1], [1, 0], [0, 0], [1, 1], [1, 1], [0, 1]], dtype=float)


def test_each_stratum_is_estimated_from_its_own_problems() -> None:
    found = estimate_strata("avg@k", BASE, LABELS, seed=1)
    assert list(found) == ["easy", "hard"]
    assert (found["easy"].n, found["hard"].n) == (3, 2)
    assert found["easy"].value == pytest.approx(5 / 6)
    assert found["hard"].value == estimate("avg@k", BASE[[1, 4]], seed=5).value


def test_answers_and_groups_go_with_their_problems() -> None:
    answers = [["x", "x"], ["y", "z"], ["x", "x"], ["x", "y"], ["y", "x"], ["x", "x"]]
    found = estimate_strata(
        "maj@k", BASE, LABELS, seed=1, answers=answers, groups=["a", "b", "a", "a", "b", "c"]
    )
    assert found["easy"].value == pytest.approx((1 + 0.5 + 1) / 3)
    assert "groups" in found["easy"].ci_method


def test_differences_by_stratum_have_q_values_over_the_table() -> None:
    rng = np.random.default_rng(0)
    labels = [f"subject {i % 7}" for i in range(210)]
    base = rng.integers(0, 2, (210, 4)).astype(float)
    tuned = rng.integers(0, 2, (210, 4)).astype(float)
    rows = compare_strata(base, tuned, labels)
    assert [row.name for row in rows] == sorted(set(labels))
    p_values = [row.p_two_sided for row in rows]
    assert [row.q_value for row in rows] == pytest.approx(scipy.stats.false_discovery_control(p_values))
    chosen = [i for i in range(210) if i % 7 == 3]
    assert rows[3].difference == pytest.approx(tuned[chosen].mean() - base[chosen].mean())


def test_a_stratum_without_a_value_has_no_q_and_leaves_the_others_theirs() -> None:
    base = BASE.copy()
    base[[1, 4]] = np.nan
    easy, hard = compare_strata(base, TUNED, LABELS)
    assert hard.q_value is None
    assert hard.missing is not None
    assert easy.q_value == easy.p_two_sided


def test_each_problem_needs_its_label() -> None:
    with pytest.raises(InputError, match="2 stratum labels for 6 problems"):
        estimate_strata("avg@k", BASE, ["a", "b"], seed=1)
