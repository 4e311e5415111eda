"""The nightly gate: by the base tonight, by open changes of the history, and by the run itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import change_id, open_change, settle_change
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.notes import Change
from genbench.nights.pages.terminal import gate_text
from genbench.nights.policy.config import MeasurePolicy, Policy, TaskPolicy
from genbench.nights.policy.gate import GatedChange, GatedTask, NightlyGate, nightly_gate, scores_of, tonight
from genbench.nights.trend.compose import trend
from tests.nights.ledger.synthetic import make_run

N = 60


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite3") as opened:
        make_run(tmp_path / "runs" / "base", drawn(0), role="anchor", model="base")
        add(opened, [tmp_path / "runs"])
        yield opened


def drawn(seed: int, drop: float = 0.0, tasks: tuple[str, ...] = ("math", "code")) -> dict[str, Any]:
    """Return scores of tasks whose first task is `drop` worse than the base."""
    found = {}
    for number, name in enumerate(tasks):
        ability = np.random.default_rng(number).beta(2, 2, N) - (drop if number == 0 else 0.0)
        draws = np.random.default_rng([seed, number]).random((N, 8)) < ability[:, None]
        found[name] = draws.astype(float).tolist()
    return found


def quiet(ledger: Ledger, track: str) -> None:
    """Find no change."""


def gate(ledger: Ledger, folder: Path, **options: Any) -> NightlyGate:
    return nightly_gate(ledger, folder, **{"detect": quiet, **options})


def night(tmp_path: Path, number: int = 1, **options: Any) -> Path:
    scores = options.pop("scores", None) or drawn(number, options.pop("drop", 0.0))
    return make_run(tmp_path / "runs" / f"n{number}", scores, position=20_000 + number, **options)


def test_an_unchanged_model_passes_and_is_added(ledger: Ledger, tmp_path: Path) -> None:
    found = gate(ledger, night(tmp_path))
    assert (found.verdict, found.exit_code, found.reasons) == ("pass", 0, ())
    assert found.alpha == pytest.approx(1 / 365)
    assert len(track_history(ledger, "nightly").points) == 1
    assert gate_text(found).startswith("PASS: tuned of 2024-10-05, track nightly")


def test_a_large_drop_fails_the_night_by_the_task_and_pooled(ledger: Ledger, tmp_path: Path) -> None:
    found = gate(ledger, night(tmp_path, drop=0.25))
    assert found.exit_code == 1 and found.tasks["math"].state == "failed"
    assert found.reasons[0].startswith("math: -") and "against the base" in found.reasons[0]
    assert found.tasks["code"].state == "held"
    assert "FAIL" in gate_text(found) and "failed" in gate_text(found)


def test_a_drop_that_a_single_comparison_would_show_passes_a_night(ledger: Ledger, tmp_path: Path) -> None:
    found = gate(ledger, night(tmp_path, number=4, drop=0.07))
    task = found.tasks["math"]
    assert task.p is not None and task.level is not None and task.level < task.p < 0.05
    assert found.exit_code == 0


def test_a_margin_is_compared_with_the_interval_not_the_estimate(ledger: Ledger, tmp_path: Path) -> None:
    policy = Policy(name="p", tasks={"math": TaskPolicy(tier="critical", margin=15)})
    found = gate(ledger, night(tmp_path, drop=0.25), policy=policy)
    task = found.tasks["math"]
    assert task.difference is not None and task.difference < -task.margin
    assert task.state == "held" and found.exit_code == 0


def test_a_relative_margin_is_a_share_of_the_base(ledger: Ledger, tmp_path: Path) -> None:
    policy = Policy(name="p", tasks={"math": TaskPolicy(tier="critical", relative=10)})
    task = gate(ledger, night(tmp_path), policy=policy).tasks["math"]
    assert task.base is not None and task.margin == pytest.approx(0.1 * task.base)


def test_what_must_be_proven_fails_without_proof(ledger: Ledger, tmp_path: Path) -> None:
    def ask(margin: float) -> NightlyGate:
        task = TaskPolicy(tier="critical", margin=margin, rule="proven")
        return gate(ledger, night_folder, policy=Policy(name="p", tasks={"math": task}))

    night_folder = night(tmp_path, number=2, drop=0.06)
    assert ask(0.5).exit_code == 1 and "is not excluded" in ask(0.5).reasons[0]
    assert ask(15).exit_code == 0


def test_supporting_tasks_fail_the_gate_only_together(ledger: Ledger, tmp_path: Path) -> None:
    tiers = {name: TaskPolicy(tier="supporting") for name in ("math", "code")}
    folder = night(tmp_path, drop=0.25)
    one = gate(ledger, folder, policy=Policy(name="p", tasks=tiers))
    assert one.exit_code == 0 and "the policy accepts 1" in one.remarks[-1]
    none = gate(ledger, folder, policy=Policy(name="p", tasks=tiers, supporting_failures=0))
    assert none.exit_code == 1 and none.reasons[0].endswith("(supporting)")


def test_advisory_tasks_are_shown_and_never_fail(ledger: Ledger, tmp_path: Path) -> None:
    policy = Policy(name="p", tasks={"code": TaskPolicy(tier="critical")})
    found = gate(ledger, night(tmp_path, drop=0.25), policy=policy)
    assert found.exit_code == 0 and found.tasks["math"].tier == "advisory"


def test_a_required_task_that_is_missing_fails(ledger: Ledger, tmp_path: Path) -> None:
    policy = Policy(name="p", tasks={"gpqa": TaskPolicy(tier="supporting", required=True)})
    found = gate(ledger, night(tmp_path), policy=policy)
    assert found.reasons == ("gpqa: required, and the run lacks it",)


def test_a_task_whose_base_was_drawn_under_other_terms_fails(ledger: Ledger, tmp_path: Path) -> None:
    found = gate(ledger, night(tmp_path, verifier="new"))
    assert found.exit_code == 1 and "was not drawn under tonight's terms" in found.reasons[0]


def test_a_failed_run_fails_with_its_reason(ledger: Ledger, tmp_path: Path) -> None:
    found = gate(ledger, night(tmp_path, failed=("math: 9 of 480 samples are excluded",)))
    assert found.reasons == ("the run failed: math: 9 of 480 samples are excluded",)


def opened(ledger: Ledger, **changes: Any) -> Change:
    point = track_history(ledger, "nightly").points[0]
    values: dict[str, Any] = {
        "id": change_id("nightly", changes.get("task", "math"), "drop", point.uid),
        "track": "nightly",
        "task": "math",
        "direction": "drop",
        "gating": True,
        "first_uid": point.uid,
        "last_before_uid": point.uid,
        "found_uid": point.uid,
        "found_position": point.position,
        "z": 4.0,
        "threshold": 3.7,
        "size": -0.02,
        "ci": (-0.03, -0.01),
        "suspects": (point.uid,),
        "state": "open",
        "by": "genbench",
        "note": "",
        "at": "now",
    }
    change = Change(**{**values, **changes})
    open_change(ledger, change)
    return change


@pytest.mark.slow
@pytest.mark.parametrize("task", ["math", None])
def test_an_open_drop_fails_every_later_night_until_it_is_settled(
    ledger: Ledger, tmp_path: Path, task: str | None
) -> None:
    gate(ledger, night(tmp_path, 1))
    change = opened(ledger, task=task)
    found = gate(ledger, night(tmp_path, 2))
    assert found.exit_code == 1 and change.id in found.reasons[0]
    assert isinstance(found.changes[0], GatedChange) and found.changes[0].counts
    settle_change(ledger, change.id, "explained", by="ada", note="intended")
    assert gate(ledger, tmp_path / "runs" / "n2").exit_code == 0


@pytest.mark.slow
def test_a_rise_and_a_drop_of_an_advisory_task_do_not_fail(ledger: Ledger, tmp_path: Path) -> None:
    gate(ledger, night(tmp_path, 1))
    opened(ledger, direction="rise", size=0.02, ci=(0.01, 0.03))
    opened(ledger, task="code", id="c-code", gating=False)
    policy = Policy(name="p", tasks={"math": TaskPolicy(tier="critical")})
    found = gate(ledger, night(tmp_path, 2), policy=policy)
    assert found.exit_code == 0 and any("(advisory)" in line for line in found.remarks)


def test_the_search_for_changes_is_made_before_the_decision(ledger: Ledger, tmp_path: Path) -> None:
    def detect(ledger: Ledger, track: str) -> None:
        opened(ledger)

    assert gate(ledger, night(tmp_path), detect=detect).exit_code == 1


def test_what_cannot_be_asked_is_an_error(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is an anchor"):
        gate(ledger, tmp_path / "runs" / "base")
    with pytest.raises(InputError, match="belongs to no track"):
        gate(ledger, make_run(tmp_path / "loose", drawn(5), track=None))
    with pytest.raises(InputError, match="no track 'other'"):
        gate(ledger, night(tmp_path), track="other")
    unfinished = night(tmp_path, 4)
    (unfinished / "results.json").unlink()
    with pytest.raises(InputError, match="is unfinished"):
        gate(ledger, unfinished)


def test_scores_from_sums_keep_means_counts_and_exclusions() -> None:
    scores = scores_of(np.array([2.0, 0.75, 0.0]), np.array([3, 2, 0]), 4)
    assert scores.scored.tolist() == [3, 2, 0] and scores.drawn.tolist() == [4, 4, 4]
    assert scores.means[:2] == pytest.approx([2 / 3, 0.375]) and np.isnan(scores.means[2])


def test_tonight_tests_each_task_at_its_share_of_the_budget(ledger: Ledger, tmp_path: Path) -> None:
    folder = night(tmp_path)
    add(ledger, [folder])
    history = track_history(ledger, "nightly")
    policy = Policy(name="p", others="critical")
    found = tonight(history, history.points[0].uid, policy, 0.01)
    assert isinstance(found.tasks["math"], GatedTask) and found.tasks["math"].level == 0.0025
    assert found.pooled is not None and found.pooled.level == 0.005


@pytest.mark.slow
def test_the_base_of_a_track_cannot_be_asked_about(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "own.sqlite3") as own:
        first = make_run(tmp_path / "first", drawn(0))
        with pytest.raises(InputError, match="is the base of track nightly, so nothing can be compared"):
            gate(own, first)
        assert gate(own, make_run(tmp_path / "second", drawn(1), position=20_001)).verdict == "pass"


def test_a_policy_by_which_no_task_of_the_run_decides_is_not_passed(ledger: Ledger, tmp_path: Path) -> None:
    nothing = Policy(name="p", tasks={"gone": TaskPolicy(tier="critical", required=False)})
    found = gate(ledger, night(tmp_path), policy=nothing)
    assert found.exit_code == 1 and found.reasons == (
        "no task of the run decides by the policy p: all are advisory",
    )


@pytest.mark.slow
def test_a_base_whose_weights_were_only_declared_decides_nothing(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.sqlite3") as ledger:
        folder = tmp_path / "runs" / "base"
        make_run(folder, drawn(0), role="anchor", model="base", identity="declared: step 3 of t")
        add(ledger, [tmp_path / "runs"])
        with pytest.raises(
            InputError, match=r"track nightly, base .* no digest, so it cannot be a base of a gate"
        ):
            gate(ledger, night(tmp_path))


def with_measures(tmp_path: Path, cut: float, bits: float = 1.2) -> tuple[Ledger, Path]:
    """Return a ledger and tonight's run, of which so many replies are cut off, with equal scores."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.1, N)

    def measured(share: float, mean: float) -> dict[str, Any]:
        return {
            "math": {"cut_off": (rng.random(N) < share).astype(float).tolist()},
            "code": {"bpb_gold": (mean + noise + rng.normal(0, 0.02, N)).tolist()},
        }

    ledger = open_ledger(tmp_path / "measured.sqlite3")
    place, scores = tmp_path / "measured", drawn(1)
    make_run(place / "base", scores, role="anchor", model="base", measures=measured(0.05, 1.2))
    add(ledger, [place])
    return ledger, make_run(place / "n1", scores, position=20_001, measures=measured(cut, bits))


