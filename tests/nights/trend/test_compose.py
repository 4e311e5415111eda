"""The record of a track: its points, budget, changes and remarks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.errors import InputError
from genbench.nights.trend.compose import compose
from genbench.nights.trend.record import Trend
from genbench.nights.trend.sentence import parse_since
from genbench.stats.tracks.changepoints import alarm_threshold
from tests.nights.trend.histories import FIRST, change, drawn, history, losses, night, remark

NIGHTS = 30
TASKS = {"gpqa": drawn(losses(NIGHTS)), "aime": drawn(losses(NIGHTS), 40, seed=2)}


def test_the_record_reads_back_as_it_was_written() -> None:
    record = compose(history(TASKS, changes=[change(20, 22)]))
    assert Trend.from_json(record.to_json(), "the record") == record


def test_gating_tasks_and_their_pool_share_the_budget() -> None:
    budget = compose(history(TASKS)).budget
    assert budget.series == 3
    assert budget.threshold == alarm_threshold(3)
    assert (budget.watched, budget.watch_threshold) == (0, None)


def test_other_tasks_have_a_budget_of_their_own() -> None:
    found = history(TASKS)
    own = {name: replace(item, gating=name == "gpqa") for name, item in found.series.items()}
    budget = compose(replace(found, series=own)).budget
    assert (budget.series, budget.watched) == (1, 1)
    assert budget.threshold == budget.watch_threshold == alarm_threshold(1)


def test_open_changes_come_before_closed_ones() -> None:
    closed = change(25, 27, id="c-2", state="recovered", closed_uid=night(28).uid)
    record = compose(history(TASKS, changes=[closed, change(20, 22)]))
    assert [item.state for item in record.changes] == ["open", "recovered"]
    assert record.changes[1].closed is not None
    assert record.changes[1].closed.label == night(28).label


def test_a_change_names_its_runs() -> None:
    found = compose(
        history(TASKS, changes=[change(20, 22, suspects=(night(19).uid, night(20).uid))])
    ).changes[0]
    assert (found.first.label, found.last_before.label) == (night(20).label, night(19).label)
    assert [run.label for run in found.suspects] == [night(19).label, night(20).label]


def test_runs_that_are_not_used_are_listed_with_the_reason() -> None:
    failed = night(31, state="failed", failed=("12 % unscored",))
    running = night(32, state="unfinished")
    record = compose(history(TASKS, others=(failed, running)))
    assert record.unused == (
        f"{failed.label} tuned: 12 % unscored",
        f"{running.label} tuned: unfinished",
    )


def test_remarks_carry_their_night() -> None:
    note = compose(history(TASKS, annotations=(remark(),))).notes[0]
    assert (note.label, note.kind, note.text) == (night(3).label, "engine", "vllm 0.33")


def test_since_is_a_night_or_a_step() -> None:
    assert parse_since("night", night(3).label) == FIRST + 3
    assert parse_since("step", "500") == 500


@pytest.mark.parametrize(("kind", "text"), [("night", "friday"), ("night", "2026-13-01"), ("step", "last")])
def test_since_that_is_neither_is_refused(kind: str, text: str) -> None:
    with pytest.raises(InputError, match=f"--since {text}: wanted"):
        parse_since(kind, text)


def test_the_sentence_begins_at_since() -> None:
    record = compose(history(TASKS), since=night(5).label)
    assert record.since == night(5).label
    assert record.sentence.startswith(f"{NIGHTS - 5} nights since Tuesday {night(5).label}: ")
