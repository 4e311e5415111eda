"""Benchmark rows in their pinned state, from an offline mirror or from the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.data.digest import rows_digest
from genbench.data.local import read_rows
from genbench.data.zipped import with_texts
from genbench.errors import DataError, asking_for_extras
from genbench.protocols import HubDataset, Row

MIRROR_SUFFIXES = (".jsonl", ".parquet")


def load_rows(dataset: HubDataset, data_dir: Path | None) -> tuple[list[Row], dict[str, Any]]:
    """Return the dataset's rows, with at least its columns, and where they came from.

    The rows of several configs are joined, and each has the name of its config in `config_column`.
    With `data_dir` only the mirror `DIR/<org>/<name>/<config>/<split>.jsonl|parquet` is read, or the files
    of a release as downloaded, `DIR/<org>/<name>/<file>`. The provenance has source, repo, config, split,
    revision, path, rows, columns, digest, pinned_rows, pinned_digest and `warning` (None, or how the rows
    of a mirror, or of the hub if no revision is pinned, differ from those that were pinned).

    Raises:
        DataError: not there (says how to mirror it), gated (says how to log in), damaged, or other
            rows at a pinned revision of the hub than the pinned ones.
    """
    rows, path, revision = _read(dataset, data_dir)
    if dataset.texts is not None and data_dir is not None:
        rows = with_texts(rows, dataset.texts, data_dir / dataset.repo)
    source = "hub" if data_dir is None else "mirror"
    columns = dataset.own_columns
    digest = rows_digest(rows, columns)
    warning = _difference(dataset, len(rows), digest)
    if warning and source == "hub" and dataset.revision is not None:
        raise DataError(
            f"{dataset.name} at revision {dataset.revision}: {warning}. Clear the cache of `datasets` "
            "and try again, or mirror what you have and give --data-dir: it is then used and the difference "
            "recorded"
        )
    return rows, {
        "source": source,
        "repo": dataset.repo,
        "config": ", ".join(dataset.configs) or dataset.config,
        "split": ", ".join(dataset.splits) or dataset.split,
        "revision": revision,
        "path": str(path) if path else None,
        "rows": len(rows),
        "columns": list(columns),
        "digest": digest,
        "pinned_rows": dataset.row_count,
        "pinned_digest": dataset.digest,
        "warning": f"{path or dataset.name}: {warning}" if warning else None,
    }


def _read(dataset: HubDataset, data_dir: Path | None) -> tuple[list[Row], Path | None, str | None]:
    """Return the rows, the file or folder of the mirror, and the commit of the hub."""
    if dataset.configs or dataset.splits:
        return _read_parts(dataset, data_dir)
    if data_dir is None and dataset.by_hand:
        raise DataError(
            f"{dataset.name}: the files of the repository are not a dataset. {dataset.by_hand}, and give "
            "--data-dir DIR"
        )
    if data_dir is not None and (downloaded := _downloaded(dataset, data_dir)):
        return [row for path in downloaded for row in read_rows(path, dataset.columns)], data_dir, None
    if data_dir is not None:
        path = mirror_file(dataset, data_dir)
        return read_rows(path, dataset.columns), path, None
    with asking_for_extras():
        from genbench.data.download import fetch  # noqa: PLC0415  `datasets` takes seconds
    rows, revision = fetch(dataset, how_to_mirror(dataset, Path("DIR")))
    return rows, None, revision


def _read_parts(dataset: HubDataset, data_dir: Path | None) -> tuple[list[Row], Path | None, str | None]:
    """Return the rows of all configs and splits in their order, each with the names of its own."""
    found: list[Row] = []
    revision = None
    for one, columns in dataset.parts():
        rows, _, revision = _read(one, data_dir)
        found += [{**row, **columns} for row in rows]
    return found, None if data_dir is None else data_dir / dataset.repo, revision


def _downloaded(dataset: HubDataset, data_dir: Path) -> list[Path]:
    """Return the repository's own files of the split, as `hf download` puts them, if no mirror was made.

    Files of releases are large and belong to several releases, so one copy of each serves all of them.
    """
    stem = _stem(dataset, data_dir)
    if any(stem.with_name(stem.name + suffix).is_file() for suffix in MIRROR_SUFFIXES):
        return []
    files = [data_dir / dataset.repo / name for name in dataset.files]
    return files if all(file.is_file() for file in files) else []


def mirror_file(dataset: HubDataset, data_dir: Path) -> Path:
    """Return the mirror's file of one split.

    Raises:
        DataError: it is not there; says which file to make, and how.
    """
    stem = _stem(dataset, data_dir)
    for suffix in MIRROR_SUFFIXES:
        path = stem.with_name(stem.name + suffix)
        if path.is_file():
            return path
    if not data_dir.is_dir():
        raise DataError(f"{data_dir}: no such folder (given as the data folder)")
    raise DataError(
        f"{dataset.name} is not in the mirror: {stem}.jsonl (or .parquet) does not exist. "
        + how_to_mirror(dataset, data_dir)
    )


def how_to_mirror(dataset: HubDataset, data_dir: Path) -> str:
    """Return the commands that put the dataset into a mirror, for a machine with network."""
    if dataset.by_hand:
        return f"{dataset.by_hand}, and give --data-dir {data_dir}"
    stem = _stem(dataset, data_dir)
    log_in = " (gated: accept its terms on its page on the hub and run `hf auth login` first)"
    return (
        f"To mirror it, run on a machine with network{log_in if dataset.gated else ''}: "
        f"genbench mirror TASK --to {data_dir}\n"
        "or, without genbench:\n"
        f"  mkdir -p {stem.parent}\n"
        f'  python -c "from datasets import load_dataset; {_loading(dataset)}'
        f".to_parquet('{stem}.parquet')\"\n"
        f"{_downloading(dataset, data_dir)}"
        f"and give --data-dir {data_dir}"
    )


def file_urls(dataset: HubDataset, revision: str | None) -> list[str]:
    """Return the files of a repository with a loading script. `datasets` 4.0 runs none, but reads files."""
    root = f"hf://datasets/{dataset.repo}@{revision or 'main'}"
    return [f"{root}/{name}" for name in dataset.files]


def _downloading(dataset: HubDataset, data_dir: Path) -> str:
    """Return the other command, for files in JSON Lines, which need no conversion."""
    if not dataset.files or not all(name.endswith(".jsonl") for name in dataset.files):
        return ""
    return (
        f"or  hf download {dataset.repo} {' '.join(dataset.files)} --repo-type dataset "
        f"--local-dir {data_dir / dataset.repo}\n"
    )


def _loading(dataset: HubDataset) -> str:
    if dataset.files:
        urls = file_urls(dataset, dataset.revision)
        return f"load_dataset('json', data_files={urls}, split='train')"
    revision = f", revision='{dataset.revision}'" if dataset.revision else ""
    return f"load_dataset('{dataset.repo}', '{dataset.config}', split='{dataset.split}'{revision})"


def _stem(dataset: HubDataset, data_dir: Path) -> Path:
    return data_dir / dataset.repo / dataset.config / dataset.split


def _difference(dataset: HubDataset, rows: int, digest: str) -> str | None:
    if dataset.row_count is not None and rows != dataset.row_count:
        return f"{rows} rows where {dataset.row_count} are pinned"
    if dataset.digest is not None and digest != dataset.digest:
        columns = ", ".join(dataset.columns)
        return f"digest {digest[:16]}… where {dataset.digest[:16]}… is pinned (columns {columns})"
    return None
