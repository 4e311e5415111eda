"""Where definitions and their rows come from: the installed tool, and the splits of datasets."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.data.digest import rows_digest
from genbench.data.hub import how_to_mirror, mirror_file
from genbench.data.local import read_rows, without_nan
from genbench.errors import DataError, InputError, asking_for_extras
from genbench.protocols import HubDataset, Row
from genbench.tasks.imported import Origin, RowsOrigin

_LICENCES = (
    ("Apache License", "Apache-2.0"),
    ("MIT License", "MIT"),
    ("BSD 3-Clause", "BSD-3-Clause"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL"),
)
_PARENTS = 6
"""Folders above the definitions that are searched for a licence, a repository or a package."""
LOADERS = ("json", "csv", "parquet", "text", "arrow")
"""Paths that name no repository, but a reader of `datasets` for files."""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a folder of definitions."""

    framework: str
    version: str | None
    commit: str | None
    licence: str

    def origin(self, files: Sequence[str], digest: str, task_version: object) -> Origin:
        """Return the origin of one definition for its lock file.

        Args:
            digest: of the resolved definition.
            task_version: the version that the definition gives itself, or None.
        """
        version = None if task_version is None else str(task_version)
        return Origin(**asdict(self), files=tuple(files), digest=digest, task_version=version)


def installed_folder() -> Path | None:
    """Return the folder of definitions of the lm-eval that is installed here, which is not imported."""
    spec = importlib.util.find_spec("lm_eval")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    folder = Path(places[0]) / "tasks" if places else None
    return folder if folder is not None and folder.is_dir() else None


def source_of(folder: Path, framework: str = "lm-eval") -> Source:
    """Return the version, commit and licence of a folder of definitions, as far as files tell."""
    folder = folder.resolve()
    version, licence = _package(folder)
    return Source(framework, version, _commit(folder), licence or _licence(folder) or "not stated")


def _parents(folder: Path) -> Iterator[Path]:
    yield from [folder, *folder.parents][:_PARENTS]


def _package(folder: Path) -> tuple[str | None, str | None]:
    """Return version and licence of the installed package that contains a folder."""
    for parent in _parents(folder):
        found = (parent.parent.glob(f"{kind}{parent.name}-*.dist-info/METADATA") for kind in ("", "*_"))
        for info in (path for paths in found for path in sorted(paths)):  # a package of its own name first
            lines = info.read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
            facts = dict(line.split(": ", 1) for line in reversed(lines) if ": " in line)
            named = facts.get("License-Expression") or facts.get("License")
            classified = [line for line in lines if line.startswith("Classifier: License ::")]
            licence = named or (classified[0].rpartition(":: ")[2] if classified else None)
            return facts.get("Version"), licence.strip() if licence else None
    return None, None


def _licence(folder: Path) -> str | None:
    for parent in _parents(folder):
        for name in ("LICENSE", "LICENSE.md", "LICENSE.txt"):
            try:
                text = (parent / name).read_text(encoding="utf-8", errors="replace")[:2000]
            except OSError:
                continue
            return next((short for words, short in _LICENCES if words in text), f"see {name}")
    return None


def _commit(folder: Path) -> str | None:
    """Return the commit of the git repository that a folder is tracked in, or None."""
    if not any((parent / ".git").exists() for parent in _parents(folder)):
        return None
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


