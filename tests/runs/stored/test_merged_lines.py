"""The lines of several folders in one: every sample once, and no two texts for one sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.runs.stored.merge import merge_lines
from genbench.store.folder import RunFolder
from genbench.store.json_files import Appender, read_lines
from genbench.store.manifest import AttemptRecord, Manifest
from tests.manifests import manifest, task_record
from tests.store.stored import TASK, ask_line, completion, problem_line, verdict

ATTEMPT = AttemptRecord(attempt=1, started="s", circumstances={})


def source(path: Path, ids: list[str], text: str = "x", verifier: str = "d") -> tuple[RunFolder, Manifest]:
    """Write a folder with one sample of each problem, drawn in one attempt."""
    described = manifest(tasks={TASK: task_record(n=len(ids), k=1)}, attempts=(ATTEMPT,))
    with RunFolder.writer(path) as folder:
        folder.write_manifest(described)
        folder.write_problems(TASK, [problem_line(name) for name in ids])
        folder.write_asks(TASK, [ask_line(name, [0]) for name in ids])
        for name in ids:
            folder.append_completion(completion(name, 0, text))
            folder.append_verdict(verdict(name, 0, verifier=verifier))
    return RunFolder(path), described


def merged(place: Path, *sources: tuple[RunFolder, Manifest]) -> tuple[RunFolder, dict[str, int]]:
    with RunFolder.writer(place / "target") as target:
        counts = merge_lines(sources, target)
    return RunFolder(place / "target"), counts


def test_the_samples_of_all_parts_are_in_the_target(tmp_path: Path) -> None:
    target, counts = merged(tmp_path, source(tmp_path / "a", ["p", "q"]), source(tmp_path / "b", ["r"]))
    assert counts == {TASK: 3}
    assert list(target.problems(TASK)) == ["p", "q", "r"] and set(target.asks(TASK)) == {"p", "q", "r"}
    found = [(item.sample.problem_id, item.attempt) for item in target.completions(TASK)]
    assert found == [("p", 1), ("q", 1), ("r", 2)]
    assert len(list(target.verdicts(TASK))) == 3


def test_a_sample_that_two_parts_share_is_written_once(tmp_path: Path) -> None:
    target, counts = merged(tmp_path, source(tmp_path / "a", ["p", "q"]), source(tmp_path / "b", ["q", "r"]))
    assert counts == {TASK: 3}
    assert len(list(target.completions(TASK))) == 3 and len(list(target.verdicts(TASK))) == 3


def test_two_texts_for_one_sample_are_refused_with_both_files(tmp_path: Path) -> None:
    parts = source(tmp_path / "a", ["p"]), source(tmp_path / "b", ["p"], text="another")
    with pytest.raises(RunFolderError, match="problem p, sample 0, turn 0") as error:
        merged(tmp_path, *parts)
    assert str(tmp_path / "a") in str(error.value) and str(tmp_path / "b") in str(error.value)


def test_a_problem_that_was_asked_in_two_ways_is_refused(tmp_path: Path) -> None:
    first, (folder, described) = source(tmp_path / "a", ["p"]), source(tmp_path / "b", ["p"])
    folder.write_problems(TASK, [problem_line("p") | {"prompt_digest": "other"}])
    with pytest.raises(RunFolderError, match="not parts of one run: task t, problem p: prompt_digest"):
        merged(tmp_path, first, (folder, described))


def test_verdicts_of_another_verifier_are_made_again_later(tmp_path: Path) -> None:
    target, _ = merged(tmp_path, source(tmp_path / "a", ["p"]), source(tmp_path / "b", ["q"], verifier="old"))
    assert [item.sample.problem_id for item in target.verdicts(TASK)] == ["p"]


def test_replies_of_a_judge_are_kept_once(tmp_path: Path) -> None:
    parts = [source(tmp_path / name, [name]) for name in ("a", "b")]
    for folder, _ in parts:
        with Appender(folder.file(TASK, "judgments")) as appender:
            appender.append({"key": "same", "reply": "GOOD"})
            appender.append({"key": folder.path.name, "reply": "BAD"})
    target, _ = merged(tmp_path, *parts)
    assert [line["key"] for _, line in read_lines(target.file(TASK, "judgments"))] == ["same", "a", "b"]
