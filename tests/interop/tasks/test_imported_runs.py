"""Imported tasks from ready responses: run, continued after a torn write, compared, reported and exported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import ConfigError
from genbench.interop.logs.export import export
from genbench.interop.tasks.harness.convert import ImportOptions
from genbench.interop.tasks.importer import import_tasks
from genbench.pipeline import RunOptions, latest_results, run
from genbench.reports.write import report_text
from genbench.suite.suitefile import read_suite
from genbench.tasks.imported import imported_task
from genbench.tasks.loading import load_task

SUITE = """\
models: {m: {path: ./model}}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {task: "imported:out/sums.lock.json", k: 2}
  - {task: "imported:out/pick.lock.json"}
"""


def responses(right: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {
            "task": "sums",
            "problem_id": str(n),
            "sample_index": j,
            "text": f"The answer is {2 * (n + 1) if n < right else -1}.\nQ: 5",
        }
        for n in range(6)
        for j in range(2)
    ]
    choices = [{"logprob": value, "tokens": 3, "greedy": False} for value in (-2.0, -3.0)]
    return [*lines, {"task": "pick", "problem_id": "0", "sample_index": 0, "choices": choices}]


def options(place: Path, right: int = 4) -> RunOptions:
    (place / "suite.yaml").write_text(SUITE, encoding="utf-8")
    lines = "".join(json.dumps(line) + "\n" for line in responses(right))
    (place / f"responses{right}.jsonl").write_text(lines, encoding="utf-8")
    return RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / f"run{right}",
        responses=place / f"responses{right}.jsonl",
        quiet=True,
    )


@pytest.fixture
def place(definitions: Path, mirror: Path, tmp_path: Path) -> Path:
    for name in ("sums", "pick"):
        import_tasks(name, ImportOptions(tmp_path / "out", mirror, definitions))
    return tmp_path


@pytest.mark.slow
def test_an_imported_task_runs_continues_compares_reports_and_exports(place: Path) -> None:
    folder = run(options(place)).folders["m"]
    results = latest_results(folder).tasks
    assert results["sums"].value == pytest.approx(4 / 6)
    assert (results["pick"].metric, results["pick"].value) == ("acc", 1.0)
    # A process that was killed leaves half a line.
    verdicts = folder / "sums" / "verdicts.jsonl"
    whole = verdicts.read_bytes()
    verdicts.write_bytes(whole[: len(whole) // 2])
    shutil.rmtree(folder / "pick")
    again = latest_results(run(options(place)).folders["m"]).tasks
    assert (again["sums"].value, again["pick"].value) == (results["sums"].value, 1.0)
    other = run(options(place, 6)).folders["m"]
    found = compare(folder, other, allow=["model"]).tasks["sums"]
    assert found.difference == pytest.approx(2 / 6)
    text = report_text([folder], "md")
    assert "sums" in text and "pick" in text
    assert export(folder, "lm-eval", place / "exported")


def test_code_scores_only_if_the_suite_trusts_it(place: Path) -> None:
    path = place / "out" / "sums.lock.json"
    lock = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(lock | {"door": 3, "verifier": "foreign_score"}), encoding="utf-8")
    with pytest.raises(ConfigError, match="trust_task_code: true"):
        imported_task(path, {})
    text = SUITE.replace(", k: 2}", ", options: {trust_task_code: true, python: other/python}}")
    (place / "suite.yaml").write_text(text, encoding="utf-8")
    suite = read_suite(place / "suite.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    assert task.verifier_options["python"] == str(place / "other" / "python")
    assert task.verifier_options["trust_task_code"] is True
