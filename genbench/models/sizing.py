"""Generated prompts made as long as their lengths allow, counted with a model's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from genbench.generators.counting import PieceCounts, nominal_tokens
from genbench.models.prepared import PromptMeasure
from genbench.tasks.askcache import AskCache
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.loaded import LoadedTask

_CHARACTERS = 4_000_000
"""Characters of generated prompts that are kept. Each is asked for a few times in a row, then never again."""


def sized_tasks(tasks: Sequence[LoadedTask], measure: PromptMeasure | None) -> list[LoadedTask]:
    """Return the tasks with the sizes of their generated prompts. Other tasks stay as they are.

    Args:
        measure: counts with the tokenizer of the model. Without one, four characters count as a token.

    Raises:
        DataError: a length is too small for a task.
    """
    return [
        _sized(task, task.task, measure) if isinstance(task.task, GeneratedTask) else task for task in tasks
    ]


def _sized(task: LoadedTask, generated: GeneratedTask, measure: PromptMeasure | None) -> LoadedTask:
    around, per_message = (0, 0) if measure is None else measure.overhead(task.name)
    counts = PieceCounts(nominal_tokens if measure is None else measure.tokens, per_message)
    # The cache is made anew: the task may have been asked before its prompts had a size.
    return replace(task, problems=generated.sized(task.problems, counts, around), asked=AskCache(_CHARACTERS))
