"""The engine that a judge asks: on this machine, or behind a server."""

from __future__ import annotations

from pathlib import Path

from genbench.engines.http_chat import ChatServer
from genbench.judges.file import JudgeSpec
from genbench.judges.local import LocalJudge
from genbench.protocols import JudgeEngine
from genbench.suite.config import JudgeConfig, JudgeModel


def build_engine(spec: JudgeSpec, over: JudgeConfig, base: Path, work: Path) -> JudgeEngine:
    """The engine's handle, not started: a missing key or other weights are told here.

    Args:
        over: the suite's block; paths in it are relative to `base`, those of a judge file to its folder.
        work: where a local engine writes its log.
    """
    engine = spec.engine
    if isinstance(engine, JudgeModel):
        place = base if over.model is not None else spec.path.parent
        return LocalJudge(engine, spec.file.decoding, place, work)
    return ChatServer(engine, spec.file.decoding)
