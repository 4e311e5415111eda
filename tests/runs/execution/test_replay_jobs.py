"""Jobs whose completions are read from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions

SUITE = """\
models: {m: {path: ./m}}
decoding: {temperature: 0.5, max_tokens: 8}
tasks:
  - {name: sums, kind: exact, data: {path: rows.jsonl, fields: {id: id, reference: answer}}, k: 1}
"""


def options(folder: Path, lines: list[dict[str, object]]) -> RunOptions:
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "rows.jsonl").write_text(json.dumps({"id": "a", "question": "1+1?", "answer": "2"}) + "\n")
    (folder / "ready.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return RunOptions(
        suite=str(folder / "suite.yaml"), run_dir=folder / "out", responses=folder / "ready.jsonl", quiet=True
    )


def test_a_job_of_ready_responses_has_the_answered_problems(tmp_path: Path) -> None:
    given = options(tmp_path, [{"task": "sums", "problem_id": "a", "sample_index": 0, "text": "2"}])
    suite, chosen = open_suite(given)
    jobs = make_jobs(suite, chosen, given)
    assert [(job.model.name, job.path) for job in jobs] == [("m", tmp_path / "out" / "m")]
    assert [problem.problem_id for problem in jobs[0].tasks[0].problems] == ["a"]


def test_a_file_without_any_line_is_refused(tmp_path: Path) -> None:
    given = options(tmp_path, [])
    suite, chosen = open_suite(given)
    with pytest.raises(InputError, match=r"ready\.jsonl"):
        make_jobs(suite, chosen, given)
