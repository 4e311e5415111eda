"""Loading of a suite's tasks, by name or from their entry, with their rows read and limited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from genbench import registry
from genbench.data.hub import load_rows
from genbench.data.local import RecentFile
from genbench.data.subset import nested_subset
from genbench.errors import ConfigError, nearest
from genbench.protocols import HubDataset, Row, Task
from genbench.suite.block import draw_of
from genbench.suite.config import Decoding, TaskEntry
from genbench.suite.effort import at_effort, is_asked
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite, check_k, located
from genbench.tasks.base import AskedAs, RowTask
from genbench.tasks.chosen_problems import (
    combined_digest,
    read_rulings,
    rulings_by,
    subset_ids,
    with_rulings,
)
from genbench.tasks.factory import (
    check_metrics,
    check_reference,
    check_scored,
    check_verifier,
    entry_place,
    make_task,
    with_folders,
)
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.imported import ImportedTask
from genbench.tasks.loaded_task import AskCache, CompactProblems, LoadedTask
from genbench.tasks.page.task import PageTask
from genbench.tasks.plugin_guard import GuardedTask
from genbench.tasks.rollouts import RolloutTask
from genbench.types import Problem

_FIELDS_HINT = (
    "; data.fields says which column is which, as in {question: problem, reference: answer}, or "
    "{reference: null} for a verifier that reads none"
)


@runtime_checkable
class _RowsInFile(Protocol):
    """A task that names the file of its rows."""

    rows_file: Path


def task_rows(
    suite: Suite, entry: TaskEntry, task: Task, data_dir: Path | None, recent: RecentFile
) -> tuple[list[Row], dict[str, Any]]:
    """Return a task's rows and their provenance.

    Args:
        recent: the file that the task before has read.

    Raises:
        ConfigError: the task has neither rows of its own nor a dataset.
        DataError: the rows cannot be used.
    """
    if entry.data is not None and entry.data.path is not None:
        # `genbench perplexity` makes a task of this kind, whose column is an option of the command.
        hint = _FIELDS_HINT if entry.task is None and entry.kind != "likelihood" else ""
        if hint and (shown := _only_shown(entry, _columns(task))):
            hint += f"; the prompt shows {', '.join(shown)}"
        return recent.load(resolve(entry.data.path, suite.folder), _columns(task), hint)
    if isinstance(task, ImportedTask) or (isinstance(task, GuardedTask) and task.has_rows):
        return task.rows()
    if isinstance(task, GeneratedTask):
        return [], task.record()
    if isinstance(task, RolloutTask):
        return _agent_rows(suite, entry, task, recent)
    if isinstance(task, _RowsInFile):
        return recent.load(task.rows_file, _columns(task))
    dataset = task.info.dataset
    if dataset is None:
        raise ConfigError(f"{entry_place(suite, entry)}: it names no dataset; add info.dataset or rows()")
    return load_rows(dataset, data_dir)


def _only_shown(entry: TaskEntry, columns: Sequence[str]) -> list[str]:
    """Return the columns that only the prompt names, in braces as it has them."""
    prompts = (entry.prompt or "", *(turn if isinstance(turn, str) else turn.prompt for turn in entry.turns))
    assert entry.data is not None
    named = {str(value) for value in entry.data.fields.values()}
    shown = (f"{{{column}}}" for column in columns if column not in named and column != "question")
    return [text for text in shown if any(text in prompt for prompt in prompts)]


def _agent_rows(
    suite: Suite, entry: TaskEntry, task: RolloutTask, recent: RecentFile
) -> tuple[list[Row], dict[str, Any]]:
    """Return the problems of a harness, and a warning if they are not those of its benchmark."""
    try:
        found = task.listed()
    except ConfigError as error:
        raise ConfigError(f"{entry_place(suite, entry)}: {error}") from None
    assert task.rows_file is not None
    rows, record = found or recent.load(task.rows_file, _columns(task), f"; {task.wanted}")
    other = task.difference(rows)
    return rows, record if other is None else {**record, "warning": f"{task.rows_file}: {other}"}


@runtime_checkable
class _NeedsTexts(Protocol):
    """A task that needs further datasets: the texts of generated rows, or documents of functions."""

    @property
    def sources(self) -> Mapping[str, HubDataset]: ...

    def with_texts(self, rows: Mapping[str, Sequence[Row]]) -> Task: ...


def with_texts(task: Task, data_dir: Path | None) -> Task:
    """Return a task with the rows of the further datasets that it needs, if there are any.

    Raises:
        DataError: the rows of a dataset cannot be used.
    """
    if not isinstance(task, _NeedsTexts):
        return task
    return task.with_texts({name: load_rows(data, data_dir)[0] for name, data in task.sources.items()})


def with_examples(task: Task, data_dir: Path | None) -> Task:
    """Return the task with the rows of its exemplars, if its prompt has exemplars of another split.

    Raises:
        DataError: the rows cannot be used.
    """
    if not isinstance(task, PageTask) or task.example_data is None:
        return task
    rows, _ = load_rows(task.example_data, data_dir)
    return task.with_examples(rows)


def _columns(task: Task) -> tuple[str, ...]:
    """Return the columns that a task of the suite reads. Other columns are not part of the data digest."""
    columns: tuple[str, ...] = getattr(task, "columns", ())
    return columns


def checked_rulings(task: str, by: str, options: Mapping[str, Any], folder: Path | None) -> dict[str, str]:
    """Return rulings on the references of a task by a checked version of it.

    Args:
        by: the checked version, also a task.
        options: options of the checked version.
        folder: a mirror with the rows of both. None means the hub.

    Raises:
        ConfigError: an unknown task or option, or a task that is not a page of questions.
        DataError: the rows of a task cannot be read.
        InputError: the two have no question in common.
    """
    found = []
    for name, given in ((task, {}), (by, dict(options))):
        made = registry.load("task", name)(**given)
        if not isinstance(made, PageTask) or made.info.dataset is None or made.info.is_scored:
            raise ConfigError(
                f"task {name}: its questions are not rows of a page, so they cannot be compared"
            )
        rows, _ = load_rows(made.info.dataset, folder)
        found.append(made.read_rows(rows).problems)
    return rulings_by(*found)


_MOST_UNUSABLE = 20
"""Rows that cannot be asked of which the manifest keeps the reason."""


def problems_of(task: Task, rows: Sequence[Row]) -> tuple[list[Problem], tuple[str, ...]]:
    """Return the problems of a task, and one message for each row that cannot be asked."""
    if isinstance(task, RowTask):
        found = task.read_rows(rows)
        return found.problems, found.unusable
    return task.problems(rows), ()


def with_unusable_rows(record: Mapping[str, Any], unusable: tuple[str, ...], name: str) -> dict[str, Any]:
    """Return the record of the rows with those that cannot be asked: their number, and the first of them."""
    if not unusable:
        return dict(record)
    said = (
        f"task {name}: {len(unusable)} of {record['rows']} rows cannot be asked and are left out; the first "
        f"is {unusable[0].removeprefix(f'task {name}, ')}"
    )
    warning = f"{record['warning']}; {said}" if record.get("warning") else said
    shown = [text.removeprefix(f"task {name}, ") for text in unusable[:_MOST_UNUSABLE]]
    return {**record, "warning": warning, "unasked": len(unusable), "unasked_rows": shown}


def selected_entries(suite: Suite, only: Sequence[str], with_test: bool) -> list[TaskEntry]:
    """Return the entries that this command runs.

    Args:
        only: names of tasks, or their `task` as the suite spells it (a page, a lock file). A task comes with
            all its verifiers.

    Raises:
        ConfigError: `only` names no task of the suite, or nothing is left.
    """
    names = [entry.label for entry in suite.config.scores]
    for name in only:
        if name not in names and all(entry.task != name for entry in suite.config.tasks):
            raise ConfigError(f"{suite.path}: no task '{name}'{nearest(name, names)}")
    wanted = {draw_of(name) for name in only} | {*only}
    chosen = [
        entry for entry in suite.config.scores if not only or {draw_of(entry.label), entry.task} & wanted
    ]
    kept = [entry for entry in chosen if with_test or entry.role != "test"]
    if not kept:
        raise ConfigError(f"{suite.path}: every task left has role 'test'; add --with-test to run them")
    return kept


def load_all(
    suite: Suite, entries: Iterable[TaskEntry], data_dir: Path | None, limit: int | None
) -> list[LoadedTask]:
    """Read several tasks, see `load_task`.

    They have one cache of asks, whose budget is for all of them. Tasks of one file that follow one another
    share its texts. Beyond a number of problems the rows are packed.
    """
    recent, asked, compact = RecentFile(), AskCache(), CompactProblems()
    tasks: list[LoadedTask] = []
    for entry in entries:
        task = of_draw(load_task(suite, entry, data_dir, limit, recent), tasks)
        tasks.append(replace(task, problems=compact.of(task.problems), asked=asked))
    return tasks


def of_draw(task: LoadedTask, loaded: Sequence[LoadedTask]) -> LoadedTask:
    """Return a further score of a task with the problems and the prompts of what is drawn.

    Args:
        loaded: the tasks before it. The one that is drawn is among them. Others are returned as they are.
    """
    drawn = next((item for item in loaded if item.name == task.draw), None)
    if drawn is None:
        return task
    problems = {problem.problem_id: problem for problem in drawn.problems}
    kept = tuple(problem for problem in task.problems if problem.problem_id in problems)
    gone = {problem.problem_id for problem in task.problems} - problems.keys()
    asked = task.task if task.entry.kind == drawn.entry.kind else AskedAs(task.task, drawn.task, problems)
    return replace(task, task=asked, problems=kept, left_out=task.left_out | gone)


def load_task(
    suite: Suite,
    entry: TaskEntry,
    data_dir: Path | None,
    limit: int | None,
    recent: RecentFile | None = None,
) -> LoadedTask:
    """Read one task's rows and make its problems. Checks that need no rows come first.

    Args:
        recent: the file that the task before has read. Tasks of one file share its texts in memory.

    Raises:
        ConfigError: an unknown name, or wrong options or metrics.
        DataError: its rows cannot be used.
    """
    entry = with_folders(suite, entry)
    task = make_task(suite, entry)
    decoding = suite.config.decoding_of(entry)
    k = entry.k or task.info.k
    if task.info.is_scored:
        check_scored(suite, entry, k)
        decoding = Decoding(temperature=0.0, top_p=1.0, max_tokens=1, seed=decoding.seed)
    check_k(k, decoding, entry_place(suite, entry))
    check_verifier(suite, entry, task)
    check_metrics(suite, entry, task, k)
    check_reference(suite, entry, task)
    task = with_texts(task, data_dir)
    rows, provenance = task_rows(suite, entry, task, data_dir, recent or RecentFile())
    task = with_examples(task, data_dir)
    problems, unusable = problems_of(task, rows)
    ids = [problem.problem_id for problem in problems]
    problems, provenance, chosen = _chosen(suite, entry, problems, provenance)
    kept = chosen & set(nested_subset(ids, _smaller(limit, entry.limit)))
    return LoadedTask(
        entry=entry,
        task=task,
        k=k,
        decoding=decoding,
        problems=tuple(problem for problem in problems if problem.problem_id in kept),
        left_out=frozenset(ids) - kept,
        provenance=with_unusable_rows(provenance, unusable, task.info.name),
        where=entry_place(suite, entry),
        folder=str(suite.folder),
        row_ids=tuple(ids) if len(ids) == len(rows) else (),
        unasked=task.unasked(rows, set(ids)) if unusable and isinstance(task, RolloutTask) else (),
    )


def tasks_at_effort(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> list[LoadedTask]:
    """Return the tasks that a model is drawn at, with the limits of its effort.

    Raises:
        ConfigError: the decoding of a task and the effort do not go together.
    """
    model = suite.config.models[name]
    if not model.effort:
        return list(tasks)
    with located(suite):
        return [
            task if task.is_scored else replace(task, decoding=at_effort(task.decoding, name, model))
            for task in tasks
            if is_asked(task.entry, model)
        ]


def _chosen(
    suite: Suite, entry: TaskEntry, problems: list[Problem], provenance: dict[str, Any]
) -> tuple[list[Problem], dict[str, Any], set[str]]:
    """Return the problems with what people ruled, the record of the data, and the problems of the subset.

    Rulings are a term: another file is other data.
    """
    kept = {problem.problem_id for problem in problems}
    if entry.subset is not None:
        path = resolve(entry.subset, suite.folder)
        ids, own = subset_ids(path, problems, entry_place(suite, entry))
        kept, provenance = set(ids), {**provenance, "subset": own}
    if entry.rulings is not None:
        path = resolve(entry.rulings, suite.folder)
        rulings, own = read_rulings(path, problems, entry_place(suite, entry))
        problems = with_rulings(problems, rulings)
        both = combined_digest(provenance.get("digest"), own)
        provenance = {**provenance, "rulings": own, "digest": both}
    return problems, provenance, kept


def _smaller(left: int | None, right: int | None) -> int | None:
    given = [value for value in (left, right) if value is not None]
    return min(given) if given else None
