"""Models that are in memory already. Those of vLLM and Transformers are in tests/end_to_end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import genbench
from genbench.engines.memory import Drawn
from genbench.errors import ConfigError, EngineError, InputError
from genbench.store.folder import RunFolder
from genbench.types import Request

from ..ready_runs import RIGHT, SUITE, WRONG, rows, write_lines


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "rows.jsonl", rows(6))
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


class Model:
    """Right for two samples of four, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Request, Mapping[str, Any]]] = []

    async def __call__(self, request: Request, sampling: Mapping[str, Any]) -> Drawn:
        self.asked.append((request, sampling))
        return Drawn(RIGHT if request.sample.sample_index < 2 else WRONG, "stop", 7)


def test_a_function_is_evaluated_into_a_run_folder(suite: Path) -> None:
    model = Model()
    report = genbench.evaluate(model, suite, step=1200, track="grpo-7")
    (folder,) = report.folders.values()
    assert report.results["step-1200"].tasks["sums"].value == 0.5
    manifest = RunFolder(folder).require_manifest()
    assert manifest.model_identity == "declared: step 1200 of grpo-7"
    assert manifest.track is not None
    assert (manifest.track.name, manifest.track.kind, manifest.track.position) == ("grpo-7", "step", 1200)
    assert manifest.terms["engine"]["name"] == "memory"
    request, sampling = model.asked[0]
    assert len(model.asked) == 24 and request.messages[-1].content.endswith("?")
    assert (sampling["temperature"], request.max_tokens) == (0.6, 16)
    assert len({request.seed for request, _ in model.asked}) == 24
    stored = [json.loads(line) for line in (folder / "sums/completions.jsonl").read_text().splitlines()]
    assert {line["completion_tokens"] for line in stored} == {7}


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (Drawn(RIGHT, "stop", -5), "tokens -5, wanted a number from 0 on"),
        (Drawn(RIGHT, "stop", True), "tokens True"),
        (Drawn(RIGHT, "over", 5), "finish_reason .over., wanted one of"),  # type: ignore[arg-type]
        (Drawn(7, "stop", 5), "a text of 7"),  # type: ignore[arg-type]
    ],
)
def test_a_reply_that_no_line_can_have_spoils_no_folder(suite: Path, drawn: Drawn, said: str) -> None:
    async def model(request: Request, sampling: Mapping[str, Any]) -> Drawn:
        return drawn

    with pytest.raises(EngineError, match=said):
        genbench.evaluate(model, suite, step=1, limit=1)
    assert genbench.evaluate(Model(), suite, step=1, limit=1).results["step-1"].tasks["sums"].value == 0.5


def test_a_function_that_raises_a_cancellation_ends_the_run(suite: Path) -> None:
    async def model(request: Request, sampling: Mapping[str, Any]) -> str:
        raise asyncio.CancelledError("the client gave up")

    with pytest.raises(EngineError, match="CancelledError: the client gave up"):
        genbench.evaluate(model, suite, limit=1)


@pytest.mark.slow
def test_a_step_is_continued_and_a_call_without_one_is_a_run_of_its_own(suite: Path) -> None:
    model = Model()
    first = genbench.evaluate(model, suite, step=3, limit=2)
    genbench.evaluate(model, suite, step=3)
    assert len(model.asked) == 24
    again = genbench.evaluate(model, suite, step=3)
    assert len(model.asked) == 24 and again.folders == first.folders
    one, two = genbench.evaluate(model, suite), genbench.evaluate(model, suite)
    assert len(model.asked) == 72 and one.folders["model"] != two.folders["model"]


def test_declared_weights_are_no_base_of_a_gate(suite: Path, tmp_path: Path) -> None:
    base, tuned = (
        genbench.evaluate(Model(), suite, step=step, run_dir=tmp_path / f"run{step}").folders[f"step-{step}"]
        for step in (1, 2)
    )
    found = genbench.compare(base, tuned)
    assert found.tasks["sums"].difference == 0
    with pytest.raises(InputError, match="no digest, so it cannot be a base of a gate"):
        genbench.compare(base, tuned, gate=True)
    with pytest.raises(InputError, match="cannot be a base of a gate"):
        genbench.run(genbench.RunOptions(suite=suite, against=base, adaptive=True, models=["m"]))


def test_wrong_models_and_failures_say_what_to_do(suite: Path) -> None:
    with pytest.raises(ConfigError, match=r"a builtins\.str is not a model; wanted an AsyncLLM or LLM"):
        genbench.evaluate("path/of/model", suite)

    async def broken(request: Request, sampling: Mapping[str, Any]) -> str:
        raise RuntimeError("out of memory")

    async def wrong(request: Request, sampling: Mapping[str, Any]) -> int:
        return 3

    with pytest.raises(EngineError, match=r"the function failed for .*RuntimeError: out of memory"):
        genbench.evaluate(broken, suite)
    with pytest.raises(EngineError, match="returned 3, wanted a text or Drawn"):
        genbench.evaluate(wrong, suite)
