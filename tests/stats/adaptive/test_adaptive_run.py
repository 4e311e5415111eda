"""An adaptive run as a sequence of looks: who draws on, when it ends, and the error of its verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from genbench.stats.adaptive.group_sequential import POOLED_MARGIN, Night, plan_looks, task_rule
from genbench.stats.comparison.paired import Paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats

FLAT = np.tile([0.02, -0.02], 100)
NOISY = np.tile([0.5, -0.5], 100)
WORSE = np.tile([-0.5, -0.4], 100)


def pair(differences: Floats) -> Paired:
    """Return a comparison with these differences, as far as the rule uses it."""
    clusters, p = cluster(differences), sign_flip(differences).p_regression
    return Paired.of(
        len(differences), 64, 4, difference=clusters.mean, p_regression=p, clusters=clusters, worst=clusters
    )


def night(count: int = 2, *, n: int = 200, finish: bool = False, gating: int | None = None) -> Night:
    """Return a night of tasks a, b … with 200 problems by 16 samples."""
    names = "abcdefgh"[:count]
    family = count if gating is None else gating
    rules = {
        name: task_rule(plan_looks(n, 16), family=family, gating=at < family) for at, name in enumerate(names)
    }
    return Night(rules, finish=finish)


def both(a: Floats, b: Floats) -> dict[str, Paired]:
    return {"a": pair(a), "b": pair(b)}


def test_a_night_of_equal_models_ends_at_the_first_look() -> None:
    state = night()
    look = state.look(both(FLAT, FLAT))
    assert state.is_over
    assert state.decisions == {"a": "NON_INFERIOR", "b": "NON_INFERIOR"}
    assert (look.number, look.draws, look.verdict) == (1, (), "NON_INFERIOR")
    assert look.pooled is not None
    assert look.pooled.is_excluded


def test_open_tasks_draw_on_and_decided_ones_do_not() -> None:
    state = night()
    precise = np.concatenate([FLAT, np.zeros(3000)])
    look = state.look(both(precise, NOISY))
    assert look.draws == ("b",)
    assert state.reached == {"a": 1, "b": 2}
    assert list(look.tasks) == ["a", "b"]
    assert list(state.look(both(precise, NOISY)).tasks) == ["b"]


def test_decided_tasks_keep_their_decision_and_draw_on_while_a_pooled_loss_is_not_excluded() -> None:
    state = night()
    doubtful = np.tile([0.09, -0.11], 100)
    look = state.look(both(doubtful, doubtful))
    assert state.decisions == {"a": "NON_INFERIOR", "b": "NON_INFERIOR"}
    assert look.pooled is not None
    assert look.pooled.lower is not None
    assert look.pooled.lower <= -POOLED_MARGIN
    assert look.draws == ("a", "b")
    after = state.look(both(FLAT, FLAT))
    assert {name: task.decision for name, task in after.tasks.items()} == dict.fromkeys("ab", "NON_INFERIOR")
    assert (after.draws, after.verdict) == ((), "NON_INFERIOR")


def test_a_decided_task_that_draws_on_may_still_be_found_to_regress() -> None:
    state = night()
    doubtful = np.tile([0.09, -0.11], 100)
    state.look(both(doubtful, doubtful))
    before = dict(state.decisions)
    look = state.look(both(WORSE, doubtful))
    assert before["a"] == "NON_INFERIOR"
    assert look.tasks["a"].decision == state.decisions["a"] == "REGRESSED"
    assert look.verdict == "REGRESSED"


def test_a_task_whose_samples_tell_little_does_not_draw_on_for_the_pooled_difference() -> None:
    rules = {
        "coarse": task_rule(plan_looks(200, 400), margin=0.2, family=2),
        "fine": task_rule(plan_looks(200, 16), family=2),
    }
    state = Night(rules)
    look = state.look({"coarse": pair(NOISY / 2), "fine": pair(np.tile([0.09, -0.11], 100))})
    assert state.decisions["coarse"] == "NON_INFERIOR"
    assert look.draws == ("fine",)


def test_a_small_task_that_fell_quiet_does_not_draw_on_for_the_pooled_difference() -> None:
    rules = {
        "small": task_rule(plan_looks(40, 16), margin=0.2, family=2),
        "large": task_rule(plan_looks(200, 16), family=2),
    }
    state = Night(rules)
    look = state.look({"small": pair(NOISY[:40] / 5), "large": pair(np.tile([0.09, -0.11], 100))})
    assert state.decisions["small"] == "QUIET"
    assert look.draws == ("large",)


def test_the_first_regression_ends_the_night_and_leaves_the_rest_open() -> None:
    state = night()
    look = state.look(both(WORSE, NOISY))
    assert (look.draws, look.verdict) == ((), "REGRESSED")
    assert state.decisions == {"a": "REGRESSED", "b": "STOPPED"}


def test_finish_goes_on_after_a_regression() -> None:
    state = night(finish=True)
    assert state.look(both(WORSE, NOISY)).draws == ("b",)
    for _ in range(3):
        last = state.look(both(WORSE, NOISY))
    assert state.decisions == {"a": "REGRESSED", "b": "INCONCLUSIVE"}
    assert last.verdict == "REGRESSED"


def test_a_drop_that_only_the_pooled_difference_shows_is_a_regression() -> None:
    state = night(4)
    rng = np.random.default_rng(2)
    while not state.is_over:
        noise = {name: rng.normal(-0.035, 0.2, 200) for name in state.rules}
        look = state.look({name: pair(np.round(values, 2)) for name, values in noise.items()})
    assert look.verdict == "REGRESSED"
    assert look.pooled is not None
    assert look.pooled.regressed
    assert "REGRESSED" not in state.decisions.values()


def test_a_single_gating_task_has_no_pooled_look() -> None:
    state = night(1)
    look = state.look({"a": pair(FLAT)})
    assert look.pooled is None
    assert look.verdict == "NON_INFERIOR"


def test_a_task_that_does_not_gate_ends_nothing() -> None:
    state = night(2, gating=1)
    look = state.look(both(NOISY, WORSE))
    assert state.decisions == {"b": "REGRESSED"}
    assert look.draws == ("a",)


def test_the_last_look_leaves_noisy_tasks_inconclusive() -> None:
    state = night()
    for _ in range(4):
        look = state.look(both(NOISY, NOISY))
    assert state.is_over
    assert look.verdict == "INCONCLUSIVE"
    assert set(state.decisions.values()) == {"INCONCLUSIVE"}
    assert state.last["a"].look == 4


def test_looks_of_the_pooled_difference_have_rising_fractions() -> None:
    state = night()
    seen = [state.look(both(NOISY, NOISY)).pooled for _ in range(4)]
    assert [found.fraction for found in seen if found] == [0.25, 0.5, 0.75, 1.0]
    assert [found.level for found in seen if found] == sorted(found.level for found in seen if found)


@pytest.mark.slow
def test_an_unchanged_model_regresses_no_more_often_than_promised() -> None:
    rng, nights, found = np.random.default_rng(4), 120, 0
    rules = {name: task_rule(plan_looks(120, 8), family=2) for name in "ab"}
    for _ in range(nights):
        rates = {name: rng.beta(1, 1, 120) for name in rules}
        base = {name: rng.binomial(64, p) / 64 for name, p in rates.items()}
        samples = {name: rng.random((120, 8)) < p[:, None] for name, p in rates.items()}
        state = Night(rules)
        while not state.is_over:
            data = {
                name: pair(
                    samples[name][:, : rules[name].looks.steps[state.reached[name] - 1]].mean(axis=1)
                    - base[name]
                )
                for name in rules
            }
            state.look(data)
        found += state.looks[-1].verdict == "REGRESSED"
    assert found / nights <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / nights)
