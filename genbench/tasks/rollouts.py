"""Tasks whose samples are rollouts of an agent harness, as a run sees them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from genbench.protocols import Row, TaskInfo
from genbench.tasks.base import RowTask
from genbench.types import Ask, Problem


class RolloutPlan(Protocol):
    """How the rollouts of a task are run."""

    @property
    def name(self) -> str:
        """Return the name of the harness."""
        ...

    @property
    def missing(self) -> str | None:
        """Return why the harness cannot be run here, or None. Stored rollouts are read all the same."""
        ...

    def terms_without(self, unasked: Sequence[str]) -> Mapping[str, Any]:
        """Return what two runs must have in common to be compared.

        Args:
            unasked: the names of the rows that cannot be asked.
        """
        ...

    @property
    def has_images(self) -> bool:
        """Return whether its problems have container images."""
        ...

    @property
    def environment_folder(self) -> Path | None:
        """Return the virtual environment that the harness is run with, None if it needs none."""
        ...


class RolloutTask(RowTask):
    """Problems for a harness.

    `rows_file` is the file of the problems or a folder of them. It is None if the suite names none.
    """

    __slots__ = ()
    rows_file: Path | None
    plan: RolloutPlan
    columns: tuple[str, ...]

    @property
    @abstractmethod
    def wanted(self) -> str:
        """Return what a row has, for messages about one that lacks something."""

    @abstractmethod
    def listed(self) -> tuple[list[Row], dict[str, Any]] | None:
        """Return the rows of a source that is not a file of rows, and where they are from.

        Raises:
            ConfigError: the suite names no source.
            DataError: there is no problem in it.
        """

    @abstractmethod
    def difference(self, rows: Sequence[Row]) -> str | None:
        """Return how some rows differ from those of the benchmark, or None."""

    def unasked(self, rows: Sequence[Row], ids: Collection[str]) -> tuple[str, ...]:
        """Return the names of the rows that are not among the problems."""
        names = (str(row.get("id", row.get("instance_id"))) for row in rows)
        return tuple(sorted({name for name in names if name not in ids}))

    @abstractmethod
    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the instruction, which stands for the prompts that the harness will make of it."""


def rollout_info(info: TaskInfo) -> TaskInfo:
    """Return the facts of a task whose samples are rollouts."""
    return replace(info, verifier="agent", metrics=("avg@k", "pass@k", "pass^k"), asks_alike=True)
