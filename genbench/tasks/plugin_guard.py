"""A task of a plug-in, with every answer of its code checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from genbench.data.digest import rows_digest
from genbench.data.local import without_nan
from genbench.errors import ConfigError, GenbenchError, call_mistake, cause, place_of
from genbench.protocols import Row, TaskInfo
from genbench.registry import PlugIn
from genbench.types import Ask, Message, Problem

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GuardedTask:
    """A plug-in's task.

    Errors that it raises and wrong values that it returns become errors with its file and line.
    """

    info: TaskInfo
    task: Any
    words: str
    """The plug-in's name and package, and the location of its code."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the task reads, if it says so."""
        return tuple(getattr(self.task, "columns", ()))

    @property
    def has_rows(self) -> bool:
        """Return whether the plug-in brings its rows itself, with a method `rows`."""
        return hasattr(self.task, "rows")

    def rows(self) -> tuple[list[Row], dict[str, Any]]:
        """Return the rows that the plug-in brings, and their source.

        Raises:
            ConfigError: the plug-in raises, or a row is not a JSON object.
        """
        found = self._called("rows", lambda: list(self.task.rows()))
        try:
            plain: list[Row] = without_nan(json.loads(json.dumps(found)))
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"{self.words}: rows() returned what is not JSON: {error}") from error
        if not plain or not all(isinstance(row, dict) for row in plain):
            raise ConfigError(
                f"{self.words}: rows() returned {plain!r:.100}, wanted at least one JSON object"
            )
        columns = self.columns or tuple(sorted({column for row in plain for column in row}))
        lacking = [(place, name) for place, row in enumerate(plain) for name in columns if name not in row]
        if lacking:
            place, name = lacking[0]
            raise ConfigError(f"{self.words}: rows(): row {place + 1} has no column '{name}'")
        return plain, {
            "source": "plug-in",
            "path": None,
            "rows": len(plain),
            "columns": list(columns),
            "digest": rows_digest(plain, columns),
        }

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return the task's problems.

        Raises:
            ConfigError: the plug-in raises, or returns something else than problems with ids of their own.
        """
        found = self._called("problems", lambda: list(self.task.problems(rows)))
        ids = set[str]()
        for item in found:
            if not isinstance(item, Problem):
                raise ConfigError(
                    f"{self.words}: problems() returned {item!r}, wanted genbench.types.Problem"
                )
            if item.problem_id in ids:
                raise ConfigError(f"{self.words}: problems() returned the id '{item.problem_id}' twice")
            ids.add(item.problem_id)
        if not found:
            raise ConfigError(f"{self.words}: problems() returned no problem for {len(rows)} rows")
        return found

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the sample is asked next.

        Raises:
            ConfigError: the plug-in raises, or returns something else than an Ask with messages.
        """
        found = self._called("ask", lambda: self.task.ask(problem, sample_index, replies))
        where = f"{self.words}: ask() for problem '{problem.problem_id}'"
        if found is None:
            if replies:
                return None
            raise ConfigError(f"{where} returned None for the first turn, wanted genbench.types.Ask")
        if not isinstance(found, Ask):
            raise ConfigError(f"{where} returned {type(found).__name__}, wanted genbench.types.Ask or None")
        messages = found.messages
        if not messages or not all(isinstance(message, Message) for message in messages):
            raise ConfigError(
                f"{where}: messages are {messages!r}, wanted genbench.types.Message, at least one"
            )
        return found

    def _called(self, method: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except GenbenchError as error:
            raise type(error)(f"{self.words}: {error}") from error
        except Exception as error:  # foreign code
            raise ConfigError(
                f"{self.words}: {method}() failed: {cause(error)}; correct the plug-in"
            ) from error


def guarded_task(plug_in: PlugIn, found: Any) -> GuardedTask:
    """Return a plug-in's task, wrapped.

    Raises:
        ConfigError: it is not a task, because `info`, `problems` or `ask` is missing or has another shape.
    """
    words = f"{plug_in.words} ({place_of(found)})"
    try:
        info = found.info
    except AttributeError:
        info = None
    if not isinstance(info, TaskInfo):
        raise ConfigError(f"{words}: 'info' is {info!r}, wanted genbench.protocols.TaskInfo")
    for name, arguments in (("problems", 1), ("ask", 3)):
        mistake = call_mistake(getattr(found, name, None), arguments)
        if mistake is not None:
            raise ConfigError(f"{words}: {name}: {mistake}; see genbench.protocols.Task")
    return GuardedTask(info, found, words)
