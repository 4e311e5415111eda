"""A stored run as the opponent of pairs: its answers without their traces, and its identity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, GenbenchError, nearest
from genbench.models.prepare import Reasoning
from genbench.store.contract import differences, digest
from genbench.store.manifest import TaskRecord
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.tasks.loaded_task import LoadedTask


@dataclass(frozen=True, slots=True)
class Baseline:
    """Answers of one run to one task, by problem and then by sample index from 0.

    `name` and `identity` are of the run's model. `digest` is of the answers: other answers are another
    opponent.
    """

    name: str
    identity: str
    digest: str
    answers: Mapping[str, tuple[str, ...]]

    @property
    def record(self) -> dict[str, Any]:
        """Who the opponent is, for the manifest."""
        return {"name": self.name, "identity": self.identity, "digest": self.digest}

    def answer(self, problem_id: str, sample_index: int) -> str:
        """Return the opponent's answer to a sample: that of the same index, modulo the number of answers."""
        texts = self.answers[problem_id]
        return texts[sample_index % len(texts)]


def read_baseline(path: Path, task: LoadedTask) -> Baseline:
    """Return a task's answers in a stored run, without traces. A missing answer is an empty text.

    Raises:
        ConfigError: no run folder, another task than this one, or problems that it lacks.
    """
    try:
        run = StoredRun(path)
        described = run.manifest.tasks.get(task.name)
        if described is None:
            raise ConfigError(
                f"{path}: the run has no task '{task.name}'{nearest(task.name, run.manifest.tasks)}"
            )
        _check_same(path, described, task)
        answers = _answers(run.task(task.name), Reasoning.from_record(run.manifest.reasoning))
    except GenbenchError as error:
        raise ConfigError(f"baseline: {error}") from None
    lacking = [problem.problem_id for problem in task.problems if problem.problem_id not in answers]
    if lacking:
        raise ConfigError(
            f"baseline: {path}: has no answer to {len(lacking)} of {len(task.problems)} problems of "
            f"'{task.name}' (the first: {lacking[0]}); finish that run, or give --limit"
        )
    used = {problem.problem_id: answers[problem.problem_id] for problem in task.problems}
    # Of all answers of the run, so that another --limit here is not another opponent.
    return Baseline(run.manifest.model.name, run.manifest.model_identity, digest(answers)[:16], used)


def _check_same(path: Path, described: TaskRecord, task: LoadedTask) -> None:
    """Refuse answers to other prompts or other rows."""
    theirs = {"version": described.version, "data": described.data_digest}
    ours = {"version": task.task.info.version, "data": task.provenance.get("digest")}
    lines = differences(theirs, ours, f"tasks.{task.name}")
    if lines:
        raise ConfigError(
            f"{path}: its '{task.name}' is another task (stored -> wanted): {'; '.join(lines)}; "
            "give a run of this very task"
        )


def _answers(task: StoredTask, reasoning: Reasoning) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for item in task.all_completions():
        if item.finish_reason == "error":
            continue
        answer = reasoning.split(item)
        text = "" if answer.trace_status == "unclosed" else answer.text.strip()
        found[item.sample.problem_id][item.sample.sample_index] = text
    return {problem: tuple(texts[index] for index in sorted(texts)) for problem, texts in found.items()}
