"""The reader of asks.jsonl: prompts and references of a task, read from the disk one problem at a time."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, Self

from genbench.store.folder import RunFolder
from genbench.store.problemlines import ask_places


class AskFile:
    """The file asks.jsonl of a task, with an index of its lines by problem.

    Only the index is in memory. The prompts of half a million problems would need a gigabyte.

    Args:
        folder: the run folder.
        task: the name of the task.
        problem_ids: the problems whose lines are wanted. Other lines are ignored.

    Raises:
        RunFolderError: a line is damaged.
    """

    def __init__(self, folder: RunFolder, task: str, problem_ids: Sequence[str]) -> None:
        self._rows = {name: row for row, name in enumerate(problem_ids)}
        self._first = array("q", [-1]) * len(problem_ids)
        self._more: dict[int, list[int]] = {}
        self._last: tuple[str, list[dict[str, Any]]] = ("", [])
        path = folder.file(task, "asks")
        for place, record in ask_places(path):
            row = self._rows.get(record["problem_id"])
            if row is None:
                continue
            if self._first[row] < 0:
                self._first[row] = place
            else:
                self._more.setdefault(row, []).append(place)
        self._file = path.open("rb") if path.exists() else None

    def of(self, problem_id: str) -> list[dict[str, Any]]:
        """Return the lines of a problem, one for each prompt of its samples.

        Folders of older versions have no asks.jsonl. The list is then empty.
        """
        if problem_id != self._last[0]:
            self._last = (problem_id, self._read(problem_id))
        return self._last[1]

    def of_sample(self, problem_id: str, sample_index: int) -> dict[str, Any] | None:
        """Return the line of a sample, or None if the folder has none."""
        return next((ask for ask in self.of(problem_id) if sample_index in ask["samples"]), None)

    def _read(self, problem_id: str) -> list[dict[str, Any]]:
        row = self._rows.get(problem_id)
        if row is None or self._first[row] < 0 or self._file is None:
            return []
        found = []
        for place in (self._first[row], *self._more.get(row, ())):
            self._file.seek(place)
            found.append(json.loads(self._file.readline()))
        return found

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
