"""What a job does: one `genbench run` of a suite on named models, at a place of a track."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from pydantic import Field

from genbench.errors import InputError
from genbench.json_record import JsonRecord
from genbench.runs.checkpoint_sweep import find_checkpoints
from genbench.runs.options import RunOptions, check_options, open_suite
from genbench.runs.track_position import tonight, track_position
from genbench.store.continuation import now
from genbench.store.contract import digest
from genbench.suite.shipped import suite_path
from genbench.tasks.loading import selected_entries


class JobSpec(JsonRecord):
    """The options of `genbench run` that a job is made of. Paths are absolute."""

    suite: str = Field(max_length=4096, description="a suite file, or the name of a shipped suite")
    models: dict[str, str | None] = Field(
        default={}, description="name of a model of the suite -> checkpoint; null means the suite's own"
    )
    checkpoint: str | None = Field(
        default=None, max_length=4096, description="a checkpoint of a training run, drawn at its step"
    )
    track: str | None = Field(default=None, max_length=100, description="the track; null: the suite's own")
    night: str | None = Field(default=None, max_length=10, description="the night, such as 2026-11-22")
    tasks: tuple[str, ...] = Field(default=(), max_length=1000, description="only these tasks")
    overrides: tuple[str, ...] = Field(default=(), max_length=200, description="KEY=VALUE, as --set")
    limit: int | None = Field(default=None, ge=1, description="at most so many problems of each task")
    data_dir: str | None = Field(default=None, max_length=4096, description="mirror of datasets")
    responses: str | None = Field(default=None, max_length=4096, description="ready responses to score")
    max_hours: float | None = Field(
        default=None, gt=0, le=10_000, description="stop cleanly after so many hours, and continue later"
    )

    def options(self) -> RunOptions:
        """Return the options of the run."""
        return RunOptions(
            suite=self.suite,
            models=tuple(name if path is None else f"{name}={path}" for name, path in self.models.items()),
            models_from=() if self.checkpoint is None else (self.checkpoint,),
            track=self.track,
            night_of=self.night,
            tasks=self.tasks,
            overrides=self.overrides,
            limit=self.limit,
            data_dir=self.data_dir,
            responses=self.responses,
            max_hours=self.max_hours,
        )

    def arguments(self, run_dir: str) -> list[str]:
        """Return the arguments of the `genbench` command that draws the run into `run_dir`."""
        options = self.options()
        pairs = [
            *(("--model", text) for text in options.models),
            *(("--models-from", text) for text in options.models_from),
            *(("--task", name) for name in self.tasks),
            *(("--set", text) for text in self.overrides),
            ("--track", self.track),
            ("--night-of", self.night),
            ("--limit", self.limit),
            ("--data-dir", self.data_dir),
            ("--responses", self.responses),
            ("--max-hours", self.max_hours),
        ]
        given = [f"{name}={value}" for name, value in pairs if value is not None]
        return ["run", f"--run-dir={run_dir}", *given, "--", self.suite]

    @property
    def key(self) -> str:
        """The name of the work. Two jobs of one key do the same, so only one of them is kept."""
        work = self.model_dump(mode="json", exclude={"max_hours"})
        return digest(work)


class PlacedSpec(JsonRecord):
    """A job that was checked: what it does, its place in a track, and the devices that it needs."""

    spec: JobSpec = Field(description="what it does")
    track: str = Field(description="its track; empty if it belongs to none")
    label: str = Field(description="its night or step; else the name of the suite")
    slots: int = Field(description="devices that it needs at the same time")

    def run_dir(self, runs: Path) -> str:
        """Return the folder of its run folders below `runs`.

        An unchanged model has a new one each night. Checkpoints of one track share a folder, so that the base
        is drawn once.
        """
        if self.spec.checkpoint is not None:
            return str(runs / self.track)
        return str(runs / (self.track or "jobs") / f"{self.label}-{self.spec.key[:8]}")


def checked_spec(spec: JobSpec) -> PlacedSpec:
    """Read the suite of a job, and return the job with its place and size.

    Raises:
        InputError: the suite, a model, a task or an option is wrong, in the words of `genbench run`.
    """
    options = spec.options()
    check_options(options)
    if spec.checkpoint is not None:
        return _checked_checkpoint(spec)
    suite, chosen = open_suite(options)
    selected_entries(suite, spec.tasks, False)
    place = track_position(suite, options, chosen[0])
    engine = suite.config.engine
    return PlacedSpec(
        spec=spec,
        track=place.name if place else "",
        label=place.label if place else suite.name,
        slots=_slots(engine.model_dump(mode="json")),
    )


def _checked_checkpoint(spec: JobSpec) -> PlacedSpec:
    """Return the job of one checkpoint of a training run.

    Raises:
        InputError: it is incomplete, has no step, or the suite is wrong.
    """
    assert spec.checkpoint is not None
    if spec.models or spec.night:
        raise InputError("a checkpoint is drawn at its step: leave out --model and --night")
    (found,) = find_checkpoints((spec.checkpoint,)).checkpoints
    suite, _ = open_suite(RunOptions(suite=spec.suite, overrides=spec.overrides))
    selected_entries(suite, spec.tasks, False)
    own = suite.config.track
    return PlacedSpec(
        spec=spec,
        track=spec.track or (own.name if own else suite.name),
        label=f"step-{found.step}",
        slots=_slots(suite.config.engine.model_dump(mode="json")),
    )


def _slots(engine: dict[str, object]) -> int:
    """Return the number of devices that an engine takes, at least 1."""
    keys = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "replicas")
    product = 1
    for key in keys:
        size = engine.get(key)
        product *= size if isinstance(size, int) and size > 0 else 1
    return product


def absolute_spec(spec: JobSpec, folder: Path) -> JobSpec:
    """Return a job whose paths are absolute, so that a worker in any folder can do it.

    A model that is no folder is a name on the hub and stays. So does the name of a shipped suite.

    Raises:
        InputError: there is no such suite.
    """

    def at(text: str | None) -> str | None:
        return None if text is None else str((folder / Path(text).expanduser()).resolve())

    def checkpoint(text: str | None) -> str | None:
        is_path = text is not None and (folder / Path(text).expanduser()).exists()
        return at(text) if is_path else text

    suite = suite_path(str(folder / spec.suite) if (folder / spec.suite).is_file() else spec.suite)
    return spec.model_copy(
        update={
            "suite": str(suite.resolve()),
            "models": {name: checkpoint(path) for name, path in spec.models.items()},
            "checkpoint": at(spec.checkpoint),
            "data_dir": at(spec.data_dir),
            "responses": at(spec.responses),
        }
    )


def of_tonight(spec: JobSpec) -> JobSpec:
    """Return a job that draws the night which is now."""
    return spec.model_copy(update={"night": tonight_label()})


def tonight_label() -> str:
    """Return the night which is now, such as 2026-11-22."""
    return tonight(datetime.fromisoformat(now())).isoformat()


def spec_text(spec: JobSpec) -> str:
    """Return a job's spec as the text that the database keeps."""
    return json.dumps(spec.to_json(), sort_keys=True)


def spec_of(text: str) -> JobSpec:
    """Return the spec of a text that the database keeps."""
    return JobSpec.from_json(json.loads(text), "queue")
