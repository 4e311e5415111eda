"""Engines that outlive their model: a checkpoint and its adapters are loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

from genbench.engines.kind import EngineSettings
from genbench.errors import EngineDiedError, EngineError
from genbench.protocols import DescribedEngine, Engine, SizedEngine
from genbench.types import Completion, Request, SampleId


@runtime_checkable
class SharedEngine(Protocol):
    """An engine that can go on with the adapter and the decoding of another model."""

    async def start(self) -> None:
        """Load the model. Raise EngineError if it cannot be loaded."""
        ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of a request.

        Raises:
            EngineDiedError: the engine has died and must be started again.
        """
        ...

    async def close(self) -> None:
        """Free the devices of the engine."""
        ...

    def serve(self, settings: Any) -> None:
        """Go on with another model. Its settings have an equal `share_key`."""
        ...


class EngineKeeper:
    """Keeps engines between models that share them. It is a context, which closes them at its end.

    Engines of another checkpoint or with other arguments are closed before a new one loads, since both
    would not fit in memory.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[object, int], SharedEngine]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close_others(None)

    def lease(self, settings: EngineSettings, key: tuple[object, int]) -> EngineLease:
        """Return an engine like any other. It loads nothing if an engine with an equal key is up already."""
        return EngineLease(self, settings, key)

    async def take(self, settings: EngineSettings, key: tuple[object, int]) -> SharedEngine:
        """Return a started engine that serves `settings`. It belongs to the caller until `give_back`.

        Raises:
            EngineError: a new engine cannot be started.
        """
        for place, (kept, engine) in enumerate(self._kept):
            if kept == key:
                del self._kept[place]
                engine.serve(settings)
                return engine
        await self._close_others(key)
        fresh = settings.make()
        if not isinstance(fresh, SharedEngine):
            raise EngineError(f"{type(fresh).__name__} has a share_key and no method 'serve'; add one")
        try:
            await fresh.start()
        except BaseException:
            await fresh.close()
            raise
        return fresh

    def give_back(self, key: tuple[object, int], engine: SharedEngine) -> None:
        """Keep an engine for the next model."""
        self._kept.append((key, engine))

    async def _close_others(self, wanted: tuple[object, int] | None) -> None:
        """Close all engines that are not replicas of the wanted one."""
        kept, self._kept = self._kept, []
        for key, engine in kept:
            if wanted is not None and key[0] == wanted[0]:
                self._kept.append((key, engine))
            else:
                await engine.close()


class EngineLease:
    """The use of a kept engine by one model. Closing the lease returns the engine to its keeper."""

    def __init__(self, keeper: EngineKeeper, settings: EngineSettings, key: tuple[object, int]) -> None:
        self._keeper, self._settings, self._key = keeper, settings, key
        self._engine: SharedEngine | None = None
        self._dead = False

    async def start(self) -> None:
        """Take the engine from the keeper, which may have to load it."""
        self._engine = await self._keeper.take(self._settings, self._key)

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request, as the engine does."""
        if self._engine is None:
            raise EngineDiedError("the engine is not running")
        try:
            return await self._engine.generate(request, attempt)
        except EngineDiedError:
            self._dead = True
            raise

    @property
    def tokens_made(self) -> int:
        """Return the tokens that the engine has made so far, or 0 if it does not count them."""
        return int(getattr(self._engine, "tokens_made", 0))

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens the engine's KV cache holds, or None if unknown."""
        engine: object = self._engine
        return engine.kv_tokens if isinstance(engine, SizedEngine) else None

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine tells of itself. It is empty if it tells nothing."""
        engine: object = self._engine
        return engine.facts if isinstance(engine, DescribedEngine) else {}

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the engine computes a sample already. True if it cannot tell."""
        engine: object = self._engine
        return engine.has_begun(sample) if isinstance(engine, SizedEngine) else True

    async def close(self) -> None:
        """Return the engine to the keeper, or close it if it is dead."""
        engine, self._engine = self._engine, None
        if engine is not None and self._dead:
            await engine.close()
        elif engine is not None:
            self._keeper.give_back(self._key, engine)


def engine_makers(settings: EngineSettings, keeper: EngineKeeper) -> Mapping[str, Callable[[], Engine]]:
    """Return the factory of each engine that works in parallel, by its name."""
    return {name: partial(_engine, member, keeper) for name, member in settings.members.items()}


def _engine(settings: EngineSettings, keeper: EngineKeeper) -> Engine:
    key = settings.share_key
    return settings.make() if key is None else keeper.lease(settings, key)
