"""A suite's tasks made ready: built-ins by name or tasks written in place, their rows read and limited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.data.hub import load_rows
from genbench.data.local import load_file
from genbench.data.subset import nested_subset
from genbench.errors import ConfigError, nearest
from genbench.protocols import Row, Task
from genbench.suite.config import TaskEntry
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite, check_k
from genbench.tasks.loaded import LoadedTask
from genbench.tasks.published import named_scores


def selected_entries(suite: Suite, only: Sequence[str], with_test: bool) -> list[TaskEntry]:
    """The entries that this command runs.

    Raises:
        ConfigError: `only` names no task of the suite, or nothing is left.
    """
    names = [entry.label for entry in suite.config.tasks]
    for name in only:
        if name not in names:
            raise ConfigError(f"{suite.path}: no task '{name}'{nearest(name, names)}")
    chosen = [entry for entry in suite.config.tasks if not only or entry.label in only]
    kept = [entry for entry in chosen if with_test or entry.role != "test"]
    if not kept:
        raise ConfigError(
            f"{suite.path}: only tasks of role 'test' are left; they run with --with-test alone"
        )
    return kept


def load_task(suite: Suite, entry: TaskEntry, data_dir: Path | None, limit: int | None) -> LoadedTask:
    """Reads one task's rows and makes its problems.

    Raises:
        ConfigError: unknown name or bad options; DataError: its rows.
    """
    entry = _with_paths(suite, entry)
    task = make_task(suite, entry)
    rows, provenance = _rows(suite, entry, task, data_dir)
    _check_reference(suite, entry, task)
    problems = task.problems(rows)
    ids = [problem.problem_id for problem in problems]
    kept = set(nested_subset(ids, _smaller(limit, entry.limit)))
    decoding = suite.config.decoding_of(entry)
    k = entry.k or task.info.k
    check_k(k, decoding, f"{suite.where_task(entry.label)}: task '{entry.label}'")
    return LoadedTask(
        entry=entry,
        task=task,
        k=k,
        decoding=decoding,
        problems=tuple(problem for problem in problems if problem.problem_id in kept),
        left_out=frozenset(ids) - kept,
        provenance=provenance,
    )


def _check_reference(suite: Suite, entry: TaskEntry, task: Task) -> None:
    try:
        named_scores(task.info.published, entry.reference)
    except ConfigError as error:
        raise ConfigError(f"{suite.where_task(entry.label)}: task '{entry.label}': {error}") from error


def _with_paths(suite: Suite, entry: TaskEntry) -> TaskEntry:
    """Folders that verifier options name (punkt_dir, tagger_dir) are relative to the suite's folder."""
    folders = {
        key: str(resolve(value, suite.folder))
        for key, value in entry.verifier.items()
        if key.endswith("_dir") and isinstance(value, str)
    }
    return entry.model_copy(update={"verifier": entry.verifier | folders}) if folders else entry


def make_task(suite: Suite, entry: TaskEntry) -> Task:
    """The task object of an entry, its rows not read."""
    if entry.kind is not None:
        make = registry.load(registry.KINDS, entry.kind, "kind of task")
        return make(entry)  # type: ignore[no-any-return]
    found: Any = registry.load(registry.TASKS, entry.task or "", "task")
    if not isinstance(found, Task):
        found = _with_options(suite, entry, found)
    elif entry.options:
        found_keys = ", ".join(entry.options)
        raise ConfigError(
            f"{suite.where_task(entry.label)}: task '{entry.label}' takes no options, found {found_keys}"
        )
    return found  # type: ignore[no-any-return]


def _with_options(suite: Suite, entry: TaskEntry, make: Any) -> Any:
    try:
        return make(**entry.options)
    except TypeError as error:
        raise ConfigError(
            f"{suite.where_task(entry.label)}: task '{entry.label}': options: {error}"
        ) from error


def _rows(
    suite: Suite, entry: TaskEntry, task: Task, data_dir: Path | None
) -> tuple[list[Row], dict[str, Any]]:
    if entry.data is not None and entry.data.path is not None:
        return load_file(resolve(entry.data.path, suite.folder), _columns(task))
    dataset = task.info.dataset
    if dataset is None:
        raise ConfigError(f"{suite.where_task(entry.label)}: task '{entry.label}' names no dataset")
    return load_rows(dataset, data_dir)


def _columns(task: Task) -> tuple[str, ...]:
    """The columns that a task written in place reads; a file's other columns do not enter its digest."""
    columns: tuple[str, ...] = getattr(task, "columns", ())
    return columns


def _smaller(left: int | None, right: int | None) -> int | None:
    given = [value for value in (left, right) if value is not None]
    return min(given) if given else None
