"""Single-turn tasks: each row is one problem, and each sample is one question and one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genbench.errors import DataError
from genbench.protocols import Row, TaskInfo
from genbench.types import Ask, Problem


@dataclass(frozen=True, slots=True)
class SingleTurn:
    """A task made of two functions: `read` makes a problem from a row, and `pose` makes the question.

    `read` gets the row's index in the dataset (from 0) and the row. `pose` gets the problem and the sample
    index.
    """

    info: TaskInfo
    read: Callable[[int, Row], Problem]
    pose: Callable[[Problem, int], Ask]
    columns: tuple[str, ...] = ()
    """The columns that `read` needs if the data is a file of the user."""

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem per row.

        Raises:
            DataError: two rows have one id.
        """
        return read_all(self.info.name, self.read, rows)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the first turn. There is no second one."""
        return None if replies else self.pose(problem, sample_index)


def read_all(task: str, read: Callable[[int, Row], Problem], rows: Sequence[Row]) -> list[Problem]:
    """Return every row as a problem.

    Raises:
        DataError: two rows have one id.
    """
    found = [read(place, row) for place, row in enumerate(rows)]
    places: dict[str, int] = {}
    for place, problem in enumerate(found):
        first = places.setdefault(problem.problem_id, place)
        if first != place:
            both = f"rows {first + 1} and {place + 1}"
            raise DataError(f"task {task}: {both} have the same id '{problem.problem_id}'")
    return found
