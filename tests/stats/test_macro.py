"""Means over parts that count alike, and how often their intervals cover the truth."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.stats.macro import harmonic_over_parts, mean_over_parts, spread_over_parts
from genbench.stats.scores import Floats


def array(*values: float) -> Floats:
    return np.array(values, dtype=float)


def test_parts_count_alike_whatever_their_size() -> None:
    found = mean_over_parts(array(1, 1, 1, 1, 1, 1, 0, 1), list("aaaaaabb"), range(8))
    assert (found.value, found.parts, found.n) == (0.75, 2, 8)


def test_one_part_is_the_mean_of_all_with_its_textbook_error() -> None:
    values = array(0, 0.25, 1, 1, 0.5)
    found = mean_over_parts(values, ["all"] * 5, range(5))
    assert found.value == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / np.sqrt(5))


def test_the_error_of_equal_parts_is_that_of_a_stratified_mean() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(400)
    parts = ["a"] * 200 + ["b"] * 200
    found = mean_over_parts(values, parts, range(400))
    within = [values[:200].var(ddof=0) / 200, values[200:].var(ddof=0) / 200]
    assert found.se == pytest.approx(np.sqrt(sum(within)) / 2, rel=0.01)


def test_the_difference_between_parts_is_no_uncertainty() -> None:
    found = mean_over_parts(array(*[0.0] * 50, *[1.0] * 50), ["a"] * 50 + ["b"] * 50, range(100))
    assert found.value == 0.5 and found.se == 0


def test_clusters_over_several_parts_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    question = (rng.random(100) < 0.6).astype(float)
    values = np.concatenate([question] * 5)
    parts = [language for language in "abcde" for _ in range(100)]
    apart = mean_over_parts(values, parts, range(500))
    joined = mean_over_parts(values, parts, list(range(100)) * 5)
    assert apart.se is not None and joined.se is not None
    assert joined.se == pytest.approx(apart.se * np.sqrt(5), rel=0.02)


def test_bounds_stay_within_0_and_1_and_are_never_a_point() -> None:
    found = mean_over_parts(array(*[1.0] * 20), ["a", "b"] * 10, range(20))
    assert found.ci is not None and found.ci[1] == 1 and 0.7 < found.ci[0] < 0.9


def test_one_cluster_has_no_interval() -> None:
    found = mean_over_parts(array(0, 1), ["a", "b"], [0, 0])
    assert (found.value, found.se, found.ci) == (0.5, None, None)


@pytest.mark.parametrize(("values", "parts"), [((), []), ((0.5,), ["a", "b"])])
def test_no_values_and_other_lengths_are_refused(values: tuple[float, ...], parts: list[str]) -> None:
    with pytest.raises(InputError, match="values"):
        mean_over_parts(array(*values), parts, range(len(values)))


@pytest.mark.slow
@pytest.mark.parametrize("languages", [1, 4])
def test_the_interval_covers_about_as_often_as_it_says(languages: int) -> None:
    """Parts of unequal size and difficulty. In four languages, a question is right in all or in none."""
    rng = np.random.default_rng(7)
    sizes, levels = (20, 60, 200), (0.3, 0.6, 0.85)
    parts = [str(part) for _ in range(languages) for part, size in enumerate(sizes) for _ in range(size)]
    clusters = list(range(sum(sizes))) * languages
    covered = 0
    for _ in range(400):
        drawn = np.concatenate([rng.random(size) < level for size, level in zip(sizes, levels, strict=True)])
        found = mean_over_parts(np.tile(drawn.astype(float), languages), parts, clusters)
        assert found.ci is not None
        covered += int(found.ci[0] <= float(np.mean(levels)) <= found.ci[1])
    # 400 draws: the standard error of the coverage is 1.1 points.
    assert covered >= 0.92 * 400


def test_parts_with_weights_count_by_them_and_equal_weights_are_the_macro_mean() -> None:
    values, parts = array(1, 1, 0, 0, 1, 0), list("aabbcc")
    found = mean_over_parts(values, parts, range(6), weights={"a": 2, "b": 1, "c": 1})
    assert found.value == pytest.approx(0.5 * 1 + 0.25 * 0 + 0.25 * 0.5)
    plain, equal = (
        mean_over_parts(values, parts, range(6), weights=weights)
        for weights in (None, dict.fromkeys("abc", 7.0))
    )
    assert equal.value == pytest.approx(plain.value)
    assert equal.se == pytest.approx(plain.se)


def test_a_part_without_a_weight_is_refused() -> None:
    with pytest.raises(InputError, match="'b' has no weight"):
        mean_over_parts(array(1, 0), ["a", "b"], range(2), weights={"a": 1})


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 4])
def test_the_standard_error_between_reruns_is_the_spread_of_reruns(k: int) -> None:
    """Parts of 400, 100 and 50 problems with weights, and all problems of a part equally hard."""
    rng = np.random.default_rng(5)
    sizes, weights = {"a": 400, "b": 100, "c": 50}, {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
    parts = [part for part, size in sizes.items() for _ in range(size)]
    chances = np.array([{"a": 0.9, "b": 0.5, "c": 0.2}[part] for part in parts])
    means, errors = [], []
    for _ in range(600):
        drawn = (rng.random((len(parts), k)) < chances[:, None]).astype(float)
        noise = drawn.var(axis=1, ddof=1) / k if k > 1 else None
        found = mean_over_parts(drawn.mean(axis=1), parts, range(550), weights=weights, noise=noise)
        means.append(found.value)
        assert found.rerun_se is not None
        errors.append(found.rerun_se)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.08)


def test_one_sample_of_each_problem_gives_an_upper_bound() -> None:
    """Half of the problems are always right and half never, so that re-runs are all the same."""
    values, parts = array(*[1.0, 0.0] * 20), ["a"] * 20 + ["b"] * 20
    found = mean_over_parts(values, parts, range(40))
    assert found.rerun_se is not None
    assert found.rerun_se == pytest.approx(found.se, rel=0.05)
    assert mean_over_parts(values, parts, range(40), noise=np.zeros(40)).rerun_se == 0
    mixed = np.array([0.0] * 20 + [np.nan] * 20)
    assert mean_over_parts(values, parts, range(40), noise=mixed).rerun_se == pytest.approx(
        found.rerun_se / 2**0.5
    )


def test_a_part_without_any_spread_has_the_noise_of_one_deviating_problem() -> None:
    """All right with one sample each: a re-run may still get one of them wrong."""
    values, parts = array(*[1.0] * 10, *[1.0, 0.0] * 5), ["a"] * 10 + ["b"] * 10
    found = mean_over_parts(values, parts, range(20))
    of_a, of_b = (10 / 9) / 20**2, (10 / 9) * 10 * (0.5 / 20) ** 2
    assert found.rerun_se == pytest.approx((of_a + of_b) ** 0.5)
    equal = mean_over_parts(array(*[0.1] * 10, *[0.3] * 10), parts, range(20))
    assert equal.rerun_se == pytest.approx((2 * of_a) ** 0.5)


@pytest.mark.parametrize(
    ("solved", "mean"),
    [((10, 2, 0), 0.0270), ((16, 12, 8), 0.5647)],  # 50, 10 and 0 %; 80, 60 and 40 %
)
def test_the_harmonic_mean_adds_a_point_to_every_part_and_keeps_it(
    solved: tuple[int, ...], mean: float
) -> None:
    values = array(*[float(place < right) for right in solved for place in range(20)])
    found = harmonic_over_parts(values, [part for part in "abc" for _ in range(20)], range(60), seed=1)
    assert found.value == pytest.approx(mean, abs=5e-5) and (found.parts, found.n) == (3, 60)
    assert found.ci is not None and found.ci[0] < found.value < found.ci[1]


def test_the_lowest_part_decides_the_interval_of_a_harmonic_mean() -> None:
    rng = np.random.default_rng(4)
    parts = [part for part in "abcd" for _ in range(200)]
    widths = []
    for lowest in (0.6, 0.02):
        values = (rng.random(800) < np.repeat([0.6, 0.6, 0.6, lowest], 200)).astype(float)
        found = harmonic_over_parts(values, parts, range(800), seed=2)
        assert found.ci is not None
        widths.append((found.ci[1] - found.ci[0]) / found.value)
    assert widths[1] > 3 * widths[0]


def forms(rights: str) -> tuple[Floats, list[str], list[int]]:
    """Return values, parts and clusters of 20 questions in as many forms as `rights` has numbers of right."""
    counts = [int(count) for count in rights.split()]
    values = np.array([float(place < count) for count in counts for place in range(20)])
    return values, [str(form) for form in range(len(counts)) for _ in range(20)], [*range(20)] * len(counts)


def test_the_spread_is_the_range_and_the_sample_standard_deviation_of_the_parts() -> None:
    found = spread_over_parts(*forms("16 15 14"), seed=1)
    assert found.n == 60
    assert found.delta.value == pytest.approx(0.1)
    assert found.std.value == pytest.approx(0.05)
    for item in (found.delta, found.std):
        assert item.ci is not None and item.value is not None and 0 <= item.ci[0] <= item.value <= item.ci[1]


def test_a_spread_is_over_the_questions_that_all_parts_have() -> None:
    values, parts, clusters = forms("16 15 14")
    assert spread_over_parts(values[:-10], parts[:-10], clusters[:-10], seed=1).n == 30
    lone = spread_over_parts(np.array([1.0, 0.0]), ["a", "b"], [1, 2], seed=1)
    assert (lone.n, lone.delta.value, lone.std.value) == (0, None, None)


def test_parts_that_are_alike_have_an_interval_that_reaches_zero() -> None:
    rng, covered = np.random.default_rng(3), 0
    for seed in range(40):
        values = rng.random((26, 100)) < 0.7
        parts = [str(form) for form in range(26) for _ in range(100)]
        found = spread_over_parts(values.ravel().astype(float), parts, [*range(100)] * 26, seed=seed)
        assert found.delta.ci is not None and found.std.ci is not None
        covered += found.delta.ci[0] == found.std.ci[0] == 0
    assert covered >= 35
