"""Options of a run whose engine adds two numbers in this process: no model is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from genbench.runs.execution.job import Job
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions

SUITE = """\
models: {m: {path: any}}
engine: {kind: "tests.engines.rule_engine:RuleEngine", concurrency: 2}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum, strata: [level]}}
    prompt: "{question}"
    k: 2
"""


def options(place: Path, n: int = 4, **more: Any) -> RunOptions:
    """Write a suite of `n` sums into `place` and return the options of its run."""
    (place / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"q{i}", "question": f"{i}+1", "sum": f"\\boxed{{{i + 1}}}", "level": "one"} for i in range(n)
    ]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return RunOptions(str(place / "suite.yaml"), **{"run_dir": place / "runs", "quiet": True, **more})


def only_job(given: RunOptions) -> Job:
    """Return the one job of a command."""
    (job,) = make_jobs(*open_suite(given), given)
    return job
