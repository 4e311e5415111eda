"""Stored samples with their reasoning traces split off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from genbench.models.traces import Reasoning
from genbench.store.stored_run import Sample, StoredRun, Turn

WITHHELD = "[left out: prompts and answers of this task may do harm; --with-sensitive includes them]"
"""What stands for a text of a sensitive task in reports and exports."""


def task_samples(run: StoredRun, task: str, problem_id: str | None = None) -> Iterator[Sample]:
    """Yield the samples in force of a task, or of one of its problems, one at a time.

    Raises:
        RunFolderError: a damaged line, or no such task.
    """
    reasoning = Reasoning.from_record(run.manifest.reasoning)
    return run.task(task).samples(reasoning.split, problem_id)


def withholds(run: StoredRun, task: str, *, with_sensitive: bool) -> bool:
    """Return whether the texts of a task are left out of what others read."""
    described = run.manifest.tasks.get(task)
    return described is not None and described.sensitive and not with_sensitive


def withheld(sample: Sample) -> Sample:
    """Return a sample without its texts: prompt, trace, answers, and the detail of its verdict.

    Score, status and counts of tokens stay. A judge's reply may quote the answer, so it goes as well.
    """
    verdict = sample.verdict
    return replace(
        sample,
        turns=tuple(_withheld_turn(turn) for turn in sample.turns),
        verdict=None if verdict is None else replace(verdict, extracted=None, detail={}),
        prompt=None if sample.prompt is None else WITHHELD,
        reference=None if sample.reference is None else WITHHELD,
        recipe=None,
    )


def _withheld_turn(turn: Turn) -> Turn:
    answer, completion = turn.answer, turn.completion
    return replace(
        turn,
        completion=replace(
            completion, text=WITHHELD, prompt=None if completion.prompt is None else WITHHELD, offsets=()
        ),
        answer=replace(
            answer, text=WITHHELD if answer.text else "", trace=WITHHELD if answer.trace else "", logged=None
        ),
    )
