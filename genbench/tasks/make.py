"""Making of the task that an entry of a suite names or describes, without its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from genbench import registry
from genbench.errors import ConfigError, options_mistake
from genbench.protocols import Task
from genbench.suite.config import IMPORTED, TaskEntry
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.checked import checked_task
from genbench.tasks.entry_checks import entry_place
from genbench.tasks.imported import imported_task
from genbench.tasks.page import DEFAULT_PROTOCOL
from genbench.tasks.pagetask import page_factory
from genbench.tasks.scored_own import own_task, with_rule

_TOOL_LOOP, _USER_LOOP, _GENERATED = "tool_loop", "user_loop", "generated"
_SANDBOX = ("tier", "wall_s", "memory_mib", "unsafe_local_exec")
"""Options of the verifier that the task needs too, because both run the functions."""
TARGETS = {
    _TOOL_LOOP: "genbench.tasks.tool_loop:tool_loop",
    _USER_LOOP: "genbench.tasks.user_loop:user_loop",
    _GENERATED: "genbench.tasks.own_generator:generated",
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
        task: Task = found if plug_in.is_built_in else checked_task(plug_in, found)
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
