"""The models that play the simulated users of a run's tasks, next to the model under test. Experimental."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from genbench.errors import ConfigError, InputError
from genbench.judges.local import LocalJudge
from genbench.protocols import JudgeEngine
from genbench.suite.config import Decoding
from genbench.suite.judge import SimulatedUser
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.python.loops import UserLoop
from genbench.types import Question, Request

_TRACE_END = "</think>"


class SimulatedUsers:
    """The users of some tasks. Use it in `async with`: the engines are started, and closed at the end.

    Args:
        tasks: all tasks that are drawn. Those without a user are ignored.
        base: the suite's folder, from which paths of checkpoints start.
        work: folder in which a local engine writes its log.

    Raises:
        ConfigError: a task with a user does not say who plays it, or the user's model cannot be used.
        DataError: the user's model cannot be downloaded.
    """

    def __init__(self, tasks: Sequence[LoadedTask], base: Path, work: Path) -> None:
        self._engines: dict[str, JudgeEngine] = {}
        self._started = AsyncExitStack()
        self._of_task: dict[str, str] = {}
        for task in tasks:
            if isinstance(task.task, UserLoop):
                if task.task.user is None:
                    raise ConfigError(
                        f"{task.where}: options.user is missing: say which model plays the user, "
                        "'user: {model: {path: …, revision: …}}' or 'user: {server: {…}}'"
                    )
                key = task.task.user.model_dump_json()
                self._of_task[task.name] = key
                if key not in self._engines:
                    self._engines[key] = _engine(task.task.user, base, work, task.where)

    @property
    def records(self) -> dict[str, Mapping[str, Any]]:
        """Return who plays the user, by task."""
        return {name: dict(self._engines[key].record) for name, key in self._of_task.items()}

    async def reply(self, request: Request) -> str:
        """Return the user's next message, without a trace.

        Raises:
            RequestFailedError: the request is refused.
            RequestStuckError: no answer came in all tries.
        """
        engine = self._engines[self._of_task[request.sample.task]]
        question = Question(request.messages, {}, request.max_tokens, request.seed)
        text = await engine.reply(question)
        return text.rpartition(_TRACE_END)[2].strip()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as started:
            for engine in self._engines.values():
                started.push_async_callback(engine.close)
                await engine.start()
            self._started = started.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._started.aclose()


def _engine(user: SimulatedUser, base: Path, work: Path, where: str) -> JudgeEngine:
    decoding = Decoding(temperature=user.temperature, top_p=1.0, max_tokens=user.max_tokens)
    try:
        if user.model is not None:
            return LocalJudge(user.model, decoding, base, work, key="options.user.model")
        assert user.server is not None
        from genbench.engines.http.chat import ChatServer  # noqa: PLC0415  httpx takes 0.2 s

        return ChatServer(user.server, decoding, what="user server", key="options.user.server")
    except InputError as error:
        raise type(error)(f"{where}: {error}") from error
