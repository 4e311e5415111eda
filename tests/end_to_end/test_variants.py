"""What a suite can ask of the engine beyond the plain case: adapters, budgets, the death of the engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from genbench.suite import shipped

from .conftest import SUITE, Place, lines, texts

pytestmark = [pytest.mark.engine, pytest.mark.slow]


GENERATED = ("--task", "arithmetic", "--task", "choice")
"""The tasks that an engine with LoRA on can do."""


def adapter(folder: Path, seed: int = 0) -> Path:
    """A LoRA adapter with random weights on all query projections of the tiny model."""
    config = json.loads((shipped.folder("checkpoints") / "tiny-tuned" / "config.json").read_text())
    rng = np.random.default_rng(seed)
    hidden = config["hidden_size"]
    width = config["num_attention_heads"] * config["head_dim"]
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        name = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"] = rng.normal(0, 0.5, (8, hidden)).astype(np.float32)
        weights[f"{name}.lora_B.weight"] = rng.normal(0, 0.5, (width, 8)).astype(np.float32)
    folder.mkdir()
    save_file(weights, str(folder / "adapter_model.safetensors"))
    (folder / "adapter_config.json").write_text(
        json.dumps(
            {"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj"], "bias": "none"}
        )
    )
    return folder


@pytest.fixture(scope="module")
def adapted_run(reference: Place) -> tuple[str, ...]:
    """Options of a run with an adapter. It was drawn in `adapted/` on an engine of its own."""
    path = adapter(reference.path / "lora")
    options = ("--limit", "4", "--set", f"models.tuned.adapter={path}")
    reference.results("--run-dir", "adapted", *options, *GENERATED)
    return options


def test_an_adapter_changes_the_texts_and_the_identity(
    reference: Place, adapted_run: tuple[str, ...]
) -> None:
    adapted = texts(reference.path / "adapted" / "tuned")
    whole = texts(reference.path / "whole" / "tuned")
    assert len(adapted) == 4 * 6
    assert any(whole[key] != text for key, text in adapted.items())
    manifest = json.loads((reference.path / "adapted" / "tuned" / "manifest.json").read_text())
    assert manifest["model_identity"].count("sha256:") == 2
    assert manifest["terms"]["adapter"] == "lora"
    refused = reference.run("run", "suite.yaml", "--run-dir", "scored-adapted", *adapted_run)
    assert refused.returncode == 2
    assert "task picks scores given texts" in refused.stderr and "merge the adapter" in refused.stderr
    assert not (reference.path / "scored-adapted").exists()


SHARED = """\
name: shared
models:
  base: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
  one: {path: "shipped:checkpoints/tiny-tuned", dtype: float32, adapter: ./one}
  two: {path: "shipped:checkpoints/tiny-tuned", dtype: float32, adapter: ./two}
engine: {max_num_seqs: 64, share: true}
"""


@pytest.mark.usefixtures("adapted_run")
def test_a_checkpoint_and_its_adapters_share_one_engine(tmp_path: Path, reference: Place) -> None:
    adapter(tmp_path / "one")
    adapter(tmp_path / "two", seed=1)
    (tmp_path / "suite.yaml").write_text(SHARED + SUITE[SUITE.index("decoding:") :])
    place = Place(tmp_path)
    place.results("--run-dir", "together", "--limit", "4", *GENERATED)
    logs = [(tmp_path / "together" / name / "engine.log").read_text() for name in ("base", "one", "two")]
    assert [log.count("Initializing a V1 LLM engine") for log in logs] == [1, 0, 0]
    drawn = {name: texts(tmp_path / "together" / name) for name in ("base", "one", "two")}
    assert drawn["base"] != drawn["one"] != drawn["two"] != drawn["base"]

    # The same weights as `one`, drawn on an engine of their own.
    assert texts(reference.path / "adapted" / "tuned") == drawn["one"]

    done = place.run("compare", "together/base", "together/two", "--json")
    assert done.returncode == 0, done.stderr


def test_a_thinking_budget_ends_traces_and_enters_the_terms(reference: Place) -> None:
    budget = ("--limit", "4", "--task", "arithmetic", "--set", "decoding.thinking_token_budget=6")
    reference.results("--run-dir", "budget", *budget)
    folder = reference.path / "budget" / "tuned"
    rows = lines(folder, "arithmetic", "completions")
    assert all("</think>" in row["text"] for row in rows)
    assert max(len(row["text"].partition("</think>")[0]) for row in rows) < 60
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["terms"]["decoding"]["arithmetic"]["thinking_token_budget"] == 6
    assert manifest["terms"]["arguments"]["reasoning_config"]["reasoning_end_str"] == "</think>"
