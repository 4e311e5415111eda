"""The engine that answers for a judge: on this machine, or behind a server."""

from __future__ import annotations

from pathlib import Path

from genbench.engines.http.chat import ChatServer
from genbench.judges.local import LocalJudge
from genbench.judges.spec import JudgeSpec
from genbench.protocols import JudgeEngine
from genbench.suite.judge import JudgeConfig, JudgeModel


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
    return ChatServer(engine, spec.file.decoding)
