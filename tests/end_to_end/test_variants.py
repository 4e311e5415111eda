"""What a suite can ask of the engine beyond the plain case: adapters, budgets, the death of the engine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from genbench.suite import shipped

from .conftest import SUITE, Place, lines, texts, verdicts
from .test_killed_runs import drawn, kill, wait_until

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


ADAPTERS = ("one", "two", "three", "four")
SWEEP = ("one", "wrong", "odd", "two", "base", "three", "four")
"""The models of the sweep in the order of the suite. Two of the adapters cannot be used."""


def sweep_suite(names: Sequence[str]) -> str:
    model = '{path: "shipped:checkpoints/tiny-tuned", dtype: float32'
    own = [f"  {name}: {model}{'' if name == 'base' else f', adapter: ./{name}'}}}\n" for name in names]
    tasks = SUITE[SUITE.index("decoding:") :]
    return f"name: sweep\nmodels:\n{''.join(own)}engine: {{max_num_seqs: 64, share: true}}\n{tasks}"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, subprocess.CompletedProcess[str]]:
    """A base and six adapters that were drawn with one engine in `together/`, and how that ended."""
    place = Place(tmp_path_factory.mktemp("sweep"))
    for seed, name in enumerate((*ADAPTERS, "wrong", "odd")):
        adapter(place.path / name, seed)
    file = place.path / "wrong" / "adapter_model.safetensors"
    save_file({name: np.zeros((8, 8), np.float32) for name in load_file(file)}, str(file))
    file = place.path / "odd" / "adapter_model.safetensors"  # vLLM itself refuses it, when it is loaded
    module = "base_model.model.model.layers.0.self_attn.gate"
    more = {f"{module}.lora_{side}.weight": np.zeros((8, 8), np.float32) for side in "AB"}
    save_file(load_file(file) | more, str(file))
    (place.path / "suite.yaml").write_text(sweep_suite(SWEEP))
    return place, place.run("run", "suite.yaml", "--run-dir", "together", "--limit", "4", *GENERATED)


def test_adapters_that_cannot_be_used_fail_alone_with_an_error(
    sweep: tuple[Place, subprocess.CompletedProcess[str]],
) -> None:
    place, done = sweep
    assert done.returncode == 1, done.stderr
    assert "wrong is left out: " in done.stderr and "does not fit its base" in done.stderr
    assert "odd failed: vLLM cannot load the adapter" in done.stderr
    for name in (*ADAPTERS, "base"):
        assert (place.path / "together" / name / "results.json").is_file()
        assert f"{name}: 24 samples" in done.stdout + done.stderr
    assert not (place.path / "together" / "odd" / "results.json").exists()
    said = place.run("check", "suite.yaml", *GENERATED)
    assert "6 of tiny-tuned share one engine, 6 at a time" in said.stdout
    assert "error    model wrong: " in said.stdout


def test_adapters_that_share_an_engine_draw_what_they_draw_alone(
    reference: Place, sweep: tuple[Place, subprocess.CompletedProcess[str]]
) -> None:
    place, _ = sweep
    folders = {name: place.path / "together" / name for name in (*ADAPTERS, "base")}
    logs = [(folder / "engine.log").read_text() for folder in folders.values()]
    assert sum(log.count("Initializing a V1 LLM engine") for log in logs) == 1
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in folders.values()]
    engines = [manifest["attempts"][-1]["engines"]["replica 0"] for manifest in manifests]
    assert any(engine.get("shared_with") for engine in engines)
    found = {name: texts(folder) for name, folder in folders.items()}
    assert len({json.dumps(sorted(drawn.values())) for drawn in found.values()}) == 5

    models = [word for name in ADAPTERS for word in ("--model", name)]
    options = ("--run-dir", "alone", "--limit", "4", *GENERATED, "--set", "engine.share=false")
    assert place.run("run", "suite.yaml", *models, *options).returncode == 0
    for name in ADAPTERS:
        assert len(found[name]) == 4 * 6
        assert texts(place.path / "alone" / name) == found[name], name
        assert verdicts(place.path / "alone" / name) == verdicts(folders[name])
    whole = texts(reference.path / "whole" / "tuned")  # without LoRA
    assert found["base"] == {key: whole[key] for key in found["one"]}

    done = place.run("compare", "together/base", "together/two", "--json")
    assert done.returncode == 0, done.stderr


def test_a_sweep_that_is_killed_and_continued_in_another_order_draws_the_same(
    sweep: tuple[Place, subprocess.CompletedProcess[str]],
) -> None:
    """The base is last here, on an engine whose only place every adapter had. vLLM's CPU build computes rows
    without an adapter with what is in its last place.
    """
    place, _ = sweep
    (place.path / "suite.yaml").write_text(sweep_suite(("four", "two", "one", "three", "base")))
    options = ("run", "suite.yaml", "--run-dir", "killed", "--limit", "4", *GENERATED)
    folder = place.path / "killed"
    process = place.start(*options, "--set", "engine.max_loras=2", "--set", "engine.max_num_seqs=4")
    wait_until(lambda: bool(lines(folder / "two", "arithmetic", "completions")), process)
    kill(process)
    assert sum(drawn(folder / name) for name in (*ADAPTERS, "base")) < 5 * 24
    assert place.run(*options, "--set", "engine.max_loras=1").returncode == 0
    for name in (*ADAPTERS, "base"):
        assert texts(folder / name) == texts(place.path / "together" / name), name
        assert verdicts(folder / name) == verdicts(place.path / "together" / name)


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
