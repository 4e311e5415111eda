"""Copies of hub models, of tokenizers, and of nltk's data, for machines without network."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

from genbench.data.nltk_data import find_punkt, find_tagger, search_path
from genbench.errors import DataError

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
