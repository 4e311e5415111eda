"""The reader of verdicts.jsonl: the verdict of one sample at a time, read from the disk."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Self

from genbench.store.folder import RunFolder
from genbench.store.records import verdict_from_record
from genbench.types import Verdict


class VerdictFile:
    """The file verdicts.jsonl of a task, with an index of eight bytes for each sample.

    The file has the verdicts in the order in which the verifiers finished, not in the order of the
    completions. The verdicts together may be larger than the memory.

    Args:
        folder: the run folder.
        task: the name of the task.
        problem_ids: the problems whose verdicts are wanted.
        k: samples of each problem.

    Raises:
        RunFolderError: a line is damaged.
    """

    def __init__(self, folder: RunFolder, task: str, problem_ids: Sequence[str], k: int) -> None:
        self._k = k
        self._rows = {name: row for row, name in enumerate(problem_ids)}
        self._places = array("q", [-1]) * (len(problem_ids) * k)
        for place, verdict in folder.verdict_places(task):
            at = self._position(verdict.sample.problem_id, verdict.sample.sample_index)
            if at is not None:
                self._places[at] = place
        path = folder.verdict_path(task)
        self._file = path.open("rb") if path.exists() else None

    def get(self, problem_id: str, sample_index: int) -> Verdict | None:
        """Return the last verdict of a sample, or None if it has none."""
        at = self._position(problem_id, sample_index)
        if at is None or self._places[at] < 0 or self._file is None:
            return None
        self._file.seek(self._places[at])
        return verdict_from_record(json.loads(self._file.readline()))

    def _position(self, problem_id: str, sample_index: int) -> int | None:
        row = self._rows.get(problem_id)
        return None if row is None or sample_index >= self._k else row * self._k + sample_index

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