@dataclass(frozen=True, slots=True)
class Split:
    """One split of a dataset, as the definition names it. Lock files keep a `config` of None."""

    repo: str
    config: str | None
    name: str
    revision: str | None = None
    files: LocalFiles | None = None

    def named(self, name: str) -> Split:
        """Return another split of the same dataset."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Files that a definition names instead of a dataset of the hub: `dataset_path: json` and the like.

    Args:
        names: the files of each split, as `data_files` has them.
        folder: the folder of the definition, which is searched after the current one.
        data_dir: the folder in front of each name, or an empty text.
        key: the key of a JSON file under which its rows are, or None.
    """

    names: Mapping[str, Sequence[str]]
    folder: Path
    data_dir: str = ""
    key: str | None = None

    def of(self, split: str) -> list[Path]:
        """Return the files of a split.

        Raises:
            InputError: the definition names none, a file is an address, or there is none of that name.
        """
        if split not in self.names:
            listed = ", ".join(self.names)
            raise InputError(f"its data_files have no split '{split}'; they have: {listed or 'none'}")
        found: list[Path] = []
        for name in self.names[split]:
            if "://" in name:
                raise InputError(f"its data_files name {name}, and only files of this machine are read")
            places = [base / self.data_dir / name for base in (Path(), self.folder)]
            matching = [sorted(place.parent.glob(place.name)) for place in places if place.parent.is_dir()]
            own = next((paths for paths in matching if paths), [])
            if not own:
                raise InputError(f"its data_files name {name}, which is neither here nor in {self.folder}")
            found += own
        return found


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
    if split.repo in LOADERS:
        return _load_files(split)
    if ".." in Path(split.repo).parts or Path(split.repo).is_absolute():
        raise InputError(f"dataset_path '{split.repo}' is not a repository of the hub")
    config = split.config or "default"
    dataset = HubDataset(
        repo=split.repo, config=config, split=split.name, columns=(), revision=split.revision
    )
    if data_dir is not None:
        path = mirror_file(dataset, data_dir)
        rows, revision, source, licence = read_rows(path, ()), None, "mirror", "not stated"
    else:
        with asking_for_extras():
            from genbench.data.download import fetch_all  # noqa: PLC0415  `datasets` takes seconds
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


def _load_files(split: Split) -> SourceRows:
    """Return the rows of local files, as the readers of `datasets` give them.

    Raises:
        InputError: the definition names no files, or they cannot be read.
    """
    if split.files is None:
        raise InputError(
            f"its rows are files (dataset_path: {split.repo}) without data_files in its dataset_kwargs"
        )
    paths = split.files.of(split.name)
    rows: list[Row] = []
    for path in paths:
        try:
            rows += without_nan(_READERS[split.repo](path, split.files.key))
        except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read as {split.repo}: {error}") from error
    if not rows:
        raise DataError(f"{', '.join(map(str, paths))}: no rows")
    columns = sorted({column for row in rows for column in row})
    complete: list[Row] = [{column: row.get(column) for column in columns} for row in rows]
    origin = RowsOrigin(
        repo=", ".join(map(str, paths)),
        config=None,
        split=split.name,
        revision=None,
        source="file",
        rows=len(rows),
        digest=rows_digest(complete, columns),
    )
    return SourceRows(complete, origin)


def _json_rows(path: Path, key: str | None) -> list[Row]:
    """Return the rows of JSON Lines, of a list, or of the list under a key of an object."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    if key is not None:
        found = found[key] if isinstance(found, dict) and key in found else None
    rows = [found] if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: wanted JSON objects, one on a line or in a list")
    return rows


def _csv_rows(path: Path, key: str | None) -> list[Row]:
    """Return the rows of a CSV file with numbers as numbers, as `datasets` reads them."""
    with asking_for_extras():
        pandas: Any = import_module("pandas")
    table = pandas.read_csv(path)
    return list(table.astype(object).where(table.notna(), None).to_dict("records"))


def _arrow_rows(path: Path, key: str | None) -> list[Row]:
    """Return the rows of an Arrow file, or of a stream as `datasets` writes it."""
    with pa.memory_map(str(path)) as source:
        try:
            table = pa.ipc.open_stream(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_file(source).read_all()
        return list(table.to_pylist())


def _text_rows(path: Path, key: str | None) -> list[Row]:
    return [{"text": line} for line in path.read_text(encoding="utf-8").splitlines()]


def _parquet_rows(path: Path, key: str | None) -> list[Row]:
    return list(pq.read_table(path).to_pylist())


_READERS: Mapping[str, Callable[[Path, str | None], list[Row]]] = {
    "json": _json_rows,
    "csv": _csv_rows,
    "arrow": _arrow_rows,
    "text": _text_rows,
    "parquet": _parquet_rows,
}
