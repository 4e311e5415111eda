"""The key of a task: equal as long as scores may be compared."""

from __future__ import annotations

import pytest

from genbench.nights.ledger.run_facts import key_record
from genbench.store.contract import digest
from genbench.store.manifest import Manifest
from tests.manifests import manifest, task_record


def key(described: Manifest, questions: str = "q") -> str:
    return digest(key_record(described, "t", questions))


def run(**changes: object) -> Manifest:
    record = manifest(tasks={"t": task_record(), "u": task_record()})
    return record.model_copy(update={"terms": {"dtype": "bfloat16", "decoding": {"t": {"n": 1}}}, **changes})


def test_k_and_other_tasks_are_no_part_of_the_key() -> None:
    more = run(tasks={"t": task_record(k=64, n=1)})
    assert key(more) == key(run())


def test_the_model_is_no_part_of_the_key() -> None:
    assert key(run(model_identity="another", run_seed=7)) == key(run())


@pytest.mark.parametrize(
    "other",
    [
        run(terms={"dtype": "float16", "decoding": {"t": {"n": 1}}}),
        run(terms={"dtype": "bfloat16", "decoding": {"t": {"n": 2}}}),
        run(tasks={"t": task_record(version="2")}),
        run(tasks={"t": task_record(data_digest="other rows")}),
        run(tasks={"t": task_record(decoding={"temperature": 1.0})}),
        run(reasoning=manifest().reasoning.model_copy(update={"format": "harmony"})),
    ],
    ids=["dtype", "decoding terms", "version", "data", "fields", "trace format"],
)
def test_whatever_shapes_a_score_changes_the_key(other: Manifest) -> None:
    assert key(other) != key(run())


def test_other_questions_change_the_key() -> None:
    assert key(run(), "p") != key(run(), "q")
