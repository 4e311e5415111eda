"""A run folder or a score file as one side of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.analysis.sides.loading import open_side, read_run, require_finished
from genbench.errors import InputError, RunFolderError
from genbench.store.folder import RunFolder
from tests.known import known
from tests.store.stored import TASK, stored_run, verdict


def test_a_run_has_scores_answers_and_statuses_by_problem_and_sample(tmp_path: Path) -> None:
    side = read_run(stored_run(tmp_path / "m"))
    task = side.tasks[TASK]
    assert task.problem_ids == ("p0", "p1", "p2") and (task.k, task.lacking) == (2, 1)
    assert task.scores == ((1.0, 1.0), (0.0, None), (1.0, 1.0))
    assert known(task.statuses)[1] == ("wrong", "unscored") and known(task.answers)[0] == ("2", "2")
    assert task.strata == {"level": ("easy", "easy", "easy")} and task.groups is None
    assert side.name == "m" and side.noise is None and side.failed == ()


def test_a_run_with_missing_verdicts_is_not_finished(tmp_path: Path) -> None:
    path = stored_run(tmp_path / "m")
    with pytest.raises(
        InputError, match="1 of 6 samples have no verdict; continue the run, or run: genbench"
    ):
        require_finished(read_run(path))
    with RunFolder.writer(path) as folder:
        folder.append_verdict(verdict("p1", 1))
    require_finished(read_run(path))


def test_verdicts_of_another_verifier_are_refused(tmp_path: Path) -> None:
    path = stored_run(tmp_path / "m")
    with RunFolder.writer(path) as folder:
        folder.append_verdict(verdict("p1", 1, verifier="older"))
    with pytest.raises(RunFolderError, match=r"verdicts of another verifier .*genbench score"):
        read_run(path)


def test_the_first_verdict_of_a_sample_counts(tmp_path: Path) -> None:
    path = stored_run(tmp_path / "m")
    with RunFolder.writer(path) as folder:
        folder.append_verdict(verdict("p0", 0, 0.0))
    assert read_run(path).tasks[TASK].scores[0] == (1.0, 1.0)


def test_a_score_file_is_a_side_too(tmp_path: Path) -> None:
    lines = [{"task": "t", "problem_id": str(i), "sample_index": 0, "score": 1.0} for i in range(3)]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    side = open_side(path)
    assert side.manifest is None and side.tasks["t"].scores == ((1.0,), (1.0,), (1.0,))


@pytest.mark.parametrize("kind", ["run", "file"])
def test_a_task_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path, kind: str) -> None:
    path = stored_run(tmp_path / "m") if kind == "run" else tmp_path / "s.jsonl"
    if kind == "file":
        path.write_text(json.dumps({"task": "t", "problem_id": "p", "sample_index": 0, "score": 1}) + "\n")
    with pytest.raises(InputError, match="no task 'tt'; did you mean 't'"):
        open_side(path, ["tt"])


def test_a_path_that_does_not_exist_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wanted RUN_DIR/<model> or a score file"):
        open_side(tmp_path / "nothing")


def test_a_run_without_problems_cannot_be_compared(tmp_path: Path) -> None:
    path = stored_run(tmp_path / "m")
    RunFolder(path).file(TASK, "problems").unlink()
    with pytest.raises(RunFolderError, match="task t has no problems; continue the run"):
        read_run(path)
