"""Decisions of the gate: families, margins, pooled difference and false alarms in simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from genbench.errors import InputError
from genbench.stats.comparison.gate import gate, plain_mean, pool
from genbench.stats.comparison.paired import Paired, paired


def moved(n: int, by: float, spread: float = 0.1, seed: int = 0) -> Paired:
    """A comparison of n problems whose differences are `by` on average."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, spread, size=(n, 1))
    noise -= noise.mean()
    return paired(np.full((n, 1), 0.5), np.clip(0.5 + by + noise, 0, 1))


def verdicts(tasks: Mapping[str, Paired]) -> dict[str, str]:
    return {name: task.verdict for name, task in gate(tasks).tasks.items()}


def test_the_four_verdicts() -> None:
    tasks = {"a": moved(200, -0.1), "b": moved(200, 0.1), "c": moved(200, 0.0), "d": moved(30, 0.0)}
    assert verdicts(tasks) == {"a": "REGRESSED", "b": "IMPROVED", "c": "NON_INFERIOR", "d": "INCONCLUSIVE"}
    found = gate(tasks)
    assert found.verdict == "REGRESSED"
    assert found.exit_code() == 1


def test_thirty_problems_alone_never_show_non_inferiority() -> None:
    assert verdicts({"aime": moved(99, 0.0, 0.01)}) == {"aime": "INCONCLUSIVE"}
    assert verdicts({"gpqa": moved(100, 0.0, 0.01)}) == {"gpqa": "NON_INFERIOR"}


def test_a_margin_belongs_to_its_task() -> None:
    tasks = {"a": moved(150, -0.005, 0.1), "b": moved(150, -0.005, 0.1, seed=1)}
    found = gate(tasks, margins={"a": 0.01})
    assert (found.tasks["a"].margin, found.tasks["a"].verdict) == (0.01, "INCONCLUSIVE")
    assert (found.tasks["b"].margin, found.tasks["b"].verdict) == (0.03, "NON_INFERIOR")
    assert found.together.margin == 0.01
    assert found.exit_code() == 0
    assert found.exit_code(strict=True) == 1
    assert gate(tasks, margins={"a": 0.01}, suite_margin=0.03).exit_code(strict=True) == 0


def test_no_change_at_all_is_non_inferior_only_where_a_loss_would_have_been_met() -> None:
    same = np.ones((120, 1))
    tasks = {"a": paired(same, same)}
    assert gate(tasks).tasks["a"].verdict == "NON_INFERIOR"
    assert gate(tasks, margins={"a": 0.01}).tasks["a"].verdict == "INCONCLUSIVE"
    assert gate(tasks).pooled.p_regression == 1.0


@pytest.mark.slow
def test_adjusted_p_values_are_holms_over_the_gating_tasks_and_over_the_others() -> None:
    tasks = {str(i): moved(120, -0.006 * i, seed=i) for i in range(5)}
    found = gate(tasks, gating=["1", "2", "3"])
    raw = [tasks[name].p_regression for name in ("1", "2", "3")]
    adjusted = multipletests(raw, method="holm")[1]
    assert [found.tasks[name].p_regression_adjusted for name in ("1", "2", "3")] == pytest.approx(adjusted)
    others = multipletests([tasks[name].p_regression for name in ("0", "4")], method="holm")[1]
    assert [found.tasks[name].p_regression_adjusted for name in ("0", "4")] == pytest.approx(others)
    assert not found.tasks["4"].gating


def test_a_task_outside_the_family_cannot_fail_the_suite() -> None:
    tasks = {"a": moved(200, -0.1), "b": moved(200, 0.0)}
    found = gate(tasks, gating=["b"])
    assert found.tasks["a"].verdict == "REGRESSED"
    assert found.verdict == "NON_INFERIOR"
    assert found.exit_code(strict=True) == 0


def test_alpha_is_split_between_the_tasks_and_the_pooled_difference() -> None:
    two = gate({"a": moved(200, 0.0), "b": moved(200, 0.0, seed=1)})
    assert (two.tasks["a"].alpha, two.alpha_pooled) == (0.025, 0.025)
    one = gate({"a": moved(200, 0.0)})
    assert (one.tasks["a"].alpha, one.alpha_pooled) == (0.05, 0.05)


def test_one_gating_task_has_one_test() -> None:
    task = moved(200, -0.01, seed=3)
    found = gate({"a": task})
    assert found.pooled.p_regression == task.p_regression == found.tasks["a"].p_regression_adjusted
    assert found.pooled.difference == pytest.approx(task.difference)
    assert found.pooled.ci == task.ci


