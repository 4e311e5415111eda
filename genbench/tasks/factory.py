"""Making of the task that an entry of a suite names or describes, and the checks that need none of its
rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from genbench import registry
from genbench.errors import ConfigError, options_mistake
from genbench.protocols import Task
from genbench.stats.metrics import SCORED_METRICS, parse_metric
from genbench.suite.config import IMPORTED, TaskEntry
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.custom import own_task, with_rule
from genbench.tasks.imported import imported_task
from genbench.tasks.kinds import JUDGE
from genbench.tasks.metrics import check_metric, is_built_in
from genbench.tasks.page.model import DEFAULT_PROTOCOL
from genbench.tasks.page.task import page_factory
from genbench.tasks.plugin_guard import guarded_task
from genbench.tasks.published import named_scores


def entry_place(suite: Suite, entry: TaskEntry, *keys: str | int) -> str:
    """Return `file:line` of a key of the entry, and the task's name."""
    labels = [item.label for item in suite.config.tasks]
    return f"{suite.where('tasks', labels.index(entry.label), *keys)}: task '{entry.label}'"


def check_verifier(suite: Suite, entry: TaskEntry, task: Task) -> None:
    """Refuse a verifier name that does not exist. The verifier itself is loaded later, in its own process."""
    name = entry.used_verifier or task.info.verifier
    if name == JUDGE:
        return
    try:
        registry.find("verifier", name, suite.folder)
    except ConfigError as error:
        keys = ("verifier", "use") if entry.used_verifier else ()
        raise ConfigError(f"{entry_place(suite, entry, *keys)}: {error}") from error


def check_scored(suite: Suite, entry: TaskEntry, k: int) -> None:
    """Refuse keys of a scored task that only mean something when an answer is drawn."""
    if k != 1:
        raise ConfigError(
            f"{entry_place(suite, entry, 'k')}: k is {k}, wanted 1: scores of given texts do not vary; leave "
            "k out"
        )
    given = entry.decoding.model_dump(exclude_none=True)
    if given:
        raise ConfigError(
            f"{entry_place(suite, entry, 'decoding')}: decoding.{next(iter(given))} is set, but nothing is "
            "drawn in a scored task; leave decoding out"
        )


def check_metrics(suite: Suite, entry: TaskEntry, task: Task, k: int) -> None:
    """Refuse metrics that do not exist or do not go with `k`, and a headline that no comparison can test."""
    for place, metric in enumerate(entry.metrics or task.info.metrics):
        try:
            check_metric(metric, k, str(suite.folder))
            if metric in SCORED_METRICS and metric not in task.info.metrics:
                raise ConfigError(
                    f"'{metric}' is no metric of this task; leave it out: a scored task has it next to its "
                    "headline in any case"
                )
        except ConfigError as error:
            raise type(error)(f"{entry_place(suite, entry, 'metrics', place)}: metrics: {error}") from error
    if not is_built_in(task.info.headline):
        raise ConfigError(
            f"{entry_place(suite, entry)}: the headline is '{task.info.headline}', wanted one of genbench's "
            "own metrics, which comparisons can test; put it into 'metrics'"
        )
    if (parse_metric(task.info.headline).k or k) > k:
        raise ConfigError(
            f"{entry_place(suite, entry, 'k')}: the headline is {task.info.headline}, but k is {k}"
        )


def check_reference(suite: Suite, entry: TaskEntry, task: Task) -> None:
    """Refuse a reference that names no published score of the task."""
    try:
        named_scores(task.info.published, entry.reference)
    except ConfigError as error:
        raise ConfigError(f"{entry_place(suite, entry, 'reference')}: {error}") from error


def with_folders(suite: Suite, entry: TaskEntry) -> TaskEntry:
    """Resolve the folders among the verifier's options (punkt_dir, tagger_dir) against the suite's folder."""
    folders = {
        key: str(resolve(value, suite.folder))
        for key, value in entry.verifier.items()
        if key.endswith("_dir") and isinstance(value, str)
    }
    return entry.model_copy(update={"verifier": entry.verifier | folders}) if folders else entry


