"""Runs without an engine: ready responses to a tiny task written in place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.analysis.results.record import Results
from genbench.pipeline import RunOptions, RunReport
from genbench.runs.event_loop import StopSwitch
from genbench.runs.stored.rescore import score_folder
from genbench.store.folder import sealed_results

SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 4
"""
RIGHT, WRONG, SILENT, OPEN = "\\boxed{2}", "\\boxed{3}", "no idea", "<think>so 1+1"


def rows(n: int = 12) -> list[dict[str, Any]]:
    """Problems p00, p01 … whose answer is 2, on two levels."""
    return [
        {"id": f"p{i:02}", "problem": f"{i}+2-{i}?", "answer": "2", "level": "easy" if i % 2 else "hard"}
        for i in range(n)
    ]


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def drawn_runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of one run, made once for all tests that want the same: verifying takes a second."""
    made: dict[str, Path] = {}

    def draw(lines: Sequence[Mapping[str, Any]], suite: str, n: int, overrides: Sequence[str]) -> Path:
        key = json.dumps([lines, suite, n, overrides])
        if key not in made:
            place = made[key] = tmp_path_factory.mktemp("run")
            (place / "suite.yaml").write_text(suite)
            write_lines(place / "rows.jsonl", rows(n))
            write_lines(place / "responses.jsonl", lines)
            score_responses(place, overrides=overrides)
        return made[key]

    return draw


@pytest.fixture
def make_run(tmp_path: Path, drawn_runs: Callable[..., Path]) -> MakeRun:
    """A run folder of its own with ready responses scored.

    `answers` gives the texts of one problem by its number; `extra` goes into each response line.
    """

    def make(
        name: str,
        answers: Callable[[int], Sequence[str]],
        *,
        n: int = 12,
        suite: str = SUITE,
        overrides: Sequence[str] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> Path:
        lines = [
            {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": text, **(extra or {})}
            for i in range(n)
            for j, text in enumerate(answers(i))
        ]
        shutil.copytree(drawn_runs(lines, suite, n, overrides), tmp_path / name)
        return tmp_path / name / "out" / "m"

    return make


def run_bare(options: RunOptions) -> RunReport:
    """Run a suite without writing the page, which takes half a second of CPU and few tests look at."""
    return pipeline._run(options, page=False)


def score_bare(run: Path) -> Results:
    """Score a stored run without writing the page."""
    return score_folder(run, None, False, True, StopSwitch())


def score_responses(
    place: Path,
    out: str = "out",
    *,
    overrides: Sequence[str] = (),
    limit: int | None = None,
    page: bool = False,
) -> Path:
    """The run folder of the suite in `place`, with its responses scored. `page` writes its report.html."""
    options = RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / out,
        responses=place / "responses.jsonl",
        overrides=overrides,
        limit=limit,
        quiet=True,
    )
    return (pipeline.run if page else run_bare)(options).folders["m"]


def as_another_run(
    run: Path,
    change: Callable[[dict[str, Any]], object] | None = None,
    results: Callable[[dict[str, Any]], object] | None = None,
) -> Path:
    """Change the manifest or the results of a run, as if it had been another: their digests fit."""
    for name, own in (("manifest", change), ("results", results)):
        record = json.loads((run / f"{name}.json").read_text())
        if own is not None:
            own(record)
            (run / f"{name}.json").write_text(json.dumps(record))
    record = json.loads((run / "results.json").read_text())
    (run / "results.json").write_bytes(sealed_results(record, (run / "manifest.json").read_bytes()))
    return run
