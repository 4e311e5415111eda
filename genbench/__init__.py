"""Generative evaluation with vLLM whose differences can be trusted."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_VERBS = {
    "RunOptions": "pipeline",
    "RunReport": "pipeline",
    "run": "pipeline",
    "score": "pipeline",
    "prompts": "pipeline",
    "latest_results": "pipeline",
    "check_judge": "judgecheck",
    "check_suite": "preflight",
    "doctor": "preflight",
    "compare": "comparison",
    "estimate": "estimation",
    "merge": "pipeline",
    "noise": "noiseband",
    "power": "planning",
    "status": "watching",
    "rank": "ranking",
}
"""Public name -> room. Loaded on first use, so that `import genbench` costs nothing."""

__all__ = [
    "RunOptions",
    "RunReport",
    "check_judge",
    "check_suite",
    "compare",
    "doctor",
    "estimate",
    "latest_results",
    "merge",
    "noise",
    "power",
    "prompts",
    "rank",
    "run",
    "score",
    "status",
]


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module 'genbench' has no attribute {name!r}")
    return getattr(import_module(f"genbench.{_VERBS[name]}"), name)
