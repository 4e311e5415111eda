"""A run of degenerate completions: said on the terminal, in results and report, and ended if asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import DegenerateOutputError
from genbench.pipeline import RunOptions, run
from tests.ready_runs import SUITE, rows, write_lines


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    """A suite of 400 samples, whose responses are padding."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(100))
    lines = [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": "<pad>" * 16}
        for i in range(100)
        for j in range(4)
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    return RunOptions(
        suite=str(tmp_path / "suite.yaml"),
        run_dir=tmp_path / "out",
        responses=tmp_path / "responses.jsonl",
    )


@pytest.mark.slow
def test_the_alarm_is_in_terminal_results_and_report(
    options: RunOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(options)
    assert "warning: m: 50 of the first 50 samples are degenerate (50 one token repeated)" in (
        capsys.readouterr().err
    )
    (warning,) = found.results["m"].warnings
    assert warning.startswith("sums: 400 of 400 completions are degenerate (400 one token repeated): ")
    stored = json.loads((tmp_path / "out" / "m" / "results.json").read_text())
    assert stored["warnings"] == [warning]
    assert found.page is not None and "400 of 400 completions are degenerate" in found.page.read_text()
    assert found.failures == []


def test_the_run_ends_if_it_is_asked_to(options: RunOptions, tmp_path: Path) -> None:
    with pytest.raises(DegenerateOutputError, match=r"50 of the first 50 .* as --stop-on-degenerate asks"):
        run(replace(options, stop_on_degenerate=True, quiet=True))
    lines = (tmp_path / "out" / "m" / "sums" / "completions.jsonl").read_text().splitlines()
    assert 50 <= len(lines) < 400
    assert not (tmp_path / "out" / "m" / "results.json").exists()
