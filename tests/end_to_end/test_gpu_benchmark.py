"""The benchmark for GPUs in small, on the build that is installed here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.engine
@pytest.mark.slow
def test_the_benchmark_runs_in_small_and_says_where_it_ran(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    program = (str(ROOT / "benchmarks" / "gpu.py"),)
    words = ("--small", "--part", "continued", "--out", str(out))
    done = warm.run(words, engine=True, program=program, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    rows = {row["what"].partition(":")[0]: row for row in json.loads(out.read_text())}
    # A greedy text goes on to the same end. docs/gpus.md says why a sampled one need not.
    assert rows["greedy"]["value"] == "16" and "seeded, temperature 0.6" in rows
    assert "| part | model | what | value |" in done.stdout and "vLLM" in done.stdout.splitlines()[0]
