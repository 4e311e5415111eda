"""The records of manifest.json: written and read without a change, and what they say of a run."""

from __future__ import annotations

import json

import pytest

from genbench.errors import InputError
from genbench.store.manifest import AttemptRecord, Manifest, MergedRecord
from tests.manifests import manifest, task_record


def test_a_manifest_comes_back_from_json_unchanged() -> None:
    whole = manifest(tasks={"t": task_record(gating=True)}, warnings=("w",), created="now")
    text = json.dumps(whole.to_json())
    assert Manifest.from_json(json.loads(text), "manifest.json").to_json() == whole.to_json()


def test_keys_that_a_run_has_not_are_absent() -> None:
    record = manifest().to_json()
    assert "merged" not in record and "scored" not in record


def test_a_merged_run_names_its_folders_under_from() -> None:
    record = MergedRecord.model_validate({"from": ["a", "b"], "attempts": 3})
    assert record.from_ == ("a", "b") and record.to_json() == {"from": ["a", "b"], "attempts": 3}


def test_an_attempt_that_was_killed_has_not_ended() -> None:
    begun = AttemptRecord(attempt=1, started="s", circumstances={})
    assert not begun.has_ended and "ended" not in begun.to_json()
    assert begun.model_copy(update={"ended": "e"}).has_ended


def test_the_binding_leaves_out_what_may_change() -> None:
    one = manifest(tasks={"t": task_record(k=2, gating=True)})
    two = manifest(tasks={"t": task_record(k=8, gating=False)}, warnings=("other",))
    assert one.binding == two.binding
    assert one.binding != manifest(tasks={"t": task_record(version="2")}).binding


@pytest.mark.parametrize(
    ("key", "value"),
    [("chance", 25), ("margin", -1e308), ("margin", 0), ("margin", 100.5), ("margin", float("inf"))],
)
def test_a_wrong_value_is_refused_by_key(key: str, value: float) -> None:
    record = manifest(tasks={"t": task_record()}).to_json()
    record["tasks"]["t"][key] = value
    with pytest.raises(InputError, match=rf"m\.json: 'tasks\.t\.{key}'"):
        Manifest.from_json(record, "m.json")
