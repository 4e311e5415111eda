"""What a job does: one `genbench run` of a suite on named models, at a place of a track."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, Field, create_model

from genbench.errors import InputError
from genbench.json_record import JsonRecord
from genbench.runs.checkpoint_sweep import find_checkpoints
from genbench.runs.inputs import open_suite
from genbench.runs.options import Key, RunOptions, check_options, job_keys, request_keys, run_options
from genbench.runs.track_position import tonight, track_position
from genbench.store.continuation import now
from genbench.store.contract import digest
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import Suite
from genbench.tasks.factory import check_task_name
from genbench.tasks.loading import selected_entries

ModelT = TypeVar("ModelT", bound=BaseModel)
_FIRST_KEYS = (
    *("suite", "models", "checkpoint", "track", "night"),
    *("tasks", "overrides", "limit", "data_dir", "responses", "max_hours"),
)
"""Keys of the first jobs, in the order in which they are stored. Later ones come after them."""


def with_run_options(
    keys: Mapping[str, Key], sequence: type = tuple
) -> Callable[[type[ModelT]], type[ModelT]]:
    """Return a decorator that adds options of `genbench run` to a model, after its own fields.

    Args:
        keys: the options by their field of RunOptions, see `job_keys` and `request_keys`.
        sequence: tuple, or list for a model that is not frozen.
    """

    def add(model: type[ModelT]) -> type[ModelT]:
        fields = {key.name: _field(name, key, sequence) for name, key in sorted(keys.items(), key=_position)}
        made: type[ModelT] = create_model(  # type: ignore[call-overload]
            model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields
        )
        return made

    return add


def _position(item: tuple[str, Key]) -> int:
    """Return the place of an option among the keys of a job."""
    key = item[1].name
    return _FIRST_KEYS.index(key) if key in _FIRST_KEYS else len(_FIRST_KEYS)


def _field(name: str, key: Key, sequence: type) -> tuple[Any, Any]:
    """Return the type and the field of an option. Paths are texts."""
    kind, _ = run_options()[name]
    default: Any = RunOptions.__dataclass_fields__[name].default
    if kind == Sequence[str]:
        kind, default = (tuple[str, ...] if sequence is tuple else list[str]), sequence(default)
    elif kind == str | Path | None:
        kind = str | None
    limits: dict[str, Any] = {
        name: limit
        for name, limit in (
            ("max_length", key.max_length),
            ("ge", key.at_least),
            ("gt", key.more_than),
            ("le", key.at_most),
        )
        if limit is not None
    }
    return kind, Field(default=default, description=key.description, **limits)


def request_values(options: RunOptions) -> dict[str, Any]:
    """Return what a request of the API says of some options, by key."""
    return {key.name: _plain(getattr(options, name)) for name, key in request_keys().items()}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


@with_run_options(job_keys())
class JobSpec(JsonRecord):
    """The options of `genbench run` that a job is made of. Paths are absolute."""

    # Options that RunOptions declares with a key for jobs are further fields. `options` returns all of them.
    suite: str = Field(max_length=4096, description="a suite file, or the name of a shipped suite")
    models: dict[str, str | None] = Field(
        default={}, description="name of a model of the suite -> checkpoint; null means the suite's own"
    )
    checkpoint: str | None = Field(
        default=None, max_length=4096, description="a checkpoint of a training run, drawn at its step"
    )

    @classmethod
    def from_options(cls, options: RunOptions, checkpoint: str | Path | None = None) -> Self:
        """Return the job of some options, with paths as they are.

        Raises:
            InputError: an option has a value that no job has.
        """
        pairs = [text.partition("=") for text in options.models]
        plain = {key.name: _plain(getattr(options, name)) for name, key in job_keys().items()}
        return cls.from_json(
            {
                "suite": str(options.suite),
                "models": {name: path if equals else None for name, equals, path in pairs},
                "checkpoint": _plain(checkpoint),
                **plain,
            },
            "the options",
        )

    def options(self) -> RunOptions:
        """Return the options of the run."""
        return RunOptions(
            suite=self.suite,
            models=tuple(name if path is None else f"{name}={path}" for name, path in self.models.items()),
            models_from=() if self.checkpoint is None else (self.checkpoint,),
            **{name: getattr(self, key.name) for name, key in job_keys().items()},
        )

    def arguments(self, run_dir: str) -> list[str]:
        """Return the arguments of the `genbench` command that draws the run into `run_dir`."""
        return ["run", f"--run-dir={run_dir}", *self.options().arguments(), "--", self.suite]

    @property
    def key(self) -> str:
        """The name of the work. Two jobs of one key do the same, so only one of them is kept."""
        return digest(self.model_dump(mode="json", exclude={"max_hours", *self.unset}))

    @property
    def unset(self) -> set[str]:
        """The later options that are at their default. They are not stored, so that keys of stored jobs stay
        and a worker of an older version reads the job."""
        added = type(self).model_fields.keys() - set(_FIRST_KEYS)
        return {name for name in added if getattr(self, name) == type(self).model_fields[name].default}


class PlacedSpec(JsonRecord):
    """A job that was checked: what it does, its place in a track, and the devices that it needs."""

    spec: JobSpec = Field(description="what it does")
    track: str = Field(description="its track")
    label: str = Field(description="its night or step")
    slots: int = Field(description="devices that it needs at the same time")

    def run_dir(self, runs: Path) -> str:
        """Return the folder of its run folders below `runs`.

        An unchanged model has a new one each night. Checkpoints of one track share a folder, so that the base
        is drawn once.
        """
        if self.spec.checkpoint is not None:
            return str(runs / self.track)
        return str(runs / self.track / f"{self.label}-{self.spec.key[:8]}")


def checked_spec(spec: JobSpec) -> PlacedSpec:
    """Read the suite of a job, and return the job with its place and size.

    A suite without a track has the track of its name, so that the runs of each job are in one.

    Raises:
        InputError: the suite, a model, a task or an option is wrong, in the words of `genbench run`.
    """
    options = spec.options()
    check_options(options)
    if spec.checkpoint is not None:
        return _checked_checkpoint(spec)
    suite, chosen = open_suite(options)
    _check_tasks(suite, options)
    place = track_position(suite, options, chosen[0])
    if place is None:
        spec = spec.model_copy(update={"track": suite.name})
        place = track_position(suite, spec.options(), chosen[0])
    assert place is not None
    return PlacedSpec(
        spec=spec,
        track=place.name,
        label=place.label,
        slots=_slots(suite.config.engine.model_dump(mode="json")),
    )


def _check_tasks(suite: Suite, options: RunOptions) -> None:
    """Refuse names of tasks that nothing has. No task is imported and no row is read.

    Raises:
        ConfigError: a name is unknown, with the nearest one.
    """
    for entry in selected_entries(suite, options.tasks, False):
        check_task_name(suite, entry)


def _checked_checkpoint(spec: JobSpec) -> PlacedSpec:
    """Return the job of one checkpoint of a training run.

    Raises:
        InputError: it is incomplete, has no step, or the suite is wrong.
    """
    assert spec.checkpoint is not None
    options = spec.options()
    if options.models or options.night_of:
        raise InputError("a checkpoint is drawn at its step: leave out --model and --night")
    (found,) = find_checkpoints((spec.checkpoint,)).checkpoints
    suite, _ = open_suite(RunOptions(suite=spec.suite, overrides=options.overrides))
    _check_tasks(suite, options)
    own = suite.config.track
    return PlacedSpec(
        spec=spec,
        track=options.track or (own.name if own else suite.name),
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

    A model that is not a folder is a name on the hub and stays. So does the name of a shipped suite.

    Raises:
        InputError: there is no such suite.
    """

    def at(text: str | None) -> str | None:
        return None if text is None else str((folder / Path(text).expanduser()).resolve())

    def checkpoint(text: str | None) -> str | None:
        is_path = text is not None and (folder / Path(text).expanduser()).exists()
        return at(text) if is_path else text

    suite = suite_path(str(folder / spec.suite) if (folder / spec.suite).is_file() else spec.suite)
    paths = {
        key.name: at(getattr(spec, key.name))
        for name, key in job_keys().items()
        if run_options()[name][0] == str | Path | None
    }
    return spec.model_copy(
        update={
            "suite": str(suite.resolve()),
            "models": {name: checkpoint(path) for name, path in spec.models.items()},
            "checkpoint": at(spec.checkpoint),
            **paths,
        }
    )


def tonight_label() -> str:
    """Return the night which is now, such as 2026-11-22."""
    return tonight(datetime.fromisoformat(now())).isoformat()


def spec_text(spec: JobSpec) -> str:
    """Return a job's spec as the text that the database keeps."""
    return json.dumps(
        {key: value for key, value in spec.to_json().items() if key not in spec.unset}, sort_keys=True
    )


def spec_of(text: str) -> JobSpec:
    """Return the spec of a text that the database keeps."""
    return JobSpec.from_json(json.loads(text), "queue")
