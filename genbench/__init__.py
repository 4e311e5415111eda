"""Generative evaluation with vLLM whose differences can be trusted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from genbench import moved

if TYPE_CHECKING:
    from genbench.analysis.budgets import budgets
    from genbench.analysis.comparison.compare import compare
    from genbench.analysis.curves import curves
    from genbench.analysis.estimate import estimate
    from genbench.analysis.noise import noise
    from genbench.analysis.quality import quality
    from genbench.analysis.rank import rank
    from genbench.interop.logs.export import export
    from genbench.interop.logs.import_log import ImportChoice, import_scores
    from genbench.interop.logs.import_runs import import_logs
    from genbench.nights.trend.compose import track
    from genbench.pipeline import (
        RunOptions,
        RunReport,
        evaluate,
        latest_results,
        merge,
        prompts,
        run,
        score,
    )
    from genbench.reports.browse import SampleFilter, sample_rows, task_rows
    from genbench.reports.notebook import frame, plot
    from genbench.reports.write import report, report_text
    from genbench.runs.audit import audit
    from genbench.runs.contamination import contamination
    from genbench.runs.doctor import doctor
    from genbench.runs.execution.preflight import check_suite
    from genbench.runs.judge_check import check_judge
    from genbench.runs.mirror import mirror
    from genbench.runs.power import power
    from genbench.runs.rewards import close_verifiers, verify, verify_all
    from genbench.runs.stored.cut import cut_scores
    from genbench.runs.stored.spot_check import AnswerCheck
    from genbench.runs.stored.status import status
    from genbench.runs.training_overlap import overlap
    from genbench.tasks.catalogue import starter_suite, task_infos
    from genbench.team.watch.loop import Loop

    __version__: str

_PUBLIC = {
    "Loop": "watch.loop",
    "RunOptions": "pipeline",
    "RunReport": "pipeline",
    "run": "pipeline",
    "evaluate": "pipeline",
    "import_logs": "exchange.import_runs",
    "score": "pipeline",
    "prompts": "pipeline",
    "latest_results": "pipeline",
    "check_judge": "runs.judge_check",
    "check_suite": "runs.execution.preflight",
    "audit": "runs.audit",
    "contamination": "runs.contamination",
    "overlap": "runs.training_overlap",
    "doctor": "runs.doctor",
    "compare": "analysis.comparison.compare",
    "AnswerCheck": "runs.stored.spot_check",
    "estimate": "analysis.estimate",
    "merge": "pipeline",
    "mirror": "runs.mirror",
    "noise": "analysis.noise",
    "power": "runs.power",
    "status": "runs.stored.status",
    "close_verifiers": "runs.rewards",
    "verify": "runs.rewards",
    "verify_all": "runs.rewards",
    "rank": "analysis.rank",
    "report": "reports.write",
    "report_text": "reports.write",
    "export": "exchange.export",
    "import_scores": "exchange.import_log",
    "ImportChoice": "exchange.import_log",
    "task_rows": "reports.browse",
    "sample_rows": "reports.browse",
    "SampleFilter": "reports.browse",
    "task_infos": "tasks.catalogue",
    "starter_suite": "tasks.catalogue",
    "frame": "reports.notebook",
    "plot": "reports.notebook",
    "curves": "analysis.curves",
    "budgets": "analysis.budgets",
    "cut_scores": "runs.stored.cut",
    "quality": "analysis.quality",
    "track": "trend.compose",
}
"""Public name -> module. Each is loaded on first use, so that `import genbench` costs nothing."""

__all__ = [
    "AnswerCheck",
    "ImportChoice",
    "Loop",
    "RunOptions",
    "RunReport",
    "SampleFilter",
    "__version__",
    "audit",
    "budgets",
    "check_judge",
    "check_suite",
    "close_verifiers",
    "compare",
    "contamination",
    "curves",
    "cut_scores",
    "doctor",
    "estimate",
    "evaluate",
    "export",
    "frame",
    "import_logs",
    "import_scores",
    "latest_results",
    "merge",
    "mirror",
    "noise",
    "overlap",
    "plot",
    "power",
    "prompts",
    "quality",
    "rank",
    "report",
    "report_text",
    "run",
    "sample_rows",
    "score",
    "starter_suite",
    "status",
    "task_infos",
    "task_rows",
    "track",
    "verify",
    "verify_all",
]


moved.install()

if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return import_module("importlib.metadata").version("genbench")
        if name not in _PUBLIC:
            raise AttributeError(f"module 'genbench' has no attribute {name!r}")
        return getattr(import_module(f"genbench.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
