"""What one command was given: its options, checked against one another, and the suite that they name."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from genbench.data.shard import Shard
from genbench.errors import ConfigError, nearest
from genbench.store.folder import RunFolder
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import Suite, read_suite

DATA_VARIABLE = "GENBENCH_DATA_DIR"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `genbench run`, as they were given.

    `models` are `NAME=PATH` or `NAME` texts, `limit` the most problems a task, `subset` "responses"
    or None, `shard` a text such as "2/8", `reuse` texts `NAME=RUN` (the folder of a stored run of that
    model), `lengths_from` a stored run that tells how long each problem's completions will be.
    """

    suite: str
    models: Sequence[str] = ()
    run_dir: Path | None = None
    data_dir: Path | None = None
    limit: int | None = None
    tasks: Sequence[str] = ()
    responses: Path | None = None
    subset: str | None = None
    overrides: Sequence[str] = ()
    with_test: bool = False
    quiet: bool = False
    command: str = ""
    shard: str | None = None
    max_hours: float | None = None
    reuse: Sequence[str] = ()
    lengths_from: Path | None = None

    @property
    def part(self) -> Shard | None:
        """The part of a job array that this command is."""
        return None if self.shard is None else Shard.read(self.shard)


def open_suite(options: RunOptions) -> tuple[Suite, list[str]]:
    """The suite with its overrides, and the names of the models that this command runs."""
    named = [text.partition("=") for text in options.models]
    replaced = {name: path for name, equals, path in named if equals}
    suite = read_suite(suite_path(options.suite), options.overrides, replaced)
    chosen = [name for name, _, _ in named] or list(suite.config.models)
    for name in chosen:
        if name not in suite.config.models:
            raise ConfigError(f"{suite.path}: no model '{name}'{nearest(name, suite.config.models)}")
    return suite, chosen


def check_options(options: RunOptions) -> None:
    """Options that contradict each other."""
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
    if options.responses is not None and (options.reuse or options.lengths_from):
        raise ConfigError("--reuse and --lengths-from go with an engine, not with --responses")


def reused(options: RunOptions, chosen: Sequence[str]) -> dict[str, Path]:
    """Model -> the folder of its stored run.

    Raises:
        ConfigError: no NAME=RUN, a model that is not run, or no run folder there.
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


def data_dir(options: RunOptions) -> Path | None:
    """The mirror that is in force: --data-dir, or the variable GENBENCH_DATA_DIR."""
    named = os.environ.get(DATA_VARIABLE)
    return options.data_dir or (Path(named) if named else None)
