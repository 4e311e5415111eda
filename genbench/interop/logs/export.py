"""Export of a run to a folder: formats of other tools, and formats of plug-ins."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from genbench import registry
from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.analysis.samples import task_samples, withheld, withholds
from genbench.errors import ConfigError, GenbenchError, InputError, call_mistake, cause, place_of
from genbench.registry import PlugIn
from genbench.store.manifest import Manifest
from genbench.store.stored_run import Sample, StoredRun


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A finished run as an export format reads it."""

    stored: StoredRun
    """The run folder, opened for reading."""
    results: Results
    """The content of results.json."""
    with_sensitive: bool = False
    """Whether texts of sensitive tasks are exported. `samples` leaves them out otherwise."""

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
        """Yield the samples of a task one at a time, with prompt, answers, verdict and strata.

        Those of a sensitive task have no texts, unless they were asked for.
        """
        hides = withholds(self.stored, task, with_sensitive=self.with_sensitive)
        for sample in task_samples(self.stored, task):
            yield withheld(sample) if hides else sample


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


def export(run: str | Path, form: str, output: str | Path, *, with_sensitive: bool = False) -> list[Path]:
    """Write the tasks of a finished run into the folder `output`. Return the files.

    Args:
        run: the run folder.
        form: the name of the export format.
        with_sensitive: include prompts and answers of sensitive tasks.

    Raises:
        InputError: the format is unknown.
        RunFolderError: `run` is not a run folder, or the run is not finished.
    """
    try:
        plug_in = registry.find("exporter", form)
    except ConfigError as error:
        raise InputError(f"--to: {error}") from error
    stored, output = StoredRun(Path(run)), Path(output)
    finished = ExportedRun(stored, require_results(stored.folder), with_sensitive)
    output.mkdir(parents=True, exist_ok=True)
    if plug_in.is_built_in:  # a mistake in it is genbench's, and must not be called the plug-in's
        return list(plug_in.load()(finished, output))
    return export_with(plug_in, finished, output)


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write the parts to a temporary file and rename it to `path` when it is complete.

    If that fails, the temporary file is removed.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("wb") as file:
            file.writelines(parts)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
