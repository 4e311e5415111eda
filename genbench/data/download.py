"""Reads datasets of the Hugging Face hub with `datasets`, which is slow to import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import datasets
from datasets.exceptions import DatasetNotFoundError, DatasetsError
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

from genbench.data.hub import file_urls
from genbench.data.local import without_nan
from genbench.data.parquet import has_floats
from genbench.errors import DataError
from genbench.protocols import HubDataset, Row

PROBE_TIMEOUT_S = 10.0


def fetch(dataset: HubDataset, how_to_mirror: str) -> tuple[list[Row], str | None]:
    """Return the pinned columns of one split, and the commit that they are from.

    If the hub is out of reach, a copy in the cache is taken. Its commit is then unknown (None),
    and only the digest proves that it is the pinned one.

    Raises:
        DataError: gated, unknown, of another layout, or out of reach and not cached.
    """
    name = dataset.name
    if Path(dataset.repo).exists():  # `datasets` would read it without a word
        raise DataError(
            f"{name}: the current folder has '{dataset.repo}', which would be read instead of the hub; run "
            "genbench in another folder, or give --data-dir DIR to read a mirror"
        )
    commit, why_not = _probe(dataset, name)
    try:
        with _without_network(why_not is not None):
            table = _load(dataset, commit or dataset.revision)
    except DatasetNotFoundError as error:
        raise DataError(_how_to_log_in(name) if _is_gated(dataset, error) else f"{name}: {error}") from error
    except (ValueError, FileNotFoundError, DatasetsError, RuntimeError) as error:
        # Unknown config or split (the message lists the known ones), no or damaged files, a loading script.
        raise DataError(f"{name} cannot be read from the hub: {error}") from error
    except Exception as error:  # no network: each version of the hub's client raises classes of its own
        reason = why_not or str(error).split("\n")[0] or type(error).__name__
        raise DataError(
            f"{name} is not in the cache and the hub cannot be asked ({reason}). {how_to_mirror}"
        ) from error
    lacking = [column for column in dataset.columns if column not in table.column_names]
    if lacking:
        raise DataError(f"{name} has no column {', '.join(lacking)}; it has {', '.join(table.column_names)}")
    return _rows(table.select_columns(list(dataset.columns))), commit


def fetch_all(
    dataset: HubDataset, config: str | None, how_to_mirror: str
) -> tuple[list[Row], str | None, str]:
    """Return all columns of one split, the commit that they are from, and the licence on the dataset's card.

    Args:
        config: the config, or None for the only one of the dataset.

    Raises:
        DataError: as `fetch`.
    """
    name = f"dataset {dataset.repo} ({dataset.config}, {dataset.split})"
    commit, why_not = _probe(dataset, name)
    if commit is None:
        raise DataError(f"{name}: the hub cannot be asked ({why_not}). {how_to_mirror}")
    try:
        table = datasets.load_dataset(dataset.repo, config, split=dataset.split, revision=commit)
    except Exception as error:  # each version of the hub's client raises classes of its own
        raise DataError(f"{name} cannot be read from the hub: {error}. {how_to_mirror}") from error
    card = HfApi().dataset_info(dataset.repo, revision=commit, timeout=PROBE_TIMEOUT_S).card_data
    licence = card.get("license") if card is not None else None
    words = ", ".join(licence) if isinstance(licence, list) else licence
    return _rows(table), commit, str(words or "not stated")


def _rows(table: datasets.Dataset) -> list[Row]:
    """Return the rows, with null for NaN."""
    floats = [field.name for field in table.features.arrow_schema if has_floats(field.type)]
    return [row | {name: without_nan(row[name]) for name in floats} for row in table]


def _load(dataset: HubDataset, revision: str | None) -> datasets.Dataset:
    if not dataset.files:
        return datasets.load_dataset(dataset.repo, dataset.config, split=dataset.split, revision=revision)
    return datasets.load_dataset("json", data_files=file_urls(dataset, revision), split="train")


def _probe(dataset: HubDataset, name: str) -> tuple[str | None, str | None]:
    """Return (commit, None) from the hub, or (None, why it could not be asked).

    Ask once, before `load_dataset`, which retries for 25 s before it says that there is no network
    (measured with datasets 5.2).
    """
    try:
        info = HfApi().dataset_info(dataset.repo, revision=dataset.revision, timeout=PROBE_TIMEOUT_S)
    except GatedRepoError as error:
        raise DataError(_how_to_log_in(name)) from error
    except RevisionNotFoundError as error:
        raise DataError(f"{name}: the hub has no revision {dataset.revision}") from error
    except RepositoryNotFoundError as error:
        raise DataError(
            f"{name}: the hub has no such dataset, or it is private; log in with `hf auth login`"
        ) from error
    except Exception as error:  # foreign code with a foreign HTTP stack; the reason ends up in the message
        return None, str(error).split("\n")[0] or type(error).__name__
    return info.sha, None


@contextmanager
def _without_network(offline: bool) -> Iterator[None]:
    """Let `datasets` read its cache at once instead of retrying a hub that did not answer."""
    before = datasets.config.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = before or offline
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = before


def _is_gated(dataset: HubDataset, error: Exception) -> bool:
    return dataset.gated or "gated" in str(error)


def _how_to_log_in(name: str) -> str:
    return (
        f"{name} is gated: accept its terms on its page on the hub, then run `hf auth login` "
        "(or set HF_TOKEN) and try again; or give a mirror with --data-dir"
    )
