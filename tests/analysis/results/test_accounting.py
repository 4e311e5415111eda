"""Tokens by kind, GPU time and cost."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.results.accounting import costs
from genbench.analysis.results.record import Results, TotalTokens
from genbench.engines.devices import GpuWatch
from genbench.pipeline import run
from genbench.reports.terminal.run import run_table
from genbench.runs.options import RunOptions
from genbench.store.manifest import AttemptRecord
from genbench.suite.engine import Price

SUITE = """\
models:
  m: {path: ./none}
price: {per_million_prompt_tokens: 100, per_million_completion_tokens: 1000, currency: EUR}
tasks:
  - name: mine
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer}}
    prompt: "{question}"
    k: 1
"""
ATTEMPT = AttemptRecord(
    attempt=1, started="now", ended="later", seconds=1800.0, circumstances={"engine": {"max_num_seqs": 1}}
)
NO_ENGINE = ATTEMPT.model_copy(update={"seconds": 9e9, "circumstances": {"engine": None}})
KILLED = ATTEMPT.model_copy(update={"ended": None})


def drawn(tmp_path: Path, **more: Any) -> Results:
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"p{i}", "question": "?", "answer": "yes"} for i in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        {"task": "mine", "problem_id": row["id"], "sample_index": 0, "text": "<think>a</think>yes"}
        | {"prompt_tokens": 10, "completion_tokens": 25}
        | more
        for row in rows
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        str(tmp_path / "suite.yaml"), responses=tmp_path / "r.jsonl", run_dir=tmp_path / "out", quiet=True
    )
    return run(options).results["m"]


def test_tokens_are_told_by_kind_and_priced(tmp_path: Path) -> None:
    result = drawn(tmp_path, trace_tokens=20)
    assert result.totals.tokens == TotalTokens(prompt=40, trace=80, answer=20, completion=100)
    assert result.tasks["mine"].cost == pytest.approx((40 * 100 + 100 * 1000) / 1e6)
    assert result.totals.cost == pytest.approx(0.104)
    table = run_table({"m": result}, {})
    assert "m: 40 prompt + 80 trace + 20 answer tokens; 0.10 EUR (mine 0.10)" in table


@pytest.mark.slow
def test_what_nobody_counted_is_null_and_not_zero(tmp_path: Path) -> None:
    result = drawn(tmp_path)
    assert result.totals.tokens == TotalTokens(prompt=40, trace=None, answer=None, completion=100)
    (tmp_path / "b").mkdir()
    result = drawn(tmp_path / "b", prompt_tokens=None, completion_tokens=None)
    assert result.totals.tokens == TotalTokens(prompt=None, trace=None, answer=None, completion=None)
    assert result.totals.cost is None
    assert result.totals.gpu_busy is None


@pytest.mark.slow
def test_a_price_by_the_hour_is_shared_by_tokens_and_only_engines_cost(tmp_path: Path) -> None:
    task = drawn(tmp_path).tasks["mine"]
    tasks = {
        name: task.model_copy(update={"tokens": task.tokens.model_copy(update={"completion": count})})
        for name, count in (("a", 300), ("b", 100))
    }
    attempts = [ATTEMPT, ATTEMPT, NO_ENGINE, KILLED]
    assert costs(Price(per_hour=10.0), tasks, attempts) == {"a": 7.5, "b": 2.5}
    assert costs(None, tasks, [ATTEMPT]) == {"a": None, "b": None}


NVIDIA_SMI = """#!/bin/sh
echo "$@" > "$(dirname "$0")/asked"
echo "0, 80"; echo "1, 0"; echo "2, [N/A]"; echo "0, 100"
exec sleep 60
"""


def test_the_busy_share_of_each_gpu_is_what_its_driver_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in the driver tool's place: the format is that of nvidia-smi 550 to 580."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(NVIDIA_SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")

    async def watch() -> dict[str, float] | None:
        async with GpuWatch() as gpus:
            while (gpus.busy or {}).get("0") != 0.9:  # noqa: ASYNC110  it tells nobody when a line came
                await asyncio.sleep(0.01)
        return gpus.busy

    assert asyncio.run(asyncio.wait_for(watch(), 30)) == {"0": 0.9, "1": 0.0}
    assert "--query-gpu=index,utilization.gpu" in (tmp_path / "asked").read_text()
    assert "-i 0,1,2" in (tmp_path / "asked").read_text()


def test_a_machine_without_the_drivers_tool_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    async def watch() -> dict[str, float] | None:
        async with GpuWatch() as gpus:
            await asyncio.sleep(0)
        return gpus.busy

    assert asyncio.run(watch()) is None
