"""Stored samples with their traces split off."""

from __future__ import annotations

from pathlib import Path

from genbench.analysis.samples import task_samples
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from tests.manifests import manifest, task_record
from tests.store.stored import TASK, completion, problem_line, stored_run


def test_a_stored_sample_has_its_trace_split_off(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_manifest(manifest(tasks={TASK: task_record(n=1, k=1)}))
        folder.write_problems(TASK, [problem_line("p")])
        folder.append_completion(completion("p", 0, "<think>1+1</think>2"))
    (sample,) = task_samples(StoredRun(tmp_path), TASK)
    assert (sample.answer.text, sample.answer.trace, sample.answer.trace_status) == ("2", "1+1", "closed")
    assert (sample.status, sample.score, sample.completion_tokens) == ("unscored", None, 6)


def test_tokens_of_a_sample_are_unknown_if_one_turn_was_not_counted(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_manifest(manifest(tasks={TASK: task_record(n=1, k=1)}))
        folder.write_problems(TASK, [problem_line("p", turns=2)])
        folder.append_completion(completion("p", 0))
        folder.append_completion(completion("p", 0, turn=1, completion_tokens=None))
    (sample,) = task_samples(StoredRun(tmp_path), TASK)
    assert sample.completion_tokens is None and sample.trace_tokens == 4


def test_the_samples_of_one_problem_are_read_alone(tmp_path: Path) -> None:
    run = StoredRun(stored_run(tmp_path))
    assert {sample.problem_id for sample in task_samples(run, TASK, "p1")} == {"p1"}
