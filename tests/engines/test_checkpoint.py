"""A model's files and its identity."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import huggingface_hub.constants
import pytest

from genbench.engines.checkpoint import context_length, find, folder_digest
from genbench.errors import ConfigError, DataError


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a checkpoint, and a cache of digests of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"max_position_embeddings": 128}')
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_a_copy_elsewhere_is_the_same_model(model: Path) -> None:
    copied = Path(shutil.copytree(model, model.parent / "copy"))
    found = find("model", None, model.parent)
    assert found.identity == find(str(copied), None, Path("/")).identity
    assert found.identity == f"sha256:{folder_digest(model)}" and found.path == model.resolve()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "sub/extra.bin"])
def test_any_file_that_matters_changes_the_identity(model: Path, name: str) -> None:
    before = folder_digest(model)
    (model / name).parent.mkdir(exist_ok=True)
    (model / name).write_text('{"other": 1}')
    assert folder_digest(model) != before


@pytest.mark.parametrize("name", ["README.md", "generation_config.json", "training_args.bin", "notes.log"])
def test_files_that_do_not_decide_what_is_sampled_do_not(model: Path, name: str) -> None:
    before = folder_digest(model)
    (model / name).write_text("{}")
    assert folder_digest(model) == before


def test_digests_are_kept_by_size_and_time_of_change(model: Path, tmp_path: Path) -> None:
    before = folder_digest(model)
    cache = tmp_path / "cache" / "genbench" / "file_digests.json"
    known = json.loads(cache.read_text())
    assert len(known) == 2
    cache.write_text("not JSON")
    assert folder_digest(model) == before and len(json.loads(cache.read_text())) == 2


def test_a_cache_that_cannot_be_written_costs_only_time(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert len(folder_digest(model)) == 64


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"no config\.json \(a model\) and no adapter_config"):
        find("empty", None, tmp_path)


def test_an_adapter_is_a_checkpoint_without_a_config(model: Path) -> None:
    (model / "config.json").rename(model / "adapter_config.json")
    assert find("model", None, model.parent).config == {}


def test_a_revision_is_for_hub_ids(model: Path) -> None:
    with pytest.raises(ConfigError, match="'revision' is for hub ids"):
        find("model", "abc", model.parent)


@pytest.mark.parametrize("path", ["./none", "none", "a/b/c", "~/none"])
def test_a_path_that_is_no_hub_id_must_be_a_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        find(path, None, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value"),
    [("HF_HUB_OFFLINE", True), ("ENDPOINT", "http://127.0.0.1:9")],
    ids=["offline", "nobody listens"],
)
def test_a_hub_id_that_cannot_be_had_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: object
) -> None:
    """The hub's own client asks an address where nobody listens for twenty seconds."""
    # What the variables say when the package is imported, which another test may have done.
    monkeypatch.setattr(huggingface_hub.constants, setting, value)
    said = r"model 'org/none' cannot be downloaded from the hub \([^\n]*hf auth login"
    with pytest.raises(DataError, match=said):
        find("org/none", "0" * 40, tmp_path)


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({"max_position_embeddings": 4096}, 4096),
        ({"n_positions": 1024}, 1024),
        ({"text_config": {"max_position_embeddings": 99}}, 99),
        ({"max_position_embeddings": 50, "seq_length": 20}, 20),
        ({"hidden_size": 3}, None),
        ({"max_position_embeddings": "many", "text_config": None}, None),
    ],
)
def test_the_context_is_the_smallest_that_a_config_states(
    config: dict[str, object], length: int | None
) -> None:
    assert context_length(config) == length


@pytest.mark.parametrize(
    "name",
    [
        "optimizer.pt",
        "optimizer.bin",
        "scheduler.pt",
        "rng_state_0.pt",
        "trainer_state.json",
        "training_args.json",
        "all_results.json",
        "global_step500/mp_rank_00_model_states.pt",
        "checkpoint-500/model.safetensors",
        ".cache/huggingface/x.json",
    ],
)
def test_what_a_trainer_leaves_next_to_a_checkpoint_is_no_part_of_its_identity(
    model: Path, name: str
) -> None:
    before = folder_digest(model)
    (model / name).parent.mkdir(parents=True, exist_ok=True)
    (model / name).write_text("{}")
    assert folder_digest(model) == before


def test_a_damaged_config_is_named(model: Path) -> None:
    (model / "config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json is not valid JSON .*copy it again"):
        _ = find("model", None, model.parent).config
