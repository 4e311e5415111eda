"""Whether an engine can score given texts."""

from __future__ import annotations

from genbench.errors import EngineError
from genbench.protocols import Engine, ScoringEngine
from genbench.types import ScoreRequest


def scoring(engine: Engine, request: ScoreRequest) -> ScoringEngine:
    """Return an engine as one that scores given texts.

    Raises:
        EngineError: it has no method for that.
    """
    if not isinstance(engine, ScoringEngine):
        raise EngineError(
            f"task {request.sample.task} scores given texts, and {type(engine).__name__} has no method "
            "`score`; use engine.kind vllm"
        )
    return engine
