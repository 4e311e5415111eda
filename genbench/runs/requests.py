"""The requests of a suite as records, for engines that run elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genbench.models.prepare import prepare_prompts
from genbench.models.prepared import PromptedModel
from genbench.models.sizing import sized_tasks
from genbench.runs.request_record import MessageRecord, RequestRecord
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask


def suite_requests(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> Iterator[RequestRecord]:
    """Yield the records of one model of a suite. The engine need not be installed.

    Raises:
        InputError: the model's files or a prompt cannot be used.
    """
    return request_records(prepare_prompts(suite, name, tasks), tasks)


def request_records(model: PromptedModel, tasks: Sequence[LoadedTask]) -> Iterator[RequestRecord]:
    """Yield one record for the first turn of each sample: identity, messages, token ids, seed, decoding."""
    for task in sized_tasks(tasks, model.measure):
        decoding = task.decoding.model_dump(mode="json", exclude={"seed"})
        for problem in task.problems:
            for index in range(task.k):
                ask = task.ask(problem, index, ())
                request = model.maker.request(task, problem, index, ())
                if ask is None or request is None:
                    raise AssertionError("a problem has a first turn")
                yield RequestRecord(
                    model=model.name,
                    task=task.name,
                    problem_id=problem.problem_id,
                    sample_index=index,
                    turn=0,
                    turns=problem.turns,
                    seed=request.seed,
                    messages=tuple(MessageRecord(role=m.role, content=m.content) for m in ask.messages),
                    tools=tuple(dict(tool) for tool in request.tools),
                    prompt=request.prompt,
                    prompt_token_ids=tuple(request.token_ids),
                    prompt_digest=request.prompt_digest,
                    option_order=tuple(ask.order) if ask.order is not None else None,
                    decoding={**decoding, "max_tokens": request.max_tokens},
                )
