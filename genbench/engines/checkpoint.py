"""Find a model's files and its identity: a hub commit, or a digest of config, tokenizer and weights.

What config.json tells is here too: the context, the vocabulary, and the memory of the KV cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.engines import devices
from genbench.engines.weights import gguf_words
from genbench.errors import ConfigError, DataError
from genbench.suite import shipped
from genbench.suite.engine import SuiteMistake

_ENDINGS = (".safetensors", ".bin", ".pt", ".gguf", ".json", ".model", ".txt", ".jinja", ".py", ".tiktoken")
_NOT_IDENTITY = re.compile(
    r"generation_config\.json|trainer_state\.json|training_args\..+|(?:all|eval|train)_results\.json"
    r"|(?:optimizer|scheduler|scaler|rng_state).*|zero_to_fp32\.py"
)
"""Files that a trainer leaves next to a checkpoint. They do not shape what is sampled, apart from the end
tokens of generation_config.json, which are terms."""
_NOT_IDENTITY_FOLDERS = re.compile(r"global_step\d+|checkpoint-\d+|\..*")
"""Folders of optimizer states, of other checkpoints, and hidden ones."""


DECLARED = "declared: "
"""Begins the identity of a model whose weights nobody has hashed."""


def is_declared(identity: str) -> bool:
    """Return whether a model's identity is what somebody declares, and no digest of its weights."""
    return identity.startswith(DECLARED)


