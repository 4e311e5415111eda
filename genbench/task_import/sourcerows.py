"""Rows of the datasets that definitions name: from a mirror, a file, or the hub, with all their columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from genbench import registry
from genbench.data.digest import rows_digest
from genbench.data.hub import how_to_mirror, mirror_file
from genbench.data.local import read_rows
from genbench.errors import DataError, InputError
from genbench.protocols import HubDataset, Row
from genbench.task_import.plan import Split
from genbench.tasks.imported import RowsOrigin

_LOADERS = ("json", "csv", "parquet", "text", "arrow")
"""Paths that name no repository, but a reader of `datasets` for files."""


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The rows of one split, and where they came from."""

    rows: list[Row]
    origin: RowsOrigin


def load_split(split: Split, data_dir: Path | None) -> SourceRows:
    """Return the rows of a split with all columns.

    Raises:
        DataError: the rows cannot be read.
        InputError: the definition names files instead of a dataset of the hub.
    """
    if split.repo in _LOADERS:
        raise InputError(
            f"its rows are files (dataset_path: {split.repo}); put them into a mirror as a dataset of the "
            "hub and change dataset_path, or describe the task in a suite with data: {path: FILE}"
        )
    if ".." in Path(split.repo).parts or Path(split.repo).is_absolute():
        raise InputError(f"dataset_path '{split.repo}' is no repository of the hub")
    config = split.config or "default"
    dataset = HubDataset(split.repo, config, split.name, (), split.revision)
    if data_dir is not None:
        path = mirror_file(dataset, data_dir)
        rows, revision, source, licence = read_rows(path, ()), None, "mirror", "not stated"
    else:
        fetch_all = registry.load_object("genbench.data.download:fetch_all")
        rows, revision, licence = fetch_all(dataset, split.config, how_to_mirror(dataset, Path("DIR")))
        source = "hub"
    if not rows:
        raise DataError(f"dataset {split.repo} ({config}, {split.name}) has no rows")
    columns = sorted({column for row in rows for column in row})
    complete: list[Row] = [{column: row.get(column) for column in columns} for row in rows]
    origin = RowsOrigin(
        repo=split.repo,
        config=split.config,
        split=split.name,
        revision=revision or split.revision,
        source=source,
        rows=len(rows),
        digest=rows_digest(complete, columns),
        licence=licence,
    )
    return SourceRows(rows, origin)
