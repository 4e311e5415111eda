"""The plan of an adaptive run, the gate that its looks decide, and what it says that it saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from genbench.analysis.adaptive.gate import (
    adaptive_gate,
    adaptive_of,
    changed_words,
    check_choices,
    interval_levels,
    plan_differences,
    repeated,
)
from genbench.analysis.adaptive.plan import (
    base_digest,
    begun,
    confirmation,
    look_words,
    paired_at,
    rules_of,
)
from genbench.analysis.adaptive.results import AdaptiveResults, adaptive_results
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.stats.adaptive.group_sequential import Night, plan_looks, task_rule
from genbench.stats.comparison.differences import difference_interval
from genbench.stats.comparison.gate import Gate
from genbench.stats.comparison.paired import Paired
from genbench.store.manifest import AdaptivePlan, AdaptiveRecord, AdaptiveState, BaseRecord, TaskPlan
from tests.manifests import manifest

N = 120
NAMES = ("sums", "words")


def side_task(name: str, k: int, seed: int, lost: int = 0) -> SideTask:
    """Return a task of which the first `lost` problems are never solved."""
    right = np.random.default_rng(seed).random((N, k)) < np.where(np.arange(N) < lost, 0.0, 0.9)[:, None]
    ids = tuple(f"p{i}" for i in range(N))
    return SideTask(name, ids, tuple(tuple(float(one) for one in row) for row in right))


def base_side(seed: int = 1) -> Side:
    return Side(Path("base"), "base", "run", {name: side_task(name, 64, seed) for name in NAMES})


def plan_against(base: Side) -> AdaptivePlan:
    tasks = {
        name: TaskPlan(
            n=N,
            k=8,
            by_problems=False,
            steps=(2, 4, 6, 8),
            fractions=(0.25, 0.5, 0.75, 1.0),
            cuts=(),
            sure=(),
            margin=0.03,
            gating=True,
            alpha=0.0125,
            interval=task_rule(plan_looks(N, 8)).interval,
        )
        for name in NAMES
    }
    ids = {name: base.tasks[name].problem_ids for name in NAMES}
    record = BaseRecord(path="b", uid="u", model="base", model_identity="i", digest=base_digest(base, ids))
    return AdaptivePlan(base=record, alpha=0.05, pooled_margin=0.01, tasks=tasks)


def played(base: Side, lost: int = 0) -> tuple[AdaptiveRecord, dict[str, Paired]]:
    """Return the record of a whole run whose tuned model lost problems of `sums`, and its last data."""
    plan = plan_against(base)
    state, rules = Night(rules_of(plan)), rules_of(plan)
    tuned = {"sums": side_task("sums", 8, 2, lost), "words": side_task("words", 8, 3)}
    looks, data = [], {}
    while not state.is_over:
        scores = {
            name: {
                problem: row[: rules[name].looks.steps[state.reached[name] - 1]]
                for problem, row in zip(tuned[name].problem_ids, tuned[name].scores, strict=True)
            }
            for name in NAMES
        }
        data = {name: paired_at(base.tasks[name], scores[name]) for name in NAMES}
        samples = {name: sum(map(len, scores[name].values())) for name in NAMES}
        looks.append(state.look(data, samples))
    done = AdaptiveState(reached=state.reached, decisions=state.decisions, looks=tuple(looks), is_over=True)
    return AdaptiveRecord(plan=plan, state=done), data


def gate_of(record: AdaptiveRecord, data: dict[str, Paired]) -> Gate:
    return adaptive_gate(record, repeated(record, data))


def test_the_gate_of_a_comparison_is_that_of_the_looks() -> None:
    record, data = played(base_side(), lost=50)
    found = gate_of(record, data)
    assert found.verdict == "REGRESSED"
    assert found.tasks["sums"].verdict == "REGRESSED"
    assert found.tasks["words"].verdict == record.state.decisions["words"] == "NON_INFERIOR"
    assert found.exit_code() == 1
    seen = record.state.looks[-1].tasks["sums"]
    assert (found.tasks["sums"].alpha, found.tasks["sums"].p_regression_adjusted) == (seen.level, seen.p)


def test_an_unchanged_model_is_not_called_improved() -> None:
    record, data = played(base_side())
    found = gate_of(record, data)
    assert found.verdict in ("NON_INFERIOR", "INCONCLUSIVE")
    assert all(task.p_improvement_adjusted is None for task in found.tasks.values())


def test_intervals_of_a_comparison_are_those_of_the_last_look() -> None:
    record, data = played(base_side())
    levels = interval_levels(record)
    assert interval_levels(None) == {}
    for name in NAMES:
        look = record.state.reached[name]
        assert levels[name] == rules_of(record.plan)[name].interval[look - 1]
        words = repeated(record, data)[name].ci_method
        assert words.startswith(f"repeated interval, look {look} of 4: paired t")
    clusters = data["sums"].clusters
    assert clusters is not None
    wide = difference_interval(clusters, levels["sums"]).bounds
    assert wide[0] < difference_interval(clusters).bounds[0]
    stored = manifest()
    assert stored.interval_level("sums") == 0.95
    assert stored.model_copy(update={"adaptive": record}).interval_level("sums") == levels["sums"]


def test_the_pooled_interval_is_wider_than_a_plain_one() -> None:
    record, data = played(base_side())
    found = gate_of(record, data).pooled
    assert found.ci is not None
    assert found.difference is not None
    assert record.state.looks[-1].verdict is not None
    plain = 1.96 * (found.ci[1] - found.ci[0]) / 2 / 1.96
    assert found.ci[0] == pytest.approx(found.difference - plain)


def test_another_base_is_a_difference_and_the_same_scores_are_none() -> None:
    base = base_side()
    record, _ = played(base)
    assert plan_differences(base, record) == []
    (found,) = plan_differences(base_side(seed=9), record)
    assert found.name == "adaptive"
    assert "their errors do not hold for another base" in found.detail
    assert plan_differences(base, None) == []


def test_the_digest_of_a_base_does_not_depend_on_the_order_of_problems() -> None:
    base = base_side()
    ids = {name: base.tasks[name].problem_ids for name in NAMES}
    turned = {name: base.tasks[name].take(ids[name][::-1]) for name in NAMES}
    assert base_digest(replace(base, tasks=turned), ids) == base_digest(base, ids)
    assert base_digest(base_side(seed=2), ids) != base_digest(base, ids)


def test_choices_that_were_planned_are_refused_later() -> None:
    record, _ = played(base_side())
    check_choices(record, {"--margin": {}, "--gating": (), "--suite-margin": None})
    with pytest.raises(InputError, match="--margin: tuned is an adaptive run against b"):
        check_choices(record, {"--margin": {"sums": 0.05}})


def test_a_run_that_is_not_over_is_not_compared() -> None:
    base = base_side()
    record = begun(plan_against(base))
    unfinished = manifest().model_copy(update={"adaptive": record})
    with pytest.raises(InputError, match="not over; continue it with its command"):
        adaptive_of(replace(base, manifest=unfinished))
    assert adaptive_of(base) is None
    assert record.state.reached == dict.fromkeys(NAMES, 1)


def test_verdicts_that_changed_after_the_look_are_a_warning() -> None:
    record, data = played(base_side())
    assert changed_words(record, data) == []
    other = {**data, "sums": data["sums"].model_copy(update={"difference": 0.5})}
    (line,) = changed_words(record, other)
    assert line.startswith("sums: verdicts of tuned or base changed")


def test_what_was_saved_is_counted_by_task() -> None:
    record, _ = played(base_side(), lost=50)
    drawn = {"sums": 480, "words": 480}
    found = adaptive_results(record, drawn)
    assert (found.samples, found.planned, found.verdict) == (960, 2 * N * 8, "REGRESSED")
    assert found.tasks["sums"].decision == "REGRESSED"
    assert AdaptiveResults.from_json(found.to_json(), "results.json") == found


def test_a_look_is_told_in_a_line() -> None:
    record, _ = played(base_side(), lost=50)
    lines = [line for look in record.state.looks for line in look_words(look)]
    assert any("sums REGRESSED" in line for line in lines)
    assert lines[-1].startswith("the suite is REGRESSED after 1 look")


def test_a_confirmation_tests_only_the_fresh_samples() -> None:
    base = base_side().tasks["sums"]
    fresh = side_task("sums", 4, 8, lost=50)
    scores = dict(zip(fresh.problem_ids, fresh.scores, strict=True))
    found = confirmation(base, scores)
    assert found.samples == 4 * N
    assert found.p < 1e-6
    assert found.difference == paired_at(base, scores).difference
