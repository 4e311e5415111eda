"""One engine for several models in turn: a checkpoint and its adapters are loaded once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

from genbench.engines.settings import EngineSettings
from genbench.errors import EngineDiedError
from genbench.protocols import Engine
from genbench.types import Completion, Request


class Servant(Engine, Protocol):
    """An engine that can go on with another model's adapter and decoding."""

    def serve(self, settings: EngineSettings) -> None: ...


class EngineKeeper:
    """Keeps engines between models that share them. A context: what it keeps is closed at its end.

    Engines of another checkpoint or of other arguments are closed before a new one loads, since both
    would not fit.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[EngineSettings, Servant]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close_others(None)

    def borrow(self, make: Callable[[EngineSettings], Servant], settings: EngineSettings) -> Engine:
        """An engine like any other, which loads nothing where one of its kind is up already."""
        return _Borrowed(self, make, settings)

    async def take(self, make: Callable[[EngineSettings], Servant], settings: EngineSettings) -> Servant:
        """A started engine that serves `settings`; it is the borrower's until it comes back."""
        wanted = _kind(settings)
        for place, (kind, engine) in enumerate(self._kept):
            if kind == wanted:
                del self._kept[place]
                engine.serve(settings)
                return engine
        await self._close_others(wanted)
        fresh = make(settings)
        try:
            await fresh.start()
        except BaseException:
            await fresh.close()
            raise
        return fresh

    def give_back(self, settings: EngineSettings, engine: Servant) -> None:
        self._kept.append((_kind(settings), engine))

    async def _close_others(self, wanted: EngineSettings | None) -> None:
        """All but replicas of the same kind."""
        kept, self._kept = self._kept, []
        for kind, engine in kept:
            if wanted is not None and replace(kind, replica=wanted.replica) == wanted:
                self._kept.append((kind, engine))
            else:
                await engine.close()


class _Borrowed:
    def __init__(
        self, keeper: EngineKeeper, make: Callable[[EngineSettings], Servant], settings: EngineSettings
    ) -> None:
        self._keeper, self._make, self._settings = keeper, make, settings
        self._engine: Servant | None = None
        self._dead = False

    async def start(self) -> None:
        self._engine = await self._keeper.take(self._make, self._settings)

    async def generate(self, request: Request, attempt: int) -> Completion:
        if self._engine is None:
            raise EngineDiedError("the engine is not running")
        try:
            completion = await self._engine.generate(request, attempt)
        except EngineDiedError:
            self._dead = True
            raise
        self._dead = self._dead or completion.finish_reason == "abort"
        return completion

    async def close(self) -> None:
        """Back to the keeper, unless it is dead."""
        engine, self._engine = self._engine, None
        if engine is not None and self._dead:
            await engine.close()
        elif engine is not None:
            self._keeper.give_back(self._settings, engine)


def _kind(settings: EngineSettings) -> EngineSettings:
    """What an engine is loaded with, without what it can change while it is up."""
    return replace(settings, adapter=None, decodings={}, work=Path())
