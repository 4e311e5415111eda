"""The engines of a run's judges: each is started when its first question comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from genbench.errors import EngineError, GenbenchError
from genbench.judges.calibration import ask_canary, pin_path
from genbench.judges.judge import Judge
from genbench.judges.local import LocalJudge
from genbench.judges.spec import JudgeSpec
from genbench.protocols import JudgeEngine
from genbench.safetext.redaction import hidden_message
from genbench.suite.judge import JudgeConfig, JudgeModel
from genbench.suite.suitefile import Suite


def build_engine(spec: JudgeSpec, over: JudgeConfig, base: Path, work: Path) -> JudgeEngine:
    """Build the engine of a judge without starting it.

    Args:
        over: the suite's block. Paths in it are relative to `base`, those of a judge file to its folder.
        work: folder in which a local engine writes its log.

    Raises:
        ConfigError: a missing API key, weights other than the pinned ones, a wrong engine key.
    """
    engine = spec.engine
    if isinstance(engine, JudgeModel):
        place = base if over.model is not None else spec.path.parent
        return LocalJudge(engine, spec.file.decoding, place, work)
    from genbench.engines.http.chat import ChatServer  # noqa: PLC0415  httpx takes 0.2 s

    return ChatServer(engine, spec.file.decoding)


class JudgeEngines:
    """Engines shared by all judges with the same model and decoding. At most one local engine is loaded.

    Args:
        work: folder in which a local engine writes its log.

    Raises:
        ConfigError: a missing API key, weights other than the pinned ones, a wrong engine key.
    """

    def __init__(self, suite: Suite, judges: Iterable[Judge], work: Path) -> None:
        self._folder = suite.folder
        self._built: dict[str, JudgeEngine] = {}
        for judge in judges:
            if (key := _key(judge.spec)) not in self._built:
                self._built[key] = build_engine(judge.spec, suite.config.judge, suite.folder, work)
        self._places = {key: asyncio.Semaphore(engine.workers) for key, engine in self._built.items()}
        self._started: set[str] = set()
        self._failures: dict[str, GenbenchError] = {}
        self._canaries: dict[str, dict[str, Any]] = {}
        self._lock = asyncio.Lock()

    async def answers(self, limit_s: float) -> list[str]:
        """Ask each judge's server which models it serves. Return a line each; `!` begins a warning.

        A server that does not answer now may do so when a run asks its first question.

        Args:
            limit_s: seconds after which a server counts as silent.

        Raises:
            ConfigError: a server refuses the key, or does not serve the model.
        """
        from genbench.engines.http.chat import ChatServer  # noqa: PLC0415  httpx takes 0.2 s

        lines: list[str] = []
        for engine in self._built.values():
            if not isinstance(engine, ChatServer):
                continue
            place = hidden_message(f"{engine.settings.model} at {engine.settings.base_url}")
            try:
                async with asyncio.timeout(limit_s):
                    await engine.start()
                lines.append(f"{place} answers")
            except TimeoutError:
                lines.append(
                    f"!{place} did not answer within {limit_s:g} s; it must when the first answer is judged"
                )
            except EngineError as error:
                lines.append(f"!{error}")
            finally:
                await engine.close()
        return lines

    async def started(self, judge: Judge) -> JudgeEngine:
        """Return the judge's running engine. The first call starts it and asks the judge its canary.

        Raises:
            EngineError: it cannot be started. Later calls raise the same error without another try.
            ConfigError: a server does not serve the model.
        """
        key = _key(judge.spec)
        async with self._lock:
            if key in self._failures:  # every waiting sample comes by; one failed start is enough
                raise self._failures[key]
            if key not in self._started:
                await self._start(key)
            engine = self._built[key]
            if judge.digest not in self._canaries:
                found = await ask_canary(judge, engine, pin_path(judge.spec, self._folder))
                self._canaries[judge.digest] = found or {}
        return engine

    def place(self, judge: Judge) -> asyncio.Semaphore:
        """Return the places for samples whose questions are asked one after another.

        There are as many as questions are answered at the same time. With more samples at work, the engine's
        prefix cache would have lost what the next question about a sample has in common with the last one.
        """
        return self._places[_key(judge.spec)]

    async def _start(self, key: str) -> None:
        engine = self._built[key]
        if isinstance(engine, LocalJudge):
            await self._close_local()
        try:
            await engine.start()
        except GenbenchError as error:
            self._failures[key] = error
            raise
        self._started.add(key)

    async def _close_local(self) -> None:
        """Close the loaded local engine: two do not fit on one GPU."""
        for key in list(self._started):
            engine = self._built[key]
            if isinstance(engine, LocalJudge):
                await engine.close()
                self._started.discard(key)

    def was_started(self, judge: Judge) -> bool:
        """Return whether the judge's engine is running."""
        return _key(judge.spec) in self._started

    def record(self, judge: Judge) -> dict[str, Any]:
        """Return who answers for the judge, for the manifest."""
        return dict(self._built[_key(judge.spec)].record)

    def canary(self, judge: Judge) -> Mapping[str, Any]:
        """Return what the judge's canary said in this run. It is empty if no case was asked."""
        return self._canaries.get(judge.digest, {})

    async def close(self) -> None:
        """Close every engine."""
        for engine in self._built.values():
            await engine.close()


def _key(spec: JudgeSpec) -> str:
    """Return what two judges must have in common to share an engine: model, its folder, and decoding."""
    engine, decoding = spec.engine.model_dump(mode="json"), spec.file.decoding.model_dump(mode="json")
    return json.dumps([engine, str(spec.path.parent), decoding])
