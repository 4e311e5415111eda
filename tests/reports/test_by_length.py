"""Curves by length, effective lengths, heat maps, and their plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.results.run_state import require_results
from genbench.reports.page import plots
from genbench.reports.page.html import LengthCurve, LengthPoint, curve_words, heat_cells, length_curves
from genbench.reports.write import report
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.store.folder import RunFolder
from genbench.suite.suitefile import read_suite
from tests.ready_runs import score_responses, write_lines

SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.0, max_tokens: 200}
tasks:
  - {task: niah, options: {length: [1024, 2048], depth: [0, 100], rows: 2}}
  - {task: ruler, name: ruler_1k, group: ruler, options: {length: 1024, tasks: fwe, rows: 2}}
  - {task: ruler, name: ruler_2k, group: ruler, options: {length: 2048, tasks: fwe, rows: 2}}
"""


def curve(*values: float) -> LengthCurve:
    points = (LengthPoint(2**number * 4_096, value, None, 10) for number, value in enumerate(values))
    return LengthCurve("ruler", tuple(points))


def test_the_effective_length_ends_before_the_first_score_below_the_threshold() -> None:
    assert curve(0.95, 0.90, 0.80, 0.99).effective_length == 8_192
    assert curve(0.856).effective_length == 4_096
    assert curve(0.85, 0.99).effective_length is None


@pytest.mark.slow
def test_a_report_has_curves_and_the_heat_map(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    suite = read_suite(tmp_path / "suite.yaml")
    lines = [
        {
            "task": task.name,
            "problem_id": problem.problem_id,
            "sample_index": 0,
            # Needles at the end of the longer prompts are not found.
            "text": "none"
            if "2048/needle/100" in problem.problem_id
            else ", ".join(problem.row["reference"]["texts"]),
        }
        for task in load_tasks(suite, RunOptions(suite=str(suite.path)))
        for problem in task.problems
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    run = score_responses(tmp_path)
    results = require_results(RunFolder(run))
    curves = {item.name: item for item in length_curves(results)}
    assert [(point.length, point.value, point.n) for point in curves["niah"].points] == [
        (1_024, 1, 4),
        (2_048, 0.5, 4),
    ]
    assert [point.length for point in curves["ruler"].points] == [1_024, 2_048]
    words = curve_words("m", list(curves.values()))
    assert any("effective length (at least 85.6): 2,048 tokens" in line for line in words)
    cells = {(cell.length, cell.depth): cell.value for cell in heat_cells(results.tasks["niah"])}
    assert cells == {(1_024, 0): 1, (1_024, 100): 1, (2_048, 0): 1, (2_048, 100): 0}
    page = report([run], None).page.read_text()
    assert "Scores by the length of the prompt" in page
    assert "niah of m by length and depth" in page
    assert "not stored, `genbench show` makes it again" in page


def test_plots_are_svg() -> None:
    assert plots.heat_map("h", [(1_024, 0.0, 100.0), (1_024, 50.0, 0.0)]).startswith("<svg")
    assert plots.length_curves("c", [("m", [(1_024, 50.0, 40.0, 60.0)])], 85.6).startswith("<svg")
