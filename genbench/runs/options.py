"""The options of one command, checked against each other, and the suite that they name."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.data.subset import Shard
from genbench.draw.draw_queue import Lengths, read_lengths
from genbench.errors import ConfigError, nearest
from genbench.store.folder import RunFolder
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import Suite, model_name, quick_suite, read_suite

DATA_VARIABLE = "GENBENCH_DATA_DIR"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `genbench run`, as they were given. Every path may be text.

    Without `suite`, `models` are texts PATH or NAME=PATH, and `tasks` are names of tasks (see
    genbench.suite.suitefile).
    `models` are texts `NAME=PATH` or `NAME`. `limit` is the largest number of problems of a task.
    `subset` is "responses" or None. `shard` is a text such as "2/8". `reuse` are texts `NAME=RUN`. RUN is
    the folder of a stored run of that model. `lengths_from` is a stored run from which the lengths of
    completions are estimated.
    """

    suite: str | Path | None = None
    models: Sequence[str] = ()
    run_dir: str | Path | None = None
    data_dir: str | Path | None = None
    limit: int | None = None
    tasks: Sequence[str] = ()
    responses: str | Path | None = None
    subset: str | None = None
    overrides: Sequence[str] = ()
    with_test: bool = False
    quiet: bool = False
    command: str = ""
    shard: str | None = None
    max_hours: float | None = None
    """Stop after so many hours, as a signal does. The same command continues. None sets no limit."""
    reuse: Sequence[str] = ()
    lengths_from: str | Path | None = None
    k: int | None = None
    """Samples of each problem, for a command without a suite file."""
    stop_on_degenerate: bool = False
    """End the run if half of its first samples are empty, padding or one token repeated."""
    interim: bool = False
    """Print estimates of unfinished tasks now and then."""

    track: str | None = None
    """The track of the runs. None means the suite's own, or the suite's name if `night` is set."""
    night: bool = False
    """Draw the run of tonight, in a folder of its own."""
    night_of: str | None = None
    """The night as a date like 2026-11-22. None means tonight (see runs.track)."""
    models_from: Sequence[str] = ()
    """Patterns of checkpoint folders, which become models in the order of their steps (see runs.sweep)."""
    steps: Mapping[str, int] = field(default_factory=dict)
    """The training step of each model. With them the track is of kind step."""
    like: str | None = None
    """The model of the suite whose keys models that are added take, all but its path."""
    against: str | Path | None = None
    """The stored run that an adaptive run is compared with."""
    entry: Mapping[str, Any] | None = None
    """A task of the command's own, as an entry of a suite. It goes without a suite file."""
    adaptive: bool = False
    """Draw in rounds, and stop each task when its comparison with `against` is decided."""
    finish: bool = False
    """Go on with an adaptive run after a task REGRESSED, until each task is decided."""

    @property
    def part(self) -> Shard | None:
        """Return the part of a job array that this command draws, or None for everything."""
        return None if self.shard is None else Shard.read(self.shard)


def open_suite(options: RunOptions) -> tuple[Suite, list[str]]:
    """Return the suite with its overrides, and the names of the models that this command runs.

    Raises:
        ConfigError: the suite is wrong, or has no model of a given name.
    """
    if options.suite is None:
        suite = quick_suite(options.models, options.tasks, options.k, options.overrides, options.entry)
        return suite, [model_name(text) for text in options.models]
    if options.k is not None:
        raise ConfigError("--k goes without a suite file; with one write --set tasks.NAME.k=K")
    named = [text.partition("=") for text in options.models]
    replaced = {name: path for name, equals, path in named if equals}
    suite = read_suite(suite_path(str(options.suite)), options.overrides, replaced, like=options.like)
    chosen = [name for name, _, _ in named] or list(suite.config.models)
    for name in chosen:
        if name not in suite.config.models:
            raise ConfigError(f"{suite.path}: no model '{name}'{nearest(name, suite.config.models)}")
    return suite, chosen


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


def reused(options: RunOptions, chosen: Sequence[str]) -> dict[str, Path]:
    """Return the folder of the stored run of each model that `--reuse` names.

    Raises:
        ConfigError: a text is not NAME=RUN, or its model is not run.
        RunFolderError: there is no run folder.
    """
    found: dict[str, Path] = {}
    for text in options.reuse:
        name, equals, path = text.partition("=")
        if not equals or not path:
            raise ConfigError(f"--reuse {text}: wanted NAME=RUN, such as base=runs/nightly-1a2b3c4d/base")
        if name not in chosen:
            raise ConfigError(f"--reuse {text}: this command runs no model '{name}'{nearest(name, chosen)}")
        RunFolder(Path(path)).require_manifest()
        found[name] = Path(path)
    return found


def expected_lengths(options: RunOptions) -> Lengths | None:
    """Return the lengths of the stored run that `--lengths-from` names, or None.

    Raises:
        InputError: the run cannot be read.
    """
    return None if options.lengths_from is None else read_lengths(Path(options.lengths_from))


def data_dir(options: RunOptions) -> Path | None:
    """Return the folder of mirrored data: --data-dir, or the variable GENBENCH_DATA_DIR."""
    return named_data_dir(options.data_dir)


def named_data_dir(given: str | Path | None) -> Path | None:
    """Return the folder of mirrored data that was given, or that of the variable GENBENCH_DATA_DIR."""
    return path_or_none(given or os.environ.get(DATA_VARIABLE))


def path_or_none(path: str | Path | None) -> Path | None:
    """Return a path that was given as text or path, or None if it was left out or is empty."""
    return Path(path) if path else None
