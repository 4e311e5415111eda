"""Where definitions and their rows come from: the installed tool, and the splits of datasets."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from genbench.data.digest import rows_digest
from genbench.data.hub import how_to_mirror, mirror_file
from genbench.data.local import read_rows
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
_LOADERS = ("json", "csv", "parquet", "text", "arrow")
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