def test_replies_that_no_longer_end_are_told_first_and_fail_only_by_a_policy(tmp_path: Path) -> None:
    ledger, run = with_measures(tmp_path, cut=0.9)
    found = gate(ledger, run)
    assert found.exit_code == 0 and found.stopping["math"].cut_off.is_shown
    lines = gate_text(found).splitlines()
    assert (
        lines[1].startswith("  note: math: tuned no longer ends its replies: ") and " % cut off (" in lines[1]
    )
    policy = Policy(
        name="p", others="critical", measures={"stopping": MeasurePolicy(tier="critical", margin=5)}
    )
    found = gate(ledger, run, policy=policy)
    assert found.exit_code == 1 and found.tasks["math stopping"].state == "failed"
    assert (
        found.reasons[0].startswith("math stopping: ")
        and "of the samples end by themselves" in found.reasons[0]
    )
    assert "math stopping" in gate_text(found)
    ledger.close()


def test_replies_that_end_as_before_pass_a_policy_of_stopping(tmp_path: Path) -> None:
    ledger, run = with_measures(tmp_path, cut=0.05)
    policy = Policy(name="p", measures={"stopping": MeasurePolicy(tier="critical", margin=5)})
    found = gate(ledger, run, policy=policy)
    assert (found.exit_code, found.remarks) == (0, ()) and set(found.tasks) >= {"math stopping"}
    ledger.close()


