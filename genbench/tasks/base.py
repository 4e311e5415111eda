"""The base classes of tasks: rows read one after another as problems, of one turn or of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from genbench.errors import DataError, nearest
from genbench.protocols import Row, Task, TaskInfo
from genbench.types import Ask, Message, Problem


@dataclass(frozen=True, slots=True)
class RowProblems:
    """The rows of a task as problems, and the rows that cannot be asked."""

    problems: list[Problem]
    unusable: tuple[str, ...] = ()
    """One message for each row that cannot be asked, which names the row and the reason."""


class RowTask(ABC):
    """The base class of tasks in which each row is one problem."""

    __slots__ = ()
    info: TaskInfo

    @abstractmethod
    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row. `place` is the row's index in the dataset, from 0.

        Raises:
            DataError: the row cannot be asked. The message names the row and the reason.
        """

    def read_rows(self, rows: Sequence[Row]) -> RowProblems:
        """Return every row as a problem, or as a message if it cannot be asked.

        Raises:
            DataError: no row can be asked, or two rows have one id.
        """
        found: list[Problem] = []
        unusable: list[str] = []
        places: dict[str, int] = {}
        for place, row in enumerate(rows):
            try:
                problem = self.read_row(place, row)
            except DataError as error:
                unusable.append(str(error))
                continue
            first = places.setdefault(problem.problem_id, place)
            if first != place:
                both = f"rows {first + 1} and {place + 1}"
                raise DataError(f"task {self.info.name}: {both} have the same id '{problem.problem_id}'")
            found.append(problem)
        if unusable and not found:
            raise DataError(unusable[0])
        return RowProblems(found, tuple(unusable))

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem for each row that can be asked.

        Raises:
            DataError: as `read_rows`.
        """
        return self.read_rows(rows).problems


def require_columns(row: Row, columns: Sequence[str], where: str) -> None:
    """Raise DataError if a row lacks a column. The message begins with `where`."""
    for column in columns:
        if column not in row:
            raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")


RowReader = Callable[[Row, int], Row | list[Row]]
"""A function that completes a row. It gets the row and its number within its config, from 0.

It returns a list if one row has several problems, such as the test inputs of a puzzle.
"""


@dataclass(frozen=True, slots=True)
class SingleTurn(RowTask):
    """A task made of two functions: `read` makes a problem from a row, and `pose` makes the question.

    `read` gets the row's index in the dataset (from 0) and the row. `pose` gets the problem and the sample
    index.
    """

    info: TaskInfo
    read: Callable[[int, Row], Problem]
    pose: Callable[[Problem, int], Ask]
    columns: tuple[str, ...] = ()
    """The columns that `read` needs if the data is a file of the user."""

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row."""
        return self.read(place, row)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the first turn. There is no second one."""
        return None if replies else self.pose(problem, sample_index)


@dataclass(frozen=True, slots=True)
class Conversation(RowTask):
    """A task made of two functions.

    `read` gets the row's index in the dataset (from 0) and the row. It returns the problem, which says how
    many turns it has. `pose` gets the problem, the sample index and the turn (from 0). It returns that
    turn's own messages and its reference. A reference of None means that the turn is not graded.
    """

    info: TaskInfo
    read: Callable[[int, Row], Problem]
    pose: Callable[[Problem, int, int], Ask]
    columns: tuple[str, ...] = ()
    """The columns that `read` needs if the data is a file of the user."""

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row."""
        return self.read(place, row)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the conversation so far with the next prompt, or None if there is no next prompt."""
        if len(replies) >= problem.turns:
            return None
        last = self.pose(problem, sample_index, 0)
        messages = [*last.messages]
        for turn, reply in enumerate(replies, start=1):
            last = self.pose(problem, sample_index, turn)
            messages += [Message("assistant", reply), *last.messages]
        return Ask(tuple(messages), last.reference, last.order)


@dataclass(frozen=True, slots=True)
class AskedAs:
    """A further verifier's task: asked as another one, with references of its own.

    `own` reads the rows for the verifier, and `asked` is the task whose samples it verifies, with the
    problems by id.
    """

    own: Task
    asked: Task
    asked_problems: Mapping[str, Problem]

    @property
    def info(self) -> TaskInfo:
        """Return the facts of the verifier's own task. The prompt of what is asked is in its version."""
        own, asked = self.own.info, self.asked.info
        version = f"{own.version}/{asked.version}"
        return replace(own, version=version, asks_alike=own.asks_alike and asked.asks_alike)

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return the problems of the verifier's own task."""
        return self.own.problems(rows)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the other task asks next, with the reference of this one."""
        asked = self.asked.ask(self.asked_problems[problem.problem_id], sample_index, replies)
        own = self.own.ask(problem, sample_index, replies)
        return asked if asked is None or own is None else replace(asked, reference=own.reference)
