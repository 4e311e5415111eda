"""Place engines on the GPUs: one engine a place, for the models of a command one after another."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from genbench.engines.kind import EngineSettings
from genbench.errors import EngineDiedError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId, ScoreRequest


@dataclass(slots=True)
class LoadedEngine:
    """An engine on its place.

    Args:
        key: what it is loaded with. No other model may use an engine without a key.
        users: the models that use it now.
        in_flight: requests of all of them.
    """

    key: object | None
    engine: Engine
    users: list[EngineLease] = field(default_factory=list)
    in_flight: int = 0
    is_dead: bool = False

    def add(self, user: EngineLease) -> None:
        """Record that one more model uses the engine."""
        for other in self.users:
            other.shared_with.add(user.model)
            user.shared_with.add(other.model)
        self.users.append(user)


class EnginePlace:
    """The devices of one replica. One engine at a time is loaded on them."""

    def __init__(self) -> None:
        self._loaded: LoadedEngine | None = None
        self._lock = asyncio.Lock()
        self._freed = asyncio.Event()
        self.waiting = 0
        """Models that wait until the engine on this place is closed."""

    async def take(self, key: object | None, load: Callable[[], Any], user: EngineLease) -> LoadedEngine:
        """Return the engine of this place for one more model. Load it if no engine with this key is up.

        Wait if models with another key use the place.

        Args:
            load: a coroutine function that returns a started engine.
        """
        while True:
            async with self._lock:
                loaded = self._loaded
                if loaded is not None and not loaded.users and not self._fits(loaded, key):
                    await self._unload(loaded)
                if self._loaded is None:
                    self._loaded = LoadedEngine(key, await load())
                if self._fits(self._loaded, key) or not self._loaded.users:
                    self._loaded.add(user)
                    return self._loaded
                self._freed.clear()
            self.waiting += 1
            try:
                await self._freed.wait()
            finally:
                self.waiting -= 1

    @staticmethod
    def _fits(loaded: LoadedEngine, key: object | None) -> bool:
        return key is not None and loaded.key == key and not loaded.is_dead

    async def give_back(self, loaded: LoadedEngine, user: EngineLease) -> None:
        """End the use by one model. Close the engine if no model can use it any more."""
        loaded.users.remove(user)
        if not loaded.users and (loaded.key is None or loaded.is_dead):
            async with self._lock:
                await self._unload(loaded)
        self._freed.set()

    async def close(self) -> None:
        """Close the engine, if one is up."""
        async with self._lock:
            if self._loaded is not None:
                await self._unload(self._loaded)

    async def _unload(self, loaded: LoadedEngine) -> None:
        if self._loaded is loaded:
            self._loaded = None
            await loaded.engine.close()


class LoadTurns:
    """Lets the engines of one model load together, and those of another model after them.

    What an engine prints while it loads is sent to its model's log, for the whole process.
    """

    def __init__(self) -> None:
        self._owner: str | None = None
        self._count = 0
        self._changed = asyncio.Condition()

    async def load(self, owner: str, engine: Engine) -> None:
        """Start an engine of the model `owner` as soon as no other model's engine is loading."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._count == 0 or self._owner == owner)
            self._owner = owner
            self._count += 1
        try:
            await engine.start()
        finally:
            self._count -= 1
            async with self._changed:
                self._changed.notify_all()


