"""Agreement of a measured score with a published one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from genbench.analysis.instruction_accuracy import InstructionsRecord
from genbench.analysis.likelihood import USUAL_TURNED, LikelihoodRecord
from genbench.analysis.parity import (
    Measured,
    agreement,
    judge_of,
    measured_group,
    measured_instructions,
    measured_macro,
    measured_task,
    run_agreement,
)
from genbench.analysis.records import Bounded
from genbench.analysis.results.means import GroupRecord, MacroRecord, ProblemValues, group_records
from genbench.analysis.results.record import TaskResults
from genbench.protocols import PublishedScore
from genbench.stats.macro import MeanRecord
from genbench.suite.config import ModelConfig
from genbench.tasks.python import bfcl
from tests.reports import made
from tests.table import each_row


def task(**changes: Any) -> TaskResults:
    """Return results of 100 problems by 4 samples at 0.5, with a re-run interval of 0.04 to each side."""
    known: dict[str, Any] = {
        **{"metric": "avg@4", "value": 0.5, "n": 100, "k": 4, "se": 0.05, "ci": (0.4, 0.6), "ci_method": "t"},
        **{"rerun_ci": (0.46, 0.54), "rerun_ci_method": "t", "excluded": 0, "bounds": None, "missing": None},
    }
    return TaskResults.model_construct(**(known | changes))


def published(value: float, n: int | None = 100, k: int | None = 4) -> PublishedScore:
    return PublishedScore(model="M", value=value, source="s", decoding="d", n=n, k=k, of="this model")


def test_the_interval_has_the_draws_of_both_sides() -> None:
    found = agreement("m", "t", "genbench", measured_task(task()), published(0.45))
    assert found.difference == pytest.approx(0.05)
    assert found.ci is not None
    half = (found.ci[1] - found.ci[0]) / 2
    assert half == pytest.approx(0.04 * 2**0.5)
    assert found.state == "agrees"


def test_a_score_outside_the_interval_differs() -> None:
    assert agreement("m", "t", "genbench", measured_task(task()), published(0.43)).state == "differs"
    assert agreement("m", "t", "genbench", measured_task(task()), published(0.57)).state == "differs"


def test_a_source_that_drew_more_leaves_less_room() -> None:
    half = [
        (found.ci[1] - found.ci[0]) / 2
        for k in (1, 4, 64)
        if (found := agreement("m", "t", "genbench", measured_task(task()), published(0.5, k=k))).ci
    ]
    assert half[0] == pytest.approx(0.04 * 5**0.5) and half[1] > half[2] > 0.04


def test_a_source_that_says_nothing_is_taken_to_have_drawn_once() -> None:
    silent = agreement("m", "t", "genbench", measured_task(task()), published(0.5, n=None, k=None))
    assert silent.ci == agreement("m", "t", "genbench", measured_task(task()), published(0.5, k=1)).ci


def test_other_problems_add_the_spread_between_problems() -> None:
    same, other = (
        agreement("m", "t", "genbench", measured_task(task()), published(0.5, n=n)).ci for n in (100, 50)
    )
    assert same is not None and other is not None
    assert other[1] > same[1] + 0.1


def test_draws_count_once_if_the_source_has_other_problems() -> None:
    """With one sample each, two sides of other problems differ as two binomial shares do."""
    one = task(rerun_ci=None, k=1, se=0.05)
    found = agreement("m", "t", "genbench", measured_task(one), published(0.5, n=50, k=1))
    assert found.ci is not None
    assert found.ci[1] == pytest.approx(1.96 * (0.25 / 100 + 0.25 / 50) ** 0.5, rel=1e-3)


def test_one_sample_of_each_problem_has_the_largest_variance() -> None:
    found = agreement("m", "t", "genbench", measured_task(task(rerun_ci=None, k=1)), published(0.5, k=1))
    assert found.ci is not None
    assert found.ci[1] == pytest.approx(1.96 * (2 * 0.25 / 100) ** 0.5, rel=1e-3)


def test_the_values_of_f1_have_a_smaller_variance_than_those_of_accuracy() -> None:
    """Uniform values have a third of the variance of a fair coin, and p(1-p)/n knows only the coin."""
    values = np.random.default_rng(3).random(400)
    f1 = task(rerun_ci=None, k=1, n=400, value=float(values.mean()), se=float(values.std(ddof=1) / 20))
    measured = measured_task(f1)
    assert measured is not None and measured.draws == pytest.approx(1 / 12 / 400, rel=0.1)


def test_clusters_do_not_widen_the_draws() -> None:
    clustered = task(rerun_ci=None, k=1, se=0.2)
    measured = measured_task(clustered)
    assert measured is not None and measured.draws == pytest.approx(0.25 / 100)


def test_a_score_of_all_right_may_be_off_by_a_problem() -> None:
    perfect = task(rerun_ci=None, k=1, value=1.0, se=0.0)
    assert agreement("m", "t", "genbench", measured_task(perfect), published(0.99, k=1)).state == "agrees"
    assert agreement("m", "t", "genbench", measured_task(perfect), published(0.9, k=1)).state == "differs"


def scored(**facts: Any) -> TaskResults:
    """Return a task of 2,400 scored rows."""
    texts = LikelihoodRecord(measures={}, ties=0, merged=0)
    return task(rerun_ci=None, k=1, n=2400, se=0.01, likelihood=texts, **facts)


def test_scored_texts_of_the_same_rows_differ_by_arithmetic_only() -> None:
    """The error for new questions is two points: both sides have the same questions."""
    measured = measured_task(scored())
    assert agreement("m", "t", "g", measured, published(0.507, n=2400, k=1)).state == "agrees"
    assert agreement("m", "t", "g", measured, published(0.508, n=2400, k=1)).state == "differs"
    assert agreement("m", "t", "g", measured, published(0.51, n=1200, k=1)).state == "agrees"


def test_turned_choices_move_a_score_as_far_as_the_interval_says() -> None:
    """3.3 choices of a hundred turn, with the chance that they were right before."""
    rng = np.random.default_rng(5)
    measured = measured_task(scored())
    assert measured is not None
    right = rng.random((600, 2400)) < 0.5
    turned = right ^ (rng.random(right.shape) < USUAL_TURNED)
    difference = turned.mean(axis=1) - right.mean(axis=1)
    assert difference.var() == pytest.approx(2 * measured.draws, rel=0.15)


def test_a_missing_score_was_not_run() -> None:
    found = agreement("m", "t", "genbench", measured_task(task(value=None)), published(0.5))
    assert (found.state, found.measured, found.ci) == ("not yet run", None, None)


def group(mean: str, value: float, *tasks: TaskResults, **changes: Any) -> GroupRecord:
    """Return a group whose mean that others report has this value."""
    size = sum(item.n for item in tasks)
    known = {"value": value, "n": size, "parts": 2, "se": 0.03, "ci": None, "rerun_se": 0.02}
    record = MeanRecord.model_validate(known | changes)
    means = {"macro": record, "micro": record}
    return GroupRecord.model_validate({"tasks": ("a", "b"), **means, "mean": mean})


def test_a_group_has_the_variances_of_its_mean() -> None:
    tasks = task(), task(n=300)
    found = measured_group(group("macro", 0.4, *tasks), tasks)
    assert found is not None
    assert (found.value, found.n) == (0.4, 400)
    assert found.between == pytest.approx(0.03**2) and found.draws == pytest.approx(0.02**2)
    assert found.draw == pytest.approx(4 * found.draws)


def test_a_group_of_an_older_run_has_its_larger_standard_error() -> None:
    tasks = task(), task()
    found = measured_group(group("macro", 0.4, *tasks, rerun_se=None), tasks)
    assert found is not None and found.draws == pytest.approx(0.03**2)
    assert measured_group(group("macro", 0.4, *tasks, rerun_se=None, se=None), tasks) is None


def test_a_macro_mean_is_compared_with_the_mean_over_the_categories() -> None:
    macro = MacroRecord(value=0.3, n=100, parts=3, se=0.04, ci=(0.2, 0.4), rerun_se=0.01, by="category")
    score = published(0.31).model_copy(update={"mean": "macro"})
    (found,) = run_agreement(
        made.results(tasks={"t": made.task(macro=macro, published=(score,))}), {}, ModelConfig(path="M")
    )
    assert (found.label, found.measured, found.state) == ("t (macro)", 0.3, "agrees")
    assert measured_macro(task(macro=None)) is None


@pytest.mark.parametrize("change", [{"macro": None}, {"mean": None}])
def test_a_group_that_lacks_a_task_or_is_not_reported_was_not_run(change: dict[str, None]) -> None:
    tasks = task(), task()
    found = measured_group(group("macro", 0.5, *tasks).model_copy(update=change), tasks)
    assert found is None
    assert agreement("m", "g", "genbench", found, published(0.5)).state == "not yet run"


def test_a_rule_needs_no_judge() -> None:
    assert judge_of([task(judge=None)]) is None


@each_row(
    "n, of, spread",
    [
        (None, 400, 0.03**2 * (1 - 100 / 400)),  # a part of the task, whose source is taken to have all of it
        (400, 400, 0.03**2 * (1 - 100 / 400)),
        (200, 400, 0.03**2 * (1 + 100 / 200)),  # the source has other problems
        (100, 400, 0.0),
    ],
)
def test_a_part_of_the_problems_of_the_source_is_a_draw_without_replacement(
    n: int | None, of: int, spread: float
) -> None:
    measured = Measured(0.5, 100, 0.03**2, 0.0, 0.0)
    found = agreement("m", "t", "genbench", measured, published(0.5, n), of=of)
    assert found.ci is not None and found.ci[1] == pytest.approx(1.96 * spread**0.5, rel=1e-3)
    assert (found.problems, found.of) == (100, 400)


def test_the_mean_of_prompts_and_instructions_has_the_error_of_both_together() -> None:
    turn = {
        "prompt_level_strict_acc": Bounded(value=0.2, ci=(0.16, 0.24)),
        "inst_level_strict_acc": Bounded(value=0.4, ci=(0.34, 0.46)),
    }
    found = measured_instructions(task(instructions=InstructionsRecord(turns=(turn,), kinds=())))
    assert found is not None and found.value == pytest.approx(0.3)
    assert found.between == pytest.approx((0.05 / 1.96) ** 2, rel=1e-3)
    assert measured_instructions(task(instructions=None)) is None


def test_another_number_of_problems_adds_the_variance_between_problems_of_a_group() -> None:
    measured = Measured(0.5, 200, 0.03**2, 0.0, 0.0)
    found = agreement("m", "g", "genbench", measured, published(0.5, 100))
    assert found.ci is not None and found.ci[1] == pytest.approx(1.96 * 0.03 * 3**0.5, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfcl_v3_non_live", "bfcl_v3"])
def test_two_runs_of_one_model_agree_as_often_as_their_interval_says(name: str) -> None:
    """BFCL's own categories and weights, a quarter of its rows, one sample each, half of them right.

    If all problems of a task counted alike, the variance of non-live would be a fifth too small.
    """
    rng = np.random.default_rng(11)
    live = bfcl.LIVE["v3"]
    rows = {"bfcl_v3_non_live": bfcl.NON_LIVE, "bfcl_v3_live": live, "bfcl_v3_multi_turn": {"all": 800}}
    weights = {
        "bfcl_v3_non_live": bfcl.non_live().info.weights,
        "bfcl_v3_live": live,
        "bfcl_v3_multi_turn": {"all": 1.0},
    }
    tasks = [name] if name in rows else list(rows)
    parts = {key: [part for part, count in rows[key].items() for _ in range(count // 4)] for key in tasks}

    def drawn() -> MeanRecord:
        found = {
            key: ProblemValues(
                rng.integers(2, size=len(parts[key])).astype(float),
                [(key, place) for place in range(len(parts[key]))],
                parts[key],
                weights[key],
            )
            for key in tasks
        }
        macro = group_records({"both": tasks}, found)["both"].macro
        assert macro is not None
        return macro

    exact = sum(
        (weights[key][part] / sum(weights[key].values()) / len(tasks)) ** 2 * 0.25 / parts[key].count(part)
        for key in tasks
        for part in rows[key]
    )
    variances, agreed = [], []
    for _ in range(400):
        record, source = drawn(), drawn()
        both = GroupRecord(tasks=tuple(tasks), macro=record, micro=None, mean="macro")
        measured = measured_group(both, [task(k=1)] * len(tasks))
        assert measured is not None
        variances.append(measured.draws)
        found = agreement("m", name, "genbench", measured, published(source.value, None, 1))
        agreed.append(found.state == "agrees")
    assert np.mean(variances) == pytest.approx(exact, rel=0.01)
    assert 0.925 <= np.mean(agreed) <= 0.975
