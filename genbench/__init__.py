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
    "check_judge": "runs.judgecheck",
    "check_suite": "runs.preflight",
    "doctor": "runs.preflight",
    "compare": "analysis.compare",
    "estimate": "analysis.estimate",
    "merge": "pipeline",
    "noise": "analysis.noise",
    "power": "runs.power",
    "status": "runs.status",
    "rank": "analysis.rank",
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