@dataclass(slots=True)
class EngineKeeper:
    """The places of a command's engines. It is a context, which closes all engines at its end.

    Several models of one command may draw at the same time: the next one begins on places where the one
    before ran dry, or with its engine if both share it.
    """

    _places: defaultdict[str, EnginePlace] = field(default_factory=lambda: defaultdict(EnginePlace))
    _turns: LoadTurns = field(default_factory=LoadTurns)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for place in self._places.values():
            await place.close()

    def lease(self, settings: EngineSettings, name: str = "", model: str = "") -> EngineLease:
        """Return an engine like any other, that waits for its place and shares an engine that is up.

        Args:
            name: the replica's name, which is that of its place.
            model: the name of the model that uses it.
        """
        return EngineLease(self._places[name], partial(self._load, settings, model), settings, model)

    async def _load(self, settings: EngineSettings, model: str) -> Engine:
        """Return a started engine.

        Raises:
            EngineError: it cannot be started.
        """
        fresh: Engine = settings.make()
        if settings.share_key is not None and type(fresh).serve is Engine.serve:
            fresh.serve(settings)  # raises: there is no use in loading it
        try:
            await self._turns.load(model, fresh)
        except BaseException:
            await fresh.close()
            raise
        return fresh


class EngineLease(Engine):
    """The use of an engine by one model. Closing the lease frees the engine for others."""

    def __init__(
        self, place: EnginePlace, load: Callable[[], Any], settings: EngineSettings, model: str
    ) -> None:
        self._place, self._load, self._settings, self.model = place, load, settings, model
        self.shared_with: set[str] = set()
        """The models that used the engine at the same time."""
        self._loaded: LoadedEngine | None = None
        self._engine: Engine | None = None
        self._own = 0

    async def start(self) -> None:
        """Take the engine of the place, which may have to be loaded first."""
        key = self._settings.share_key
        loaded = await self._place.take(key, self._load, self)
        self._loaded = loaded
        self._engine = loaded.engine if key is None else loaded.engine.serve(self._settings)
        if key is not None:
            await self._engine.start()

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request, as the engine does."""
        with self._busy() as engine:
            return await engine.generate(request, attempt)

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the scores of given texts, as the engine does.

        Raises:
            EngineError: the engine cannot score texts.
        """
        with self._busy() as engine:
            return await engine.score(request, attempt)

    @contextmanager
    def _busy(self) -> Iterator[Engine]:
        """Yield the engine for one request, which counts as in flight."""
        loaded, engine = self._loaded, self._engine
        if loaded is None or engine is None:
            raise EngineDiedError("the engine is not running")
        loaded.in_flight += 1
        self._own += 1
        try:
            yield engine
        except EngineDiedError:
            loaded.is_dead = True
            raise
        finally:
            loaded.in_flight -= 1
            self._own -= 1

    @property
    def others_in_flight(self) -> int:
        """Return how many requests of other models are in the engine."""
        return 0 if self._loaded is None else self._loaded.in_flight - self._own

    @property
    def is_wanted(self) -> bool:
        """Tell whether another model waits until this engine is closed."""
        return self._loaded is not None and self._place.waiting > 0

    @property
    def tokens_made(self) -> int:
        """Return the tokens that the engine has made so far, or 0 if it does not count them."""
        return 0 if self._engine is None else self._engine.tokens_made

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens fit into the engine's KV cache, or None if unknown."""
        return None if self._engine is None else self._engine.kv_tokens

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine tells of itself. It is empty if it tells nothing."""
        facts = {} if self._engine is None else self._engine.facts
        return {**facts, "shared_with": sorted(self.shared_with)} if self.shared_with else facts

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the engine computes a sample already. True if it cannot tell."""
        return self._engine is None or self._engine.has_begun(sample)

    async def close(self) -> None:
        """Free the engine. It is closed if it is dead, or if no other model can use it."""
        loaded, self._loaded = self._loaded, None
        engine, self._engine = self._engine, None
        if loaded is None or engine is None:
            return
        if engine is not loaded.engine:
            await engine.close()
        await self._place.give_back(loaded, self)


def engine_makers(
    settings: EngineSettings, keeper: EngineKeeper, model: str
) -> Mapping[str, Callable[[], Engine]]:
    """Return the factory of each engine that works in parallel, by its name."""
    if settings.share_key is None and not settings.gives_way:
        return {name: member.make for name, member in settings.members.items()}
    return {name: partial(keeper.lease, member, name, model) for name, member in settings.members.items()}
