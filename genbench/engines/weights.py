"""The weight files of a checkpoint and of a LoRA adapter, checked by their headers before anything is
loaded.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError

_PICKLED = (".bin", ".pt", ".pth")
_NAMED_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<ending>\.\w+)")
_UNFINISHED = (".incomplete", ".partial", ".part", ".tmp", ".crdownload", ".aria2", ".filepart")
_NOT_WEIGHTS = re.compile(r"(training_args|optimizer|scheduler|rng_state|scaler)")
_POINTER = b"version https://git-lfs"
_LONGEST_HEADER = 100_000_000
"""Bytes. The safetensors library refuses longer headers as well."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as the header of its file describes it. `shape` counts rows first."""

    dtype: str
    shape: tuple[int, ...]


def read_header(file: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file by name. No weight is read.

    Raises:
        ConfigError: the header cannot be read, or the file is shorter or longer than its header says.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        start = stream.read(max(8, len(_POINTER)))
        if start.startswith(_POINTER):
            raise ConfigError(_pointer_words(file))
        length = int.from_bytes(start[:8], "little")
        if size < 8 or not 2 <= length <= _LONGEST_HEADER:
            raise ConfigError(f"{file}: {size:,} bytes that are not a safetensors file; copy it again")
        stream.seek(8)
        header = _parsed(stream.read(length), file)
    try:
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        wanted = 8 + length + max((entry["data_offsets"][1] for entry in entries.values()), default=0)
        tensors = {name: Tensor(entry["dtype"], tuple(entry["shape"])) for name, entry in entries.items()}
    except (KeyError, TypeError, IndexError) as error:
        raise ConfigError(f"{file}: its safetensors header is damaged; copy the file again") from error
    if size != wanted:
        raise ConfigError(
            f"{file} has {size:,} bytes, and its header says {wanted:,}: it was copied only in part or is "
            "damaged; copy it again"
        )
    return tensors


def _parsed(text: bytes, file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{file}: its safetensors header is damaged; copy the file again") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: its safetensors header is damaged; copy the file again")
    return found


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Check the weight files of a folder, and return the tensors of those in safetensors by name.

    Only the headers are read, so a checkpoint of 100 GB takes milliseconds.

    Raises:
        ConfigError: no weights, a missing shard, a file that was copied in part, or one that is still being
            copied.
    """
    files = sorted(file for file in folder.iterdir() if file.is_file())
    _refuse_unfinished(files)
    weights = [file for file in files if _is_weights(file)]
    if not weights:
        raise ConfigError(
            f"{folder} has a config and no weights (*.safetensors, *.bin, *.pt, *.gguf); copy the rest of "
            "the checkpoint, or set engine.load_format for other files"
        )
    if all(file.suffix == ".gguf" for file in weights):
        raise ConfigError(gguf_words(weights[0]))
    _refuse_missing_numbers(weights)
    tensors: dict[str, Tensor] = {}
    owners: dict[str, set[str]] = {}
    for file in weights:
        if file.suffix == ".safetensors":
            found = read_header(file)
            owners[file.name] = set(found)
            tensors |= found
        else:
            _check_pickled(file)
    for index in (file for file in files if file.name.endswith(".index.json")):
        _check_index(index, owners)
    return tensors


def weight_bytes(folder: Path) -> int:
    """Return the bytes of a checkpoint's weights: its safetensors files, or all of them if it has none."""
    weights = [file for file in folder.iterdir() if file.is_file() and _is_weights(file)]
    chosen = [file for file in weights if file.suffix == ".safetensors"] or weights
    return sum(file.stat().st_size for file in chosen)


def gguf_words(file: Path) -> str:
    """Return what to do with a GGUF file."""
    return (
        f"{file} is in the format GGUF, and genbench reads checkpoints of Transformers; write one with "
        f"AutoModelForCausalLM.from_pretrained({str(file.parent)!r}, gguf_file={file.name!r})"
        ".save_pretrained(DIR), and the same for AutoTokenizer, or name the model that the file was made of"
    )


def _is_weights(file: Path) -> bool:
    if file.name.startswith(".") or _NOT_WEIGHTS.match(file.name):
        return False
    return file.suffix in (".safetensors", ".gguf", *_PICKLED)


def _refuse_unfinished(files: list[Path]) -> None:
    """Refuse what a download or copy leaves until it is complete. rsync writes `.NAME.XXXXXX`."""
    for file in files:
        plain = re.sub(r"^\.|\.\w+$", "", file.name)
        hidden = file.name.startswith(".") and Path(plain).suffix in (".safetensors", *_PICKLED)
        unfinished = file.suffix in _UNFINISHED and re.search(r"\.(safetensors|bin|pt|pth|gguf)\b", file.name)
        if hidden or unfinished:
            raise ConfigError(
                f"{file} is the temporary file of a copy or download that has not ended; wait for it, or "
                "delete it if nothing is being copied"
            )


def _refuse_missing_numbers(weights: list[Path]) -> None:
    """Refuse a set of shards numbered 00001-of-0000N that lacks some of its numbers."""
    names = {file.name for file in weights}
    for file in weights:
        match = _NAMED_SHARD.fullmatch(file.name)
        if match is None:
            continue
        count = int(match["count"])
        wanted = (f"{match['stem']}-{n:05}-of-{match['count']}{match['ending']}" for n in range(1, count + 1))
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ConfigError(_missing_words(file.parent, missing, f"of its {count} shards"))


def _check_index(index: Path, owners: Mapping[str, set[str]]) -> None:
    """Refuse an index that names files or tensors that are not there."""
    try:
        named: dict[str, str] = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        shards = set(named.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{index} is not an index of weights ({error}); copy it again") from error
    missing = sorted(name for name in shards if not (index.parent / name).is_file())
    if missing:
        raise ConfigError(_missing_words(index.parent, missing, f"that {index.name} names"))
    lost = [name for name, file in named.items() if file in owners and name not in owners[file]]
    if lost:
        raise ConfigError(
            f"{index.parent}/{named[lost[0]]} has no tensor '{lost[0]}', which {index.name} says is in it; "
            "index and shards are of different checkpoints: copy all of them again"
        )


def _missing_words(folder: Path, missing: list[str], what: str) -> str:
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return f"{folder} lacks {', '.join(missing[:3])}{more} {what}; copy the missing files"


def _pointer_words(file: Path) -> str:
    return f"{file} is a pointer of git-lfs and not the file itself; run `git lfs pull` there"


def _check_pickled(file: Path) -> None:
    """Refuse a file of torch that is empty or was cut. Its end is the directory of a zip archive."""
    with file.open("rb") as stream:
        start = stream.read(len(_POINTER))
    if start == _POINTER:
        raise ConfigError(_pointer_words(file))
    if not start:
        raise ConfigError(f"{file} is empty; copy it again")
    if start[:2] == b"PK" and not zipfile.is_zipfile(file):
        raise ConfigError(f"{file} has no end: it was copied only in part; copy it again")


def check_vocabulary(folder: Path, tensors: Mapping[str, Tensor], vocab_size: int | None) -> None:
    """Refuse an embedding that has another number of rows than config.json says.

    Raises:
        ConfigError: names the tensor and both numbers.
    """
    for name, tensor in tensors.items():
        if not name.endswith(("embed_tokens.weight", "wte.weight")) or len(tensor.shape) != 2:
            continue
        if vocab_size is not None and "layers" not in name and tensor.shape[0] != vocab_size:
            raise ConfigError(
                f"{folder}/config.json says vocab_size {vocab_size:,}, and {name} has {tensor.shape[0]:,} "
                "rows; config and weights are of different checkpoints: save them together again"
            )


RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM 0.32 takes for max_lora_rank."""
_PLAIN_STARTS = frozenset({"gaussian", "eva", "orthogonal", "mica", "lora_ga"})
"""Initialisations that leave the base as it is. With others vLLM 0.32 refuses an adapter."""
_REFUSED = {
    "use_dora": "is a DoRA adapter",
    "lora_bias": "has biases of its own (lora_bias)",
    "alora_invocation_tokens": "is an activated LoRA (alora_invocation_tokens)",
    "layer_replication": "repeats layers of its base (layer_replication)",
    "use_bdlora": "is block-diagonal (use_bdlora)",
    "use_qalora": "is a QALoRA adapter (use_qalora)",
}
# base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight; an adapter's name may precede `weight`
_PART = re.compile(r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?P<side>[AB])(?:\.\w+)?\.weight")
# The base layer of an embedding is a copy, which vLLM leaves out.
_IS_LORA = re.compile(r"\.lora_(?:embedding_)?[AB](?:\.|$)|\.(?:embed_tokens|lm_head)\.base_layer\.weight$")
_LAYER = re.compile(r"\.layers\.(\d+)\.")


def adapter_rank(folder: Path) -> int:
    """Return the largest rank of an adapter's matrices.

    Raises:
        ConfigError: it is not a LoRA adapter, of a kind that vLLM cannot serve, or its files are damaged.
    """
    config = _config(folder)
    _check_kind(folder, config)
    patterns = config.get("rank_pattern") or {}
    ranks = [config.get("r"), *(patterns.values() if isinstance(patterns, dict) else [None])]
    for rank in ranks:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise ConfigError(f"{folder}/adapter_config.json: the rank is {rank!r}, wanted a whole number")
    found = max([*ranks, *(shape[0] for _, side, shape in _parts(_tensors(folder)) if side == "A")])
    if found > RANKS[-1]:
        raise ConfigError(
            f"{folder} has rank {found}, and vLLM serves {RANKS[-1]} at most; merge it into its base and "
            "give the merged folder as the model's path"
        )
    return int(found)


def served_rank(rank: int) -> int:
    """Return the smallest max_lora_rank that serves an adapter of this rank."""
    return next(size for size in RANKS if size >= rank)


def lora_bytes(base: Path, rank: int) -> int:
    """Return about how many bytes the place of one adapter takes: both matrices of each matrix of the base.

    vLLM 0.32 makes them for all layers that can be adapted, whatever an adapter adapts.

    Args:
        base: the folder of the base.
        rank: the max_lora_rank of the engine.
    """
    bytes_of = {"F32": 4}
    return sum(
        rank * sum(tensor.shape) * bytes_of.get(tensor.dtype, 2)
        for tensor in read_weights(base).values()
        if len(tensor.shape) == 2
    )


def check_fit(folder: Path, base: Mapping[str, Tensor], config: Mapping[str, Any], where: Path) -> None:
    """Refuse an adapter whose matrices do not fit the weights of its base.

    Modules that the base stores in another form (quantized, experts in one tensor) cannot be checked.

    Args:
        base: the tensors of the base by name.
        config: the config.json of the base.
        where: the folder of the base, for the message.

    Raises:
        ConfigError: names the module, its size and that of the base.
    """
    layers = (config.get("text_config") or config).get("num_hidden_layers")
    known = {name.removesuffix(".weight"): tensor.shape for name, tensor in base.items()}
    checked = False
    parts = list(_parts(_tensors(folder)))
    for module, side, shape in parts:
        layer = _LAYER.search(f".{module}.")
        if layer and isinstance(layers, int) and int(layer[1]) >= layers:
            raise ConfigError(
                f"{folder} adapts layer {layer[1]}, and its base {where} has {layers} (counted from 0); "
                "give the base that it was trained on"
            )
        own = known.get(module)
        if own is None or len(own) != 2 or len(shape) != 2:
            continue
        checked = True
        size, wanted = (shape[1], own[1]) if side == "A" else (shape[0], own[0])
        if size != wanted:
            raise ConfigError(
                f"{folder} does not fit its base {where}: {module} has {wanted} "
                f"{'inputs' if side == 'A' else 'outputs'} there and {size} in the adapter; give the base "
                "that it was trained on"
            )
    if parts and not checked and _has_plain_layers(base) and not _only_experts(parts):
        raise ConfigError(
            f"{folder} adapts modules such as {parts[0][0]}, and its base {where} has none of them; give "
            "the base that it was trained on"
        )


def _config(folder: Path) -> dict[str, Any]:
    file = folder / "adapter_config.json"
    if not file.is_file():
        raise ConfigError(f"{folder} has no adapter_config.json, so it is not an adapter; name it as 'path'")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file} is not valid JSON ({error}); copy it again") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: wanted an object, found {type(found).__name__}")
    return found


def _check_kind(folder: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("peft_type", "LORA")
    if kind != "LORA":
        raise ConfigError(f"{folder} is an adapter of kind {kind}, and vLLM serves LORA only; {_MERGE}")
    for key, words in _REFUSED.items():
        if config.get(key):
            raise ConfigError(f"{folder} {words}, which vLLM does not serve; {_MERGE}")
    if config.get("trainable_token_indices"):
        raise ConfigError(
            f"{folder} has trained tokens (trainable_token_indices), which vLLM does not serve; {_MERGE}"
        )
    if config.get("bias", "none") != "none":
        raise ConfigError(f"{folder} trained biases (bias: {config['bias']}); {_MERGE}")
    whole = [name for name in config.get("modules_to_save") or () if name not in ("classifier", "score")]
    if whole:
        raise ConfigError(
            f"{folder} replaces whole modules (modules_to_save: {', '.join(map(str, whole))}); {_MERGE}"
        )
    start = config.get("init_lora_weights", True)
    if isinstance(start, str) and start.lower() not in _PLAIN_STARTS:
        raise ConfigError(
            f"{folder} began from init_lora_weights: {start}, which changes the weights of the base; {_MERGE}"
        )


_MERGE = "merge it into its base (PEFT: merge_and_unload) and give the merged folder as the model's path"


def _tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of an adapter, or none if the file is not safetensors.

    Raises:
        ConfigError: there is no file, or it is damaged.
    """
    file = folder / "adapter_model.safetensors"
    if file.is_file():
        tensors = read_header(file)
        if any("lora_magnitude_vector" in name for name in tensors):
            raise ConfigError(f"{folder} is a DoRA adapter, which vLLM does not serve; {_MERGE}")
        other = next((name for name in tensors if not _IS_LORA.search(name)), None)
        if other is not None:
            raise ConfigError(
                f"{folder} has trained tokens or other weights than LoRA's ({other}), which vLLM does not "
                f"serve; {_MERGE}"
            )
        return tensors
    if not any((folder / name).is_file() for name in ("adapter_model.bin", "adapter_model.pt")):
        raise ConfigError(f"{folder} has no adapter_model.safetensors; copy the rest of the adapter")
    return {}


def _parts(tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield module, side (A reads inputs, B writes outputs) and shape of each LoRA matrix."""
    for name, tensor in tensors.items():
        match = _PART.fullmatch(name)
        if match and tensor.shape:
            yield match["module"], match["side"], tensor.shape


def _has_plain_layers(base: Mapping[str, Tensor]) -> bool:
    return any(_LAYER.search(name) and name.endswith("proj.weight") for name in base)


def _only_experts(parts: Sequence[tuple[str, str, tuple[int, ...]]]) -> bool:
    return all(".experts" in module for module, _, _ in parts)
