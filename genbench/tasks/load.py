"""Loading of a suite's tasks, by name or from their entry, with their rows read and limited."""

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
from genbench.stats.estimates import parse_metric
from genbench.suite.config import TaskEntry
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite, check_k
from genbench.tasks.checked import CheckedTask, checked_task
from genbench.tasks.custom import custom_task
from genbench.tasks.kinds import JUDGE
from genbench.tasks.loaded import LoadedTask
from genbench.tasks.metrics import check_metric, is_built_in
from genbench.tasks.published import named_scores


def selected_entries(suite: Suite, only: Sequence[str], with_test: bool) -> list[TaskEntry]:
    """Return the entries that this command runs.

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
        raise ConfigError(f"{suite.path}: every task left has role 'test'; add --with-test to run them")
    return kept


def load_task(suite: Suite, entry: TaskEntry, data_dir: Path | None, limit: int | None) -> LoadedTask:
    """Read one task's rows and make its problems. Checks that need no rows come first.

    Raises:
        ConfigError: an unknown name, or wrong options or metrics.
        DataError: its rows cannot be used.
    """
    entry = _with_paths(suite, entry)
    task = make_task(suite, entry)
    decoding = suite.config.decoding_of(entry)
    k = entry.k or task.info.k
    check_k(k, decoding, _where(suite, entry))
    _check_verifier(suite, entry, task)
    _check_metrics(suite, entry, task, k)
    _check_reference(suite, entry, task)
    rows, provenance = _rows(suite, entry, task, data_dir)
    problems = task.problems(rows)
    ids = [problem.problem_id for problem in problems]
    kept = set(nested_subset(ids, _smaller(limit, entry.limit)))
    return LoadedTask(
        entry=entry,
        task=task,
        k=k,
        decoding=decoding,
        problems=tuple(problem for problem in problems if problem.problem_id in kept),
        left_out=frozenset(ids) - kept,
        provenance=provenance,
        where=_where(suite, entry),
        folder=str(suite.folder),
    )


def make_task(suite: Suite, entry: TaskEntry) -> Task:
    """Return the task of an entry without reading its rows.

    Raises:
        ConfigError: an unknown name or kind, wrong options, or a plug-in that is not a task.
    """
    if entry.task is None:
        return custom_task(entry)
    where = _where(suite, entry)
    try:
        plug_in = registry.find("task", entry.task, suite.folder)
        found = plug_in.load()
        if callable(found):
            found = plug_in.build(entry.options)
        elif entry.options:
            raise ConfigError(f"it takes no options, found {', '.join(entry.options)}")
        task: Task = found if plug_in.is_built_in else checked_task(plug_in, found)
    except ConfigError as error:
        raise type(error)(f"{where}: {error}") from error
    return task


def _check_verifier(suite: Suite, entry: TaskEntry, task: Task) -> None:
    """Refuse a verifier name that does not exist. The verifier itself is loaded later, in its own process."""
    name = entry.used_verifier or task.info.verifier
    if name == JUDGE:
        return
    try:
        registry.find("verifier", name, suite.folder)
    except ConfigError as error:
        keys = ("verifier", "use") if entry.used_verifier else ()
        raise ConfigError(f"{_where(suite, entry, *keys)}: {error}") from error


def _check_metrics(suite: Suite, entry: TaskEntry, task: Task, k: int) -> None:
    for place, metric in enumerate(entry.metrics or task.info.metrics):
        try:
            check_metric(metric, k, str(suite.folder))
        except ConfigError as error:
            raise type(error)(f"{_where(suite, entry, 'metrics', place)}: metrics: {error}") from error
    if not is_built_in(task.info.headline):
        raise ConfigError(
            f"{_where(suite, entry)}: the headline is '{task.info.headline}', wanted one of genbench's own "
            "metrics, which comparisons can test; put it into 'metrics'"
        )
    if (parse_metric(task.info.headline).k or k) > k:
        raise ConfigError(f"{_where(suite, entry, 'k')}: the headline is {task.info.headline}, but k is {k}")


def _check_reference(suite: Suite, entry: TaskEntry, task: Task) -> None:
    try:
        named_scores(task.info.published, entry.reference)
    except ConfigError as error:
        raise ConfigError(f"{_where(suite, entry, 'reference')}: {error}") from error


def _where(suite: Suite, entry: TaskEntry, *keys: str | int) -> str:
    """Return `file:line` of a key of the entry, and the task's name."""
    labels = [item.label for item in suite.config.tasks]
    return f"{suite.where('tasks', labels.index(entry.label), *keys)}: task '{entry.label}'"


def _with_paths(suite: Suite, entry: TaskEntry) -> TaskEntry:
    """Resolve the folders among the verifier's options (punkt_dir, tagger_dir) against the suite's folder."""
    folders = {
        key: str(resolve(value, suite.folder))
        for key, value in entry.verifier.items()
        if key.endswith("_dir") and isinstance(value, str)
    }
    return entry.model_copy(update={"verifier": entry.verifier | folders}) if folders else entry


def _rows(
    suite: Suite, entry: TaskEntry, task: Task, data_dir: Path | None
) -> tuple[list[Row], dict[str, Any]]:
    if entry.data is not None and entry.data.path is not None:
        return load_file(resolve(entry.data.path, suite.folder), _columns(task))
    if isinstance(task, CheckedTask) and task.has_rows:
        return task.rows()
    dataset = task.info.dataset
    if dataset is None:
        raise ConfigError(f"{_where(suite, entry)}: it names no dataset; add info.dataset or rows()")
    return load_rows(dataset, data_dir)


def _columns(task: Task) -> tuple[str, ...]:
    """Return the columns that a task of the suite reads. Other columns are not part of the data digest."""
    columns: tuple[str, ...] = getattr(task, "columns", ())
    return columns


def _smaller(left: int | None, right: int | None) -> int | None:
    given = [value for value in (left, right) if value is not None]
    return min(given) if given else None
