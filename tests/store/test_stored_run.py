"""The reader of a stored run: the samples in force with verdicts, prompts and token counts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.types import Answer, Completion
from tests.store.stored import TASK, ask_line, completion, problem_line, stored_run, verdict


def whole_text(item: Completion) -> Answer:
    """Return a completion without a trace."""
    return Answer(item.text, "absent", "", False)


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return StoredRun(stored_run(tmp_path / "run"))


def test_a_sample_is_joined_from_its_four_files(run: StoredRun) -> None:
    found = {(item.problem_id, item.sample_index): item for item in run.task(TASK).samples(whole_text)}
    assert len(found) == 6
    item = found["p2", 1]
    assert [turn.answer.text for turn in item.turns] == ["p2 1"]
    assert item.verdict == verdict("p2", 1)
    assert (item.prompt, item.reference, item.strata) == ("p2?", "2", {"level": "easy"})


def test_a_sample_that_was_not_verified_has_no_verdict(run: StoredRun) -> None:
    lacking = [item for item in run.task(TASK).samples(whole_text) if item.verdict is None]
    assert [(item.problem_id, item.sample_index) for item in lacking] == [("p1", 1)]


def test_samples_of_one_problem_come_alone(run: StoredRun) -> None:
    found = list(run.task(TASK).samples(whole_text, "p1"))
    assert [(item.problem_id, item.sample_index) for item in found] == [("p1", 0), ("p1", 1)]


def test_one_pass_counts_the_tokens_too(run: StoredRun) -> None:
    task = run.task(TASK)
    assert sum(1 for _ in task.completions()) == 6
    assert task.tokens.completion == 36 and task.tokens.all_completion == 36


def test_tokens_are_counted_if_no_pass_was_made(run: StoredRun) -> None:
    assert run.task(TASK).tokens.trace == 12


def test_samples_beyond_k_and_the_problems_in_force_are_left_out(tmp_path: Path) -> None:
    path = stored_run(tmp_path)
    with RunFolder.writer(path) as folder:
        folder.append_completion(completion("p0", 2, "a larger k"))
    task = StoredTask(RunFolder(path), TASK, ["p0", "p2"], 2, 16)
    assert sum(1 for _ in task.completions()) == 4
    assert sum(1 for _ in task.all_completions()) == 7
    assert {item.sample.problem_id for item in task.verdicts()} == {"p0", "p2"}
    assert list(task.problems) == ["p0", "p2"]


def test_a_conversation_is_drawn_if_its_last_turn_is_on_disk(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_problems(TASK, [problem_line("p0", turns=2)])
        folder.append_completion(completion("p0", 0))
        folder.append_completion(completion("p0", 0, "second", turn=1, prompt="p0? x more?"))
        folder.append_completion(completion("p0", 1))
    task = StoredTask(RunFolder(tmp_path), TASK, ["p0"], 2, 16)
    assert task.drawn() == 1
    whole, half = list(task.samples(whole_text))
    assert [turn.answer.text for turn in whole.turns] == ["x", "second"]
    assert [turn.answer.text for turn in half.turns] == ["x"]


def test_a_folder_without_asks_has_no_prompts(tmp_path: Path) -> None:
    path = stored_run(tmp_path)
    RunFolder(path).file(TASK, "asks").unlink()
    assert {item.prompt for item in StoredRun(path).task(TASK).samples(whole_text)} == {None}


def test_problems_that_were_removed_meanwhile_are_named(run: StoredRun) -> None:
    task = run.task(TASK)
    run.folder.file(TASK, "problems").unlink()
    with pytest.raises(RunFolderError, match=r"problems\.jsonl: problem '.+' is not in it; was the"):
        _ = task.problems


def test_an_unknown_task_is_refused_with_the_nearest_name(run: StoredRun) -> None:
    with pytest.raises(RunFolderError, match="no task 'tt'; did you mean 't'"):
        run.task("tt")


def test_a_folder_without_a_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run folder"):
        StoredRun(tmp_path)


def test_an_indexed_run_indexes_while_it_reads(tmp_path: Path) -> None:
    task = StoredRun(stored_run(tmp_path), indexed=True).task(TASK)
    for _ in task.completions():
        pass
    assert task.index.completion_tokens == 36
    assert dict(task.index.seeds)["p0", 1] == 7


def test_a_damaged_line_of_asks_is_named(tmp_path: Path) -> None:
    path = stored_run(tmp_path)
    asks = RunFolder(path).file(TASK, "asks")
    asks.write_text(json.dumps(ask_line("p0", [0])) + "\n{broken\n" + json.dumps(ask_line("p1", [0])) + "\n")
    with pytest.raises(RunFolderError, match=r"asks\.jsonl:2"):
        list(StoredRun(path).task(TASK).samples(whole_text))


def test_a_task_that_was_forgotten_is_read_again(run: StoredRun) -> None:
    task = run.task(TASK)
    before, sample = dict(task.problems), task.on_disk.has("p0", 0, 0)
    task.forget()
    assert "problems" not in vars(task)
    assert task.problems == before and task.on_disk.has("p0", 0, 0) is sample is True


def test_the_set_of_problems_that_was_forgotten_is_made_again(run: StoredRun) -> None:
    task = run.task(TASK)
    assert task.has("p0", 0) and not task.has("p9", 0)
    size = deep_size(task)
    task.forget_ids()
    assert deep_size(task) < size
    assert task.has("p0", 0) and not task.has("p9", 0)


def deep_size(task: StoredTask) -> int:
    """Return the bytes of the attributes of a task."""
    return sum(map(sys.getsizeof, vars(task).values()))


def test_forgetting_keeps_tokens_and_seal_without_another_pass(run: StoredRun) -> None:
    task = run.task(TASK)
    tokens, seal = task.tokens, task.completions_seal
    task.forget()
    assert task.tokens is tokens and task.completions_seal is seal
