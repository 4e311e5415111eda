"""The requests of a suite as records, for engines that run elsewhere.

`genbench prompts SUITE --json` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from genbench.json_record import Count, JsonRecord
from genbench.models.prepare import PromptedModel, prepare_prompts, sized_tasks
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask


class MessageRecord(JsonRecord):
    """One message of a chat."""

    role: Literal["system", "user", "assistant", "tool"] = Field(description="who says it")
    content: str = Field(description="what is said")


class RequestRecord(JsonRecord):
    """The first request of one sample, for engines that run elsewhere."""

    model: str = Field(description="name of the model in the suite")
    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    turn: Count = Field(description="index of the turn; always 0")
    turns: Count = Field(description="turns of the whole conversation")
    seed: Count = Field(description="seed of the request")
    messages: tuple[MessageRecord, ...] = Field(description="the chat before the chat template")
    tools: tuple[dict[str, Any], ...] = Field(
        default=(), description="schemas of the functions that a server must render; empty without any"
    )
    prompt: str = Field(description="the chat after the chat template")
    prompt_token_ids: tuple[int, ...] = Field(
        description="token ids of the prompt; empty if a server makes them"
    )
    prompt_digest: str = Field(description="digest of the prompt, which completions carry too")
    option_order: tuple[int, ...] | None = Field(
        description="order of the options of a choice (indices into the row's options); null for other kinds"
    )
    decoding: dict[str, Any] = Field(description="sampling fields, with max_tokens after clamping")


def suite_requests(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> Iterator[RequestRecord]:
    """Yield the records of one model of a suite. The engine need not be installed.

    Raises:
        InputError: the model's files or a prompt cannot be used.
    """
    return request_records(prepare_prompts(suite, name, tasks), tasks)


def request_records(model: PromptedModel, tasks: Sequence[LoadedTask]) -> Iterator[RequestRecord]:
    """Yield one record for the first turn of each sample: identity, messages, token ids, seed, decoding."""
    for task in sized_tasks([task for task in tasks if task.is_drawn], model.measure):
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
