from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.stored_run import VerdictFile
from genbench.types import SampleId, Verdict

VERDICT = Verdict(SampleId("t", "a", 0), 1.0, "correct", "ä\u2028\ud83d", {}, {}, "v1", "absent", False)


def written(path: Path, *verdicts: Verdict) -> RunFolder:
    with RunFolder.writer(path) as folder:
        for verdict in verdicts:
            folder.append_verdict(verdict)
    return RunFolder(path)


def test_verdicts_are_found_in_whatever_order_they_were_written(tmp_path: Path) -> None:
    samples = [SampleId("t", problem, index) for index in (1, 0) for problem in ("b", "a", "c")]
    verdicts = {s: replace(VERDICT, sample=s, extracted=f"{s} ä\u2028\ud83d") for s in samples}
    with VerdictFile(written(tmp_path, *verdicts.values()), "t", ["a", "b", "c"], 2) as file:
        for sample in sorted(samples, key=str):
            assert file.get(sample.problem_id, sample.sample_index) == verdicts[sample]


def test_a_sample_without_verdict_has_none(tmp_path: Path) -> None:
    with VerdictFile(written(tmp_path, VERDICT), "t", ["a", "b"], 1) as file:
        assert file.get("b", 0) is file.get("a", 1) is file.get("unknown", 0) is None
    with VerdictFile(RunFolder(tmp_path), "never_run", ["a"], 1) as file:
        assert file.get("a", 0) is None


def test_verdicts_beyond_the_problems_and_k_are_passed_over(tmp_path: Path) -> None:
    beyond = replace(VERDICT, sample=SampleId("t", "a", 5))
    other = replace(VERDICT, sample=SampleId("t", "other", 0))
    with VerdictFile(written(tmp_path, beyond, other, VERDICT), "t", ["a"], 2) as file:
        assert file.get("a", 0) == VERDICT and file.get("a", 1) is None


def test_the_last_of_two_verdicts_holds(tmp_path: Path) -> None:
    with VerdictFile(written(tmp_path, VERDICT, replace(VERDICT, score=0.0)), "t", ["a"], 1) as file:
        found = file.get("a", 0)
    assert found is not None and found.score == 0


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path, VERDICT)
    with folder.file("t", "verdicts").open("a") as file:
        file.write('{"task": "t"}\n')
    with pytest.raises(RunFolderError, match=r"verdicts\.jsonl:2: "):
        VerdictFile(folder, "t", ["a"], 1)
