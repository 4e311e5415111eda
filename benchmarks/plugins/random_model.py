"""Model folders of real sizes: a config, a byte-level tokenizer, and random weights if they are asked for.

The shapes are those of SmolLM2-1.7B and Llama-3-8B as their config.json files state them. With vLLM's
`load_format: dummy` no weight file is needed, since only shapes decide speed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {"hidden": 128, "layers": 2, "heads": 4, "kv_heads": 2, "mlp": 256, "vocab": 2_048},
    "1.7b": {"hidden": 2_048, "layers": 24, "heads": 32, "kv_heads": 32, "mlp": 8_192, "vocab": 49_152},
    "8b": {"hidden": 4_096, "layers": 32, "heads": 32, "kv_heads": 8, "mlp": 14_336, "vocab": 128_256},
}
CONTEXT = 8_192
END = "<|end|>"
TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def make_model(folder: Path, shape: str, *, weights_seed: int | None = None, tied: bool = False) -> Path:
    """Write config.json and a tokenizer of `shape`; random bfloat16 weights if `weights_seed` is given.

    Args:
        folder: made if it is missing.
        shape: a key of SHAPES.
        tied: whether the output shares the weights of the embedding.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = SHAPES[shape]
    (folder / "config.json").write_text(json.dumps(_config(size, tied)), encoding="utf-8")
    _tokenizer(size["vocab"]).save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    if weights_seed is not None:
        _write_weights(folder, weights_seed)
    return folder


def _config(size: dict[str, int], tied: bool) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": size["hidden"],
        "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"],
        "num_key_value_heads": size["kv_heads"],
        "head_dim": size["hidden"] // size["heads"],
        "intermediate_size": size["mlp"],
        "vocab_size": size["vocab"],
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
        "eos_token_id": 0,
    }


def _tokenizer(vocab_size: int) -> Tokenizer:
    """Byte-level BPE: all bytes, then all pairs of printable characters, then longer pieces of those."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {END: 0} | {char: place + 1 for place, char in enumerate(alphabet)}
    merges: list[tuple[str, str]] = []
    letters = [char for char in alphabet if char.isascii() and char.isalnum()]
    level = letters
    while len(vocab) < vocab_size:
        longer: list[str] = []
        for left in level:
            for right in letters:
                if len(vocab) == vocab_size:
                    break
                if left + right not in vocab:
                    vocab[left + right] = len(vocab)
                    merges.append((left, right))
                    longer.append(left + right)
        level = longer
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    return tokenizer


def _write_weights(folder: Path, seed: int) -> None:
    """One safetensors file of normal weights, drawn where they can be drawn fastest."""
    import torch  # noqa: PLC0415  only this part needs it
    from safetensors.torch import save_file  # noqa: PLC0415
    from transformers import AutoConfig, AutoModelForCausalLM  # noqa: PLC0415

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(seed)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), dtype=torch.bfloat16)
    named = model.state_dict()
    if model.config.tie_word_embeddings:
        named.pop("lm_head.weight", None)
    weights = {name: tensor.cpu().contiguous() for name, tensor in named.items()}
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
