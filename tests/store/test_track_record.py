"""Positions of a track and how people read them."""

from __future__ import annotations

from datetime import date

import pytest

from genbench.errors import InputError
from genbench.store.manifest import TrackRecord, night_position, position_label


@pytest.mark.parametrize("day", ["1970-01-01", "2024-02-29", "2026-11-22"])
def test_a_night_is_labelled_by_its_date(day: str) -> None:
    assert position_label("night", night_position(date.fromisoformat(day))) == day


def test_a_step_is_labelled_by_its_number() -> None:
    assert TrackRecord(name="sft", kind="step", position=1000).label == "step-1000"


def test_a_position_beyond_the_calendar_still_has_a_label() -> None:
    assert position_label("night", 2**52) == f"night-{2**52}"


@pytest.mark.parametrize(
    "changes", [{"name": "../up"}, {"name": ""}, {"position": -1}, {"kind": "week"}, {"role": "x"}]
)
def test_a_place_that_cannot_be_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InputError):
        TrackRecord.from_json({"name": "t", "kind": "night", "position": 1, **changes}, "manifest.json")
