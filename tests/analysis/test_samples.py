"""Stored samples with their traces split off, and the lines of asks.jsonl."""

from __future__ import annotations

from pathlib import Path

from genbench.analysis.samples import task_samples
from genbench.runs.execution.prompt_records import REFERENCE_CHARS, ask_records, merged_asks, reference_text
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from genbench.types import Request, SampleId
from tests.manifests import manifest, task_record
from tests.store.stored import TASK, completion, problem_line, stored_run


def request(index: int, prompt: str) -> Request:
    return Request(SampleId("t", "p", index), 0, (), 1, 16, f"digest of {prompt}", prompt)


def test_samples_of_one_prompt_share_a_line() -> None:
    requests = [request(0, "A or B?"), request(1, "B or A?"), request(2, "A or B?")]
    lines = ask_records("p", ["A", "B", "A"], requests)
    assert [(line["prompt"], line["samples"], line["reference"]) for line in lines] == [
        ("A or B?", [0, 2], "A"),
        ("B or A?", [1], "B"),
    ]


def test_a_sample_without_a_request_has_no_line() -> None:
    assert ask_records("p", ["A"], [None]) == []


def test_a_continued_folder_keeps_the_asks_of_problems_that_are_left_out() -> None:
    old = {"p": [{"problem_id": "p", "prompt": "old"}], "q": [{"problem_id": "q", "prompt": "kept"}]}
    merged = merged_asks(old, [{"problem_id": "p", "prompt": "new"}])
    assert [(ask["problem_id"], ask["prompt"]) for ask in merged] == [("q", "kept"), ("p", "new")]


def test_a_reference_is_shown_as_text() -> None:
    assert reference_text("4") == "4"
    assert reference_text({"a": ["é", 1]}) == '{"a": ["é", 1]}'


def test_a_long_reference_is_cut_and_says_by_how_much() -> None:
    text = reference_text("x" * (REFERENCE_CHARS + 1234))
    assert text.endswith(" … (1,234 more characters)") and text.startswith("x" * REFERENCE_CHARS)


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
