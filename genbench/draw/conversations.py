"""Ready responses of several turns: what the model was shown after its own replies, kept for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from genbench.models.prepared import PreparedModel
from genbench.tasks.loaded import LoadedTask
from genbench.types import Completion, Problem, SampleId


def with_prompts(
    items: Iterable[Completion], tasks: Sequence[LoadedTask], model: PreparedModel
) -> Iterator[Completion]:
    """The completions, those of later turns with their prompt; a conversation's once all its turns are in."""
    by_name = {task.name: task for task in tasks}
    long = {
        SampleId(task.name, problem.problem_id, index): problem
        for task in tasks
        for problem in task.problems
        if problem.turns > 1
        for index in range(task.k)
    }
    begun: defaultdict[SampleId, list[Completion]] = defaultdict(list)
    for item in items:
        problem = long.get(item.sample)
        if problem is None:
            yield item
            continue
        begun[item.sample].append(item)
        if len(begun[item.sample]) == problem.turns:
            yield from _prompted(begun.pop(item.sample), by_name[item.sample.task], problem, model)
    for rest in begun.values():
        yield from rest


def _prompted(
    turns: list[Completion], task: LoadedTask, problem: Problem, model: PreparedModel
) -> Iterator[Completion]:
    replies: list[str] = []
    for item in sorted(turns, key=lambda item: item.turn):
        request = model.maker.request(task, problem, item.sample.sample_index, replies) if replies else None
        yield item if request is None else replace(item, prompt=request.prompt)
        replies.append(model.reasoning.split(item).text)