def test_pooled_difference_is_weighted_by_inverse_variance() -> None:
    tasks = {"a": moved(200, -0.02), "b": moved(50, 0.03, seed=1), "c": moved(500, 0.01, 0.3, seed=2)}
    weights = [1 / task.se**2 for task in tasks.values()]  # type: ignore[operator]
    found = pool(tasks)
    stats = DescrStatsW([task.difference for task in tasks.values()], weights=weights)
    assert found.difference == pytest.approx(stats.mean)
    assert found.ci is not None
    assert found.ci[1] - found.ci[0] == pytest.approx(2 * 1.959964 / np.sqrt(sum(weights)))


def test_a_small_drop_on_every_task_is_seen_by_the_pooled_difference() -> None:
    tasks = {str(i): moved(200, -0.011, seed=i) for i in range(6)}
    found = gate(tasks)
    assert {task.verdict for task in found.tasks.values()} <= {"NON_INFERIOR", "INCONCLUSIVE"}
    assert found.verdict == "REGRESSED"
    assert found.exit_code() == 1


def test_pooling_a_few_problems_does_not_believe_their_variance() -> None:
    tiny = {name: paired([[1.0]] * 2, [[0.9], [0.901]]) for name in ("a", "b")}
    assert pool(tiny).p_regression == pytest.approx(1 / 16)  # four signs, all lost
    assert gate(tiny).verdict == "INCONCLUSIVE"


def test_total_collapse_without_spread_counts_in_the_pool() -> None:
    collapse = paired(np.ones((30, 1)), np.zeros((30, 1)))
    found = gate({"a": collapse, "b": moved(200, 0.0)})
    assert "a" in found.pooled.tasks
    assert found.tasks["a"].verdict == "REGRESSED"


def test_improvement_is_the_same_test_the_other_way() -> None:
    down = {"a": moved(200, -0.02), "b": moved(200, -0.01, seed=1)}
    up = {"a": moved(200, 0.02), "b": moved(200, 0.01, seed=1)}
    assert gate(down).verdict == "REGRESSED"
    assert gate(up).verdict == "IMPROVED"
    assert gate(up).exit_code(strict=False) == 0


def test_a_missing_task_stays_in_the_family_and_is_inconclusive() -> None:
    gone = paired([[None]], [[1.0]])
    found = gate({"a": gone, "b": moved(200, -0.025)})
    assert found.tasks["a"].verdict == "INCONCLUSIVE"
    p = moved(200, -0.025).p_regression
    assert p is not None
    assert found.tasks["b"].p_regression_adjusted == pytest.approx(2 * p)
    assert gate({"a": gone}).pooled.difference is None


def test_a_gating_task_that_cannot_be_decided_is_never_a_pass() -> None:
    found = gate({"a": paired([[None]], [[1.0]]), "b": moved(200, 0.05)})
    assert (found.undecided, found.verdict, found.exit_code()) == (("a",), "INCONCLUSIVE", 1)
    absent = gate({"b": moved(200, 0.05)}, absent=["a"])
    assert (absent.undecided, absent.verdict, absent.exit_code()) == (("a",), "INCONCLUSIVE", 1)
    assert gate({"b": moved(200, 0.05)}).exit_code() == 0


def test_an_absent_gating_task_keeps_its_place_in_the_family() -> None:
    task = moved(200, -0.012, seed=3)
    alone, kept = gate({"b": task}), gate({"b": task}, absent=["a"])
    assert kept.tasks["b"].p_regression_adjusted == pytest.approx(2 * (task.p_regression or 0))
    assert (alone.alpha_pooled, kept.alpha_pooled) == (0.05, 0.025)


def test_a_small_task_that_shows_nothing_does_not_block_the_suite() -> None:
    tasks = {"aime": moved(30, 0.0, 0.05), **{str(i): moved(200, 0.0, 0.05, seed=i) for i in range(4)}}
    found = gate(tasks, margins={"aime": 0.06})
    assert (found.verdict, found.inconclusive) == ("NON_INFERIOR", ("aime",))
    assert found.exit_code(strict=True) == 0


def test_a_gain_does_not_hide_that_a_loss_elsewhere_is_not_excluded() -> None:
    tasks = {"a": moved(200, 0.1), "b": moved(200, -0.05, 0.5)}
    found = gate(tasks)
    assert (found.tasks["a"].verdict, found.tasks["b"].verdict) == ("IMPROVED", "INCONCLUSIVE")
    assert found.together.doubtful == ("b",)
    assert (found.verdict, found.exit_code(strict=True)) == ("INCONCLUSIVE", 1)
    assert gate({"a": tasks["a"], "b": moved(200, 0.0)}).verdict == "IMPROVED"


