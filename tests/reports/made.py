"""Records of results, judges and comparisons for tests of texts, without a run."""

from __future__ import annotations

from typing import Any

from genbench.analysis.results.record import Results, TaskResults, TokenSums, TotalsRecord
from genbench.reports.record import Report, ReportedRun
from genbench.store.manifest import VerifierRecord

TASK = TaskResults(
    metric="avg@2",
    value=0.5,
    n=10,
    k=2,
    se=0.1,
    ci=(0.3, 0.7),
    ci_method="bootstrap (10,000 draws)",
    rerun_ci=(0.45, 0.55),
    rerun_ci_method="normal",
    excluded=0,
    bounds=None,
    missing=None,
    metrics={},
    samples=20,
    lacking=0,
    status_counts={"correct": 10, "wrong": 10},
    trace_counts={"closed": 20},
    truncated_share=0.0,
    clamped=0,
    tokens=TokenSums(prompt=40, completion=100, trace=60, answer=40, per_correct=10.0),
    strata={},
    of=10,
    role="validation",
    chance=None,
    verifier=VerifierRecord(name="exact", version="1", digest="d"),
)
TOTALS = TotalsRecord(
    samples=20,
    drawn=20,
    drawn_now=15,
    reused_now=5,
    attempts=1,
    generation_s=2.0,
    seconds=3.0,
    tokens_per_s=50.0,
)


def task(**changes: Any) -> TaskResults:
    """Return a task of ten problems with two samples each, half of them right."""
    return TASK.model_copy(update=changes)


def results(model: str = "m", **changes: Any) -> Results:
    """Return the results of a model on one task `sums`."""
    record = Results(
        format=1,
        run_id="r",
        suite="nightly",
        model=model,
        model_path=f"./{model}",
        model_identity=model,
        run_seed=0,
        tasks={"sums": TASK},
        totals=TOTALS,
        warnings=(),
        trust_remote_code=False,
        test_uses=0,
        max_excluded_share=0.01,
        failed=(),
    )
    return record.model_copy(update=changes)


def reported(model: str, **changes: Any) -> ReportedRun:
    """Return a run of a report without doubtful data."""
    return ReportedRun(
        name=model, path=f"runs/{model}", created=None, terms={}, results=results(model, **changes), health={}
    )


def report(*runs: ReportedRun, **changes: Any) -> Report:
    """Return the report of some runs."""
    record = Report(
        format=1,
        title="nightly",
        tasks=("sums",),
        published=(),
        runs=runs,
        doubtful=(),
        comparisons=(),
        lead="",
    )
    return record.model_copy(update=changes)
