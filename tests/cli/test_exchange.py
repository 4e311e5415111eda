"""export and import as commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.interop import commands as exchange

from .conftest import Outcome, ready_suite

Cli = Callable[..., Outcome]


@pytest.fixture
def run_dir(genbench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    ready_suite(tmp_path, "exact", 3, lambda problem, sample: str(problem if sample else "none"))
    monkeypatch.chdir(tmp_path)
    assert genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out").code == 0
    return "out/m"


def test_the_module_has_both_commands() -> None:
    assert callable(exchange.export) and callable(exchange.import_)


@pytest.mark.slow
def test_export_prints_the_files_that_it_wrote(genbench: Cli, run_dir: str) -> None:
    outcome = genbench("export", run_dir, "--to", "inspect", "--output", "logs")
    assert outcome.code == 0 and re.fullmatch(r"logs/[\dT-]+_mine_[0-9a-f]+\.json\n", outcome.out)
    log = json.loads(Path(outcome.out.strip()).read_text())
    assert len(log["samples"]) == 6


def test_an_unknown_format_is_refused_with_the_nearest(genbench: Cli, run_dir: str) -> None:
    outcome = genbench("export", run_dir, "--to", "inspekt", "-o", "logs")
    assert outcome.code == 2
    assert "inspekt" in outcome.err and "'inspect'" in outcome.err


@pytest.mark.slow
def test_samples_come_back_as_a_score_file_with_the_same_estimate(genbench: Cli, run_dir: str) -> None:
    outcome = genbench("import", "log", f"{run_dir}/samples.parquet", "-o", "scores.jsonl")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "scores.jsonl: 6 scores; next: genbench metrics scores.jsonl\n"
    stored = json.loads(genbench("metrics", run_dir, "--json").out)["tasks"]["mine"]
    read = json.loads(genbench("metrics", "scores.jsonl", "--json").out)["tasks"]["mine"]
    assert (read["value"], read["n"], read["k"]) == (stored["value"], stored["n"], stored["k"])


def test_import_of_a_file_that_is_none_of_the_known_formats_is_refused(genbench: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    outcome = genbench("import", "log", tmp_path / "x.jsonl", "-o", tmp_path / "s.jsonl")
    assert outcome.code == 2
    assert "x.jsonl" in outcome.err
