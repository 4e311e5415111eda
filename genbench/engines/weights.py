"""The weight files of a checkpoint, checked by their headers: whole, complete, and not half-copied."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping
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
            raise ConfigError(f"{file}: {size:,} bytes that are no safetensors file; copy it again")
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
        raise ConfigError(f"{index} is no index of weights ({error}); copy it again") from error
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
