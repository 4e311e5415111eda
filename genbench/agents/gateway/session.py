"""The rollouts of a run's agent tasks: the gateway, and the requests that the run makes for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from genbench.agents.gateway.gateway import Gateway, Hooks
from genbench.agents.tasks import AgentTask
from genbench.draw.draw_queue import Draw
from genbench.models.prepare import PreparedModel
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Complete, Completion, Message, Request, ToolOffer

_MODEL = "genbench"
"""The name under which harnesses ask for the model. It is the same for all, since prompts may show it."""


class AgentRollouts:
    """The rollouts of a run's agent tasks. Use it in `async with`.

    Args:
        tasks: all tasks that are drawn. Those without a harness are ignored.
        folder: where the logs of the harnesses go.
    """

    def __init__(self, model: PreparedModel, tasks: Sequence[LoadedTask], folder: Path) -> None:
        plans = {task.name: task.task.plan for task in tasks if isinstance(task.task, AgentTask)}
        self._model = model
        context = getattr(model.found, "context", None)
        self._gateway = Gateway(plans, folder, model=_MODEL, version=model.identity, context=context)

    async def run(
        self, draw: Draw, stored: Sequence[Completion], complete: Complete
    ) -> tuple[Request, str, bool]:
        """Run one rollout, see `draw.generation.Rollouts`."""
        maker = self._model.maker

        def ask(
            turn: int, messages: tuple[Message, ...] | str, offer: ToolOffer | None, most: int | None
        ) -> Request:
            return maker.of_chat(draw.task, draw.sample, turn, messages, offer, most)

        hooks = Hooks(ask, complete, self._model.reasoning.split)
        found = await self._gateway.run(draw.problem, draw.sample, stored, hooks)
        request = Request(
            sample=draw.sample,
            turn=found.turns,
            token_ids=(),
            seed=0,
            max_tokens=draw.task.decoding.max_tokens,
            prompt_digest=found.prompt_digest,
        )
        return request, found.text, found.was_cut_off

    @property
    def record(self) -> dict[str, Any]:
        """Return what is recorded of the attempt: how many requests were refused for a wrong key."""
        return {"refused_keys": self._gateway.refused} if self._gateway.refused else {}

    async def __aenter__(self) -> Self:
        await self._gateway.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._gateway.__aexit__(*error)
