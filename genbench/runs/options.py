"""The options of `genbench run`: one declaration for the command line, for jobs and for the API.

RunOptions is the declaration. `genbench run`, `genbench queue submit`, the spec of a job with its command,
and the request of the API are made from it. This module is imported for every `--help`, so it needs little
more than the standard library.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from genbench.data.subset import Shard
from genbench.errors import ConfigError

DATA_VARIABLE = "GENBENCH_DATA_DIR"
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Key:
    """How an option is called in a job, or in a request of the API, and what its values may be."""

    description: str
    name: str = ""
    """Empty: the name of the field."""
    max_length: int | None = None
    at_least: int | None = None
    more_than: int | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `genbench run`."""

    name: str
    help: str
    metavar: str | None = None
    at_least: int | None = None
    job: Key | None = None
    """None: jobs of the queue do not have it."""
    request: Key | None = None
    """None: clients of the service cannot ask for it."""
    job_help: str = ""
    """What `queue submit` says of it, if that is more than `run` says."""


_TRACK = Key("the track; null: the suite's own", max_length=100)
_NIGHT = Key("the night, such as 2026-11-22", name="night", max_length=10)
_TASKS = Key("only these tasks", max_length=1000)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `genbench run`, as they were given. Every path may be text.

    Without `suite`, `models` are texts PATH or NAME=PATH, and `tasks` are names of tasks (see
    genbench.suite.suitefile). With it, `models` are texts NAME=PATH or NAME. `reuse` are texts NAME=RUN.
    """

    suite: str | Path | None = None
    models: Annotated[
        Sequence[str],
        Option("--model", "Only this model. =PATH gives its checkpoint. Repeatable.", metavar="NAME[=PATH]"),
    ] = ()
    run_dir: Annotated[
        str | Path | None, Option("--run-dir", "Where to write. Each model gets a folder in it.")
    ] = None
    data_dir: Annotated[
        str | Path | None,
        Option(
            "--data-dir",
            "Offline mirror of datasets: DIR/<org>/<name>/<config>/<split>.jsonl|parquet.",
            job=Key("mirror of datasets", max_length=4096),
        ),
    ] = None
    limit: Annotated[
        int | None,
        Option(
            "--limit",
            "At most N problems per task. A smaller limit is a subset of a larger one.",
            job=Key("at most so many problems of each task", at_least=1),
            request=Key("most problems of each task", at_least=1, at_most=_LARGEST),
        ),
    ] = None
    tasks: Annotated[
        Sequence[str], Option("--task", "Only this task. Repeatable.", job=_TASKS, request=_TASKS)
    ] = ()
    responses: Annotated[
        str | Path | None,
        Option(
            "--responses",
            "Score these ready responses (JSON Lines); start no engine.",
            job=Key("ready responses to score", max_length=4096),
        ),
    ] = None
    subset: Annotated[
        str | None, Option("--subset", "'responses': leave out problems that have no responses.")
    ] = None
    overrides: Annotated[
        Sequence[str],
        Option(
            "--set",
            "Override a key of the suite, e.g. decoding.temperature=0.7.",
            metavar="KEY=VALUE",
            job=Key("KEY=VALUE, as --set", max_length=200),
        ),
    ] = ()
    tags: Annotated[
        Sequence[str],
        Option(
            "--tag",
            "A word by which the run is found later. Repeatable.",
            job=Key("words by which the run is found later", max_length=50),
            request=Key("words by which the run is found later", max_length=50),
        ),
    ] = ()
    note: Annotated[
        str | None,
        Option(
            "--note",
            "What people should know of the run.",
            job=Key("what people should know of the run", max_length=2000),
            request=Key("what people should know of the run", max_length=2000),
        ),
    ] = None
    meta: Annotated[
        Sequence[str],
        Option(
            "--meta",
            "A value of your own, such as lr=3e-5, or a JSON or YAML file of them from the trainer. Several "
            "in one text have blanks between. Repeatable. Shown, found and charted; it changes no score.",
            metavar="KEY=VALUE|FILE",
            job=Key("values of the user's own, KEY=VALUE or a file of them", max_length=1000),
        ),
    ] = ()
    with_test: Annotated[bool, Option("--with-test", "Also run tasks of role test. Each use is counted.")] = (
        False
    )
    quiet: bool = False
    command: str = ""
    """The command that the user typed, for the manifest."""
    shard: Annotated[
        str | None,
        Option("--shard", "Draw part I of N, for job arrays. Join the parts with merge.", metavar="I/N"),
    ] = None
    max_hours: Annotated[
        float | None,
        Option(
            "--max-hours",
            "Stop cleanly after this many hours (exit 130). The same command continues.",
            job=Key("stop cleanly after so many hours, and continue later", more_than=0, at_most=10_000),
            request=Key("hours until a clean stop", more_than=0, at_most=10_000),
            job_help="Stop cleanly after this many hours, and go on later. Lets it fill gaps.",
        ),
    ] = None
    reuse: Annotated[
        Sequence[str],
        Option(
            "--reuse",
            "Take this model's stored run instead of drawing. Repeatable.",
            metavar="NAME=RUN",
        ),
    ] = ()
    lengths_from: Annotated[
        str | Path | None,
        Option("--lengths-from", "Start the problems that were longest in this run first.", metavar="RUN"),
    ] = None
    k: Annotated[int | None, Option("--k", "Samples of each problem, without a suite file.", at_least=1)] = (
        None
    )
    stop_on_degenerate: Annotated[
        bool,
        Option(
            "--stop-on-degenerate",
            "End the run if half of its first 50 samples are empty, padding or one token repeated.",
        ),
    ] = False
    interim: Annotated[
        bool,
        Option(
            "--interim",
            "Print estimates with intervals at 10, 25, 50 and 75 % of each task. They are no decision.",
        ),
    ] = False
    track: Annotated[
        str | None,
        Option(
            "--track",
            "Name of the track. Default: the suite's track, or its name.",
            job=_TRACK,
            request=_TRACK,
        ),
    ] = None
    night: Annotated[
        bool,
        Option(
            "--night",
            "Draw tonight's run of the track in a folder of its own, also if nothing changed.",
            job_help="Draw tonight's run of the track.",
        ),
    ] = False
    night_of: Annotated[
        str | None,
        Option(
            "--night-of",
            "The same for another night. A night lasts from noon to noon.",
            metavar="DATE",
            job=_NIGHT,
            request=_NIGHT,
        ),
    ] = None
    models_from: Annotated[
        Sequence[str],
        Option(
            "--models-from",
            "Draw every complete checkpoint that this quoted pattern matches, as a track by step. "
            "Repeatable.",
            metavar="PATTERN",
        ),
    ] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    """The training step of each model. With them the track is of kind step."""
    like: str | None = None
    """The model of the suite whose keys models that are added take, all but its path."""
    trust_code: Annotated[
        str | None,
        Option(
            "--trust-code",
            "Allow the code that the suite names: 'folder' for a folder of your own, or the digest of its "
            "files. Kept for later commands.",
            metavar="folder|DIGEST",
        ),
    ] = None
    against: Annotated[
        str | Path | None,
        Option(
            "--against",
            "The stored base, with --adaptive. 64 samples a problem are best.",
            metavar="BASE_RUN",
        ),
    ] = None
    memory: Any = None
    """A model in the memory of this process, as an EngineKind. See genbench.evaluate."""
    entry: Mapping[str, Any] | None = None
    """A task of the command's own, as an entry of a suite. It goes without a suite file."""
    adaptive: Annotated[
        bool,
        Option(
            "--adaptive",
            "Draw in rounds; stop each task when its comparison with --against is decided.",
        ),
    ] = False
    finish: Annotated[
        bool,
        Option("--finish", "With --adaptive: after a task REGRESSED, go on until all are decided."),
    ] = False

    @property
    def part(self) -> Shard | None:
        """Return the part of a job array that this command draws, or None for everything."""
        return None if self.shard is None else Shard.read(self.shard)

    def arguments(self) -> list[str]:
        """Return the options as arguments of `genbench run`, without the suite."""
        found: list[str] = []
        for name, (_, option) in run_options().items():
            value = getattr(self, name)
            if isinstance(value, bool):
                found += [option.name] if value else []
            elif isinstance(value, str | Path | int | float):
                found.append(f"{option.name}={value}")
            else:
                found += [f"{option.name}={item}" for item in value or ()]
        return found


