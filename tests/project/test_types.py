"""The records that packages exchange: frozen, slim, with the meaning that docs/architecture.md gives them."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable

import pytest

from genbench import types
from genbench.stats.estimates import EstimateRecord
from genbench.types import Answer, Case, Completion, Finding, Message, Problem, Request, SampleId
from tests.table import each_row

RECORDS = [
    found
    for _, found in inspect.getmembers(types, inspect.isclass)
    if dataclasses.is_dataclass(found) and found.__module__ == "genbench.types"
]
SAMPLE = SampleId("aime25", "3", 1)


def answer(text: str) -> Answer:
    return Answer(text, "absent", "", False)


@each_row("record", RECORDS)
def test_every_record_is_frozen_has_slots_and_a_description(record: type) -> None:
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert not hasattr(record, "__dict__") or "__slots__" in vars(record)
    assert record.__doc__ and not record.__doc__.startswith(record.__name__ + "(")


@pytest.mark.parametrize(
    "make",
    [
        lambda: SAMPLE,
        lambda: Message("user", "hi"),
        lambda: Problem("t", "p", {"a": 1}, {"level": "easy"}, "g", 2),
        lambda: Request(SAMPLE, 0, (1, 2), 7, 16, "digest"),
        lambda: Case(SAMPLE, (answer("x"),), "x"),
        lambda: Finding(0.5, parts={"a": 1.0}),
        lambda: EstimateRecord.without_value("avg@2", 10, 2, "no sample"),
    ],
)
def test_a_record_survives_the_way_to_another_process(make: Callable[[], object]) -> None:
    record = make()
    assert pickle.loads(pickle.dumps(record)) == record


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SAMPLE.task = "other"  # type: ignore[misc]


def test_the_identity_of_a_sample_can_be_a_key() -> None:
    assert {SAMPLE: 1}[SampleId("aime25", "3", 1)] == 1


def test_the_answer_of_a_conversation_is_that_of_its_last_turn() -> None:
    assert Case(SAMPLE, (answer("one"), answer("two")), None).answer.text == "two"


def test_a_finding_without_a_reason_is_a_wrong_answer() -> None:
    assert Finding(0.0).reason == "wrong"


def test_findings_do_not_share_their_detail() -> None:
    assert Finding(1.0).detail is not Finding(1.0).detail


def test_statuses_are_listed_once_and_in_order() -> None:
    assert len(set(types.STATUSES)) == len(types.STATUSES)
    assert types.STATUSES[0] == "correct"
    assert types.STATUSES.index("wrong") < types.STATUSES.index("unscored")


def test_defects_are_statuses_and_none_of_them_is_a_verdict_on_the_model() -> None:
    assert set(types.STATUSES) >= types.OURS
    assert not types.OURS & {"correct", "partial", "wrong", "truncated", "timeout"}


def test_a_completion_without_counts_has_none_instead_of_zero() -> None:
    counts = {"prompt_tokens": None, "completion_tokens": None, "trace_tokens": None, "max_tokens": None}
    made = Completion(
        sample=SAMPLE,
        turn=0,
        seed=None,
        prompt_digest=None,
        text="2",
        finish_reason="stop",
        attempt=0,
        seconds=None,
        prompt_tokens=None,
        completion_tokens=None,
        trace_tokens=None,
        max_tokens=None,
    )
    assert {name: getattr(made, name) for name in counts} == counts
    assert made.prompt is None and made.trace_opened is False


def test_an_estimate_without_a_value_says_why() -> None:
    empty = EstimateRecord.without_value("avg@4", 3, 4, "2 of 12 samples have no verdict")
    assert empty.value is None and empty.ci is None
    assert "no verdict" in (empty.missing or "")
