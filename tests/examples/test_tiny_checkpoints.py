"""The tiny pair as shipped: small, untied, one tokenizer, traces that nothing hides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SHIPPED = Path(__file__).resolve().parents[2] / "genbench" / "_shipped"
CHECKPOINTS = SHIPPED / "checkpoints"
NAMES = ("tiny-base", "tiny-tuned")
FILES = {
    "MODEL_CARD.md",
    "chat_template.jinja",
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
}


def tokenizer(name: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(CHECKPOINTS / name)


def read(name: str, file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CHECKPOINTS / name / file).read_text(encoding="utf-8"))
    return found


def config(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key != "transformers_version"}


def weights_of(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file  # loads torch, which collecting tests need not wait for

    found: dict[str, Any] = load_file(folder / "model.safetensors")
    return found


def shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in weights_of(folder).items()}


def questions() -> list[str]:
    files = sorted((SHIPPED / "data" / "quickstart").glob("*.jsonl"))
    return [json.loads(line)["question"] for file in files for line in file.read_text().splitlines()]


def test_everything_shipped_stays_under_four_and_a_half_megabytes() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*") if file.is_file()) < 4.5e6


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_folder_holds_what_vllm_needs_and_a_card(name: str) -> None:
    assert {file.name for file in (CHECKPOINTS / name).iterdir()} == FILES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_embeddings_are_untied_in_config_and_in_weights(name: str) -> None:
    weights = weights_of(CHECKPOINTS / name)
    assert read(name, "config.json")["tie_word_embeddings"] is False
    assert not weights["lm_head.weight"].equal(weights["model.embed_tokens.weight"])
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.bfloat16"}
    assert 500_000 < sum(tensor.numel() for tensor in weights.values()) < 1_500_000


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_generation_config_holds_two_ids_and_no_decoding(name: str) -> None:
    made = tokenizer(name)
    wanted = {"bos_token_id": made.bos_token_id, "eos_token_id": made.eos_token_id}
    assert read(name, "generation_config.json") == wanted


def test_both_checkpoints_read_prompts_alike() -> None:
    for file in FILES - {"MODEL_CARD.md", "model.safetensors"}:
        base, tuned = (CHECKPOINTS / name / file for name in NAMES)
        assert base.read_bytes() == tuned.read_bytes(), file
    base_weights, tuned_weights = (weights_of(CHECKPOINTS / name) for name in NAMES)
    assert not any(base_weights[key].equal(tuned_weights[key]) for key in base_weights)


def test_any_text_survives_the_tokenizer() -> None:
    made = tokenizer("tiny-tuned")
    for text in [*questions(), "Grüße, 世界 🙂\t\r\n\x00", "<think>\n7+8=15\n</think>\n\n\\boxed{15}"]:
        assert made.decode(made.encode(text, add_special_tokens=False)) == text


def test_think_tags_are_single_tokens_that_skipping_special_tokens_keeps() -> None:
    made = tokenizer("tiny-tuned")
    ids = made.encode("<think>\n1\n</think>", add_special_tokens=False)
    assert made.convert_tokens_to_ids("<think>") == ids[0]
    assert made.convert_tokens_to_ids("</think>") == ids[-1]
    assert made.decode([*ids, made.eos_token_id], skip_special_tokens=True) == "<think>\n1\n</think>"


def test_digits_are_tokens_of_their_own() -> None:
    made = tokenizer("tiny-tuned")
    assert made.tokenize("2026") == ["2", "0", "2", "6"]


def test_a_rendered_chat_has_one_bos_and_takes_a_system_message() -> None:
    made = tokenizer("tiny-tuned")
    chat = [{"role": "system", "content": "Think first."}, {"role": "user", "content": "What is 1 + 2?"}]
    text = made.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    bare = made.apply_chat_template(chat[1:], tokenize=False, add_generation_prompt=True)
    ids = made.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
    assert ids.count(made.bos_token_id) == 1
    assert ids == made.encode(text, add_special_tokens=True)
    assert text == "<|bos|><|system|>\nThink first.<|end|>\n<|user|>\nWhat is 1 + 2?<|end|>\n<|assistant|>\n"
    assert bare == "<|bos|><|user|>\nWhat is 1 + 2?<|end|>\n<|assistant|>\n"


@pytest.mark.slow
def test_the_training_script_makes_this_tokenizer_and_this_architecture(
    tiny: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    train = tiny("train")
    made = train.build_tokenizer()
    train.save(train.build_model(made), made, tmp_path)
    for file in FILES - {"MODEL_CARD.md", "model.safetensors", "config.json"}:
        assert (tmp_path / file).read_bytes() == (CHECKPOINTS / "tiny-base" / file).read_bytes(), file
    assert config(tmp_path) == config(CHECKPOINTS / "tiny-base")
    assert shapes(tmp_path) == shapes(CHECKPOINTS / "tiny-base")
