"""Manifests for tests that need no run."""

from __future__ import annotations

from typing import Any

from genbench.store.manifest import (
    Manifest,
    ModelRecord,
    OriginRecord,
    ReasoningRecord,
    SuiteRecord,
    TaskRecord,
    VerifierRecord,
)


def task_record(verifier: str = "exact", **changes: Any) -> TaskRecord:
    """Return a task of three problems with two samples each."""
    record = TaskRecord(
        version="1",
        k=2,
        n=3,
        of=3,
        role="validation",
        gating=True,
        margin=None,
        headline="avg@k",
        metrics=("avg@k",),
        chance=None,
        decoding={"temperature": 0.6, "max_tokens": 16},
        verifier=VerifierRecord(name=verifier, version="v", digest="d"),
        data_digest="rows",
    )
    return record.model_copy(update=changes)


def manifest(**changes: Any) -> Manifest:
    """Return the manifest of a run without tasks and attempts."""
    record = Manifest(
        format=1,
        run_id="r",
        suite=SuiteRecord(name="s", path="s.yaml", overrides=(), digest="s", git=None, config={}),
        origin=OriginRecord(),
        model=ModelRecord(name="m", path="./m", trust_remote_code=False),
        model_identity="m",
        run_seed=0,
        terms={},
        reasoning=ReasoningRecord(format="think", open=("<think>",), close=("</think>",), end_tokens=()),
        tasks={},
    )
    return record.model_copy(update=changes)
