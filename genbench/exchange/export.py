"""Export of a run to the formats of other tools, of plug-ins, and to a dataset repository of the hub."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from genbench import registry
from genbench.analysis.results.record import Results, require_results
from genbench.analysis.samples import Sample, task_samples
from genbench.errors import ConfigError, GenbenchError, InputError, call_mistake, cause, place_of
from genbench.exchange.parquet import write_table
from genbench.registry import PlugIn
from genbench.store.json_files import replace
from genbench.store.manifest import Manifest
from genbench.store.stored_run import StoredRun


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A finished run as an export format reads it."""

    stored: StoredRun
    """The run folder, opened for reading."""
    results: Results
    """The content of results.json."""

    @property
    def path(self) -> Path:
        """Return the run folder."""
        return self.stored.path

    @property
    def manifest(self) -> Manifest:
        """Return the content of manifest.json."""
        return self.stored.manifest

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of the run's tasks, in the order of the suite."""
        return tuple(self.results.tasks)

    @property
    def model(self) -> str:
        """Return the name of the model in the suite."""
        return self.results.model

    def samples(self, task: str) -> Iterator[Sample]:
        """Yield the samples of a task one at a time, with prompt, answers, verdict and strata."""
        yield from task_samples(self.stored, task)


def export_with(plug_in: PlugIn, run: ExportedRun, output: Path) -> list[Path]:
    """Write a run with the export format of a plug-in. Return the files.

    Raises:
        ConfigError: the format cannot be loaded, raises an error, or returns something that is not a file.
    """
    write = plug_in.load()
    write = plug_in.build({}) if inspect.isclass(write) else write
    words = f"{plug_in.words} ({place_of(write)})"
    mistake = call_mistake(write, 2)
    if mistake is not None:
        raise ConfigError(f"{words}: {mistake}; wanted a function of the run and the folder to write into")
    try:
        found = list(write(run, output))
    except GenbenchError:
        raise
    except Exception as error:  # The code of a plug-in may raise anything.
        raise ConfigError(f"{words}: writing {output} failed: {cause(error)}; correct the plug-in") from error
    for path in found:
        if not isinstance(path, Path) or not path.exists():
            raise ConfigError(f"{words}: returned {path!r:.200}, wanted the paths of the files that it wrote")
    return found


Written = list[Path]
CARD = "README.md"
_CARD_HEAD = b"---\nconfigs: "


def export(run: str | Path, form: str, output: str | Path) -> Written:
    """Write the tasks of a finished run into the folder `output`. Return the files.

    Args:
        run: the run folder.
        form: the name of the export format.

    Raises:
        InputError: the format is unknown.
        RunFolderError: `run` is not a run folder, or the run is not finished.
    """
    try:
        plug_in = registry.find("exporter", form)
    except ConfigError as error:
        raise InputError(f"--to: {error}") from error
    stored, output = StoredRun(Path(run)), Path(output)
    results = require_results(stored.folder)
    output.mkdir(parents=True, exist_ok=True)
    if not plug_in.is_built_in:
        return export_with(plug_in, ExportedRun(stored, results), output)
    written: Written = plug_in.load()(stored, results, output)
    return written


def hub(run: StoredRun, results: Results, output: Path) -> Written:
    """Write a dataset repository: one Parquet file for each task, and a card that lists them as configs."""
    _require_own_card(output / CARD)
    written = []
    for name in results.tasks:
        path = output / f"{name}.parquet"
        write_table(path, run, [name])
        written.append(path)
    configs = [{"config_name": name, "data_files": f"{name}.parquet"} for name in results.tasks]
    rows = "".join(
        f"| {name} | {task.metric} | {task.value} | {task.n} x {task.k} |\n"
        for name, task in results.tasks.items()
    )
    # JSON is valid YAML, and its quoting is safe for every name.
    card = (
        f"---\nconfigs: {json.dumps(configs)}\n---\n# Samples of one run\n\n"
        f"Run {results.run_id}, suite {results.suite}, model {results.model}.\n\n"
        f"| config | metric | value | n x k |\n|---|---|---|---|\n{rows}"
    )
    replace(output / CARD, card.encode())
    return [*written, output / CARD]


def _require_own_card(path: Path) -> None:
    """Refuse to replace a README that no export wrote. The user has named its folder, not the file.

    Raises:
        InputError: there is such a file.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_CARD_HEAD)) != _CARD_HEAD:
            raise InputError(
                f"{path}: is there, and no export wrote it; move it away, or give another --output"
            )