def no_gate_base(run: str) -> str:
    """Return why a run of a declared model cannot be the base of a gate, in words."""
    return (
        f"{run}: its weights were in the memory of a process and have no digest, so it cannot be a base of a "
        "gate; draw the same step from its checkpoint with: genbench run"
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model (or adapter) on disk.

    `identity` is "hub:ORG/NAME@COMMIT", or "sha256:…" over its files. Checkpoints with equal identities
    are the same model, wherever they are.
    """

    path: Path
    identity: str

    @property
    def config(self) -> dict[str, Any]:
        """Return the content of config.json. The result is empty if there is none (an adapter).

        Raises:
            ConfigError: the file is not a JSON object.
        """
        file = self.path / "config.json"
        if not file.is_file():
            return {}
        try:
            loaded = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"{file} is not valid JSON ({error}); copy it again") from error
        if not isinstance(loaded, dict):
            raise ConfigError(f"{file}: wanted an object, found {type(loaded).__name__}")
        return loaded

    @property
    def architecture(self) -> dict[str, Any]:
        """Return what config.json says that can change a score.

        Raises:
            ConfigError: the file is not a JSON object.
        """
        return {key: value for key, value in sorted(self.config.items()) if key not in _NO_MATTER}


def listed_ends(folder: Path) -> tuple[int, ...]:
    """Return the ids of the end tokens that generation_config.json lists. Servers stop at all of them.

    Raises:
        DataError: the file is not a JSON object.
    """
    file = folder / "generation_config.json"
    if not file.is_file():
        return ()
    try:
        listed = json.loads(file.read_text(encoding="utf-8")).get("eos_token_id")
    except (ValueError, AttributeError) as error:
        raise DataError(f"{file} is not a JSON object ({error}); copy the file again, or remove it") from None
    ids = [listed] if isinstance(listed, int) else listed if isinstance(listed, list) else []
    return tuple(item for item in ids if isinstance(item, int))


_NO_MATTER = frozenset({"_name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache"})
"""Keys of config.json that change no score: names, versions, the data type on disk (its use is a term)."""
_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack")


def find(path: str, revision: str | None, base: Path, *, weights: bool = True) -> Checkpoint:
    """Return the checkpoint that a suite names.

    Args:
        base: the folder that relative paths start from.
        weights: False downloads no weights from the hub, since a server has them.

    Raises:
        ConfigError: a local folder is missing, or contains no model.
        DataError: a hub id cannot be downloaded. Says how to get it.
    """
    local = shipped.resolve(path, base)
    if local.is_dir():
        if revision is not None:
            raise ConfigError(f"{path} is a local folder: 'revision' is for hub ids; remove it")
        return Checkpoint(local.resolve(), f"sha256:{folder_digest(local.resolve())}")
    if local.is_file():
        said = f"{local} is a file, wanted the folder of a model"
        raise ConfigError(f"model path: {gguf_words(local) if local.suffix == '.gguf' else said}")
    if path.startswith((".", "/", "~", shipped.PREFIX)) or path.count("/") != 1:
        raise ConfigError(
            f"model path '{path}': no such folder (looked at {local}), and not a hub id (ORG/NAME)"
        )
    return _from_hub(path, revision, () if weights else _WEIGHTS)


def is_local(path: str, base: Path) -> bool:
    """Return whether a suite names a local folder, and not a hub id."""
    return shipped.resolve(path, base).is_dir()


def _from_hub(repo: str, revision: str | None, without: Sequence[str]) -> Checkpoint:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  0.3 s, needed for hub ids only

    try:
        path = Path(snapshot_download(repo, revision=revision, ignore_patterns=list(without)))
    except Exception as error:  # the hub client raises a dozen unrelated classes for network trouble
        first, *_ = str(error).strip().splitlines() or [""]
        raise DataError(
            f"model '{repo}' cannot be downloaded from the hub ({type(error).__name__}: {first[:200]}); "
            "without network give a local folder (--model NAME=PATH); for a "
            "gated model run `hf auth login` first"
        ) from error
    return Checkpoint(path, f"hub:{repo}@{path.name}")


def folder_digest(path: Path) -> str:
    """Return the SHA-256 over names and contents of all config, tokenizer and weight files below `path`.

    Digests of single files are cached by size, time of change and inode in the user's cache folder.
    Reading 60 GB of weights again for every run would take a minute.

    Raises:
        ConfigError: the folder contains no model and no adapter.
    """
    files = sorted(file for file in path.rglob("*") if _counts(file, path))
    gguf = next((file for file in files if file.suffix == ".gguf"), None)
    if not any(file.name in ("config.json", "adapter_config.json") for file in files):
        if gguf is not None:
            raise ConfigError(gguf_words(gguf))
        raise ConfigError(f"{path}: has no config.json (a model) and no adapter_config.json (an adapter)")
    cache = _DigestCache()
    with ThreadPoolExecutor(max_workers=4) as pool:
        digests = list(pool.map(cache.digest, files))
    cache.save()
    total = hashlib.sha256()
    for file, digest in zip(files, digests, strict=True):
        total.update(f"{file.relative_to(path)}\0{digest}\n".encode())
    return total.hexdigest()


def _counts(file: Path, path: Path) -> bool:
    """Tell whether a file is part of the identity: weights, configuration, tokenizer."""
    if any(_NOT_IDENTITY_FOLDERS.fullmatch(part) for part in file.relative_to(path).parts[:-1]):
        return False
    return file.is_file() and file.suffix in _ENDINGS and not _NOT_IDENTITY.fullmatch(file.name)


class _DigestCache:
    """SHA-256 of files, kept in the user's cache folder."""

    def __init__(self) -> None:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self._path = Path(root) / "genbench" / "file_digests.json"
        self._changed = False
        try:
            self._known: dict[str, str] = json.loads(self._path.read_text())
        except (OSError, ValueError):
            self._known = {}

    def digest(self, file: Path) -> str:
        stat = file.stat()
        key = f"{file.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"
        if key not in self._known:
            with file.open("rb") as stream:
                self._known[key] = hashlib.file_digest(stream, "sha256").hexdigest()
            self._changed = True
        return self._known[key]

    def save(self) -> None:
        if not self._changed:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(self._known))
            temporary.replace(self._path)
        except OSError:  # without the cache the next run reads the files again
            return


def context_length(config: dict[str, Any]) -> int | None:
    """Return the context in tokens that a config.json states, or None if it states none."""
    blocks = [config, config.get("text_config") or {}]
    keys = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length")
    lengths = [block[key] for block in blocks for key in keys if isinstance(block.get(key), int)]
    return min(lengths) if lengths else None


