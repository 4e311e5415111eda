"""Jobs whose completions are read from a file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.models import traces
from genbench.reports.page.data import page_data
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.runs.command import run_models
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.store.stored_run import StoredRun

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


def test_a_trace_is_split_once_for_the_verdict_and_once_by_whoever_reads_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"<think>{index}</think>{index}" for index in range(4)]
    lines = [
        {"task": "sums", "problem_id": "a", "sample_index": i, "text": text} for i, text in enumerate(texts)
    ]
    given = options(tmp_path, lines)
    (tmp_path / "suite.yaml").write_text(SUITE.replace("k: 1", "k: 4"))
    counts: Counter[str] = Counter()
    split = traces.split

    def counted(text: str, *rest: Any) -> Any:
        counts[text] += 1
        return split(text, *rest)

    monkeypatch.setattr(traces, "split", counted)
    folder = run_models(given).folders["m"]
    assert counts == dict.fromkeys(texts, 1)
    counts.clear()
    page_data(StoredRun(folder), "m", 0, ChunkedTexts(tmp_path / "page.files"), parquet=True)
    assert counts == dict.fromkeys(texts, 1)
