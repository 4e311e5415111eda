"""The command `genbench mirror`, which fetches what a machine without network needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from genbench import registry
from genbench.data.environments import install_lines, mirror_environment
from genbench.data.local import RecentFile
from genbench.data.mirror import mirror_dataset, mirror_model, mirror_nltk, nltk_names
from genbench.errors import GenbenchError, InputError, nearest
from genbench.json_record import JsonRecord
from genbench.protocols import HubDataset, TaskInfo
from genbench.runs.options import path_or_none
from genbench.suite.config import TaskEntry
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.catalogue import task_infos
from genbench.tasks.factory import make_task
from genbench.tasks.loading import task_rows
from genbench.tasks.rollouts import RolloutTask

Kind = Literal["dataset", "model", "tokenizer", "nltk", "environment", "image"]


class MirroredPart(JsonRecord):
    """One thing that was fetched, or why it was not."""

    kind: Kind = Field(
        description="dataset, model, tokenizer, nltk (its data), environment (wheels of a harness) or image"
    )
    name: str = Field(description="the task, the model, the name of nltk's data, or the environment's folder")
    path: str | None = Field(description="the file or folder; null if it was not fetched")
    state: Literal["fetched", "was there", "failed", "planned"] = Field(
        description="what was done. planned: a dry run would fetch it"
    )
    detail: str = Field(description="rows, digest and revision, or why it failed")


class MirrorRecord(JsonRecord):
    """What `genbench mirror` fetched, and how it is used."""

    format: Literal[1] = Field(description="version of this record")
    to: str = Field(description="the folder of the mirror")
    parts: tuple[MirroredPart, ...] = Field(
        description="datasets, models, data of nltk, environments and images, in this order"
    )
    use: tuple[str, ...] = Field(description="shell lines for the machine without network")

    @property
    def failures(self) -> list[MirroredPart]:
        """Return what could not be fetched."""
        return [part for part in self.parts if part.state == "failed"]


def mirror(
    names: str | Sequence[str],
    to: str | Path,
    *,
    data_dir: str | Path | None = None,
    models: Sequence[str] = (),
    tokenizers: Sequence[str] = (),
    registry_mirror: str | None = None,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> MirrorRecord:
    """Fetch the data of tasks, models and tokenizers into one folder.

    What is there already is not fetched again. One part that fails does not stop the others.

    Args:
        names: names of tasks (see `genbench tasks`), suite files, or names of shipped suites.
        to: the folder. Datasets have the hub's layout in it. Models are in `models/`, nltk's data in
            `nltk_data/`, wheels of the environments of harnesses in `environments/`.
        data_dir: a mirror to copy datasets from. None means the hub.
        models: hub ids `ORG/NAME` or `ORG/NAME@REVISION`, fetched with their weights.
        tokenizers: the same, without weights.
        registry_mirror: a host that has the images of all registries.
        dry_run: whether to only name what would be fetched. Registries are asked for the sizes of images.
        tell: called with a line before each part.

    Raises:
        InputError: there is no such task or suite, or a suite cannot be read.
    """
    place, source = Path(to), path_or_none(data_dir)
    infos, harnesses = _wanted([names] if isinstance(names, str) else names)
    fetched = _planned if dry_run else _tried
    parts = list(
        _parts(infos, fetched, models=models, tokenizers=tokenizers, to=place, source=source, tell=tell)
    )
    folders = [one.task.plan.environment_folder for one in harnesses]
    for folder in dict.fromkeys(folder for folder in folders if folder is not None):
        tell(f"wheels of {folder}")
        parts.append(fetched("environment", folder.name, partial(_environment, folder, place)))
    for one in harnesses:
        parts += _images(one, place, source, registry_mirror, tell, dry_run=dry_run)
    return MirrorRecord(format=1, to=str(place), parts=tuple(parts), use=tuple(_use(place, parts)))


@dataclass(frozen=True, slots=True)
class _Harness:
    """A task of a suite that a harness runs."""

    suite: Suite
    entry: TaskEntry
    task: RolloutTask


def _wanted(names: Iterable[str]) -> tuple[list[TaskInfo], list[_Harness]]:
    """Return the facts of the named tasks and of the tasks of the named suites, and those of harnesses.

    Each dataset is there once.
    """
    harnesses: list[_Harness] = []
    known = registry.names("task")
    infos = {info.name: info for info in task_infos()}
    found: dict[str, TaskInfo] = {}
    for name in names:
        if name in infos:
            found[name] = infos[name]
            continue
        try:
            suite = read_suite(suite_path(name))
        except InputError as error:
            if Path(name).suffix:
                raise
            raise InputError(f"{name}: no task and no suite of that name{nearest(name, known)}") from error
        for entry in suite.config.scores:
            if entry.data is None or entry.data.path is None:
                task = make_task(suite, entry)
                found[task.info.name] = task.info
                if isinstance(task, RolloutTask):
                    harnesses.append(_Harness(suite, entry, task))
    return list(found.values()), harnesses


_Fetched = Callable[[Kind, str, Callable[[], MirroredPart]], MirroredPart]


def _parts(
    infos: Sequence[TaskInfo],
    fetched: _Fetched,
    *,
    models: Sequence[str],
    tokenizers: Sequence[str],
    to: Path,
    source: Path | None,
    tell: Callable[[str], None],
) -> Iterator[MirroredPart]:
    for info in infos:
        for data in (*([info.dataset] if info.dataset else []), *info.sources):
            tell(f"dataset of {info.name}: {data.repo}")
            yield fetched("dataset", info.name, partial(_dataset, info.name, data, to, source))
    for kind, repos in (("model", models), ("tokenizer", tokenizers)):
        for text in repos:
            tell(f"{kind} {text}")
            yield fetched(_kind(kind), text, partial(_model, _kind(kind), text, to))
    for name in dict.fromkeys(name for info in infos for name in nltk_names(info.verifier)):
        tell(f"nltk's {name}")
        yield fetched("nltk", name, partial(_nltk, name, to))


def _kind(text: str) -> Kind:
    return "model" if text == "model" else "tokenizer"


def _tried(kind: Kind, name: str, fetch: Callable[[], MirroredPart]) -> MirroredPart:
    """Fetch one part. An error that the user can act on becomes its detail."""
    try:
        return fetch()
    except GenbenchError as error:
        return MirroredPart(kind=kind, name=name, path=None, state="failed", detail=str(error))


def _planned(kind: Kind, name: str, fetch: Callable[[], MirroredPart]) -> MirroredPart:
    """Name a part that would be fetched."""
    return MirroredPart(kind=kind, name=name, path=None, state="planned", detail="")


def _dataset(name: str, data: HubDataset, to: Path, source: Path | None) -> MirroredPart:
    found = mirror_dataset(data, to, source)
    revision = f", revision {found.revision[:12]}" if found.revision else ""
    doubt = f"; {found.warning}" if found.warning else ""
    return MirroredPart(
        kind="dataset",
        name=name,
        path=str(found.path),
        state="was there" if found.was_there else "fetched",
        detail=f"{found.rows:,} rows, digest {found.digest[:12]}{revision}{doubt}",
    )


def _model(kind: Kind, text: str, to: Path) -> MirroredPart:
    repo, _, revision = text.partition("@")
    path = mirror_model(repo, to / "models", revision=revision or None, weights=kind == "model")
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return MirroredPart(kind=kind, name=text, path=str(path), state="fetched", detail=f"{size / 1e6:,.1f} MB")


def _nltk(name: str, to: Path) -> MirroredPart:
    path = mirror_nltk(name, to / "nltk_data")
    return MirroredPart(kind="nltk", name=name, path=str(path), state="fetched", detail="the official files")


def _environment(folder: Path, to: Path) -> MirroredPart:
    place = to / "environments" / folder.name
    count, size = mirror_environment(folder, place)
    detail = f"{count} wheels, {size / 1e6:,.1f} MB"
    return MirroredPart(kind="environment", name=folder.name, path=str(place), state="fetched", detail=detail)


def _images(
    found: _Harness,
    to: Path,
    source: Path | None,
    mirror: str | None,
    tell: Callable[[str], None],
    *,
    dry_run: bool,
) -> Iterator[MirroredPart]:
    """Fetch the container images of a task, if it has any."""
    if not found.task.plan.has_images:
        return
    rows, _ = task_rows(found.suite, found.entry, found.task, source, RecentFile())
    place = to / "images"
    pull = registry.load_object(registry.AGENT_IMAGES)
    for name, detail, error in pull(found.task, rows, place, mirror, tell, dry_run=dry_run):
        yield MirroredPart(
            kind="image",
            name=name,
            path=None if error or dry_run else str(place),
            state="failed" if error else _state(detail),
            detail=error or detail,
        )


def _state(detail: str) -> Literal["fetched", "was there", "planned"]:
    """Return what was done to an image."""
    if detail.endswith(" 0.0 MB of it fetched"):
        return "was there"
    return "planned" if detail.endswith("to fetch") else "fetched"


def _use(to: Path, parts: Sequence[MirroredPart]) -> Iterator[str]:
    """Yield the shell lines for the machine without network, for a mirror that is copied to the same path."""
    kinds = {part.kind for part in parts if part.path is not None}
    if "dataset" in kinds:
        yield f"export GENBENCH_DATA_DIR={to.absolute()}"
    if "nltk" in kinds:
        yield f"export NLTK_DATA={(to / 'nltk_data').absolute()}"
    if "image" in kinds:
        yield f"genbench images add {(to / 'images').absolute()}"
    if kinds & {"model", "tokenizer"}:
        yield "export HF_HUB_OFFLINE=1"
    for part in parts:
        if part.kind == "model" and part.path is not None:
            yield f"genbench run SUITE --model NAME={Path(part.path).absolute()}"
        if part.kind == "environment" and part.path is not None:
            yield from install_lines(part.name, Path(part.path).absolute())