def vocabulary_size(config: dict[str, Any]) -> int | None:
    """Return how many token ids the model's embedding has, or None if a config.json does not say."""
    for block in (config, config.get("text_config") or {}):
        if isinstance(block, dict) and isinstance(block.get("vocab_size"), int):
            return int(block["vocab_size"])
    return None


_BYTES = 2
"""Bytes of a number in half precision, which caches have unless `kv_cache_dtype` says otherwise."""


def kv_bytes_per_token(config: Mapping[str, Any], gpus: int = 1) -> int | None:
    """Return the bytes of keys and values of one token over all layers, or None if config.json does not say.

    Layers with a sliding window or without attention take less, so that this is the most.

    Args:
        config: the checkpoint's config.json.
        gpus: GPUs that share the heads. Each has one at least, and all of a latent vector.
    """
    inner = config.get("text_config")
    own = inner if isinstance(inner, Mapping) else config
    layers, heads = _number(own, "num_hidden_layers"), _number(own, "num_attention_heads")
    if layers is None or heads is None:
        return None
    latent = _number(own, "kv_lora_rank")
    if latent is not None:  # multi-head latent attention keeps one vector and its positions
        return gpus * layers * (latent + (_number(own, "qk_rope_head_dim") or 0)) * _BYTES
    hidden = _number(own, "hidden_size")
    size = _number(own, "head_dim") or (hidden // heads if hidden is not None else None)
    if size is None:
        return None
    return 2 * layers * max(gpus, _number(own, "num_key_value_heads") or heads) * size * _BYTES


def _number(config: Mapping[str, Any], key: str) -> int | None:
    found = config.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


_GIB = 2**30
_OTHER_CACHES = (
    "kv_lora_rank",
    "sliding_window",
    "layer_types",
    "layers_block_type",
    "ssm_cfg",
    "mamba_d_state",
)
"""Keys of models that keep less than keys and values of every token in every layer."""


def has_other_caches(config: Mapping[str, Any]) -> bool:
    """Return whether a model keeps less than keys and values of every token in every layer."""
    text = config.get("text_config") or config
    return any(text.get(key) for key in _OTHER_CACHES)


def kv_bytes(config: Mapping[str, Any], bytes_per_value: int) -> int | None:
    """Return the bytes that one token takes in the KV cache, or None if config.json does not tell.

    Args:
        config: the checkpoint's config.json.
        bytes_per_value: 2 for bfloat16 and float16, 1 for fp8.
    """
    text = config.get("text_config") or config
    heads = text.get("num_attention_heads")
    layers, kv_heads = text.get("num_hidden_layers"), text.get("num_key_value_heads") or heads
    if has_other_caches(config) or not (heads and layers and kv_heads):
        return None
    size = text.get("head_dim") or text.get("hidden_size", 0) // heads
    return int(2 * layers * kv_heads * size * bytes_per_value) or None


def check_context(context: int, token_bytes: int | None, gpus: int) -> None:
    """Refuse a context of which not even one request fits into the GPUs of this machine, if it has any.

    The weights need memory in addition.

    Args:
        context: engine.max_model_len in tokens.
        token_bytes: bytes of one token in the KV cache, or None if unknown.
        gpus: GPUs that one engine is spread over.

    Raises:
        SuiteMistake: names the key, both sizes, and the largest context that could fit.
    """
    device = devices.smallest()
    if device is None or token_bytes is None:
        return
    memory = device.memory_gib * gpus * _GIB
    if context * token_bytes <= memory:
        return
    raise SuiteMistake(
        ("engine", "max_model_len"),
        f"engine.max_model_len is {context}, and the KV cache of one such request takes "
        f"{context * token_bytes / _GIB:,.0f} GiB; {gpus} x {device.name} has {memory / _GIB:,.0f} GiB: set "
        f"it below {int(memory / token_bytes)}, or leave it out (then it is what the longest request needs)",
    )
