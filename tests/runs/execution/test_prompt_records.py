"""The questions of a run as the lines of problems.jsonl and asks.jsonl."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.runs.execution.prompt_records import (
    SpooledPrompts,
    TaskPrompts,
    prompt_records,
    records_of_problems,
)
from tests.runs.ruled import only_job, options


@pytest.fixture
def asked(tmp_path: Path) -> TaskPrompts:
    job = only_job(options(tmp_path))
    return prompt_records(job.model, job.tasks[0])


def test_each_problem_has_a_line_with_digests_of_prompt_and_reference(asked: TaskPrompts) -> None:
    problems, _ = asked
    assert [line["problem_id"] for line in problems] == ["q0", "q1", "q2", "q3"]
    assert len({line["prompt_digest"] for line in problems}) == 4
    assert {len(line["reference_digest"]) for line in problems} == {16}
    assert problems[0]["strata"] == {"level": "one"} and problems[0]["turns"] == 1


def test_samples_with_one_prompt_share_the_line_that_readers_see(asked: TaskPrompts) -> None:
    _, asks = asked
    assert [ask["samples"] for ask in asks] == [[0, 1]] * 4
    assert "3+1" in asks[3]["prompt"] and asks[3]["reference"] == "\\boxed{4}"


def test_the_same_job_has_the_same_lines(asked: TaskPrompts, tmp_path: Path) -> None:
    job = only_job(options(tmp_path))
    assert prompt_records(job.model, job.tasks[0]) == asked


def test_packed_lines_come_back_and_are_smaller(tmp_path: Path) -> None:
    job = only_job(options(tmp_path, n=200))
    asked = prompt_records(job.model, job.tasks[0])
    before = sorted(tmp_path.iterdir())
    with SpooledPrompts(tmp_path) as pack:
        pack.add("sums", asked)
        pack.add("other", records_of_problems(asked, {"q1"}))
        assert pack.tasks == ["sums", "other"] and sorted(tmp_path.iterdir()) == before
        assert list(pack.of("sums")) == [list(part) for part in asked]
        assert [line["problem_id"] for line in pack.of("other")[0]] == ["q1"]
        assert pack.size * 3 < len(str(asked))


def test_problems_that_no_verifier_can_grade_are_left_out(asked: TaskPrompts) -> None:
    problems, asks = records_of_problems(asked, {"q1", "q3"})
    assert [line["problem_id"] for line in problems] == ["q1", "q3"]
    assert [ask["problem_id"] for ask in asks] == ["q1", "q3"]
