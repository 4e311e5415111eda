"""Reading of tracks: nights, series, epochs with the sums of every problem, the base under each key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import pin_base
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import base_draws
from genbench.nights.ledger.history import (
    Night,
    read_epochs,
    read_series,
    recent,
    task_series,
    track_history,
    track_names,
)
from genbench.nights.ledger.ingest import add
from tests.nights.ledger.synthetic import flat, make_run

RIGHT, WRONG = [[1.0, 1.0]] * 4, [[0.0, 0.0]] * 4


def track(ledger: Ledger, runs: Path) -> Ledger:
    """Two nights under one verifier, a night that is missing, two nights under another, with anchors."""
    make_run(runs / "base", {"math": [[1.0, 0.0]] * 4}, role="anchor", model="base")
    make_run(runs / "n0", {"math": RIGHT, "code": flat(20, 1)}, position=20_000)
    make_run(runs / "n1", {"math": WRONG}, position=20_001)
    make_run(runs / "n3", {"math": RIGHT}, position=20_003, verifier="new")
    make_run(runs / "n4", {"math": WRONG}, position=20_004, verifier="new")
    add(ledger, [runs])
    return ledger


def test_a_series_has_one_entry_for_each_finished_point_in_order(ledger: Ledger, tmp_path: Path) -> None:
    history = track_history(track(ledger, tmp_path / "runs"), "nightly")
    series = history.series["math"]
    assert [night.label for night in history.points] == [
        "2024-10-04",
        "2024-10-05",
        "2024-10-07",
        "2024-10-08",
    ]
    assert series.value.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert series.uids == tuple(night.uid for night in history.points)
    assert (series.n, series.gating, series.ks.tolist()) == (4, True, [2, 2, 2, 2])
    assert list(history.series) == ["code", "math"]


def test_nights_without_a_finished_point_are_missing(ledger: Ledger, tmp_path: Path) -> None:
    assert track_history(track(ledger, tmp_path / "runs"), "nightly").missing == ("2024-10-06",)


def test_another_verifier_begins_an_epoch_without_a_base(ledger: Ledger, tmp_path: Path) -> None:
    first, second = track_history(track(ledger, tmp_path / "runs"), "nightly").series["math"].epochs
    assert first.key != second.key
    assert first.sums.tolist() == [[2.0] * 4, [0.0] * 4]
    assert first.base_sums is not None and first.base_sums.tolist() == [1.0] * 4
    assert second.base_uid is None and second.positions.tolist() == [20_003, 20_004]


def test_an_anchor_becomes_the_base_of_its_epoch_and_gives_it_differences(
    ledger: Ledger, tmp_path: Path
) -> None:
    track(ledger, tmp_path / "runs")
    assert np.isnan(track_history(ledger, "nightly").series["math"].difference[2:]).all()
    later = tmp_path / "runs" / "later"
    make_run(later, {"math": [[1.0, 0.0]] * 4}, role="anchor", model="base", position=20_004, verifier="new")
    add(ledger, [later])
    history = track_history(ledger, "nightly")
    series = history.series["math"]
    assert series.difference.tolist() == [0.5, -0.5, 0.5, -0.5]
    assert series.epochs[1].base_uid == history.anchors[1].uid
    assert series.epochs[1].anchor_uids == (history.anchors[1].uid,)


def test_an_anchor_of_another_model_is_no_base(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    other = make_run(
        tmp_path / "other", {"math": RIGHT}, role="anchor", model="rival", position=20_004, verifier="new"
    )
    add(ledger, [other])
    assert track_history(ledger, "nightly").series["math"].epochs[1].base_uid is None


def test_a_new_base_renews_every_difference(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    uid = track_history(ledger, "nightly").points[0].uid
    pin_base(ledger, "nightly", uid, "a better reference", by="ada")
    history = track_history(ledger, "nightly")
    assert history.series["math"].difference[1] == -1.0
    assert np.isnan(history.series["math"].difference[0])  # the base itself
    assert history.base is not None and history.base.uid == uid
    assert history.annotations[0].kind == "base" and "a better reference" in history.annotations[0].text


def test_the_newest_nights_can_be_read_alone(ledger: Ledger, tmp_path: Path) -> None:
    history = recent(track(ledger, tmp_path / "runs"), "nightly", 2)
    assert [night.label for night in history.points] == ["2024-10-07", "2024-10-08"]
    assert history.series["math"].epochs == () and "code" not in history.series
    assert history.base is not None


def test_chosen_tasks_and_last_positions(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    history = track_history(ledger, "nightly", tasks=["math"], last=3)
    assert list(history.series) == ["math"] and len(history.points) == 3
    assert [len(epoch.uids) for epoch in history.series["math"].epochs] == [1, 2]
    assert track_history(ledger, "nightly", tasks=[]).series == {}


def test_unknown_tracks_and_tasks_name_the_nearest(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    with pytest.raises(InputError, match="did you mean 'nightly'"):
        track_history(ledger, "nihgtly")
    with pytest.raises(InputError, match="did you mean 'math'"):
        track_history(ledger, "nightly", tasks=["maths"])


def test_an_empty_ledger_says_how_to_begin(ledger: Ledger) -> None:
    assert track_names(ledger) == []
    with pytest.raises(InputError, match="genbench ledger add"):
        recent(ledger, "nightly")


def test_runs_without_a_track_are_in_no_track(ledger: Ledger, tmp_path: Path) -> None:
    add(ledger, [make_run(tmp_path / "loose", {"math": RIGHT}, track=None)])
    assert track_names(ledger) == []
    with pytest.raises(InputError, match="no track"):
        track_history(ledger, "")


def test_excluded_samples_count_as_not_scored(ledger: Ledger, tmp_path: Path) -> None:
    add(ledger, [make_run(tmp_path / "n", {"math": [[1.0, None], [None, None], [0.0, 1.0]]})])
    epoch = track_history(ledger, "nightly").series["math"].epochs[0]
    assert epoch.counts.tolist() == [[1, 0, 2]] and epoch.sums.tolist() == [[1.0, 0.0, 1.0]]


@pytest.mark.slow
def test_the_parts_of_a_history_agree_with_the_whole(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    whole = track_history(ledger, "nightly")
    with ledger.read() as connection:
        series = read_series(connection, 1, ["math"], None)
        assert series["math"].value.tolist() == whole.series["math"].value.tolist()
        epochs = read_epochs(connection, "nightly", series, 20_001)["math"].epochs
        assert [len(epoch.uids) for epoch in epochs] == [1, 2]
        assert len(base_draws(connection, "nightly")) == 1


@pytest.mark.slow
def test_a_night_keeps_what_its_run_says(ledger: Ledger, tmp_path: Path) -> None:
    night = track_history(track(ledger, tmp_path / "runs"), "nightly").points[0]
    assert isinstance(night, Night)
    assert night.packages == {"genbench": "0.2.0"} and night.path == str(tmp_path / "runs" / "n0")


def test_one_series_can_be_read_without_the_rest(ledger: Ledger, tmp_path: Path) -> None:
    track(ledger, tmp_path / "runs")
    series = task_series(ledger, "nightly", "math")
    assert series.value.tolist() == [1.0, 0.0, 1.0, 0.0] and series.epochs == ()
    with pytest.raises(InputError, match="no task 'physics'"):
        task_series(ledger, "nightly", "physics")
