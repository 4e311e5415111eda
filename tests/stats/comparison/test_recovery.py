"""Recovery: the ratio of two paired scores, its interval, and what the gate makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.recovery import recoveries, recovery, suite_verdict, task_verdict
from tests.known import known


def drawn(n: int, *, base: float, keep: float = 1.0, gain: float = 0.0, k: int = 1, seed: int = 0) -> Paired:
    """Return a pair in which the variant keeps a share of the right answers and gains some of the others."""
    rng = np.random.default_rng(seed)
    before = (rng.random((n, k)) < base).astype(float)
    after = np.where(before == 1, rng.random((n, k)) < keep, rng.random((n, k)) < gain).astype(float)
    return paired(before, after)


def test_the_ratio_is_that_of_the_means_and_the_interval_holds_it() -> None:
    found = known(recovery(drawn(400, base=0.5, keep=0.9, gain=0.02)))
    pair = drawn(400, base=0.5, keep=0.9, gain=0.02)
    assert found.value == pytest.approx(known(pair.tuned) / known(pair.base))
    assert found.ci[0] < found.lower < found.value < found.ci[1]


def test_fieller_is_solved_as_by_hand() -> None:
    # Scores of 1 and 2 thirds in turn against one third: both ends are roots of (t - R b)^2 = q^2 var.
    base = np.tile([[0.2], [0.4], [0.6], [0.8]], (50, 1))
    tuned = base * 0.5 + np.tile([[0.02], [-0.02]], (100, 1))
    found = known(recovery(paired(base, tuned)))
    n = len(base)
    for end in found.ci:
        values = (tuned - end * base)[:, 0]
        assert abs(values.mean()) >= 1.96 * values.std(ddof=1) / np.sqrt(n)  # never inside Fieller's set


def test_a_variant_with_equal_scores_recovers_all_with_the_loss_that_may_be_unseen() -> None:
    found = known(recovery(paired(np.ones((300, 1)), np.ones((300, 1)))))
    assert found.value == 1
    assert found.lower == pytest.approx(0.05 ** (1 / 300), abs=1e-6)  # the rule of three
    assert found.ci[0] < found.lower and found.ci[1] > 1


def test_near_zero_no_ratio_is_given() -> None:
    assert recovery(drawn(100, base=0.05)) is None
    assert recovery(paired(np.zeros((100, 1)), np.ones((100, 1)))) is None
    assert recovery(drawn(2000, base=0.05)) is not None


def test_both_means_over_tasks_are_named_and_weigh_tasks_differently() -> None:
    tasks = {"easy": drawn(500, base=0.9, keep=0.95), "hard": drawn(500, base=0.2, keep=0.6, seed=1)}
    found = recoveries(tasks, list(tasks))
    each = [known(found.tasks[name]).value for name in tasks]
    assert known(found.mean).value == pytest.approx(sum(each) / 2)
    sums = [sum(known(getattr(task, side)) for task in tasks.values()) for side in ("tuned", "base")]
    assert known(found.of_means).value == pytest.approx(sums[0] / sums[1])
    only = recoveries(tasks | {"none": drawn(100, base=0.0)}, ["easy", "none"])
    assert known(only.mean).value == pytest.approx(each[0])
    assert recoveries(tasks, []).mean is None


def test_a_drop_within_the_margin_is_not_inferior_and_one_beyond_it_regressed() -> None:
    small, large = drawn(9000, base=0.8, keep=0.99, k=1), drawn(9000, base=0.8, keep=0.9, k=1)
    for pair, wanted in ((small, "NON_INFERIOR"), (large, "REGRESSED")):
        decided = gate({"t": pair}, margins={"t": 0.02})
        assert decided.verdict == "REGRESSED"  # each drop is shown
        ratio = recovery(pair)
        verdict = task_verdict(decided.tasks["t"], ratio, pair.n)
        assert verdict == wanted
        assert suite_verdict(decided, [verdict], ratio, 0.02) == wanted


def test_too_few_problems_vouch_for_no_margin() -> None:
    pair = paired(np.ones((150, 1)), np.ones((150, 1)))
    decided, ratio = gate({"t": pair}), known(recovery(pair))
    assert task_verdict(decided.tasks["t"], ratio, pair.n) == "NON_INFERIOR"  # 3 % of 150 problems
    assert suite_verdict(decided, ["NON_INFERIOR"], ratio, 0.01) == "INCONCLUSIVE"
    before = np.arange(150) < 90
    for gained, verdict in ((5, "INCONCLUSIVE"), (30, "NON_INFERIOR")):
        after = (np.arange(150) > 0) & (np.arange(150) < 90 + gained)  # one is lost
        pair = paired(before[:, None].astype(float), after[:, None].astype(float))
        decided, ratio = gate({"t": pair}, margins={"t": 0.01}), known(recovery(pair))
        assert ratio.lower > 0.99
        assert task_verdict(decided.tasks["t"], ratio, pair.n) == verdict


def test_a_task_that_regressed_decides_whatever_the_mean() -> None:
    tasks = {f"t{i}": drawn(3000, base=0.7, seed=i) for i in range(9)}
    tasks["lost"] = drawn(3000, base=0.7, keep=0.93, seed=9)
    decided, found = gate(tasks), recoveries(tasks, list(tasks))
    verdicts = [task_verdict(decided.tasks[name], found.tasks[name], 3000) for name in tasks]
    assert known(found.mean).lower > 0.985
    assert suite_verdict(decided, verdicts, found.mean, 0.015) == "REGRESSED"
