"""A stored run is read again with the suite and the data that it was drawn from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import DataError, RunFolderError
from genbench.judges.session import JudgeSession
from genbench.runs.execution.prompt_records import SpooledPrompts, prompt_records
from genbench.runs.execution.run_manifest import manifest_record, open_manifest
from genbench.runs.stored.load import load_stored, stored_suite
from genbench.store.folder import RunFolder
from genbench.tasks.loaded_task import VerifiedTask
from tests.runs.ruled import only_job, options
from tests.store.stored import completion


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a run that was begun: its manifest, problems and asks, and no sample."""
    job = only_job(options(tmp_path))
    (task,) = job.tasks
    judges = JudgeSession(job.suite, job.tasks, job.path)
    own = {problem.problem_id: problem for problem in task.problems}
    verified = {task.name: VerifiedTask(task, "digest", "version", own)}
    assert manifest_record(job, verified, judges).tasks["sums"].n == 4
    with RunFolder.writer(job.path) as found, SpooledPrompts(job.path) as asked:
        asked.add(task.name, prompt_records(job.model, task))
        open_manifest(job, found, verified, judges, asked)
    return RunFolder(job.path)


def test_tasks_have_the_problems_that_the_run_asked(folder: RunFolder) -> None:
    run = load_stored(folder, None, ())
    (task,) = run.tasks
    assert [problem.problem_id for problem in task.problems] == ["q0", "q1", "q2", "q3"]
    assert task.k == 2 and task.reference(task.problems[1], 0) == "\\boxed{2}"


def test_the_suite_comes_from_the_manifest_if_its_file_is_gone(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").unlink()
    suite = stored_suite(folder.require_manifest(), folder.manifest_path)
    assert suite.config.decoding.max_tokens == 16 and suite.config.engine.kind.endswith("RuleEngine")
    assert len(load_stored(folder, None, ()).tasks) == 1


def test_completions_are_split_as_in_the_run(folder: RunFolder) -> None:
    answer = load_stored(folder, None, ()).split(completion("q0", 0, "<think>a</think>b"))
    assert (answer.trace, answer.text) == ("a", "b")


def test_a_reference_that_changed_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    rows[2]["sum"] = "\\boxed{99}"
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RunFolderError, match=r"task sums, problem q2: the reference in .* --data-dir"):
        load_stored(folder, None, ())


def test_a_problem_that_is_gone_from_the_data_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    lines = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join(lines[:3]))
    with pytest.raises(RunFolderError, match="only 3 of its problems"):
        load_stored(folder, None, ())


def test_data_that_are_missing_are_named(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(DataError, match=r"rows\.jsonl"):
        load_stored(folder, None, ())


def test_a_folder_without_a_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run folder"):
        load_stored(RunFolder(tmp_path), None, ())
