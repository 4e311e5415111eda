"""Estimate how long each problem's completions will be, from a stored run. The queue is ordered by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import InputError
from genbench.store.contract import digest
from genbench.store.stored_run import StoredRun, StoredTask


@dataclass(frozen=True, slots=True)
class Lengths:
    """Mean completion tokens of a sample, by task and problem. They were counted in the run at `path`."""

    path: Path
    run_id: str
    model: str
    tokens: Mapping[str, Mapping[str, float]]

    def of(self, task: str, problem_id: str, max_tokens: int) -> float:
        """Return the expected tokens of one sample. A problem without a stored one counts as the longest."""
        return min(self.tokens.get(task, {}).get(problem_id, float(max_tokens)), float(max_tokens))

    @property
    def record(self) -> dict[str, Any]:
        """Return the rule for the record of an attempt. Runs with equal lengths have equal records."""
        rounded = {
            task: {name: round(value, 1) for name, value in sorted(problems.items())}
            for task, problems in self.tokens.items()
        }
        return {
            "rule": "longest expected problem first, by the mean tokens of a stored run",
            "run_id": self.run_id,
            "model": self.model,
            "digest": digest(rounded)[:16],
        }


BY_TASK: Mapping[str, Any] = {"rule": "longest expected task first, by max_tokens; among equals code first"}
"""The rule if no stored run is named."""


def read_lengths(path: Path) -> Lengths:
    """Average the completion tokens of a stored run.

    Raises:
        InputError: it is no run folder, a line is damaged, or its tokens were not counted.
    """
    run = StoredRun(path)
    found = {task: _task_lengths(run.task(task)) for task in run.manifest.tasks}
    if not any(found.values()):
        raise InputError(f"{path}: has no completion whose tokens were counted; name another run")
    return Lengths(path, run.manifest.run_id, run.manifest.model.name, found)


def _task_lengths(task: StoredTask) -> dict[str, float]:
    """Return the mean tokens of each problem's samples, all turns added, in the order of the folder."""
    tokens: Counter[str] = Counter()
    samples: Counter[str] = Counter()
    for item in task.all_completions():
        if item.completion_tokens is not None:
            tokens[item.sample.problem_id] += item.completion_tokens
            samples[item.sample.problem_id] += item.turn == 0
    return {name: total / max(samples[name], 1) for name, total in tokens.items()}
