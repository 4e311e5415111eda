"""The rule of an adaptive run against golden numbers that were computed independently, and its parts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from genbench.stats.adaptive.group_sequential import TaskRule, levels, look_at, plan_looks, task_rule
from genbench.stats.comparison.differences import difference_interval, lower_bound, mover_lower
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats

N, K_BASE, K = 120, 64, 16
PROBLEMS = np.arange(N)
BASE = 37 * PROBLEMS % 65


def golden(drop: int, k: int) -> Floats:
    """Return the differences of the golden night: every fifth problem lost `drop` of 64."""
    lost = np.where(PROBLEMS % 5 == 0, drop, 0)
    samples = (29 * PROBLEMS[:, None] + 13 * np.arange(k)) % 64
    return np.asarray((samples < (BASE - lost)[:, None]).mean(axis=1) - BASE / K_BASE)


def pair(differences: Floats) -> Paired:
    """Return a comparison with these differences, as far as the rule uses it."""
    clusters = cluster(differences)
    p = sign_flip(differences).p_regression
    return Paired.of(
        len(differences),
        K_BASE,
        1,
        difference=clusters.mean,
        p_regression=p,
        clusters=clusters,
        worst=clusters,
    )


def decided(drop: int, family: int) -> tuple[str | None, int, list[float]]:
    """Return the decision of the golden night, the samples at it, and the p values of its looks."""
    rule = task_rule(plan_looks(N, K), family=family)
    seen: list[float] = []
    for look, k in enumerate(rule.looks.steps, start=1):
        found = look_at(rule, look, pair(golden(drop, k)))
        seen.append(found.p)
        if found.decision is not None:
            return found.decision, k, seen
    raise AssertionError("the last look always decides")


def test_an_unchanged_golden_model_is_not_inferior_at_the_first_look() -> None:
    decision, k, seen = decided(0, 1)
    assert (decision, k) == ("NON_INFERIOR", 4)
    assert seen == pytest.approx([0.58289297], abs=5e-9)
    differences = golden(0, 4)
    assert differences.sum() == pytest.approx(17 / 64)
    assert levels("pocock", 0.05, (0.25,))[0] == pytest.approx(0.0178687, abs=5e-7)
    assert mover_lower(cluster(differences), 0.0178687) == pytest.approx(-0.021688, abs=5e-7)


def test_a_small_golden_drop_is_found_at_the_last_look() -> None:
    decision, k, seen = decided(6, 1)
    assert (decision, k) == ("REGRESSED", 16)
    assert seen == pytest.approx([0.10654733, 0.06123542, 0.02746418, 0.01110725], abs=5e-9)
    assert task_rule(plan_looks(N, K)).drop[-1] == pytest.approx(0.0427001, abs=1e-6)


def test_a_small_golden_drop_stays_open_among_six_tasks() -> None:
    assert decided(6, 6)[:2] == ("INCONCLUSIVE", 16)
    assert task_rule(plan_looks(N, K), family=6).drop[-1] == pytest.approx(0.00386652, abs=5e-7)


@pytest.mark.parametrize(
    ("drop", "family", "k", "p", "level"),
    [
        (12, 1, 8, 0.00184549, 0.00554353),
        (12, 6, 12, 0.00047657, 0.000920505),
        (20, 6, 12, 0.00003835, 0.000920505),
    ],
)
def test_a_large_golden_drop_is_found_early(drop: int, family: int, k: int, p: float, level: float) -> None:
    decision, samples, seen = decided(drop, family)
    assert (decision, samples) == ("REGRESSED", k)
    assert seen[-1] == pytest.approx(p, abs=5e-9)
    at = plan_looks(N, K).steps.index(k)
    assert task_rule(plan_looks(N, K), family=family).drop[at] == pytest.approx(level, abs=5e-7)


@pytest.mark.parametrize(
    ("units", "both", "drop", "gain"),
    [
        ([(7 * i) % 23 - 12 for i in range(198)], 0.0375124008, 0.0187562004, 0.9821974033),
        ([-1] * 40 + [1] * 22 + [0] * 479, 0.0300158643, 0.0150079322, 0.9924329595),
        ([(11 * i) % 31 - 17 for i in range(30)], 0.2124628313, 0.1062314156, 0.9008596670),
    ],
)
def test_sign_flips_are_the_golden_ones(units: list[int], both: float, drop: float, gain: float) -> None:
    found = sign_flip(np.array(units, dtype=np.float64) / 64)
    assert found.p_two_sided == pytest.approx(both, abs=5e-11)
    assert found.p_regression == pytest.approx(drop, abs=5e-11)
    assert found.p_improvement == pytest.approx(gain, abs=5e-11)


@pytest.mark.parametrize(
    ("differences", "alpha", "lower"),
    [
        ([-1.0] * 3 + [0.0] * 195, 0.05, -0.037530),
        ([0.0] * 198, 0.05, -0.013606),
        ([-1.0] * 6 + [1.0] * 4 + [0.0] * 531, 0.05, -0.014759),
        ([((5 * i) % 17 - 8) / 64 for i in range(200)], 0.05, -0.009233),
        ([((5 * i) % 17 - 8) / 64 for i in range(200)], 0.01, -0.013042),
        ([-0.5] + [0.0] * 99, 0.05, -0.022428),
        ([0.25] * 100, 0.05, 0.180110),
    ],
)
def test_lower_bounds_are_the_golden_ones(differences: list[float], alpha: float, lower: float) -> None:
    assert mover_lower(cluster(np.array(differences)), alpha) == pytest.approx(lower, abs=1e-6)


def rule(n: int = 200, k: int = 16) -> TaskRule:
    return task_rule(plan_looks(n, k), margin=0.03, family=6)


def test_a_gating_task_has_its_share_of_half_the_error_and_another_has_all() -> None:
    looks = plan_looks(200, 16)
    assert task_rule(looks, family=6).alpha == pytest.approx(0.025 / 6)
    assert task_rule(looks, family=1).alpha == 0.05
    assert task_rule(looks, gating=False, family=6).alpha == 0.05


def test_a_small_task_falls_quiet_but_is_never_non_inferior() -> None:
    small = task_rule(plan_looks(99, 4), margin=0.06)
    flat = np.tile([0.01, -0.01, 0.0], 33)
    assert small.is_small
    assert look_at(small, 4, pair(flat)).decision == "QUIET"
    assert look_at(task_rule(plan_looks(102, 4)), 4, pair(np.tile(flat, 2)[:102])).decision == "NON_INFERIOR"


def test_a_look_that_decides_nothing_goes_on_until_the_last() -> None:
    noisy = pair(np.tile([0.5, -0.5], 60))
    assert look_at(rule(), 1, noisy).decision is None
    assert look_at(rule(), 3, noisy).decision is None
    assert look_at(rule(), 4, noisy).decision == "INCONCLUSIVE"


def test_an_excluded_sample_counts_against_non_inferiority() -> None:
    base = np.ones((200, 4))
    tuned = base.copy()
    assert look_at(rule(), 4, paired(base, tuned)).decision == "NON_INFERIOR"
    tuned[:40, 0] = np.nan
    held = look_at(rule(), 4, paired(base, tuned))
    assert held.decision == "INCONCLUSIVE"
    assert held.lower is not None
    assert held.lower == pytest.approx(lower_bound(cluster(-np.isnan(tuned).mean(axis=1)), held.lower_level))


def test_a_task_without_any_scored_sample_decides_nothing() -> None:
    found = look_at(rule(), 1, paired(np.ones((5, 1)), np.full((5, 1), np.nan)))
    assert (found.decision, found.p, found.lower, found.ci, found.difference) == (None, 1.0, None, None, None)


def test_the_repeated_interval_is_the_plain_one_at_the_level_of_its_look() -> None:
    data = pair(golden(0, 8))
    found = look_at(task_rule(plan_looks(N, K)), 2, data)
    assert data.clusters is not None
    assert found.ci_level > 0.95
    assert found.ci == difference_interval(data.clusters, found.ci_level).bounds
    plain = difference_interval(data.clusters).bounds
    assert found.ci is not None
    assert found.ci[0] < plain[0] < plain[1] < found.ci[1]


@pytest.mark.slow
def test_repeated_intervals_of_all_looks_together_contain_the_truth_as_often_as_they_say() -> None:
    rng, looks = np.random.default_rng(7), plan_looks(200, 16)
    wide = task_rule(looks).interval
    missed = 0
    for _ in range(600):
        noise = rng.normal(size=(200, 16))
        inside = [
            difference_interval(cluster(noise[:, :k].mean(axis=1) / 8), level).bounds
            for k, level in zip(looks.steps, wide, strict=True)
        ]
        missed += any(low > 0 or high < 0 for low, high in inside)
    assert missed / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)