def test_bits_per_byte_of_the_right_choice_show_a_loss_that_scores_do_not(tmp_path: Path) -> None:
    ledger, run = with_measures(tmp_path, cut=0.05, bits=1.26)
    policy = Policy(name="p", measures={"bpb_gold": MeasurePolicy(tier="critical", relative=1)})
    found = gate(ledger, run, policy=policy)
    task = found.tasks["code bpb_gold"]
    assert task.difference is not None and task.difference == pytest.approx(-0.06, abs=0.01)
    assert found.exit_code == 1 and "bits per byte of the right choice" in found.reasons[0]
    assert found.tasks["code"].state == "held"
    ledger.close()


def test_a_measure_that_the_base_does_not_have_is_asked_for_with_what_to_do(
    ledger: Ledger, tmp_path: Path
) -> None:
    wanted = MeasurePolicy(tier="critical", tasks=("math",))
    found = gate(ledger, night(tmp_path), policy=Policy(name="p", measures={"stopping": wanted}))
    assert found.exit_code == 1
    assert found.reasons[0].startswith("math stopping: is not known of this run and of a base")
    assert "genbench score RUN" in found.reasons[0]


def test_the_trend_says_that_replies_no_longer_end(tmp_path: Path) -> None:
    ledger, run = with_measures(tmp_path, cut=0.9)
    add(ledger, [run])
    record = trend(ledger, "nightly")
    assert "math: tuned no longer ends its replies: " in record.sentence
    assert record.stopping["math"].cut_off.tuned > 0.7
    ledger.close()
