from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.sample_index import DrawnSamples
from genbench.types import Completion, SampleId, Verdict

COMPLETION = Completion(
    SampleId("t", "p/1", 0), 0, 5, "d", "text", "stop", 3, 4, 0, 100, 1, 0.5, trace_opened=True
)
VERDICT = Verdict(
    SampleId("t", "p/1", 0), 0.5, "partial", "7", {"why": "x"}, {"a": 1.0}, "v1", "closed", True
)


def test_completions_and_verdicts_come_back_as_they_were(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path / "run") as folder:
        folder.append_completion(COMPLETION)
        folder.append_verdict(VERDICT)
    read = RunFolder(tmp_path / "run")
    assert list(read.completions("t")) == [COMPLETION]
    assert list(read.verdicts("t")) == [VERDICT]


def test_a_second_line_for_one_sample_is_named(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.append_completion(COMPLETION)
        folder.append_completion(COMPLETION)
    with pytest.raises(RunFolderError, match=r"completions\.jsonl:2: a second line for task t, problem p/1"):
        list(RunFolder(tmp_path).completions("t"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_index": -1}, "'sample_index' is -1"),
        ({"text": None}, "'text' is None"),
        ({"task": "other"}, "task 'other' in the folder of 't'"),
    ],
)
def test_a_hand_edited_completion_is_named_by_line_and_field(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.append_completion(COMPLETION)
    path = tmp_path / "t" / "completions.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(RunFolderError, match=r"completions\.jsonl:1: ") as error:
        list(RunFolder(tmp_path).completions("t"))
    assert message in str(error.value)


def test_an_impossible_score_is_refused(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.append_verdict(replace(VERDICT, score=1.5))
    with pytest.raises(RunFolderError, match=r"verdicts\.jsonl:1: 'score' is 1.5"):
        list(RunFolder(tmp_path).verdicts("t"))


def test_drawn_tells_problems_samples_and_turns_apart() -> None:
    drawn = DrawnSamples()
    assert drawn.add("p", 3, 1)
    assert not drawn.add("p", 3, 1)
    assert drawn.has("p", 3, 1)
    assert not any(drawn.has(*other) for other in [("p", 3, 0), ("p", 2, 1), ("q", 3, 1)])
    assert drawn.count == 1


def test_the_parent_of_run_folders_is_told_from_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "manifest.json").write_text("{}")
    with pytest.raises(RunFolderError, match="it contains the runs base: name one of them"):
        RunFolder(tmp_path).require_manifest()
