"""The people who review: agreement of several, adjudication, fast clicks, strengths and exported labels."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
from typer.testing import CliRunner

from genbench.cli import app
from genbench.errors import InputError
from genbench.review.draft import PlanOptions
from genbench.review.export import export_labels
from genbench.review.plan import plan_review
from genbench.review.reviews import ReviewFolder
from genbench.review.summary import add_vote, review_summary, review_text, withdraw_vote
from genbench.stats.agreement import krippendorffs_alpha
from tests.known import known
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run

N = 40


@pytest.fixture
def place(make_run: MakeRun, tmp_path: Path) -> ReviewFolder:
    """40 pairs of two models, each for two people."""
    runs = [
        make_run(name, lambda i, name=name: [f"{name} {i} {RIGHT if i % 2 else WRONG}"] * 4, n=N)
        for name in ("b", "t")
    ]
    as_another_run(runs[1], lambda record: record["model"].update(name="tuned"))
    plan_review(runs, "sums", PlanOptions(kind="prefer", n=N, twice=1.0), output=tmp_path / "r")
    return ReviewFolder.open(tmp_path / "r")


def again(place: ReviewFolder) -> ReviewFolder:
    return ReviewFolder.open(place.path)


def test_alpha_is_fleiss_kappa_with_its_correction_for_small_samples() -> None:
    rng = np.random.default_rng(1)
    for labels in (2, 5):
        data = rng.integers(0, labels, (60, 4))
        data[:, 1] = np.where(rng.random(60) < 0.6, data[:, 0], data[:, 1])
        found = krippendorffs_alpha([[str(x) for x in row] for row in data], seed=0)
        fleiss = fleiss_kappa(aggregate_raters(data)[0])
        assert 1 - known(found.value) == pytest.approx((1 - fleiss) * (data.size - 1) / data.size, abs=1e-12)
        assert known(found.ci)[0] < known(found.value) < known(found.ci)[1]
    assert krippendorffs_alpha([["a", "a"], ["a"], ["a", "a"]], seed=0).value is None
    with pytest.raises(InputError, match="found none"):
        krippendorffs_alpha([["a"], ["b"]], seed=0)


def test_a_third_person_settles_what_two_see_differently(place: ReviewFolder) -> None:
    first, second, third = (item.item for item in place.plan.items[:3])
    for item, labels in (
        (first, ("A better", "B better")),
        (second, ("tie", "tie")),
        (third, ("tie", "A better")),
    ):
        for who, label in zip(("kim", "lee"), labels, strict=True):
            add_vote(place.path, item, who, label, f"{item}{who}")
    found = again(place)
    assert set(found.disputed) == {first, third}
    assert not found.may_settle(first, "kim") and found.may_settle(first, "mia")
    assert {first, third} <= set(found.waiting("mia")[-2:]) and second not in found.waiting("mia")
    assert not {first, second, third} & set(found.waiting("kim"))
    add_vote(place.path, first, "mia", "B much better", "m1")
    found = again(place)
    line = found.in_force[first]["mia"]
    assert line.final and line.to_json()["final"] is True and found.labels_of(first) == ["B much better"]
    assert found.disputed == (third,) and found.people.n == 3
    people = known(review_summary(place.path).people)
    assert (people.disputed, people.settled, people.raters["mia"].final) == (1, 1, 1)
    add_vote(place.path, first, "mia", "tie", "m2")  # a correction stays final
    assert again(place).labels_of(first) == ["tie"]
    withdraw_vote(place.path, first, "mia", "m3")
    assert first in again(place).disputed


def test_a_named_adjudicator_settles_and_labels_nothing_else(place: ReviewFolder, tmp_path: Path) -> None:
    runs = [run.path for run in place.plan.runs]
    plan_review(
        runs, "sums", PlanOptions(kind="prefer", n=N, twice=1.0, adjudicator="ann"), output=tmp_path / "named"
    )
    folder, item = tmp_path / "named", place.plan.items[0].item
    assert ReviewFolder.open(folder).waiting("ann") == []
    add_vote(folder, item, "kim", "tie", "f1")
    add_vote(folder, item, "lee", "A better", "f2")
    found = ReviewFolder.open(folder)
    assert found.waiting("ann") == [item] and item not in found.waiting("mia")


def test_people_who_click_fast_and_left_are_named_and_strengths_follow_their_choices(
    place: ReviewFolder,
) -> None:
    names = [run.model for run in place.plan.runs]
    for number, item in enumerate(place.plan.items):
        add_vote(place.path, item.item, "kim", "A better", f"k{number}", seconds=1.0)
        better = "tuned" if number % 4 else "m"
        label = "A better" if names[item.run] == better else "B better"
        add_vote(place.path, item.item, "lee", label, f"l{number}", seconds=9.0)
    summary = review_summary(place.path)
    people, liked = known(summary.people), known(summary.preferences)
    assert people.raters["kim"].fast and not people.raters["lee"].fast
    assert people.raters["kim"].left == 1 and known(people.left) > 0.6
    text = review_text(summary)
    assert "kim: 40 labels, 1.0 s each in the median; too fast" in text and "lee: 40 labels, 9.0 s" in text
    assert "coins make it 50 %" in text and "beats m in" in text
    wins = sum(names[item.run] == "tuned" for item in place.plan.items) + 30
    strongest = next(model for model in liked.models if model.name == "tuned")
    assert (strongest.wins, strongest.losses, liked.votes) == (wins, 80 - wins, 80)
    assert liked.largest_share == 0.5 and "gave 50.0 % of the 80 votes" in text
    # Of two models, Bradley-Terry is the share of wins.
    assert known(strongest.beats_reference) == pytest.approx(wins / 80, abs=1e-6)


@pytest.mark.slow
def test_labels_are_exported_for_other_tools(place: ReviewFolder, tmp_path: Path) -> None:
    item = place.plan.items[0]
    add_vote(place.path, item.item, "kim", "A better", "f1", comment="=1+1", seconds=5.0)
    (row,) = csv.DictReader(io.StringIO(export_labels(place.path, "csv").decode()))
    assert (row["label"], row["reviewer"], row["problem_id"]) == ("A better", "kim", item.problem_id)
    assert row["comment"] == "'=1+1"
    record = json.loads(export_labels(place.path, "jsonl"))
    assert {"id", "question", "reference", "answer", "label"} <= set(record)
    assert record["answer"].startswith("b" if item.run == 0 else "t")
    (task,) = json.loads(export_labels(place.path, "json"))
    assert task["annotations"][0]["result"][0]["value"] == {"choices": ["A better"]}
    run = CliRunner()
    done = run.invoke(app, ["review", "show", str(place.path), "--export", str(tmp_path / "x.csv")])
    assert done.exit_code == 0 and (tmp_path / "x.csv").is_file()
    wrong = run.invoke(app, ["review", "show", str(place.path), "--export", str(tmp_path / "x.xls")])
    assert isinstance(wrong.exception, InputError)
