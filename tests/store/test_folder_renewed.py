from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from genbench.store.folder import RunFolder
from genbench.types import SampleId, Verdict

OLD = Verdict(SampleId("t", "p", 0), 0.0, "wrong", None, {}, {}, "old", "absent", False)
NEW = replace(OLD, score=1.0, status="correct", verifier="new")


def verifiers(verdicts: Iterable[Verdict]) -> list[str]:
    return [item.verifier for item in verdicts]


def with_old(path: Path, count: int = 2) -> None:
    with RunFolder.writer(path) as folder:
        for index in range(count):
            folder.append_verdict(replace(OLD, sample=SampleId("t", "p", index)))


def test_the_old_verdicts_stand_until_the_new_ones_are_published(tmp_path: Path) -> None:
    with_old(tmp_path)
    with RunFolder.writer(tmp_path) as folder:
        folder.renew_verdicts("t", "new")
        folder.append_verdict(NEW)
        assert verifiers(folder.verdicts("t")) == ["new"]
        assert verifiers(RunFolder(tmp_path).verdicts("t")) == ["old", "old"]
        folder.publish_verdicts("t")
        assert verifiers(RunFolder(tmp_path).verdicts("t")) == ["new"]
        folder.append_verdict(replace(NEW, sample=SampleId("t", "p", 1)))
    assert verifiers(RunFolder(tmp_path).verdicts("t")) == ["new", "new"]
    assert not list(tmp_path.glob("t/*new*"))


def test_a_renewal_that_was_stopped_goes_on_with_what_it_made(tmp_path: Path) -> None:
    with_old(tmp_path)
    with RunFolder.writer(tmp_path) as folder:
        folder.renew_verdicts("t", "new")
        folder.append_verdict(NEW)
    with (tmp_path / "t" / "verdicts.new.jsonl").open("ab") as file:
        file.write(b'{"task":"t","prob')
    assert verifiers(RunFolder(tmp_path).verdicts("t")) == ["old", "old"]
    with RunFolder.writer(tmp_path) as folder:
        folder.renew_verdicts("t", "new")
        assert verifiers(folder.verdicts("t")) == ["new"]
    with RunFolder.writer(tmp_path) as folder:
        folder.renew_verdicts("t", "newest")
        assert verifiers(folder.verdicts("t")) == []
