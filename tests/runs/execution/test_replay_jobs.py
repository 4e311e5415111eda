"""Jobs whose completions are read from a file."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.models import traces
from genbench.pipeline import run
from genbench.runs.command import run_models
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.types import Answer

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


def test_a_completion_is_split_into_trace_and_answer_once_until_its_verdict_and_once_for_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"<think>is it {number}?</think>{number}" for number in range(3)]
    given = options(
        tmp_path,
        [
            {"task": "sums", "problem_id": "a", "sample_index": index, "text": text}
            for index, text in enumerate(texts)
        ],
    )
    split, seen = traces.split, Counter[str]()

    def counted(text: str, *arguments: Any) -> Answer:
        seen[text] += 1
        return split(text, *arguments)

    monkeypatch.setattr(traces, "split", counted)
    given = replace(given, overrides=["tasks.sums.k=3"])
    found = run_models(given)
    assert found.results["m"].tasks["sums"].value == pytest.approx(1 / 3)
    assert seen == Counter(texts)
    run(replace(given, run_dir=tmp_path / "with a page"))
    assert seen == Counter(3 * texts)


def test_a_file_without_any_line_is_refused(tmp_path: Path) -> None:
    given = options(tmp_path, [])
    suite, chosen = open_suite(given)
    with pytest.raises(InputError, match=r"ready\.jsonl"):
        make_jobs(suite, chosen, given)
