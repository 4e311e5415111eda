"""Copies of pinned datasets, of hub models and of nltk's data, for machines without network."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.data.digest import rows_digest
from genbench.data.hub import MIRROR_SUFFIXES, load_rows, mirror_file
from genbench.data.local import read_rows
from genbench.data.nltk_data import find_punkt, find_tagger, search_path
from genbench.errors import DataError
from genbench.protocols import HubDataset, Row


@dataclass(frozen=True, slots=True)
class MirroredSplit:
    """One split of a dataset in a mirror. `was_there` says that nothing was written."""

    path: Path
    rows: int
    digest: str
    revision: str | None
    warning: str | None
    was_there: bool


def mirror_dataset(dataset: HubDataset, to: Path, source: Path | None = None) -> MirroredSplit:
    """Put one split into the mirror `to`, at its pinned revision, and read it back.

    A split that is there with the pinned rows stays. A file of another mirror is copied as it is.

    Args:
        source: a mirror to copy from. None means the hub.

    Raises:
        DataError: the rows cannot be read, are not the pinned ones, or are read back otherwise than written.
    """
    if dataset.configs or dataset.splits:
        return _mirror_parts(dataset, to, source)
    there = _there(dataset, to)
    if there is not None:
        return there
    rows, facts = load_rows(dataset, source)
    if facts["warning"] is not None and dataset.digest is not None:
        raise DataError(f"{facts['warning']}; a mirror has the pinned rows or none")
    stem = to / dataset.repo / dataset.config / dataset.split
    stem.parent.mkdir(parents=True, exist_ok=True)
    if source is None:
        path = stem.with_name(stem.name + ".parquet")
        _write_rows(rows, path)
    else:
        original = mirror_file(dataset, source)
        path = stem.with_name(stem.name + original.suffix)
        _copy(original, path)
    digest = rows_digest(read_rows(path, dataset.columns), dataset.columns)
    if digest != facts["digest"]:
        path.unlink()
        raise DataError(
            f"{path}: was not read back as it was written ({digest[:16]}… for "
            f"{facts['digest'][:16]}…); is the disk full?"
        )
    return MirroredSplit(path, len(rows), digest, facts["revision"], facts["warning"], was_there=False)


def _mirror_parts(dataset: HubDataset, to: Path, source: Path | None) -> MirroredSplit:
    """Put all configs and splits of a dataset into the mirror, each in its own file."""
    parts = [mirror_dataset(one, to, source) for one, _ in dataset.parts()]
    rows, facts = load_rows(dataset, to)
    if facts["warning"] is not None and dataset.digest is not None:
        raise DataError(f"{facts['warning']}; a mirror has the pinned rows or none")
    was_there = all(part.was_there for part in parts)
    first = parts[0]
    return MirroredSplit(
        first.path, len(rows), facts["digest"], first.revision, facts["warning"], was_there=was_there
    )


def _there(dataset: HubDataset, to: Path) -> MirroredSplit | None:
    """Return the split that the mirror has with the pinned rows, or None."""
    stem = to / dataset.repo / dataset.config / dataset.split
    if dataset.digest is None or not any(stem.with_name(stem.name + s).is_file() for s in MIRROR_SUFFIXES):
        return None
    _, facts = load_rows(dataset, to)
    if facts["warning"] is not None:
        return None
    return MirroredSplit(Path(facts["path"]), facts["rows"], facts["digest"], None, None, was_there=True)


def _write_rows(rows: Sequence[Row], path: Path) -> None:
    pyarrow: Any = importlib.import_module("pyarrow")  # slow to import, and only the hub needs it here
    parquet: Any = importlib.import_module("pyarrow.parquet")
    half = path.with_name(f".{path.name}.part")
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), half)
    half.replace(path)


def _copy(source: Path, target: Path) -> None:
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    shutil.copyfile(source, half)
    half.replace(target)


_TOKENIZER = ("*.json", "*.txt", "*.model", "*.jinja", "*.py", "*.tiktoken")
"""Files of a model's repository that say how it reads texts, and its config. Weights have other endings."""
_NLTK = {
    "punkt_tab": (Path("tokenizers", "punkt_tab", "english"), find_punkt),
    "averaged_perceptron_tagger_eng": (Path("taggers", "averaged_perceptron_tagger_eng"), find_tagger),
}


def mirror_model(repo: str, to: Path, *, revision: str | None = None, weights: bool = True) -> Path:
    """Fetch a model of the hub into `to/ORG/NAME`. Return the folder.

    Args:
        revision: a commit, a branch or a tag. None means the newest.
        weights: whether to fetch more than config, tokenizer and chat template.

    Raises:
        DataError: the hub cannot be asked, has no such model, or it is gated.
    """
    hub: Any = importlib.import_module("huggingface_hub")
    target = to / repo
    try:
        hub.snapshot_download(
            repo, revision=revision, local_dir=target, allow_patterns=None if weights else list(_TOKENIZER)
        )
    except Exception as error:  # foreign code with a foreign HTTP stack
        why = str(error).split("\n")[0] or type(error).__name__
        raise DataError(
            f"model {repo}: cannot be fetched from the hub ({why}); check its name, the network, and "
            "`hf auth login` if it is gated"
        ) from error
    return target


def mirror_nltk(name: str, to: Path) -> Path:
    """Put data of nltk into `to`, from this machine if they are here, else by nltk's downloader.

    Args:
        name: punkt_tab or averaged_perceptron_tagger_eng.

    Returns:
        The folder of the data.

    Raises:
        DataError: they are not here and cannot be fetched, or are not the official ones.
    """
    part, find = _NLTK[name]
    there = find([to]).folder
    if there is not None:
        return there
    here = find(search_path()).folder
    if here is not None:
        shutil.copytree(here, to / part, dirs_exist_ok=True)
    else:
        downloader: Any = importlib.import_module("nltk.downloader")
        try:
            downloader.Downloader().download(name, download_dir=str(to), quiet=True)
        except Exception as error:  # foreign code with the network behind it
            why = str(error) or type(error).__name__
            raise DataError(f"nltk's {name}: cannot be fetched ({why}); {find([to]).note}") from error
    found = find([to])
    if found.folder is None:
        raise DataError(f"nltk's {name}: could not be fetched; {found.note}")
    return found.folder


def nltk_names(verifier: str) -> tuple[str, ...]:
    """Return the data of nltk that a verifier of instructions loads."""
    return {"ifeval": ("punkt_tab",), "ifbench": tuple(_NLTK)}.get(verifier, ())
