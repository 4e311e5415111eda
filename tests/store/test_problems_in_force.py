"""The problems in force: those of the last command, in the order of the data."""

from __future__ import annotations

from genbench.store.manifest import OriginRecord, ids_in_force
from tests.manifests import manifest, task_record
from tests.store.stored import TASK


def test_the_problems_of_the_last_command_are_in_force() -> None:
    whole = manifest(tasks={TASK: task_record(n=3)})
    assert ids_in_force(TASK, ["a", "b", "c"], whole) == ["a", "b", "c"]
    assert len(ids_in_force(TASK, ["a", "b", "c"], manifest(tasks={TASK: task_record(n=2)}))) == 2
    chosen = manifest(tasks={TASK: task_record(n=3)}, origin=OriginRecord(problems={TASK: ("c", "a")}))
    assert ids_in_force(TASK, ["a", "b", "c"], chosen) == ["a", "c"]


def test_problems_in_force_are_the_texts_of_the_manifest() -> None:
    origin = OriginRecord.model_validate({"problems": {TASK: ("".join(["p", "1"]),)}})
    chosen = manifest(tasks={TASK: task_record()}, origin=origin)
    assert chosen.origin.problems is not None
    found = ids_in_force(TASK, ["".join(["p", "0"]), "".join(["p", "1"])], chosen)
    assert found == ["p1"] and found[0] is chosen.origin.problems[TASK][0]
