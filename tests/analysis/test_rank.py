"""Rankings of runs whose tasks were judged in pairs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.rank import rank
from genbench.errors import InputError, NotComparableError
from genbench.reports.terminal.estimate import rank_text
from tests.known import known
from tests.ready_runs import RIGHT, WRONG, MakeRun

JUDGE: dict[str, Any] = {
    "name": "pairwise",
    "digest": "d1",
    "form": "pairwise",
    "in_pairs": True,
    "prompt_digest": "p1",
    "unpinned": False,
    "cascade": ["judge"],
    "statuses": {},
    "engine": {},
    "canary": None,
}


def judged(run: Path, model: str, opponent: str | None, **change: Any) -> Path:
    """The run as if a judge had compared its answers with those of `opponent` (None: a reference column)."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["model"]["name"] = model
    manifest["model_identity"] = f"sha256:{model}"
    baseline = opponent and {"digest": opponent, "name": opponent, "identity": f"sha256:{opponent}"}
    manifest["tasks"]["sums"]["judge"] = JUDGE | {"baseline": baseline} | change
    path.write_text(json.dumps(manifest))
    return run


def winning(problems: int) -> Any:
    """Answers that win on the first problems and lose on the others."""
    return lambda i: [RIGHT if i < problems else WRONG] * 4


def test_the_strength_is_the_log_odds_over_the_opponent(make_run: MakeRun) -> None:
    run = judged(make_run("a", winning(9)), "new", "old")
    task = rank([run]).tasks["sums"]
    assert (task.reference, task.pairs, task.problems, task.missing) == ("old", 48, 12, None)
    new, old = task.models
    assert (new.name, new.wins, new.ties, new.losses) == ("new", 36, 0, 12)
    assert new.strength == pytest.approx(math.log(3))
    assert new.beats_reference == pytest.approx(0.75)
    # Pairs of one problem are one cluster: 12 of them, each won or lost as a whole.
    assert new.se == pytest.approx((12 * 0.75 * 0.25) ** -0.5)
    assert (old.name, old.strength, old.wins) == ("old", 0.0, 12)


@pytest.mark.slow
def test_models_are_listed_strongest_first_around_one_reference(make_run: MakeRun) -> None:
    runs = [
        judged(make_run("a", winning(8)), "good", "old"),
        judged(make_run("b", winning(4)), "bad", "old"),
    ]
    task = rank(runs).tasks["sums"]
    assert [model.name for model in task.models] == ["good", "old", "bad"]
    assert known(task.models[0].strength) == pytest.approx(-known(task.models[2].strength))
    by_good = rank(runs, reference="good").tasks["sums"]
    assert known(by_good.models[1].strength) == pytest.approx(-known(task.models[0].strength))


def test_the_interval_of_the_win_chance_is_that_of_the_strength(make_run: MakeRun) -> None:
    (new, _) = rank([judged(make_run("a", winning(8)), "new", "old")]).tasks["sums"].models
    low, high = (1 / (1 + math.exp(-bound)) for bound in known(new.ci))
    assert known(new.beats_reference_ci) == pytest.approx((low, high))


def test_a_reference_column_is_an_opponent_of_its_own(make_run: MakeRun) -> None:
    task = rank([judged(make_run("a", winning(6)), "new", None)]).tasks["sums"]
    assert task.reference == "reference of sums"


def test_a_run_against_its_own_answers_is_left_out(make_run: MakeRun) -> None:
    task = rank([judged(make_run("a", winning(6)), "new", "new")]).tasks["sums"]
    assert (task.itself, task.pairs, task.models) == (1, 0, ())
    assert task.missing == "no pair of two models has a score"
    assert "1 run(s) were compared with their own answers and left out" in rank_text(
        rank([judged(make_run("b", winning(6)), "new", "new")])
    )


def test_a_model_that_wins_everything_has_no_strength_and_is_named(make_run: MakeRun) -> None:
    task = rank([judged(make_run("a", winning(12)), "new", "old")]).tasks["sums"]
    assert "(new, old: leave it out, or judge more problems)" in known(task.missing)
    assert [model.strength for model in task.models] == [None, None]
    assert [model.wins for model in task.models] == [48, 0]


def test_two_models_of_one_name_are_told_apart_by_their_folders(make_run: MakeRun) -> None:
    runs = [judged(make_run(name, winning(6)), name, "old") for name in "ab"]
    for run in runs:
        path = run / "manifest.json"
        path.write_text(path.read_text().replace(f'"name": "{run.parent.parent.name}"', '"name": "m"'))
    names = {model.name for model in rank(runs).tasks["sums"].models}
    assert names == {"out/m", "old"}


def test_runs_of_other_judges_are_refused_and_can_be_let_through(make_run: MakeRun) -> None:
    runs = [
        judged(make_run("a", winning(8)), "new", "old"),
        judged(make_run("b", winning(4)), "mid", "old", digest="d2"),
    ]
    with pytest.raises(NotComparableError, match=r"judged differently:\n  verifier\.sums: d1 -> d2"):
        rank(runs)
    assert len(rank(runs, allow=["verifier"]).allowed) == 1


def test_runs_without_pairs_cannot_be_ranked(make_run: MakeRun) -> None:
    with pytest.raises(InputError, match="no run here has a task judged in pairs"):
        rank([make_run("a", winning(6))])


def test_an_unknown_task_or_reference_is_refused_with_the_nearest_name(make_run: MakeRun) -> None:
    run = judged(make_run("a", winning(6)), "new", "old")
    with pytest.raises(InputError, match=r"--task sum: no run here .*did you mean 'sums'"):
        rank([run], tasks=["sum"])
    with pytest.raises(InputError, match="--reference odl: no such model in sums; did you mean 'old'"):
        rank([run], reference="odl")


def test_the_text_has_a_row_for_each_model(make_run: MakeRun) -> None:
    text = rank_text(rank([judged(make_run("a", winning(9)), "new", "old", unpinned=True)]))
    assert "sums: 48 pairs over 12 problems, judge pairwise d1, UNPINNED" in text
    assert "reference: old" in text
    assert any(line.split()[:2] == ["new", "+1.10"] for line in text.splitlines())