_TOOL_LOOP, _USER_LOOP, _GENERATED = "tool_loop", "user_loop", "generated"
_SANDBOX = ("tier", "wall_s", "memory_mib", "unsafe_local_exec")
"""Options of the verifier that the task needs too, because both run the functions."""
TARGETS = {
    _TOOL_LOOP: "genbench.tasks.python.loops:tool_loop",
    _USER_LOOP: "genbench.tasks.python.loops:user_loop",
    _GENERATED: "genbench.tasks.python.own_generator:generated",
}
"""Tasks that need files of the suite. They are no benchmarks, so `genbench tasks` does not list them."""
FILE_OPTIONS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        _TOOL_LOOP: ("functions", "rows"),
        _USER_LOOP: ("functions", "rows", "policy"),
        _GENERATED: ("generator",),
    }
)
"""The options of these tasks that name files: `PATH`, or `PATH:NAME`."""


def make_task(suite: Suite, entry: TaskEntry) -> Task:
    """Return the task of an entry without reading its rows.

    Raises:
        ConfigError: an unknown name or kind, wrong options, or a plug-in that is not a task.
    """
    return with_rule(_made(suite, entry), entry)


def _made(suite: Suite, entry: TaskEntry) -> Task:
    if entry.task is None:
        return own_task(entry)
    where = entry_place(suite, entry)
    try:
        if entry.names_page:
            return _task_of_page(suite, entry, entry.task)
        if entry.names_import:
            place = resolve(entry.task.removeprefix(IMPORTED), suite.folder)
            return imported_task(place, _with_places(entry.options, suite))
        plug_in = registry.find("task", TARGETS.get(entry.task, entry.task), suite.folder)
        found = plug_in.load()
        if callable(found):
            found = plug_in.build(_options(suite, entry, found))
        elif entry.options:
            raise ConfigError(f"it takes no options, found {', '.join(entry.options)}")
        task: Task = found if plug_in.is_built_in else guarded_task(plug_in, found)
    except ConfigError as error:
        raise type(error)(f"{where}: {error}") from error
    return task


def _with_places(options: dict[str, Any], suite: Suite) -> dict[str, Any]:
    """Return the options of an imported task with its paths resolved against the suite's folder."""
    paths = {
        name: str(resolve(options[name], suite.folder))
        for name in ("python", "definitions")
        if isinstance(options.get(name), str)
    }
    return {**options, **paths}


def _task_of_page(suite: Suite, entry: TaskEntry, name: str) -> Task:
    """Return the task of a page of the user's own, a file of the suite's folder.

    Raises:
        ConfigError: the file is no valid page, or it knows no such protocol or option.
    """
    make = page_factory(resolve(name, suite.folder))
    return make(**_options(suite, entry, make))


def _options(suite: Suite, entry: TaskEntry, make: Any) -> dict[str, Any]:
    """Return the options of an entry, with its protocol if it names one.

    Raises:
        ConfigError: the task knows no protocols.
    """
    given = {**entry.options, **_files(suite, entry)}
    if entry.protocol == DEFAULT_PROTOCOL:
        return given
    if options_mistake(make, {"protocol": entry.protocol}) is not None:
        raise ConfigError(f"it has only the protocol {DEFAULT_PROTOCOL}, found protocol '{entry.protocol}'")
    return {**given, "protocol": entry.protocol}


def _files(suite: Suite, entry: TaskEntry) -> dict[str, Any]:
    """Return the options of a task with code of the suite: its files in the suite's folder, its sandbox."""
    found: dict[str, Any] = {}
    for option in FILE_OPTIONS.get(entry.task or "", ()):
        if option in entry.options:
            path, _, name = str(entry.options[option]).rpartition(":")
            found[option] = (
                f"{resolve(path, suite.folder)}:{name}" if path else str(resolve(name, suite.folder))
            )
    if entry.task in (_TOOL_LOOP, _USER_LOOP):
        own = {name: entry.verifier[name] for name in _SANDBOX if name in entry.verifier}
        found |= {"sandbox": own} if own else {}
    if entry.task == _GENERATED and "generator" in found:
        found["named"] = str(entry.options["generator"])
    return found