@cache
def run_options() -> Mapping[str, tuple[Any, Option]]:
    """Return the type and the declaration of each option of `genbench run`, by the name of its field."""
    hints = get_type_hints(RunOptions, include_extras=True)
    return {
        name: (hint.__origin__, hint.__metadata__[0])
        for name, hint in hints.items()
        if hasattr(hint, "__metadata__")
    }


def job_keys() -> Mapping[str, Key]:
    """Return the options that a job keeps, by their field of RunOptions."""
    return {name: _named(option.job, name) for name, (_, option) in run_options().items() if option.job}


def request_keys() -> Mapping[str, Key]:
    """Return the options that a client of the service may ask for, by their field of RunOptions."""
    return {
        name: _named(option.request, name) for name, (_, option) in run_options().items() if option.request
    }


def _named(key: Key, field: str) -> Key:
    return replace(key, name=key.name or field)


def check_options(options: RunOptions) -> None:
    """Refuse options that contradict each other."""
    if options.subset is not None and options.subset != "responses":
        raise ConfigError(f"--subset {options.subset}: the only subset is 'responses'")
    if options.subset is not None and options.responses is None:
        raise ConfigError("--subset responses goes with --responses FILE")
    if options.limit is not None and options.limit < 1:
        raise ConfigError(f"--limit {options.limit}: wanted at least 1")
    if options.max_hours is not None and not 0 < options.max_hours < math.inf:
        raise ConfigError(f"--max-hours {options.max_hours:g}: wanted more than 0")
    if options.part is not None and options.reuse:
        raise ConfigError("--shard draws a part of each model; --reuse takes a whole run: give one of them")
    if options.adaptive != (options.against is not None):
        lacks = "--against BASE_RUN" if options.adaptive else "--adaptive"
        raise ConfigError(f"--adaptive and --against BASE_RUN go together: add {lacks}")
    if options.finish and not options.adaptive:
        raise ConfigError("--finish goes with --adaptive --against BASE_RUN")
    if options.adaptive and (options.reuse or options.subset):
        raise ConfigError("--adaptive draws what its looks need; it goes without --reuse and --subset")
    if options.responses is not None and (options.reuse or options.lengths_from):
        raise ConfigError("--reuse and --lengths-from go with an engine, not with --responses")


def named_data_dir(given: str | Path | None) -> Path | None:
    """Return the folder of mirrored data that was given, or that of the variable GENBENCH_DATA_DIR."""
    return path_or_none(given or os.environ.get(DATA_VARIABLE))


def path_or_none(path: str | Path | None) -> Path | None:
    """Return a path that was given as text or path, or None if it was left out or is empty."""
    return Path(path) if path else None