@pytest.mark.slow
def test_finds_is_for_the_level_at_which_the_gate_tests() -> None:
    tasks = {str(i): moved(200, 0.0, seed=i) for i in range(20)}
    one, twenty = gate({"0": tasks["0"]}).tasks["0"], gate(tasks).tasks["0"]
    assert one.finds == tasks["0"].mde
    assert one.finds is not None
    assert twenty.finds == pytest.approx(1.55 * one.finds, rel=0.01)  # the factor at 20 tasks
    outside = gate(tasks, gating=["1"]).tasks["0"]
    assert outside.finds == pytest.approx(1.46 * one.finds, rel=0.01)  # 19 others share one error of 5 %


def lost(share: float, n: int = 200) -> Paired:
    """The given share of the samples of tuned are excluded, the others all right in both."""
    tuned: list[list[float | None]] = [[None if i < share * n else 1.0] for i in range(n)]
    return paired([[1.0]] * n, tuned)


def test_excluded_samples_count_against_tuned_before_a_loss_is_excluded() -> None:
    assert gate({"a": lost(0.0)}).tasks["a"].verdict == "NON_INFERIOR"
    assert lost(0.02).difference == 0.0
    assert gate({"a": lost(0.02)}).tasks["a"].verdict == "INCONCLUSIVE"
    assert gate({"a": lost(0.02)}).verdict == "INCONCLUSIVE"


def test_a_gain_that_excluded_samples_could_undo_is_none() -> None:
    base = [[0.0]] * 10 + [[1.0]] * 190
    gained = [[1.0]] * 8 + [[0.0]] * 2 + [[1.0]] * 190
    assert gate({"a": paired(base, gained)}).tasks["a"].verdict == "IMPROVED"
    gappy: list[list[float | None]] = [[None] if at >= 190 else [*row] for at, row in enumerate(gained)]
    found = paired(base, gappy)
    assert found.p_improvement is not None
    assert found.p_improvement < 0.05
    assert gate({"a": found}).tasks["a"].verdict == "INCONCLUSIVE"
    two = {"a": found, "b": found}
    assert gate(two).pooled.p_improvement > 0.05


def test_names_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="no task 'aime' in this comparison; did you mean 'aime25'"):
        gate({"aime25": moved(30, 0.0)}, gating=["aime"])
    with pytest.raises(InputError, match="no task 'x'"):
        gate({"aime25": moved(30, 0.0)}, margins={"x": 0.1})


def test_a_gate_without_a_gating_task_is_inconclusive_and_not_passed() -> None:
    found = gate({"a": moved(200, -0.1)}, gating=[])
    assert found.verdict == "INCONCLUSIVE"
    assert found.exit_code() == 1


def test_the_interval_of_the_plain_mean_is_that_of_a_sum_of_independent_differences() -> None:
    tasks = {"a": moved(200, -0.1), "b": moved(50, 0.2, 0.3, seed=1), "c": moved(900, 0.0, 0.2, seed=2)}
    found = plain_mean(tasks)
    means, errors = zip(*((task.difference, task.se) for task in tasks.values()), strict=True)
    assert found.difference == pytest.approx(np.mean(means))
    assert found.ci is not None
    half = 1.96 * np.sqrt(np.square(errors).sum()) / 3
    assert found.ci == pytest.approx((np.mean(means) - half, np.mean(means) + half), abs=0.1 * half)


@pytest.mark.slow
def test_the_interval_of_the_plain_mean_contains_the_truth_in_95_of_100() -> None:
    rng, held = np.random.default_rng(5), 0
    for _ in range(600):
        tasks = {}
        for name, n, up, down in (("a", 60, 0.2, 0.1), ("b", 150, 0.05, 0.1), ("c", 400, 0.3, 0.25)):
            step = rng.choice([1.0, -1.0, 0.0], p=[up, down, 1 - up - down], size=(n, 1))
            tasks[name] = paired((step < 0).astype(float), (step > 0).astype(float))
        bounds = plain_mean(tasks).ci
        assert bounds is not None
        held += bounds[0] <= 0.1 / 3 <= bounds[1]
    assert 0.925 < held / 600 < 0.975


def test_a_task_without_a_difference_is_no_part_of_the_plain_mean() -> None:
    nothing = paired(np.full((5, 1), np.nan), np.ones((5, 1)))
    one = moved(200, -0.1)
    assert plain_mean({"a": one, "b": nothing}).difference == one.difference
    assert plain_mean({"b": nothing}).difference is None
