"""Tasks of several turns: each turn is asked with the model's own replies before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genbench.protocols import Row, TaskInfo
from genbench.tasks.single_turn import read_all
from genbench.types import Ask, Message, Problem


@dataclass(frozen=True, slots=True)
class Conversation:
    """A task made of two functions: a row read as a problem (which says how many turns it has), and a turn.

    `read` gets the row's place in the dataset (from 0) and the row; `pose` the problem, the sample index
    and the turn (from 0), and gives that turn's own messages and its reference (None: it is not graded).
    """

    info: TaskInfo
    read: Callable[[int, Row], Problem]
    pose: Callable[[Problem, int, int], Ask]
    columns: tuple[str, ...] = ()
    """The columns that `read` needs of a file of the user's own."""

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """One problem per row.

        Raises:
            DataError: two rows have one id.
        """
        return read_all(self.info.name, self.read, rows)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """The conversation so far, with the next prompt; None when there is none."""
        if len(replies) >= problem.turns:
            return None
        last = self.pose(problem, sample_index, 0)
        messages = [*last.messages]
        for turn, reply in enumerate(replies, start=1):
            last = self.pose(problem, sample_index, turn)
            messages += [Message("assistant", reply), *last.messages]
        return Ask(tuple(messages), last.reference, last.order)
