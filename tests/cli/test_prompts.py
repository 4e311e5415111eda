"""`genbench prompts`: the prompts and requests of a run, without an engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome, ready_suite

Cli = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    ready_suite(tmp_path, "exact", 4, lambda problem, sample: str(problem))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_prompts_prints_one_sample_of_one_problem(genbench: Cli, place: Path) -> None:
    set_model = ("--model", "m=shipped:checkpoints/tiny-base")
    outcome = genbench("prompts", "suite.yaml", "--task", "mine", *set_model)
    assert outcome.code == 0, outcome.err
    heads = [line for line in outcome.out.splitlines() if line.startswith("── ")]
    assert len(heads) == 1
    assert heads[0].startswith("── m / mine / p")
    assert "token ids: [" in outcome.out


def test_prompts_needs_no_vllm(genbench: Cli, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vllm", "genbench.engines.vllm.engine"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails as if it were not installed
    outcome = genbench("prompts", "suite.yaml", "--model", "m=shipped:checkpoints/tiny-base")
    assert (outcome.code, outcome.err) == (0, "") and outcome.out


def test_prompts_as_json_are_all_requests_of_the_run(genbench: Cli, place: Path) -> None:
    outcome = genbench("prompts", "suite.yaml", "--model", "m=shipped:checkpoints/tiny-base", "--json")
    records = [json.loads(line) for line in outcome.out.splitlines()]
    assert len(records) == 8
    assert {(record["problem_id"], record["sample_index"]) for record in records} == {
        (f"p{i}", j) for i in range(4) for j in range(2)
    }
    assert len({record["seed"] for record in records}) == 8


def test_prompts_are_those_of_one_suite(genbench: Cli, place: Path) -> None:
    outcome = genbench("prompts", "suite.yaml", "quickstart")
    assert outcome.code == 2 and "quickstart" in outcome.err
